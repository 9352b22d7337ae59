"""List gaps of public docstrings: examples, members, errors. `python -m docs.site.docstring_gaps` prints them.

tf.lookup: 1 of 5 without example: TextFileIndex
tf.io: errors without a name: GFile.write (PermissionDeniedError)
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from agc.autograph import errors as staging_errors
from agc.runtime import errors

from . import entries, reference

COMMON = frozenset({"ValueError", "TypeError", "PythonTypeError", "InvalidArgumentError", "AssertionError"})
"""Errors that docs/conventions.md describes for all functions."""
PUBLIC = (vars(builtins).keys() | vars(errors).keys() | vars(staging_errors).keys()) - COMMON
"""Errors that a user can name; others are caught inside of agc."""


def gaps(page: reference.Page, names: dict[int, str]) -> list[str]:
    """Return the names without an example; exceptions and values of other libraries need none."""
    return [key for key, value in _described(page, names) if not has_example(value)]


def unnamed_errors(page: reference.Page, names: dict[int, str]) -> list[str]:
    """Return the functions and methods that raise an error which their docstring does not name."""
    found = []
    for key, value in _described(page, names):
        for name, function, docstring in _functions(key, value):
            missing = sorted((raised(function) & PUBLIC) - set(re.findall(r"\w+", docstring)))
            found += [f"{name} ({', '.join(missing)})"] if missing else []
    return found


def undocumented(page: reference.Page, names: dict[int, str]) -> list[str]:
    """Return the public methods and properties without a docstring, which the reference leaves out."""
    return [
        f"{key}.{name}"
        for key, value in _described(page, names)
        if inspect.isclass(value)
        for name, member in vars(value).items()
        if not name.startswith("_") and _is_code(member) and not inspect.getdoc(getattr(value, name))
    ]


def _is_code(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod))


def _described(page: reference.Page, names: dict[int, str]) -> Iterator[tuple[str, Any]]:
    for key, value in page.members.items():
        is_ours = str(getattr(value, "__module__", "")).startswith("agc")
        if is_ours and names.get(id(value)) == f"{page.name}.{key}" and not _is_exception(value):
            yield key, value


def _functions(name: str, value: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield a function, or the constructor and the methods of a class, with the docstrings that describe each."""
    docstring = inspect.getdoc(value) or ""
    if not inspect.isclass(value):
        yield name, inspect.unwrap(value), docstring
        return
    for key, member in vars(value).items():
        if inspect.isfunction(member) and (key == "__init__" or not key.startswith("_")):
            yield f"{name}.{key}", member, docstring if key == "__init__" else inspect.getdoc(member) or ""


def raised(function: Any) -> set[str]:
    """Return the classes of the errors that the body of a function raises itself."""
    if not inspect.isfunction(function) or function.__code__.co_filename.startswith("<"):
        return set()  # in C, or generated: the constructor of a dataclass
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    classes = [ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in calls if each]
    return {name for each in classes if re.fullmatch("[A-Z]\\w*", name := each.rpartition(".")[2])}


def has_example(value: Any) -> bool:
    """Return whether a docstring has an example."""
    return ">>>" in (inspect.getdoc(value) or "")


def _is_exception(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def main() -> None:
    """Print the gaps of each namespace."""
    found = reference.pages()
    names = reference.canonical(found)
    for page in found:
        missing, unnamed = gaps(page, names), unnamed_errors(page, names)
        described = sum(map(entries.is_described, page.members.values()))
        if missing:
            print(f"{page.name}: {len(missing)} of {described} without example: {', '.join(missing)}")
        if bare := undocumented(page, names):
            print(f"{page.name}: members without docstring: {', '.join(bare)}")
        if unnamed:
            print(f"{page.name}: errors without a name: {', '.join(unnamed)}")


if __name__ == "__main__":
    main()
