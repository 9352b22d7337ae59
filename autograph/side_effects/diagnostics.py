"""Diagnostics for side effects that cannot be carried.

error[AGC291]: `self.log` changes from 0 to 1 items in a block that the graph runs
  --> train.py:12, in fit
 12 |     while i < n:
 14 |         if len(self.log) < 3:       `log` is used here
why: ...
fix: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import Diagnostic, Note, StagingError, Where
from ..introspection.source_sites import running
from .container_snapshots import Buffer
from .snapshots import MutatedLocation, StructuralChange

if TYPE_CHECKING:
    from .later_uses import LaterUses
    from .locations import Location

_WHY = (
    "a block of the graph is traced once: a change that is not carried as a tensor would happen once as well"
)
_WHICH = (
    "a graph carries the items of a list or dict and the fields of a dataclass; "
    "it cannot tell which object a variable means"
)


def refused(change: StructuralChange, reach: LaterUses) -> StagingError:
    """Return the error for a container that changes its structure, or an iterator that is consumed."""
    name = change.record.trail
    places = list(dict.fromkeys(reach.uses(reach.labels(change))))[:4]
    label = change.record.trail.label
    return _refusal(
        f"`{name}` {change.what} in a block that the graph runs",
        notes=tuple(Note(where, f"`{label}` is used here") for where in places),
        why=_WHY,
        fix=_fix(change),
    )


def _fix(change: StructuralChange) -> str:
    if isinstance(change.record, Buffer):
        return "use a tensor, and let the block assign it anew, or a tf.Variable"
    if change.what == "is consumed":
        return "take the items before the block, or loop over a tensor of them"
    return (
        "collect tensors in a tf.TensorArray that the block assigns, or in a list made in the function; "
        "what is only appended to outside of it, and not read, is filled once while tracing"
    )


def _refusal(title: str, why: str, fix: str, notes: tuple[Note, ...] = ()) -> StagingError:
    return StagingError(Diagnostic("AGC291", title, running(), notes=notes, why=why, fix=fix))


def hidden(spot: MutatedLocation, what: str) -> StagingError:
    """Return the error for an operand with a side effect."""
    return _refusal(
        f"{what} changes `{spot.name}`, and the graph decides whether it is evaluated",
        why="an operand in a graph gives a value and nothing else",
        fix="write it as an `if` statement, or make the call before",
    )


def presence(place: Location, was_there: bool) -> StagingError:
    """Return the error for code that tests for a value which a block may add or remove.

    The location `place` gets its first value in the block, or loses its value there.
    """
    if was_there:
        what = f"`{place.name}` is removed on one way through a block of the graph, and may still be there"
        fix = f"remove `{place.name}` on every way, or before the block; or let it stay and get another value"
    else:
        what = f"`{place.name}` gets its first value in a block that the graph runs, and may have none"
        fix = f"give `{place.name}` a value before"
    why = "whether it is there is known when the graph runs, but code asks for that while it is traced"
    return _refusal(what, why=why, fix=fix)


def _shown(name: str) -> str:
    """Return the quoted name of a variable or location; the result of an expression has no name."""
    return f"`{name}`" if name else "what this expression gives"


def rebound(name: str, changes: Sequence[Where] = ()) -> StagingError:
    """Return the error for a list, dict or dataclass that is mutated in place while its variable is rebound."""
    return _refusal(
        f"{_shown(name)} is changed in place, and bound to something else, in a block that the graph runs",
        notes=_changed(changes),
        why=_WHICH,
        fix=f"change a copy of {_shown(name)}, or bind it to another object before the block",
    )


def parted(names: Sequence[str], changes: Sequence[Where]) -> StagingError:
    """Return the error for two variables that are one object on one path through a block, and two on another."""
    one, other = names
    both = f"{_shown(one)} and {_shown(other)} are" if one != other else f"two parts of {_shown(one)} are"
    return _refusal(
        f"{both} one object on one way through a block that the graph runs, and two on another, and changed later",
        notes=_changed(changes),
        why=_WHICH,
        fix="make them one object on every way, or two; or change a copy",
    )


def _changed(places: Sequence[Where]) -> tuple[Note, ...]:
    """Return notes for the lines that seem to mutate an object in question."""
    return tuple(Note(where, "changed here") for where in list(dict.fromkeys(places))[:4])


def compared(name: str) -> StagingError:
    """Return the error for an identity comparison of an object that the graph selects.

    The graph selects it in a conditional, or each iteration of a loop replaces it.
    """
    return _refusal(
        f"which object `{name}` is gets decided in a block that the graph runs, and is asked for with `is`",
        why=_WHICH,
        fix=f"ask before `{name}` is bound in the block, or keep a flag beside it",
    )


def unlike(name: str, what: str) -> StagingError:
    """Return the error for objects that differ in something that a graph does not carry."""
    return _refusal(
        f"the objects that a block of the graph gives {_shown(name)} differ in `{what}`",
        why="a graph carries the items of a list or dict and the fields of a dataclass, and nothing else of them",
        fix=f"make `{what}` the same on every way, or a field or an item",
    )


def only_once(spot: MutatedLocation) -> StagingError:
    """Return the error for a location that changes in the first trace only."""
    return _refusal(
        f"`{spot.name}` changes when a block is traced the first time, and not again",
        why="what a cache or a function with a graph of its own does once cannot be repeated by this graph",
        fix=f"do what changes `{spot.name}` before the block",
    )


def unsettled(names: Sequence[str]) -> StagingError:
    """Return the error for a block that mutates something else in each trace."""
    return _refusal(
        f"this block changes something else whenever it is traced: {', '.join(names[-3:])}",
        why=_WHY,
        fix="let the block assign variables, and change objects after it",
    )


def circles(name: str) -> StagingError:
    """Return the error for a new object that contains itself."""
    return _refusal(
        f"{_shown(name)} contains itself, and is made in a block that the graph runs",
        why="a graph carries an object by what is in it, and there is no end to that",
        fix=f"make {_shown(name)} before the block, and let the block change what is in it",
    )


def ambiguous(name: str, what: str) -> StagingError:
    """Return the error for an operation that a select proxy does not support."""
    return _refusal(
        f"the objects of which {_shown(name)} is one {what}",
        why="the graph decides which object is meant: it chooses between the values that all of them hold",
        fix="give all of them the same items and attributes before, or name each where it is used, in an `if`",
    )
