"""Lists that a backend holds, in a block's state and results: each is an object, too, which somebody else may know.

    long = first if x > 0 else [x, x]       lists of different lengths: the backend gives one of its own for both
    long.append(x)                          if `first` is used later, that is an error, as with lists of Python's

A backend takes such a list apart and makes it anew, for each trace and for the results. It has no parts to be poured
into another one. So a new one stands for that of before as long as it is not changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...staging import MutableValue, State
from ..mutable_values import attributes
from ..value_identity import same
from .alias_classes import BranchResult, classes
from .object_paths import Path, references


class BackendLists:
    """The lists of one attempt to trace a block."""

    def __init__(self, initial: State, is_choice: bool) -> None:
        self.before = {} if is_choice else _lists_in(initial)
        self._stand: dict[Path, tuple[Any, dict[str, Any]]] = {}  # for those of before, and what they hold

    def enter(self, state: State) -> None:
        """A run of a loop's body begins with this state."""
        if self.before:
            found = _lists_in(state)
            self._stand = {
                path: (found[path], attributes(found[path])) for path in self.before.keys() & found.keys()
            }

    def changed(self) -> list[Path]:
        """Where the run has changed a list in place that it began with."""
        return [path for path, (value, kept) in self._stand.items() if not _holds(value, kept)]

    def given(self, results: Sequence[Any]) -> dict[Path, Any]:
        """The lists in the results of a run; one of before is the one that it was."""
        one = {
            id(value): self.before[path] for path, (value, kept) in self._stand.items() if _holds(value, kept)
        }
        return {path: one.get(id(value), value) for path, value in _lists_in(results).items()}

    def settled(self, results: Sequence[Any], runs: Sequence[BranchResult]) -> dict[Path, Any]:
        """The lists in the results after the block, of which is one what is one in every run."""
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
    """The lists of a backend in values, other than copies that nobody else knows."""
    found = references(values)
    return {path: value for path, value in found if isinstance(value, MutableValue) and not value.is_own}


def _holds(value: Any, kept: dict[str, Any]) -> bool:
    now = attributes(value)
    return now.keys() == kept.keys() and all(same(part, kept[name]) for name, part in now.items())
