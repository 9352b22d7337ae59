"""The runtime's AutoGraph backend, which stages control flow on traced tensors.

While a graph is being built, control flow that depends on a tensor becomes `cond` and `while` operations of
that graph. Outside of graphs tensors are ordinary values and Python runs unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agc.autograph import staging

from .control_flow import conditional, regions, state_leaves
from .control_flow.tensor_list import TensorList
from .core.export import export
from .core.symbolic_tensor import SymbolicTensor
from .core.tensor import Tensor
from .core.tensor_array import TensorArray
from .core.variable import Variable
from .ir.builder import current
from .ops.framework.region_ops import COND
from .ops.math import comparison
from .python_semantics.indexed_iterables import IndexedItems, passing, rows_of
from .python_semantics.late_builtins import BUILTINS


class GraphBackend:
    """Stages on the runtime's values while a graph is being built; see `agc.autograph.staging.Backend`."""

    lasting: tuple[type, ...] = (Variable,)

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
        results: tuple[Any, ...] = conditional.trace_branches(
            COND, going, functions, names, blocks=(then, orelse)
        )
        return results

    def while_loop(
        self,
        test: Callable[..., Any],
        body: Callable[..., Any],
        state: tuple[Any, ...],
        names: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> tuple[Any, ...]:
        from .control_flow import loop_options  # imported for graphs with loops

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
        from .control_flow import loop_options
        from .control_flow import while_loop as loops

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
        return loop_options.recorded(loop, options)[1:]

    def logical(self, op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
        if isinstance(first, Variable):
            first = state_leaves.carried(first)
        if rest is None:
            return comparison.logical_not(regions.truth(first, op))
        going = regions.truth(first, op)
        decided = _decided(first, going)
        other = _decided_rest(rest, decided, op)
        functions = [other, lambda: (decided,)] if op == "and" else [lambda: (decided,), other]
        name = "both" if op == "and" else "either"
        return conditional.trace_branches(COND, going, functions, [name], is_logic=True)[0]

    def mentions(self, text: str) -> bool:
        builder = current()
        return builder is not None and bool(builder.shown.split(text)[1])

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        from .control_flow import failures  # imported for assertions on tensors

        failures.check(regions.truth(test, "assert"), message)

    def length(self, value: Any) -> int | None:
        from .python_semantics import pattern_matching  # imported for `match` on tensors

        return pattern_matching.length(value)

    def is_(self, value: Any, truth: bool) -> Any:
        from .python_semantics import pattern_matching

        return pattern_matching.is_truth(value, truth)

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        from .python_semantics import item_assignment  # imported for `x[i] = y`

        return item_assignment.with_item(target, key, value)


def _decided(first: Any, going: Any) -> Any:
    """Return the result of `and` and `or` if the first operand decides: the operand itself."""
    return state_leaves.carried(first) if state_leaves.is_carried(first) else going


def _decided_rest(rest: Callable[[], Any], decided: Any, op: str) -> Callable[[], tuple[Any]]:
    def evaluated() -> tuple[Any]:
        value = rest()
        if isinstance(value, Variable):
            value = state_leaves.carried(value)
        if decided.dtype.is_bool and isinstance(value, Tensor) and value.shape.rank != 0:
            value = regions.truth(value, op)
        return (value,)

    return evaluated


BACKEND = export("BACKEND")(GraphBackend())
staging.register(BACKEND, Tensor, Variable, TensorArray, TensorList, IndexedItems, always=False)


def register_variables(kind: type) -> None:
    """Stage on the instances of a class that wraps a variable as on variables."""
    staging.register(BACKEND, kind, always=False)
    BACKEND.lasting += (kind,)
