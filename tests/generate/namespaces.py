"""Public namespaces, such as runtime/math.py: imports and `__all__`, from the `@export` declarations of all files.

    @export("math.real")                  ==>    from .ops.math.elementwise import real
    def real(input, name=None): ...              __all__ = [..., "real", ...]

A file that has a docstring and the line `# Namespace NAME: …` is a namespace; all that follows the line is generated.
Declarations are read from the source, so that a wrong namespace, which cannot be imported, can be generated anew.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent / "runtime"
TOP_LEVEL = ROOT / "_top_level_names.py"
MARK = re.compile(r"^# Namespace (\S+): .*$", re.MULTILINE)
EXPORT = ("export", "_export")
LATE_SPACES = ("autodiff", "linalg", "math", "nn")
"""Namespaces with many modules, of which a program needs few: all names are imported at their first use."""

FORMAT = "# isort: skip_file\n# fmt: off\n\n"


class Home(NamedTuple):
    """The place of a public value: its module, and its name there; the name is "" for the module itself."""

    module: str
    name: str

    def imported_as(self, name: str) -> str:
        own = self.name or self.module.rpartition(".")[2]
        return own if own == name else f"{own} as {name}"


def files() -> dict[Path, str]:
    """Return the text of each namespace, and of the table of the names at the top level."""
    exports = declared()
    spaces = {
        path: found[1] for path in sources() if (found := MARK.search(path.read_text(encoding="utf-8")))
    }
    for path, space in spaces.items():
        if "." in space:
            exports[space] = Home(module_name(path), "")
    texts = {path: namespace(path, space, exports) for path, space in spaces.items()}
    return {**texts, TOP_LEVEL: top_level(exports)}


def sources() -> list[Path]:
    """Return the files of the runtime."""
    return sorted(ROOT.rglob("*.py"))


def module_name(path: Path) -> str:
    return ".".join(("agc.runtime", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def declared() -> dict[str, Home]:
    """Return the home of each public name; ValueError for a name that is declared twice."""
    homes: dict[str, Home] = {}
    for path in sources():
        text = path.read_text(encoding="utf-8")
        if "export" not in text:
            continue
        body = ast.parse(text).body
        rows = families(body)
        for node in body:
            for public, name in declarations(node, rows):
                if public in homes:
                    raise ValueError(f"tf.{public} is declared in {homes[public].module} and in {path}")
                homes[public] = Home(module_name(path), name)
    return homes


def families(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the functions that declare operations of a family, each with the public names of the operation `name`.

    def _curve(name, compute): return unary(name, compute, export=(f"math.{name}", name))
    """
    return {
        function.name: keyword.value
        for function in body
        if isinstance(function, ast.FunctionDef)
        for keyword in ast.walk(function)
        if isinstance(keyword, ast.keyword) and keyword.arg == "export"
    }


def names_of(rows: ast.expr, name: str) -> list[str]:
    """Return the value of a tuple of names, in which the variable `name` has this value."""
    return list(eval(compile(ast.Expression(rows), "<export>", "eval"), {"name": name}))


def declarations(node: ast.stmt, families: dict[str, ast.expr]) -> Iterator[tuple[str, str]]:
    """Yield the public names that a statement declares, each with the name that the statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        for decorator in node.decorator_list:
            yield from ((public, node.name) for public in names_in(decorator))
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        bound = [target.id for target in node.targets if isinstance(target, ast.Name)]
        rows = [keyword.value for keyword in node.value.keywords if keyword.arg == "export"]
        if isinstance(node.value.func, ast.Name) and node.value.func.id in families:
            rows.append(families[node.value.func.id])
        declared = [*names_in(node.value.func), *(name for row in rows for name in names_of(row, bound[0]))]
        for public in declared:
            own = public.rpartition(".")[2]
            yield public, own if own in bound else bound[0]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from ((public, "") for public in names_in(node.value.func))


def names_in(call: ast.expr) -> list[str]:
    """Return the arguments of a call of `export` or `_export`; nothing for another expression."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in EXPORT:
        return [ast.literal_eval(argument) for argument in call.args]
    return []


