"""Diagnostics for side effects that cannot be carried.

error[AGC291]: `self.log` changes from 0 to 1 items in a block that the graph runs
  --> train.py:12, in fit
 12 |     while i < n:
 14 |         if len(self.log) < 3:       `log` is used here
why: ...
fix: ...
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import Diagnostic, Note, StagingError, Where
from ..introspection.source_sites import running
from .container_snapshots import BufferSnapshot
from .snapshots import MutatedLocation, StructuralChange

if TYPE_CHECKING:
    from .later_uses import LaterUses
    from .locations import Location

_WHY = (
    "the block is traced once: a change that the graph does not carry as a tensor would happen only once, too"
)
_WHICH = (
    "a graph carries the items of a list or dict and the fields of a dataclass; "
    "it cannot tell which object a variable means"
)


def refused(change: StructuralChange, later_uses: LaterUses) -> StagingError:
    """Return the error for a container that changes its structure, or an iterator that is consumed."""
    name = change.record.path
    labels = later_uses.labels(change)
    uses = [where for where in dict.fromkeys(later_uses.uses(labels)) if _is_named_at(where, labels)]
    label = change.record.path.label
    return _refusal(
        f"`{name}` {change.what} in a block that the graph runs",
        notes=tuple(Note(where, f"`{label}` is used here") for where in sorted(uses)[:4]),
        why=_WHY,
        fix=_fix(change),
    )


def _is_named_at(where: Where, labels: set[str]) -> bool:
    """Return whether a line has one of the names. Generated code passes variables at lines without them."""
    return not labels.isdisjoint(re.findall(r"\w+", where.text() or ""))


def _fix(change: StructuralChange) -> str:
    if isinstance(change.record, BufferSnapshot):
        return "use a tensor that the block assigns, or a tf.Variable"
    if change.what == "is consumed":
        return "take the items before the block, or loop over a tensor of them"
    return (
        "collect tensors in a tf.TensorArray that the block assigns, or in a list that the function makes and that "
        "has one name; an outer list that is appended to and not read is filled once, while tracing"
    )


def _refusal(title: str, why: str, fix: str, notes: tuple[Note, ...] = ()) -> StagingError:
    return StagingError(Diagnostic("AGC291", title, running(), notes=notes, why=why, fix=fix))


def hidden(name: str, what: str) -> StagingError:
    """Return the error for an operand with a side effect on the variable or location `name`."""
    return _refusal(
        f"{what} changes `{name}`, and the graph decides whether it is evaluated",
        why="an operand in a graph computes a value and has no side effects",
        fix="write it as an `if` statement, or make the call before",
    )


def presence(location: Location, was_there: bool) -> StagingError:
    """Return the error for code that tests for a value which a block may add or remove.

    The location `location` gets its first value in the block, or loses its value there.
    """
    if was_there:
        what = f"`{location.name}` is deleted on one path through a block of the graph only"
        fix = f"delete `{location.name}` on every path, or before the block; or assign another value instead"
    else:
        what = f"`{location.name}` gets its first value in a block that the graph runs, and may remain unset"
        fix = f"assign `{location.name}` before the block"
    why = "whether it exists is known when the graph runs, but code tests that while it is traced"
    return _refusal(what, why=why, fix=fix)


def _shown(name: str) -> str:
    """Return the quoted name of a variable or location; the result of an expression has no name."""
    return f"`{name}`" if name else "the value of this expression"


def rebound(name: str, changes: Sequence[Where] = ()) -> StagingError:
    """Return the error for a list, dict or dataclass that is mutated in place while its variable is rebound."""
    return _refusal(
        f"{_shown(name)} is changed in place, and bound to another object, in a block that the graph runs",
        notes=_changed(changes),
        why=_WHICH,
        fix=f"change a copy of {_shown(name)}, or bind it to another object before the block; "
        "or change each object by its own name, in an `if`",
    )


def parted(names: Sequence[str], changes: Sequence[Where]) -> StagingError:
    """Return the error for two variables that are one object on one path through a block, and two on another."""
    one, other = names
    both = f"{_shown(one)} and {_shown(other)} are" if one != other else f"two parts of {_shown(one)} are"
    return _refusal(
        f"{both} one object on one path through a block that the graph runs, two on another path, and changed later",
        notes=_changed(changes),
        why=_WHICH,
        fix="make them one object on every path, or two on every path; or change a copy",
    )


def _changed(uses: Sequence[Where]) -> tuple[Note, ...]:
    """Return notes for the lines that seem to mutate an object in question."""
    return tuple(Note(where, "changed here") for where in list(dict.fromkeys(uses))[:4])


def compared(name: str) -> StagingError:
    """Return the error for an identity comparison of an object that the graph selects.

    The graph selects it in a conditional, or each iteration of a loop replaces it.
    """
    return _refusal(
        f"which object `{name}` is depends on a block that the graph runs, but `is` tests it while the code is traced",
        why=_WHICH,
        fix=f"test before the block binds `{name}`, or keep a separate flag",
    )


def unlike(name: str, what: str) -> StagingError:
    """Return the error for objects that differ in something that a graph does not carry."""
    return _refusal(
        f"the objects that a block of the graph binds to {_shown(name)} differ in `{what}`",
        why="a graph carries the items of a list or dict and the fields of a dataclass, and nothing else of them",
        fix=f"make `{what}` the same on every path, or store it as a field or an item",
    )


def only_once(mutation: MutatedLocation) -> StagingError:
    """Return the error for a location that changes in the first trace only."""
    return _refusal(
        f"`{mutation.name}` changes when a block is traced for the first time, and not in the next trace",
        why="this graph cannot repeat what a cache or another traced function does only once",
        fix=f"make the call that changes `{mutation.name}` before the block",
    )


def unsettled(names: Sequence[str]) -> StagingError:
    """Return the error for a block that mutates something else in each trace."""
    return _refusal(
        f"each trace of this block changes other objects: {', '.join(names[-3:])}",
        why=_WHY,
        fix="take keys from Python numbers, as of `for i in range(5)`: the text of a traced tensor is not its value"
        if any("Tensor(" in name for name in names)
        else "let the block assign variables, and change objects after it",
    )


def circles(name: str) -> StagingError:
    """Return the error for an object that contains itself, in a variable that a block binds."""
    return _refusal(
        f"{_shown(name)} contains itself, and is bound in a block that the graph runs",
        why="a graph carries an object as its contents, which never end here",
        fix=f"bind {_shown(name)} before the block, and let the block change its contents",
    )
