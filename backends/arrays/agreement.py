"""Bring the values of a variable on two paths to one structure and one type, or raise the user's error.

    y = 1        then       float32[]      1 is weak and adapts
    y = 2.5 * x  else

Values that are the same object on both paths stay as they are. A variable that one path leaves unbound is carried
with a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agc.autograph.errors import StagingError
from agc.autograph.staging import Maybe, Pending, Undefined
from agc.autograph.staging_errors import assigned, staging_error

from .failures import library
from .growing_lists import lengths_differ, refusal
from .leaves import (
    blank,
    described,
    flatten,
    flatten_named,
    is_carried,
    is_number,
    is_same,
    shown,
    structure,
    type_of,
)
from .library import Build, Type


class Row(NamedTuple):
    """One leaf on all paths; `type` is None if it stays the Python object that it is."""

    path: str
    leaves: tuple[Any, ...]
    type: Type | None


class Column(NamedTuple):
    """One variable: its leaves, and the function that builds its value."""

    rows: list[Row]
    build: Build


Blocks = Sequence[Callable[..., Any]]


def agreed(name: str, values: Sequence[Any], blocks: Blocks) -> Column:
    """Return the leaves of a variable's values in the branches of an `if`."""
    values = defined_alike(name, values)
    if len({structure(value) for value in values}) > 1:
        said = [shown(value) for value in values]
        if lengths_differ(values):
            if name == "comprehension":
                raise refusal("the condition of this comprehension decides how many items it has")
            raise refusal(
                f"the branches give the list `{name}` different lengths", _notes(blocks, name, said)
            )
        raise _disagreement(
            "AGC202",
            f"the branches give `{name}` different structures",
            why="a value that the program selects when it runs has the same structure in every branch",
            fix=f"give `{name}` an array in place of None in every branch, such as zeros"
            if any(value is None for value in values)
            else f"give `{name}` as many items and the same keys in every branch",
            notes=_notes(blocks, name, said),
        )
    paths = [path for path, _ in flatten_named(name, values[0])]
    columns = zip(*(flatten(value)[0] for value in values), strict=True)
    rows = [_row(path, tuple(leaves), blocks) for path, leaves in zip(paths, columns, strict=True)]
    return Column(rows, flatten(values[0])[1])


def defined_alike(name: str, values: Sequence[Any]) -> list[Any]:
    """Return the values with blanks in place of unbound ones, and flags if they may be read."""
    real = [value for value in values if not isinstance(value, Undefined) or type(value) is Maybe]
    if not real:
        return list(values)
    like = real[0].value if type(real[0]) is Maybe else real[0]
    filled = [blank(like) if isinstance(value, Pending) else value for value in values]
    if not any(isinstance(value, Undefined) for value in filled):
        return filled
    return [
        value
        if type(value) is Maybe
        else Maybe(name, blank(like), False)
        if isinstance(value, Undefined)
        else Maybe(name, value, True)
        for value in filled
    ]


def _row(path: str, leaves: tuple[Any, ...], blocks: Blocks) -> Row:
    if all(is_same(leaves[0], other) for other in leaves[1:]):
        return Row(path, leaves, None)
    said = [described(leaf) for leaf in leaves]
    if not all(map(is_carried, leaves)):
        raise _disagreement(
            "AGC203",
            f"the branches give `{path}` values that {library().name} cannot choose between: {' and '.join(said)}",
            why="the program decides which branch runs, so both must give an array, or the same Python object",
            fix=f"give `{path}` an array of one dtype in every branch",
            notes=_notes(blocks, path, said),
        )
    type = common(leaves)
    if type is None:
        raise _disagreement(
            "AGC201",
            f"the branches give `{path}` different types: {' and '.join(said)}",
            why="a value that the program selects when it runs has one dtype and one shape",
            fix=f"convert `{path}` in one of the branches, for instance with {library().conversions}",
            notes=_notes(blocks, path, said),
        )
    return Row(path, leaves, type)


def _disagreement(code: str, title: str, why: str, fix: str, notes: Sequence[Any]) -> StagingError:
    return staging_error(code, title, why, fix, label="decided when the program runs", notes=notes)


def _notes(blocks: Blocks, path: str, said: Sequence[str]) -> list[Any]:
    return [assigned(block, path, text) for block, text in zip(blocks, said, strict=False)]


def common(leaves: Sequence[Any]) -> Type | None:
    """Return the type of leaves that are chosen between; None if they have several.

    Weak types (Python numbers and results of them) adapt to the others.
    """
    types = [type_of(leaf) for leaf in leaves]
    varies = frozenset().union(*(type.varies for type in types))
    if any(type.shape != types[0].shape for type in types):
        return None
    firm = {type.dtype for type in types if not type.is_weak}
    if len(firm) > 1:
        return None
    if len({type.dtype for type in types}) == 1:
        return Type(types[0].shape, types[0].dtype, not firm, varies)
    dtype = library().common_dtype(types)
    return Type(types[0].shape, dtype, not firm, varies) if dtype is not None and firm <= {dtype} else None


def converted(leaf: Any, type: Type) -> Any:
    """Return an array or number in this type."""
    if not is_number(leaf) and type_of(leaf) == type:
        return leaf
    return library().converted(leaf, type)