def namespace(path: Path, space: str, exports: dict[str, Home]) -> str:
    """Return the text of a namespace: the part that is written by hand, the imports, and `__all__`."""
    head = MARK.split(path.read_text(encoding="utf-8"))[0]
    mark = f"# Namespace {space}: `make generate` writes this file from the `@export` declarations.\n"
    own = module_name(path)
    package = own if path.stem == "__init__" else own.rpartition(".")[0]
    members = {
        name.removeprefix(f"{space}."): home
        for name, home in exports.items()
        if name.rpartition(".")[0] == space
    }
    late = {name: home for name, home in members.items() if space in LATE_SPACES}
    explain = ["__name__"]
    if own != f"agc.runtime.{space}":
        explain.append(f'"{space}"')
    if late:
        explain.append("late=_LATE")
    also = ", places as _places" if late else ""
    early = {name: home for name, home in members.items() if name not in late}
    return (
        f"{head}{mark}{FORMAT}"
        f"from {relative('agc.runtime.core.missing_names', package)} import explain as _explain{also}\n"
        f"{imports(early, package)}\n\n"
        f"{late_of(late, package)}{all_of(early, late)}\n\n_explain({', '.join(explain)})\n"
    )


def imports(members: dict[str, Home], package: str) -> str:
    """Return the import statements, those of higher packages first."""
    by_module: dict[str, list[str]] = {}
    for name, home in sorted(members.items()):
        source = home.module if home.name else home.module.rpartition(".")[0]
        by_module.setdefault(relative(source, package), []).append(home.imported_as(name))
    dots = re.compile(r"^\.+")
    order = sorted(by_module, key=lambda module: (-len(dots.match(module)[0]), module))  # type: ignore[index]
    return "\n".join(statement(module, by_module[module]) for module in order)


def late_of(late: dict[str, Home], package: str) -> str:
    """Return the table of the names that are imported at their first use; nothing if there are none."""
    return f"_LATE = _places({table(late, package)})\n\n" if late else ""


def table(members: dict[str, Home], package: str) -> str:
    """Return a table of names by relative module, as `places` in runtime/core/missing_names.py reads it."""
    by_module: dict[str, list[str]] = {}
    for name, home in sorted(members.items()):
        own = "" if home.name == name else f"={home.name}"
        by_module.setdefault(relative(home.module, package), []).append(name + own)
    rows = [row(f'    "{module}": ', names) for module, names in sorted(by_module.items())]
    return f"{{\n{''.join(rows)}}}"


def row(head: str, names: list[str]) -> str:
    """Return a row of the table, in lines of at most 110 characters."""
    if len(head) + len(" ".join(names)) <= 107:
        return f'{head}"{" ".join(names)}",\n'
    lines = textwrap.wrap(" ".join(names), 98)
    return "\n".join(
        [head.rstrip(), *(f'        "{line} "' for line in lines[:-1]), f'        "{lines[-1]}",\n']
    )


def relative(module: str, package: str) -> str:
    """Return a relative import's module: ".x" within the package, "..x" one package higher, and so on."""
    inside, dots = package, "."
    while module != inside and not module.startswith(f"{inside}."):
        inside, dots = inside.rpartition(".")[0], f"{dots}."
    return dots + module.removeprefix(inside).removeprefix(".")


def statement(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= 110 else f"from {module} import (\n{listed(names)},\n)"


def all_of(names: dict[str, Home], late: dict[str, Home]) -> str:
    quoted = [*["*_LATE"] * bool(late), *(f'"{name}"' for name in sorted(names))]
    return f"__all__ = [\n{listed(quoted)},\n]"


def listed(names: list[str]) -> str:
    """Return names in lines of at most 110 characters."""
    return textwrap.fill(
        ", ".join(name.replace(" ", "\0") for name in names),
        110,
        initial_indent="    ",
        subsequent_indent="    ",
    ).replace("\0", " ")


def top_level(exports: dict[str, Home]) -> str:
    """Return the text of the table of names that `agc.runtime` has itself, which it imports at their first use."""
    members = {name: home for name, home in exports.items() if "." not in name}
    return (
        '"""Names at the top level of `tf`: `make generate` writes them from the `@export` declarations."""\n\n'
        "from .core.missing_names import places\n\n# fmt: off\n"
        f"MEMBERS = places({table(members, 'agc.runtime')})\n"
    )
