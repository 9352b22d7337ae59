"""Lists that grow in a loop of known length: what an iteration appends becomes a stacked output of a scan.

ys = []                              ys = []
for x in xs:                ⇒        _, stacked = scan(lambda _, x: (_, f(x)), …, xs)
    ys.append(f(x))                  ys += the rows of stacked
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.errors import StagingError, is_own_file
from agc.autograph.staging import UnescapedList
from agc.autograph.staging_errors import staging_error

from .failures import library
from .library import Build


def refusal(title: str, notes: Sequence[Any] = ()) -> StagingError:
    """Return the error for a list whose length is not known."""
    return staging_error(
        "AGC231",
        title,
        why=f"the length of the list is known only when the program runs, and {library().name} needs all shapes before",
        fix="append in a loop over a known number of items, outside of its ifs; or make an array before the loop, and "
        "assign its items: x[i] = value; or keep the length of a comprehension: [x if test else 0 for x in xs]",
        notes=notes,
    )


class GrowingList(UnescapedList):
    """A list of what one iteration appends; the items before are not known while the body is traced."""

    def copy(self) -> GrowingList:
        return GrowingList(items_of(self))


def _refused_to_users(name: str) -> Callable[..., Any]:
    own = getattr(list, name)

    def method(self: GrowingList, *args: Any) -> Any:
        if is_own_file(sys._getframe(1).f_code.co_filename):  # such as the search for side effects
            return own(self, *args)
        raise refusal("a list that grows in a staged loop cannot be read in the loop")

    return method


for _name in (
    "__getitem__", "__setitem__", "__delitem__", "__len__", "__contains__", "__iter__", "__eq__",
    "pop", "insert", "remove", "index", "count", "sort", "reverse", "clear",
):  # fmt: skip
    setattr(GrowingList, _name, _refused_to_users(_name))


def grown(before: UnescapedList, build: Build, stacked: Sequence[Any], count: int) -> UnescapedList:
    """Return the list after the loop: `build` makes the items of one iteration from their leaves."""
    rows = [library().rows(leaf) if library().is_array(leaf) else [leaf] * count for leaf in stacked]
    items = [item for leaves in zip(*rows, strict=True) for item in build(leaves)] if rows else []
    return type(before)([*items_of(before), *items])


def items_of(value: Sequence[Any]) -> list[Any]:
    """Return the items of a list, also of one that grows."""
    return [*list.__iter__(value)]  # type: ignore[arg-type]


def is_longer(after: Any, before: Any) -> bool:
    lists = isinstance(before, UnescapedList) and isinstance(after, list)
    return lists and list.__len__(after) > list.__len__(before)


def lengths_differ(values: Sequence[Any]) -> bool:
    """Return whether the values are lists of several lengths."""
    return (
        all(isinstance(value, list) for value in values)
        and len({list.__len__(value) for value in values}) > 1
    )
