"""A leading underscore hides a name from users. Other modules use it only if users see the class that has it.

tensor._array       `Tensor` is public, and `array` would be, too: all modules of agc may use it
module._helper      no user sees the module: the name is `helper` as soon as another module uses it
"""

import ast
import functools
import pathlib
from collections import namedtuple

ROOT = pathlib.Path(__file__).parent.parent
FILES = sorted(path for package in ("autograph", "runtime") for path in (ROOT / package).rglob("*.py"))

OF_PYTHON = {
    *dir(namedtuple("Empty", ())),
    "_attributes",  # of `ast.AST`
    "_current_frames",
    "_exit",
    "_getframe",
    "_value_",  # of `enum.Enum`
    "_signal",  # signal handlers without the enums of `signal`
    "_xoptions",
}
"""Names that CPython documents in spite of their underscore."""

OF_LIBRARIES = {
    "runtime/executors/llvm/codegen/memory_builder.py": {"_insert"},  # llvmlite
    "runtime/executors/llvm/compilation_unit.py": {"_metadatacache"},
    "runtime/executors/llvm/parallel_codegen.py": {"_name"},
    "runtime/interop/tensorflow/keras_files.py": {"_weights_path"},  # Keras
    "runtime/interop/tensorflow/keras_import.py": {"_available"},
    "runtime/ir/source_location.py": {"_varname_from_oparg"},  # dis
    "runtime/saved_model/function_serialization.py": {"_ParameterKind"},  # inspect
    "runtime/kernels/blas.py": {"_multiarray_umath"},  # NumPy
}
"""Private names of libraries and of CPython that a file depends on."""


@functools.cache
def nodes_of(path):
    """Return all nodes of a file: several checks go through them, and a walk takes longer than each check."""
    return list(ast.walk(ast.parse(path.read_text())))


def private(names):
    return {name for name in names if name.startswith("_") and not name.startswith(("__", "_native_"))}


def private_names(nodes):
    """The private names that the nodes of a file or class define: functions, variables, attributes of `self`, slots."""
    found = set()
    for part in nodes:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found.add(part.name)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, ast.Attribute) and getattr(part.value, "id", "") in ("self", "cls"):
            found.add(part.attr)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
    return private(found)


@functools.cache
def names_of_user_classes():
    """The private names of exported classes, of those that extend them, and of their base classes."""
    classes = [node for path in FILES for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
    bases = {
        node.name: {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
        for node in classes
    }
    seen = {node.name for node in classes if any("export" in ast.unparse(d) for d in node.decorator_list)}
    before = 0
    while len(seen) > before:
        before = len(seen)
        seen |= {base for name in seen for base in bases.get(name, ())}
        seen |= {name for name in bases if bases[name] & seen}
    return {name for node in classes if node.name in seen for name in private_names(ast.walk(node))}


def foreign_uses(path):
    """Yield the uses of private names that are neither of the file nor of a class that users see."""
    nodes, file = nodes_of(path), path.relative_to(ROOT).as_posix()
    own = private_names(nodes) | OF_PYTHON | OF_LIBRARIES.get(file, set())
    imported = {}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                imported[alias.asname or alias.name] = alias.name
                if private({alias.name}) - own:
                    yield f"{file}:{node.lineno} imports {alias.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute) and private({node.attr}) - own:
            owner = ast.unparse(node.value)
            is_module = imported.get(owner, "").islower()
            if owner not in ("self", "cls", "super()") and (
                is_module or node.attr not in names_of_user_classes()
            ):
                yield f"{file}:{node.lineno} uses {owner}.{node.attr}"


def test_private_names_of_other_modules_belong_to_classes_that_users_see():
    assert [use for path in FILES for use in foreign_uses(path)] == []


def test_the_check_finds_private_names(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "file.py").write_text(
        "from . import nest\nfrom .nest import _pack\n"
        "def f(tensor, other): return tensor._array, other._secret, nest._array, nest.pack\n"
    )
    assert list(foreign_uses(tmp_path / "file.py")) == [
        "file.py:2 imports _pack",
        "file.py:3 uses other._secret",
        "file.py:3 uses nest._array",
    ]
