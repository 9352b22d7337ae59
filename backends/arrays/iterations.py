"""Run the traced body of a loop on what the library carries: arrays of the state, and the code of the checks.

carry = [total, last, whether last is bound, code]  ⇒  the same after one iteration
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agc.autograph.staging import Maybe, Undefined

from . import failures
from .agreement import converted, defined_alike
from .blocks import Block
from .failures import code, library
from .growing_lists import grown, items_of
from .leaves import Slot, flatten, is_carried, type_of
from .loop_state import LoopState


class Iterations:
    """A loop whose state is settled."""

    def __init__(self, loop: LoopState, step: Block) -> None:
        self._loop, self._step = loop, step
        self._around = failures.current().is_fine()

    def start(self) -> list[Any]:
        slot = self._step.code
        return [*self._loop.arrays(), *([] if slot is None else [converted(code(0), slot.type)])]

    def state_in(self, carry: Sequence[Any]) -> list[Any]:
        return list(carry[:-1]) if self._step.has_code else list(carry)

    def is_fine(self, carry: Sequence[Any]) -> Any:
        """Return a traced bool, whether no check has failed in the loop or before it; True if there is none."""
        codes = [carry[-1] == 0] if self._step.has_code else []
        codes += [] if self._around is None else [self._around]
        return True if not codes else codes[0] if len(codes) == 1 else library().logical_and(*codes)

    def advanced(self, carry: Sequence[Any]) -> list[Any]:
        """Return the carry after an iteration of a `while`."""
        return self.iterated(carry, [])[0]

    def iterated(self, carry: Sequence[Any], item: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return the carry after an iteration, and the leaves of the items that lists have got."""
        found = self._step.run([*item, *self.state_in(carry)])
        codes = [found[-1]] if self._step.has_code else []
        if self._step.results is None:
            return [*self.state_in(carry), *codes], []
        arrays: list[Any] = []
        appended: list[Any] = []
        for number, result in enumerate(self._step.results):
            if number in self._loop.grows:
                leaves = flatten(items_of(result))[0]
                appended += [_array(leaf, found) for leaf in leaves if is_carried(leaf)]
                continue
            arrays += self._converted(number, result, found)
        return [*arrays, *codes], appended

    def _converted(self, number: int, result: Any, found: Sequence[Any]) -> list[Any]:
        before = self._loop.values[number]
        _, after = defined_alike(self._loop.names[number], (before, result))
        pairs = zip(flatten(before)[0], flatten(after)[0], strict=True)
        return [converted(_array(leaf, found), type_of(old)) for old, leaf in pairs if is_carried(old)]

    def skipped(self, carry: Sequence[Any], item: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return what `iterated` does for an iteration that is skipped: the same carry, and blank items."""
        _, types = library().types_of_results(self.iterated, carry, item)
        return list(carry), [library().blank(type) for type in types]

    def finished(
        self, carry: Sequence[Any], stacked: Sequence[Any] = (), count: int = 0, always: bool = False
    ) -> tuple[Any, ...]:
        """Return the state after the loop; `always` says that there was an iteration, which has bound variables."""
        if self._step.has_code:
            failures.current().fail(carry[-1])
        values = self._loop.rebuilt(self.state_in(carry))
        rows = list(stacked)
        for number, value in enumerate(values):
            result: Any = None if self._step.results is None else self._step.results[number]
            if number in self._loop.grows:
                leaves, build = flatten(items_of(result))
                columns = [rows.pop(0) if is_carried(leaf) else leaf for leaf in leaves]
                values[number] = grown(self._loop.grows[number], build, columns, count)
            elif always and type(value) is Maybe and result is not None and not isinstance(result, Undefined):
                values[number] = value.value
        return tuple(values)


def _array(leaf: Any, found: Sequence[Any]) -> Any:
    return found[leaf.number] if isinstance(leaf, Slot) else library().as_array(leaf)
