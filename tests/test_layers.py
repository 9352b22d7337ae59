"""Imports point down: cli → explorer → runtime → autograph ← backends. A wrong import is named."""

import ast
import functools
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = ("autograph", "runtime", "cli", "backends", "explorer")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

# package → what its files may import: of agc, and of what is not in the standard library
DOORS = {
    "autograph": {"agc.autograph"},
    "runtime": {
        "agc.runtime",
        "agc.autograph.api",
        "agc.autograph.staging",
        "agc.autograph.staging_errors",
        "agc.autograph.disk_cache",
    },
    "backends": {
        "agc.arrays",
        "agc.autograph.api",
        "agc.autograph.errors",
        "agc.autograph.experimental",
        "agc.autograph.staging",
        "agc.autograph.staging_errors",
    },
    "explorer": {
        "agc.autograph",
        "agc.runtime",
        "agc.runtime.core.fast_path_guard",
        "agc.runtime.core.html_repr",
        "agc.runtime.executors",
        "agc.runtime.executors.llvm",
        "agc.runtime.ir.graph",
        "agc.runtime.ir.literal_printer",
        "agc.runtime.ir.printer",
        "agc.runtime.kernels.persistent_array",
        "agc.runtime.optimize",
        "agc.runtime.optimize.batch_loop_matmul",
        "agc.runtime.optimize.delay_loop_matmul",
        "agc.runtime.optimize.fusion",
        "agc.runtime.optimize.tile_rows",
        "agc.runtime.optimize.side_effects",
    },
    "cli": {
        "agc.cli",
        "agc.autograph",
        "agc.autograph.errors",
        "agc.autograph.debugger",
        "agc.explorer",
        "agc.explorer.findings",
        "agc.explorer.serve",
        "agc.runtime",
        "agc.runtime.executors.llvm",
        "agc.runtime.optimize",
    },
}
LIBRARIES = {
    "autograph": {"gast", "astunparse"},
    "runtime": {"numpy"},
    "cli": {"click", "numpy"},
    "backends": {"jax", "numpy", "torch"},
    "explorer": {"numpy"},
}
ROOMS = {
    ("runtime", "export"): {"tensorflow"},
    ("runtime", "executors"): {"llvmlite", "jax"},
    ("runtime", "distribute"): {"jax"},
    ("runtime", "dtypes.py"): {"ml_dtypes"},
    ("runtime", "kernels"): {"re2", "PIL"},
    ("explorer", "terminal.py"): {"IPython", "rich"},
    ("explorer", "progress_bar.py"): {"IPython"},
    ("explorer", "notebook.py"): {"IPython"},
    ("cli", "pytest_plugin.py"): {"pytest"},
}  # what only the files of one room may import

# What a module of autograph may need of the others. Facts are below queries, queries below changes.
INSIDE = {
    "errors": set(),
    "traceback_filter": {"errors"},
    "introspection": {"traceback_filter", "errors"},
    "options": set(),
    "disk_cache": set(),
    "code_cache": {"disk_cache"},
    "policy": {"introspection", "errors"},
    "staging": {"policy", "errors"},
    "syntax": {"introspection", "errors"},
    "analysis": {"syntax", "introspection"},
    "side_effects": {"analysis", "staging", "policy", "introspection", "errors"},
    "passes": {"analysis", "syntax", "options", "errors"},
    "transpile": {"passes", "syntax", "options", "policy", "errors"},
    "lint": {"transpile", "passes", "analysis", "syntax", "errors"},
    "conversion": {
        "side_effects",
        "transpile",
        "passes",
        "analysis",
        "syntax",
        "staging",
        "options",
        "policy",
        "introspection",
        "code_cache",
        "errors",
    },
    "operators": {
        "conversion",
        "side_effects",
        "staging",
        "options",
        "introspection",
        "traceback_filter",
        "errors",
    },
    "import_hook": {
        "operators",
        "conversion",
        "transpile",
        "passes",
        "syntax",
        "policy",
        "introspection",
        "code_cache",
        "errors",
    },
    "to_source": {"conversion", "transpile", "passes", "syntax", "options"},
    "experimental": {"options", "policy"},
    "debugger": {"introspection", "errors"},
}

