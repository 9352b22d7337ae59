"""What cannot be carried, and how that is said.

error[AGC291]: `self.log` changes from 0 to 1 items in a block that the graph runs
  --> train.py:12, in fit
 12 |     while i < n:
 14 |         if len(self.log) < 3:       `log` is used here
why: ...
fix: ..."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from types import CodeType, FrameType, FunctionType
from typing import Any

from ..analyses import effects
from ..errors import Diagnostic, Note, StagingError, Where
from ..stack.sites import running
from .containers import Buffer
from .places import Attribute, Item, Place
from .records import Reshaped, Spot

_WHY = (
    "a block of the graph is traced once: a change that is not carried as a tensor would happen once as well"
)


class Reach:
    """The code that a block's changes are seen by: what the block calls, and the function around it."""

    def __init__(self, frames: Sequence[FrameType]) -> None:
        self.around = [(frame.f_code, frame.f_lasti) for frame in frames]
        self._frames = frames
        self.codes: list[CodeType] = []
        self.blocks: set[CodeType] = set()  # the block's own functions

    def only_grows(self, change: Reshaped) -> bool:
        """Whether a container has grown, and no code within reach does anything but put things into it."""
        return change.has_grown and not any(True for _ in self.uses(self.labels(change)))

    def labels(self, change: Reshaped) -> set[str]:
        """The names of a container, also those of the variables around that hold it, or something that it is in."""
        found = set(change.record.labels)
        for frame in self._frames:
            found.update(name for name, value in frame.f_locals.items() if _holds(value, change.record.owner))
        return found

    def uses(self, labels: set[str]) -> Iterator[Where]:
        """The lines that read a container, or change it other than by putting something into it."""
        for label in sorted(labels):
            for code in self.codes:
                for mention in effects.mentions(code, label):
                    if not mention.appends:
                        yield Where(code.co_filename, mention.line, function=code.co_name)
            for code, position in self.around:
                for mention in effects.mentions(code, label):
                    if not mention.appends and effects.comes_after(code, mention, position):
                        yield Where(code.co_filename, mention.line, function=code.co_name)

    def asks_for(self, place: Place) -> bool:
        """Whether code may ask if a place has a value, other than by using it."""
        if _has_defaults(place):
            return True
        if isinstance(place, Attribute) or getattr(place, "kind", "") == ".":
            return any(effects.facts(code).reflects for code in self.codes)
        label = _container(place)
        return label != "" and any(
            not mention.indexes for code in self.codes for mention in effects.mentions(code, label)
        )

    def changes_later(self, name: str) -> bool:
        """Whether the function goes on to change what a variable or attribute holds, or has a function do so."""
        return any(
            (mention.alters or (not mention.indexes and _is_handed_on(mention, frame)))
            and effects.comes_after(code, mention, position)
            for frame, (code, position) in zip(self._frames, self.around, strict=True)
            for mention in effects.mentions(code, name.rpartition(".")[2])
        )

    def target(self) -> str:
        """The variable that gets the value of the expression which the innermost function is at; "" for none."""
        return effects.stored_after(*self.around[0]) if self.around else ""

    def variables_later(self, container: Any, replaced: Set[str]) -> Iterator[dict[str, Any]]:
        """The variables of each function around, without names of the container that it does not use again.

        The block binds the variables `replaced` to something else.
        """
        for frame, (code, position) in zip(self._frames, self.around, strict=True):
            yield {
                name: value
                for name, value in frame.f_locals.items()
                if value is not container
                or (name not in replaced and self._is_used_later(name, code, position))
            }

    def uses_name_later(self, name: str) -> bool:
        """Whether a function around goes on to use a variable or attribute."""
        last = name.rpartition(".")[2]
        return any(self._is_used_later(last, code, position) for code, position in self.around)

    def _is_used_later(self, name: str, code: CodeType, position: int) -> bool:
        return any(
            mention.code not in self.blocks and effects.comes_after(code, mention, position)
            for mention in effects.mentions(code, name)
        )

    def uses_later(self, place: Place) -> bool:
        """Whether the function goes on to use a place."""
        if _has_defaults(place):
            return True
        is_attribute = isinstance(place, Attribute) or getattr(place, "kind", "") == "."
        label = _attribute(place) if is_attribute else _container(place)
        return any(
            effects.comes_after(code, mention, position) or (is_attribute and effects.facts(code).reflects)
            for code, position in self.around
            for mention in effects.mentions(code, label)
            if not mention.assigns
        )


