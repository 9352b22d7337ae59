"""Lists that a backend holds, in the state and the results of a block: they can be aliased like Python lists.

    long = first if x > 0 else [x, x]       lists of different lengths: the backend returns a list of its own for both
    long.append(x)                          an error if `first` is used later, as with Python lists

A backend takes such a list apart and makes a new one, for each trace and for the results. The list has no
parts that could be written into another list. So the new list represents the old one as long as it is not
mutated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...staging import MutableValue, State
from ..mutable_values import attributes
from ..value_identity import same
from .alias_classes import BranchResult, classes
from .object_paths import Path, backend_lists


class BackendLists:
    """The backend lists in one attempt to trace a block."""

    def __init__(self, initial: State, is_choice: bool) -> None:
        self.before = {} if is_choice else _lists_in(initial)
        self._at_entry: dict[Path, tuple[Any, dict[str, Any]]] = {}  # list, initial attributes

    def enter(self, state: State) -> None:
        """Record the lists of `state`, with which a trace of the loop's body begins."""
        if self.before:
            found = _lists_in(state)
            self._at_entry = {
                path: (found[path], attributes(found[path])) for path in self.before.keys() & found.keys()
            }

    def changed(self) -> list[Path]:
        """Return the paths of the lists that the trace has mutated in place."""
        return [path for path, (value, saved) in self._at_entry.items() if not _holds(value, saved)]

    def given(self, results: Sequence[Any]) -> dict[Path, Any]:
        """Return the lists in the results of a trace; for an unmutated list, the list before the block."""
        one = {
            id(value): self.before[path]
            for path, (value, saved) in self._at_entry.items()
            if _holds(value, saved)
        }
        return {path: one.get(id(value), value) for path, value in _lists_in(results).items()}

    def settled(self, results: Sequence[Any], runs: Sequence[BranchResult]) -> dict[Path, Any]:
        """Return the lists in the results after the block; paths that alias in every trace share one list."""
        found = {
            path: value
            for path, value in _lists_in(results).items()
            if any(path in run.objects for run in runs)
        }
        first = classes(runs, found)
        settled = {}
        for path, value in found.items():
            given = [run.objects.get(path) for run in runs]
            if isinstance(given[0], MutableValue) and all(other is given[0] for other in given):
                settled[path] = given[0]
            else:
                settled[path] = value if any(one is None for one in given) else found[first[path]]
        return settled


def _lists_in(values: Sequence[Any]) -> dict[Path, Any]:
    """Return the backend's lists in `values` that may be aliased; copies that have no alias are left out."""
    return {path: value for path, value in backend_lists(values) if not value.is_own}


def _holds(value: Any, saved: dict[str, Any]) -> bool:
    now = attributes(value)
    return now.keys() == saved.keys() and all(same(part, saved[name]) for name, part in now.items())
