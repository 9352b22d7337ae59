"""The state of a staged loop: what the library carries from iteration to iteration, and of which types.

    total = 0                        total: weak int32[]  ⇒  float32[]   the body adds floats: traced again
    for x in xs:                     ys: []               ⇒  grows       the body appends to it
        total += x                   last: unbound        ⇒  Maybe       bound in the loop
        ys.append(total)
        last = x

The body is traced on the types of the state before the loop. Where its results have other types, the state adapts, and
the body is traced again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.errors import StagingError
from agc.autograph.staging import UnescapedList
from agc.autograph.staging_errors import assigned, assigned_outside, staging_error

from .agreement import common, converted, defined_alike
from .blocks import Block, traced
from .failures import library
from .growing_lists import GrowingList, is_longer, lengths_differ, refusal
from .leaves import (
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
from .library import Type

_ATTEMPTS = 12


class LoopState:
    """The values before the loop, adapted until the body keeps their types."""

    def __init__(self, names: Sequence[str], values: Sequence[Any], may_grow: bool) -> None:
        self.names = list(names)
        self.values = list(values)
        self.may_grow = may_grow
        self.grows: dict[int, UnescapedList] = {}  # by the variable's number: the list before the loop

    def arrays(self) -> list[Any]:
        """Return what the loop carries before its first iteration."""
        return [
            converted(leaf, type_of(leaf))
            for value in self.values
            for leaf in flatten(value)[0]
            if is_carried(leaf)
        ]

    def types(self) -> list[Any]:
        return [type_of(leaf) for value in self.values for leaf in flatten(value)[0] if is_carried(leaf)]

    def rebuilt(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the values of the variables with these arrays."""
        new, values = iter(arrays), []
        for value in self.values:
            leaves, build = flatten(value)
            values.append(build([next(new) if is_carried(leaf) else leaf for leaf in leaves]))
        return [GrowingList() if number in self.grows else value for number, value in enumerate(values)]

    def place_of(self, number: int) -> int:
        """Return the place of a variable's only leaf among the arrays."""
        return sum(1 for value in self.values[:number] for leaf in flatten(value)[0] if is_carried(leaf))

    def settled(self, body: Callable[..., Any], item: Sequence[Any], block: Callable[..., Any]) -> Block:
        """Return the traced body; its arguments are the arrays of an item and of the state.

        `body(arrays, values)` runs an iteration; `block` is the user's function, for messages.
        """
        if not library().has_weak_arrays:
            self._adapt_to_numbers(body, item, block)
        for _ in range(_ATTEMPTS):
            found = traced(
                lambda *arrays: body(arrays[: len(item)], self.rebuilt(arrays[len(item) :])),
                [*item, *self.types()],
            )
            if found.results is None or not self._adapted(found.results, block):
                return found
        raise staging_error(
            "AGC206",
            f"the types of {', '.join(self.names)} do not converge, however often the loop body is traced",
            why="each iteration gives the state another type",
            fix="give the state its final dtypes and shapes before the loop",
        )

    def _adapt_to_numbers(
        self, body: Callable[..., Any], item: Sequence[Any], block: Callable[..., Any]
    ) -> None:
        """Trace the body with the Python numbers of the state, whose results have the dtypes that Python gives.

        total = 0; total += x   ⇒   the dtype of x, not that of an array made of 0
        """
        if not any(is_number(leaf) for value in self.values for leaf in flatten(value)[0]):
            return
        values = list(self.values)

        def iteration(*arrays: Any) -> Any:
            now = zip(self.rebuilt(arrays[len(item) :]), values, strict=True)
            return body(arrays[: len(item)], [old if is_number(old) else new for new, old in now])

        try:
            found = traced(iteration, [*item, *self.types()])
            if found.results is not None:
                self._adapted(found.results, block)
        except StagingError as error:
            if error.diagnostic.code == "AGC204":  # arrays in their place have the same wrong type
                raise
            self.values, self.grows = values, {}  # a number may have selected a branch in Python

    def _adapted(self, results: Sequence[Any], block: Callable[..., Any]) -> bool:
        """Adapt the values to the results of an iteration; return whether that changed anything."""
        changed = False
        for number, (name, before, after) in enumerate(zip(self.names, self.values, results, strict=True)):
            if number in self.grows:
                continue
            if self.may_grow and is_longer(after, before):
                self.grows[number] = before
                self.values[number] = UnescapedList()
                changed = True
                continue
            value, differs = _adapted(name, before, after, block)
            self.values[number] = value
            changed = changed or differs
        return changed


def _adapted(name: str, before: Any, after: Any, block: Callable[..., Any]) -> tuple[Any, bool]:
    """Return the value before the loop in the type of the loop, and whether it changed."""
    start, result = defined_alike(name, (before, after))
    if structure(start) != structure(result):
        if lengths_differ((start, result)):
            raise refusal(f"the loop changes the length of the list `{name}`")
        raise staging_error(
            "AGC205",
            f"the loop changes the structure of `{name}`",
            why="the structure of a variable is the same before the loop and after each iteration",
            fix=f"give `{name}` its final structure before the loop",
            label="the number of iterations is known when the program runs",
            notes=[assigned_outside(name, shown(before)), assigned(block, name, shown(after))],
        )
    leaves, build = flatten(start)
    paths = [path for path, _ in flatten_named(name, start)]
    news = [
        _leaf(path, one, other, block)
        for path, one, other in zip(paths, leaves, flatten(result)[0], strict=True)
    ]
    differs = start is not before or any(new is not leaf for new, leaf in zip(news, leaves, strict=True))
    return build(news), differs


def _leaf(path: str, before: Any, after: Any, block: Callable[..., Any]) -> Any:
    """Return the leaf before the loop in a type that fits the leaf after an iteration, too."""
    if not is_carried(before) and is_same(before, after):
        return before
    if not is_carried(before) or not is_carried(after):
        raise staging_error(
            "AGC203",
            f"the loop changes `{path}` from {described(before)} to {described(after)}, "
            f"which {library().name} cannot carry",
            why="a variable that the loop changes is an array, or a structure of arrays",
            fix=f"give `{path}` an array before the loop and in each iteration",
            notes=_notes(path, before, after, block),
        )
    both = common([before, after])
    own = type_of(before)
    if both is None or (both != own._replace(varies=both.varies) and not own.is_weak):
        raise staging_error(
            "AGC204",
            f"the loop changes the type of `{path}` from {described(before)} to {described(after)}",
            why="a variable has one dtype and one shape before the loop and after each iteration",
            fix=_advice(path, own, after),
            label="the number of iterations is known when the program runs",
            notes=_notes(path, before, after, block),
        )
    return before if both == own else converted(before, both)


def _notes(path: str, before: Any, after: Any, block: Callable[..., Any]) -> list[Any]:
    return [assigned_outside(path, described(before)), assigned(block, path, described(after))]


def _advice(path: str, own: Type, after: Any) -> str:
    wanted = type_of(after)
    if own.shape != wanted.shape:
        return (
            f"give `{path}` the shape {list(wanted.shape)} before the loop, or keep {list(own.shape)} in it"
        )
    start, keep = map(library().dtype_name, (wanted.dtype, own.dtype))
    return f"start with {start}, or convert in the loop: `{library().conversion_to(keep)}`"