# The rooms of runtime that run graphs, and what their modules need of the others when they are imported.
RUNNING = {
    "executors": set(),
    "optimize": {"executors"},
    "tracing": {"control_flow", "executors"},
    "profiler": {"executors", "tracing"},
}


def statements(body, in_functions=True):
    """Yield the statements, and those inside of them."""
    for node in body:
        yield node
        if in_functions or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for part in ("body", "handlers", "orelse", "finalbody", "cases"):
                yield from statements(getattr(node, part, ()), in_functions)


@functools.cache
def imports(path, everywhere=True):
    """(line, absolute name) of everything that a file imports, wherever in the file; or outside of functions only."""
    return list(_imports(path, everywhere))


def _imports(path, everywhere):
    package = ["agc", *path.relative_to(ROOT).with_suffix("").parts]
    package = package[:-1]
    text = path.read_text()
    tree = ast.parse(text)
    if everywhere and ("import_module(" in text or "__import__(" in text):
        for call in imports_by_name(tree):
            if isinstance(call.args[0], ast.Constant):
                yield call.lineno, absolute(call.args[0].value, package)
    for node in statements(tree.body, everywhere):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                yield node.lineno, whole if is_module(whole) else module


def imports_by_name(tree):
    """Return the calls of `import_module` and `__import__`."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    return [call for call in calls if ast.unparse(call.func).endswith(("import_module", "__import__"))]


def absolute(name, package):
    """Return the absolute form of a name that may begin with dots.

    >>> absolute("..shapes", ["agc", "runtime", "ops"])
    'agc.runtime.shapes'
    """
    own = name.lstrip(".")
    dots = len(name) - len(own)
    return ".".join([*package[: len(package) - dots + 1], own]) if dots else own


def is_module(name):
    path = ROOT.joinpath(*name.split(".")[1:])
    return name.startswith("agc.") and (path.is_dir() or path.with_suffix(".py").is_file())


def wrong_imports(path):
    package, *_ = parts = path.relative_to(ROOT).parts
    libraries = LIBRARIES[package] | ROOMS.get(parts[:2], set())
    for line, name in imports(path):
        top = name.partition(".")[0]
        if top == "agc":
            allowed = DOORS[package] | {f"agc.{package}"}
            inside = name == f"agc.{package}" or name.startswith(f"agc.{package}.")
            fine = inside or name in allowed
        else:
            fine = top in sys.stdlib_module_names or top in libraries
        if not fine:
            yield f"{path.relative_to(ROOT)}:{line} imports {name}"


def test_imports_point_down():
    assert FILES
    assert [complaint for path in FILES for complaint in wrong_imports(path)] == []


def test_the_check_finds_a_wrong_import(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    bad = tmp_path / "autograph" / "passes" / "bad.py"
    bad.parent.mkdir(parents=True)
    (tmp_path / "runtime").mkdir()
    bad.write_text(
        "import numpy\nfrom agc.runtime import Tensor\nfrom ...runtime import x\nfrom .. import errors\n"
        "if numpy:\n    def f():\n        importlib.import_module('...runtime', __package__)\n"
    )
    assert list(wrong_imports(bad)) == [
        "autograph/passes/bad.py:7 imports agc.runtime",
        "autograph/passes/bad.py:1 imports numpy",
        "autograph/passes/bad.py:2 imports agc.runtime",
        "autograph/passes/bad.py:3 imports agc.runtime",
    ]


BY_COMPUTED_NAME = {
    "runtime/core/late_binding.py": "the table of names of higher layers",
    "runtime/core/missing_names.py": "the tables of namespaces, by which a program reads their names",
    "runtime/executors/llvm/codegen/rule_registry.py": "the table of the lowering rules of operations",
    "runtime/export/formats.py": "the table of formats, which are modules of this package",
    "runtime/formats/missing.py": "libraries that the caller names",
    "runtime/interop/tensorflow/facade.py": "names of tf",
    "runtime/interop/tensorflow/keras_import.py": "Keras, under the name that programs use",
    "runtime/ops/framework/op.py": "all modules of operations",
    "runtime/saved_model/structure_json.py": "the table of type specs that files may name",
}
"""Files with an import by a name that is no constant and perhaps of another package, and what they import."""


def is_in_own_package(call):
    """Return whether the computed name is that of a module in the package of the file."""
    name = ast.unparse(call.args[0])
    return name.startswith(("f'{__name__}.", "f'{__package__}.")) or (
        name.startswith("f'.{") and [ast.unparse(x) for x in call.args[1:]] == ["__package__"]
    )


def test_imports_by_computed_names_are_listed():
    texts = {path: path.read_text() for path in FILES}
    found = {
        path.relative_to(ROOT).as_posix()
        for path, text in texts.items()
        if path.parts[len(ROOT.parts)] != "cli" and ("import_module(" in text or "__import__(" in text)
        for call in imports_by_name(ast.parse(text))
        if not isinstance(call.args[0], ast.Constant) and not is_in_own_package(call)
    }
    assert found == set(BY_COMPUTED_NAME)


@pytest.mark.parametrize("module", INSIDE)
def test_modules_of_autograph_import_downwards(module):
    base = ROOT / "autograph" / module
    files = sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]
    used = {
        name.split(".")[2] for path in files for _, name in imports(path) if name.startswith("agc.autograph.")
    }
    assert used - INSIDE[module] - {module} == set()


@pytest.mark.parametrize("room", RUNNING)
def test_packages_that_run_graphs_import_downwards(room):
    files = sorted((ROOT / "runtime" / room).rglob("*.py"))
    needed = {
        name.split(".")[2]
        for path in files
        for _, name in imports(path, everywhere=False)
        if name.count(".") > 1
    }
    above = {"autodiff", "control_flow", *RUNNING} - RUNNING[room] - {room}
    assert needed & above == set()


def test_every_folder_with_code_is_a_package():
    folders = {path.parent for path in FILES}
    assert {folder for folder in folders if not (folder / "__init__.py").exists()} == set()


# Folders of tests that are of no single package.
CROSS_CUTTING = {
    "autograph/agreement": "programs do the same before and after conversion",
    "runtime/agreement": "programs do the same in Python, in every executor and in TensorFlow",
}


def misplaced_tests(root):
    """List the tests whose folder is no package, and those at the top of a tree that are of no module."""
    for path in sorted(p for package in PACKAGES[:2] for p in (root / "tests" / package).rglob("test_*.py")):
        folder = path.parent.relative_to(root / "tests")
        if folder.as_posix() in PACKAGES:
            fine = (root / folder / f"{path.stem.removeprefix('test_')}.py").is_file()
        else:
            fine = folder.as_posix() in CROSS_CUTTING or (root / folder / "__init__.py").is_file()
        if not fine:
            yield path.relative_to(root / "tests").as_posix()


def test_tests_mirror_the_packages():
    assert list(misplaced_tests(ROOT)) == []
    tests = ROOT / "tests"
    assert all((tests / folder).is_dir() for folder in CROSS_CUTTING)
    assert [path.name for path in tests.glob("*.py") if not path.name.startswith(("test_", "conftest"))] == []


def test_a_misplaced_test_is_found(tmp_path):
    for name in ("runtime/nest.py", "runtime/ops/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in (
        "test_nest.py",
        "test_other.py",
        "ops/test_math.py",
        "sums/test_sums.py",
        "agreement/test_all.py",
    ):
        path = tmp_path / "tests" / "runtime" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert list(misplaced_tests(tmp_path)) == ["runtime/sums/test_sums.py", "runtime/test_other.py"]


def test_autograph_works_without_the_runtime():
    program = (
        "import sys\n"
        "sys.modules['agc.runtime'] = None\n"
        "from agc import autograph\n"
        "print(autograph.convert(sorted)([2, 1]), autograph.converted_call(len, ([],)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[1, 2] 0\n"


LATE = ROOT / "runtime" / "core" / "late_binding.py"


def modules():
    """module → path, except for the command."""
    found = {}
    for path in FILES:
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] != "cli":
            found[".".join(("agc", *parts)).removesuffix(".__init__")] = path
    return found


def import_graph(with_types):
    """module → modules that it imports anywhere, inside functions too; `late_binding` counts as importing nothing."""
    known = modules()
    return {
        name: {target for _, target in imports(path) if target in known and target != name}
        if with_types
        else {target for target in outside_type_checking(path) if target in known and target != name}
        for name, path in known.items()
        if path != LATE
    }


def outside_type_checking(path):
    text = path.read_text()
    typed = {
        line
        for node in (ast.walk(ast.parse(text)) if "TYPE_CHECKING" in text else ())
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    return [name for line, name in imports(path) if line not in typed]


def circles(graph):
    """The strongly connected components of more than one module (Tarjan, 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph.get(name, ()):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            component = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(component) > 1:
                found.append(sorted(component))

    for name in graph:
        if name not in index:
            visit(name)
    return found


def test_imports_have_no_circle_those_of_functions_and_annotations_included():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    graph = import_graph(with_types=True)
    assert len(graph) > 700
    assert circles(graph) == []


def test_late_names_equal_those_of_the_type_checker():
    from agc.runtime.core import late_binding

    (block,) = [node for node in ast.parse(LATE.read_text()).body if isinstance(node, ast.If)]
    seen = {alias.asname or alias.name for node in block.body for alias in node.names}
    assert seen == set(late_binding._PROVIDERS) | set(late_binding.MODULES) == set(late_binding.__all__)
    assert all(getattr(late_binding, name) is not None for name in seen if name != "strip_mining")


LAYERS = (
    "core kernels storage",
    "ops composite control_flow",
    "optimize functionalize executors autodiff",
    "python_semantics autograph_backend tracing",
    "sparse ragged linear_operator higher_order",
    "audio bitwise debugging linalg _math_special math nn quantization random sets signal strings sysconfig",
    "formats lookup image train saved_model profiler data io summary distribute types xla export onnx",
    "autograph graph_util _top_level_names runtime",
    "interop keras experimental raw_ops compat test",
)
"""The packages and files of the runtime, the lowest first. `runtime` is the namespace `tf` itself, which imports the
names of libraries at their first use."""

ORDER = " ".join(LAYERS).split()

CORE = {"core", "ir", "dtypes", "errors", "nest", "config", "version"}
"""One layer: a symbolic tensor holds a value of a graph."""


def package_of(module):
    return module.split(".")[min(2, module.count("."))]


def rank(package):
    return 0 if package in CORE else ORDER.index(package)


def test_packages_of_the_runtime_import_lower_ones_only():
    """Imports inside functions and those for annotations count."""
    graph = {name: used for name, used in import_graph(with_types=True).items() if "agc.runtime" in name}
    assert {package_of(name) for name in graph} == {*ORDER, *CORE}
    edges = [(a, b) for a, used in graph.items() for b in used if "agc.runtime" in b]
    assert len(edges) > 5000
    assert [edge for edge in edges if rank(package_of(edge[1])) > rank(package_of(edge[0]))] == []


BY_NAME = (
    "runtime/ops", "runtime/ir/structured.py", "runtime/executors/llvm/lowering", "runtime/formats/onnx/rules",
)  # fmt: skip
"""Declarations, predicates for operations with regions, and the registration of lowering and export rules."""


def names_compared(path, names):
    """Yield the operations that a file compares by name: `operation.type == "add"`, or `… in ("add", "sub")`."""
    text = path.read_text()
    if ".type" not in text and ".name" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare) and any(
            isinstance(side, ast.Attribute) and side.attr in ("type", "name")
            for side in (node.left, *node.comparators)
        ):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Constant) and inner.value in names:
                    yield f"{path.relative_to(ROOT)}:{inner.lineno} {inner.value}"


def test_passes_and_executors_compare_operations_not_their_names():
    from agc.runtime.ops.framework.op import REGISTRY, find

    find("")  # imports all operations
    files = [
        path for path in FILES if not path.relative_to(ROOT).as_posix().startswith(("autograph", *BY_NAME))
    ]
    assert [found for path in files for found in names_compared(path, {*REGISTRY})] == []
    assert list(names_compared(ROOT / "runtime/executors/llvm/lowering/scans.py", {"cumsum"})) != []