def _is_handed_on(mention: effects.Mention, frame: FrameType) -> bool:
    """Whether a function beside the mention changes what it is given."""
    named = (frame.f_locals.get(name, frame.f_globals.get(name)) for name in effects.named_beside(mention))
    return any(isinstance(f, FunctionType) and effects.alters_parameters(f.__code__) for f in named)


def _holds(value: Any, sought: Any, depth: int = 2) -> bool:
    """Whether a value is the object, or a list, tuple or dict with it inside."""
    if value is sought:
        return True
    if not depth or type(value) not in (list, tuple, dict):
        return False
    return any(_holds(item, sought, depth - 1) for item in (value.values() if type(value) is dict else value))


def _container(place: Any) -> str:
    """The name of the container that an item is in; empty if the place is none."""
    return str(place.label) if isinstance(place, Item) or getattr(place, "kind", "") == "[" else ""


def _has_defaults(place: Any) -> bool:
    """Whether a place without a value reads as something else: in a defaultdict."""
    container = getattr(place, "base", None) if isinstance(place, Item) else getattr(place, "owner", None)
    return isinstance(container, dict) and hasattr(type(container), "__missing__")


def _attribute(place: Any) -> str:
    return str(place.key if isinstance(place, Attribute) else place.trail.key)


def refused(change: Reshaped, reach: Reach) -> StagingError:
    """A container that gets another structure, or an iterator that moves on."""
    name = change.record.trail
    places = list(dict.fromkeys(reach.uses(reach.labels(change))))[:4]
    label = change.record.trail.label
    return _refusal(
        f"`{name}` {change.what} in a block that the graph runs",
        notes=tuple(Note(where, f"`{label}` is used here") for where in places),
        why=_WHY,
        fix=_fix(change),
    )


def _fix(change: Reshaped) -> str:
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


def hidden(spot: Spot, what: str) -> StagingError:
    """An operand with an effect."""
    return _refusal(
        f"{what} changes `{spot.name}`, and the graph decides whether it is evaluated",
        why="an operand in a graph gives a value and nothing else",
        fix="write it as an `if` statement, or make the call before",
    )


def presence(place: Place, was_there: bool) -> StagingError:
    """A place that has its first value in a block, or loses its value there, and code that asks whether it has one."""
    if was_there:
        return _refusal(
            f"`{place.name}` is removed on one way through a block of the graph, and may still be there",
            why="whether it is there is known when the graph runs, but code asks for that while it is traced",
            fix=f"remove `{place.name}` on every way, or before the block; or let it stay and get another value",
        )
    return _refusal(
        f"`{place.name}` gets its first value in a block that the graph runs, and may have none",
        why="whether it is there is known when the graph runs, but code asks for that while it is traced",
        fix=f"give `{place.name}` a value before",
    )


def rebound(name: str) -> StagingError:
    """A list, dict or dataclass that is changed in place, while its variable gets another value."""
    return _refusal(
        f"`{name}` is changed in place, and bound to something else, in a block that the graph runs",
        why="a graph carries the items of a list or dict and the fields of a dataclass; "
        "it cannot tell which object a variable means",
        fix=f"change a copy of `{name}`, or bind it to another object before the block",
    )


def only_once(spot: Spot) -> StagingError:
    """A place that changes in the first trace, and then never again."""
    return _refusal(
        f"`{spot.name}` changes when a block is traced the first time, and not again",
        why="what a cache or a function with a graph of its own does once cannot be repeated by this graph",
        fix=f"do what changes `{spot.name}` before the block",
    )


def unsettled(names: Sequence[str]) -> StagingError:
    """A block that changes something else in each trace."""
    return _refusal(
        f"this block changes something else whenever it is traced: {', '.join(names[-3:])}",
        why=_WHY,
        fix="let the block assign variables, and change objects after it",
    )
