"""How this runtime plugs into AutoGraph: the backend for traced tensors.

While a graph is being built, control flow that a tensor decides on becomes `cond` and `while` operations of
that graph. Outside of graphs tensors are ordinary values and Python runs as it is.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Mapping
from typing import Any

from agc.autograph import staging

from . import leaves, printing
from .control import branches, loop_options, loops, raising, regions
from .ir.builder import current
from .language import items, matching
from .language.builtins import BUILTINS
from .language.rows import Rows, passing, rows_of
from .language.tensor_list import TensorList
from .ops import comparison
from .ops.structure import COND
from .tensor import SymbolicTensor, Tensor
from .tensor_array import TensorArray
from .variable import Variable


class GraphBackend:
    """Stages on the runtime's values while a graph is being built; see `agc.autograph.staging.Backend`."""

    lasting = (Variable,)

    @property
    def builtins(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        return BUILTINS

    def owns(self, value: Any) -> bool:
        if isinstance(value, (TensorArray, TensorList)):
            return current() is not None
        return isinstance(value, SymbolicTensor) or current() is not None

    def is_lost(self, value: Any) -> bool:
        builder = current()
        return builder is not None and isinstance(value, SymbolicTensor) and builder.is_out_of_reach(value)

    def cond(
        self,
        test: Any,
        then: Callable[..., Any],
        orelse: Callable[..., Any],
        state: tuple[Any, ...],
        names: tuple[str, ...],
    ) -> tuple[Any, ...]:
        going = regions.truth(test, "if")
        functions = [lambda: then(*state) or (), lambda: orelse(*state) or ()]
        results: tuple[Any, ...] = branches.choice(COND, going, functions, names, blocks=(then, orelse))
        return results

    def while_loop(
        self,
        test: Callable[..., Any],
        body: Callable[..., Any],
        state: tuple[Any, ...],
        names: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> tuple[Any, ...]:
        return loop_options.while_loop(test, body, state, names, options)

    def for_loop(
        self,
        items: Any,
        body: Callable[..., Any],
        state: tuple[Any, ...],
        names: tuple[str, ...],
        until: str | None,
        options: Mapping[str, Any],
    ) -> tuple[Any, ...]:
        rows = rows_of(items)
        rounds = loop_options.at_most(rows.count, options)
        stop = None if until is None else names.index(until)
        taken = passing(rows, body, names, self.cond)

        def going(index: Any, *now: Any) -> Any:
            more = comparison.less(index, rounds)
            if stop is None or now[stop] is False:
                return more
            return comparison.logical_and(more, comparison.logical_not(now[stop]))

        def step(index: Any, *now: Any) -> tuple[Any, ...]:
            return (index + 1, *(taken(rows.get(index), *now) or ()))

        step.__wrapped__ = body  # type: ignore[attr-defined]  # errors show the lines of the block itself
        shapes = loop_options.invariants((0, *state), options)
        every = loop_options.checkpoints(options)
        loop = loops.Loop(going, step, (0, *state), ("index", *names), shapes, None, every)
        return loop.record()[1:]

    def logical(self, op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
        if isinstance(first, Variable):
            first = leaves.carried(first)
        if rest is None:
            return comparison.logical_not(regions.truth(first, "not"))
        going = regions.truth(first, op)
        decided = _decided(first, going)
        other = _decided_rest(rest, decided, op)
        functions = [other, lambda: (decided,)] if op == "and" else [lambda: (decided,), other]
        name = "both" if op == "and" else "either"
        return branches.choice(COND, going, functions, [name], is_logic=True)[0]

    def mentions(self, text: str) -> bool:
        return printing.mentions(text)

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        raising.check(regions.truth(test, "assert"), message)

    def length(self, value: Any) -> int | None:
        return matching.length(value)

    def is_(self, value: Any, truth: bool) -> Any:
        return matching.is_truth(value, truth)

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        return items.with_item(target, key, value)


def _decided(first: Any, going: Any) -> Any:
    """What `and` and `or` give when the first operand decides: the operand itself."""
    return leaves.carried(first) if leaves.is_carried(first) else going


def _decided_rest(rest: Callable[[], Any], decided: Any, op: str) -> Callable[[], tuple[Any]]:
    def evaluated() -> tuple[Any]:
        value = rest()
        if isinstance(value, Variable):
            value = leaves.carried(value)
        if decided.dtype.is_bool and isinstance(value, Tensor) and value.shape.rank != 0:
            value = regions.truth(value, op)
        return (value,)

    return evaluated


BUILTINS[builtins.print] = printing.print_now
BUILTINS[operator.eq] = comparison.equal
BUILTINS[operator.ne] = comparison.not_equal

BACKEND = GraphBackend()
staging.register(BACKEND, Tensor, Variable, TensorArray, TensorList, Rows, always=False)
