"""Write the pages of the API reference from the docstrings of all public names, one page for each namespace.

    tf.math.sinh, its docstring  ==>  ::::{py:function} tf.math.sinh(x, name=None)
                                      The hyperbolic sine. …

A value with several names is described under the longest one, that of its namespace; other names link to it.
"""

from __future__ import annotations

import importlib
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import entries
from .docstrings import summary_of

PACKAGES = {
    "tf": "agc.runtime",
    "autograph": "agc.autograph",
    "agc.explorer": "agc.explorer",
    "agc.jax": "agc.jax",
}
"""The name of each package in the reference, and the module."""

SKIPPED = frozenset({
    "tf.BACKEND", "tf.data.BACKEND",
    "tf.ir", "tf.compat", "tf.raw_ops", "tf.keras", "tf.initializers", "tf.losses", "tf.metrics", "tf.optimizers",
})  # fmt: skip
"""Internal names, other spellings of functions that are described elsewhere, and Keras."""

WITHOUT_ALL = {
    "tf.nest": ("assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"),
    "tf.config.optimizer": ("get_experimental_options", "get_jit", "set_experimental_options", "set_jit"),
    "tf.config.threading": (
        "get_inter_op_parallelism_threads", "get_intra_op_parallelism_threads",
        "set_inter_op_parallelism_threads", "set_intra_op_parallelism_threads",
    ),
}  # fmt: skip
"""Public names of modules that have no `__all__` and more names."""


class Page(NamedTuple):
    """A namespace: its name, its module, and its public values by their names."""

    name: str
    module: types.ModuleType
    members: dict[str, Any]


def pages(*packages: str) -> list[Page]:
    """Return all namespaces of these packages; of all packages if none is given."""
    seen: set[int] = set()
    found = (namespaces(name, importlib.import_module(PACKAGES[name]), seen) for name in packages or PACKAGES)
    return [page for several in found for page in several]


def namespaces(name: str, module: types.ModuleType, seen: set[int]) -> Iterator[Page]:
    """Yield the namespace, and the public namespaces inside of it."""
    seen.add(id(module))
    members = {member: getattr(module, member) for member in public_names(name, module)}
    values = {key: value for key, value in members.items() if not isinstance(value, types.ModuleType)}
    if values:
        yield Page(name, module, values)
    for key, value in members.items():
        inner = f"{name}.{key}"
        if isinstance(value, types.ModuleType) and id(value) not in seen and inner not in SKIPPED:
            yield from namespaces(inner, value, seen)


def public_names(name: str, module: types.ModuleType) -> list[str]:
    """Return the names of `__all__`; without it, those that the module defines."""
    names = WITHOUT_ALL.get(name) or getattr(module, "__all__", None)
    if names is None:
        names = [key for key, value in vars(module).items() if _is_defined_in(module, value)]
    return sorted(each for each in names if not each.startswith("_") and f"{name}.{each}" not in SKIPPED)


def _is_defined_in(module: types.ModuleType, value: Any) -> bool:
    return str(getattr(value, "__module__", "")) == module.__name__ and callable(value)


def canonical(found: list[Page]) -> dict[int, str]:
    """Return the name under which each value is described, by its identity."""
    names: dict[int, str] = {}
    for page in found:
        for key, value in page.members.items():
            name = f"{page.name}.{key}"
            if entries.is_described(value) and len(name) > len(names.get(id(value), "")):
                names[id(value)] = name
    return names


def write(folder: Path) -> int:
    """Write all pages, and their index; return the number of names."""
    folder.mkdir(parents=True, exist_ok=True)
    found = pages()
    names = canonical(found)
    for page in found:
        (folder / f"{page.name}.md").write_text(page_text(page, names), encoding="utf-8")
    (folder / "index.md").write_text(index_text(found), encoding="utf-8")
    return sum(len(page.members) for page in found)


def about(module: types.ModuleType) -> str:
    """Return the first sentence about a namespace, without the name, which is the title of its page."""
    text = re.sub(r"^(The (module|namespace) )?`[\w.]+`: ", "", summary_of(module))
    return text[:1].upper() + text[1:]


def page_text(page: Page, names: dict[int, str]) -> str:
    """Return the page of a namespace: a table of its names, then the description of each."""
    rows, texts = [], []
    for key, value in page.members.items():
        name = f"{page.name}.{key}"
        home = names.get(id(value), name)
        rows.append(
            f"| {{py:obj}}`{key} <{home}>` | {summary_of(value)} |"
            if home in names.values()
            else f"| `{key}` | {entries.constant(value)} |"
        )
        if home == name and entries.is_described(value):
            texts.append(entries.text(name, value, names))
    table = "\n".join(["| name | |", "|---|---|", *rows])
    common = "[Conventions](../conventions.md): shapes, dtypes and errors that all functions have in common. "
    common += "Examples leave out prefixes such as `tf.`."
    return f"# {page.name}\n\n{about(page.module)}\n\n{common}\n\n{table}\n\n" + "\n".join(texts)


def index_text(found: list[Page]) -> str:
    """Return the first page of the reference: all namespaces."""
    rows = [
        f"| [{page.name}]({page.name}.md) | {len(page.members)} | {about(page.module)} |" for page in found
    ]
    listed = "\n".join(page.name for page in found)
    return (
        "# API reference\n\n"
        "`tf` is `agc.runtime`. [Conventions](../conventions.md) says what all functions have in common.\n"
        "`agc.explore`, `agc.show` and `agc.progress` are those of `agc.explorer`.\n"
        "`tf.keras` is the package Keras: see keras.io.\n"
        "`tf.raw_ops` and `tf.compat` have other spellings of the same functions.\n\n"
        "| namespace | names | |\n|---|--:|---|\n" + "\n".join(rows) + "\n\n"
        f":::{{toctree}}\n:hidden:\n\n{listed}\n:::\n"
    )
