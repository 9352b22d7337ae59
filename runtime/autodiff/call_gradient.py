"""Calls of concrete functions while eager tapes record.

    y = f(x)               y, s = forward(x)           for the tape: one record with a VJP
    dx of dy     ==>       dx = backward(dy, s)        if no tape records the backward call
                           dx = slope(x, dy)           forward and backward as one function, if a tape does

The forward graph also returns its residuals. Each of these graphs is planned once for a function and the inputs that
need a gradient. Outer tapes, and persistent ones, may need derivatives of the backward call. That is a call of the
function `slope`, which has a VJP in turn. It computes f again. So a graph with effects (random numbers, assignments,
printing) runs operation by operation in this case, and each tape records the operations that it needs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..control_flow import state_leaves
from ..core.variable import Variable
from ..executors import EXECUTORS, Runner, compiled_by
from ..ir.builder import recorders
from ..ir.captured_tensors import lift_captured
from ..ir.clone import Substitution, clone_value
from ..ir.graph import Graph, Value
from ..ir.value_types import VariableType
from ..ops.framework.op import eager_result
from ..ops.state.variable_ops import read_variable
from .clone_operations import copied, copied_graph, of
from .graph_vjp import GraphVjp, zeros_for
from .inline_calls import CallRecord
from .loop_invariants import is_repeatable, only_read
from .replay import Located, replayed
from .sparse_gradients import public, put_together
from .tape_records import Grads, Pullback, spec_carries_gradient

Planner = Callable[[Graph], Runner]


class CalledFunction(Protocol):
    """The part of a concrete function that a recorded call uses."""

    graph: Graph
    executor: str
    references: list[Any]
    ways: dict[Any, Any]  # the callables of `_callables`, by the captured tensors

    @property
    def variables(self) -> Sequence[Any]: ...
    @property
    def captured_tensors(self) -> Sequence[Any]: ...
    @property
    def captured_keys(self) -> frozenset[int]: ...

    def run(self, arrays: Any) -> Any: ...
    def packed(self, outputs: Any) -> Any: ...


def recorded(concrete: CalledFunction, inputs: Sequence[Any]) -> Any:
    """Call `concrete` and record the call on the tapes; return the results."""
    given = list(map(state_leaves.carried, inputs))
    captured = _tracked_captures(concrete)
    tapes = recording_tapes([*given, *concrete.variables, *captured])
    if not tapes:
        return concrete.run([argument._array for argument in given])
    known = concrete.ways.get(tuple(map(id, captured)))
    if known is None:
        if concrete.executor in _WHERE_POSSIBLE:
            compiled = compiled_by(concrete.executor, concrete.graph)
            compiled.demand([argument._array for argument in given] + concrete.references)
        known = concrete.ways[tuple(map(id, captured))] = _callables(concrete, captured)
    simple, pure = known
    if len(tapes) == 1 and not tapes[0].is_persistent:
        return concrete.packed(simple.called([*given, *concrete.variables, *captured], tapes))
    if pure is None:
        return concrete.packed(Located(tapes).outputs(simple.graph, [*given, *concrete.variables, *captured]))
    return concrete.packed(pure.called([*given, *map(read_variable, concrete.variables), *captured], tapes))


def _tracked_captures(concrete: CalledFunction) -> list[Any]:
    """Return the captured tensors that a tape tracks; most calls have none, so only sets of keys are compared."""
    keys = concrete.captured_keys
    found = frozenset().union(*(tape.tracked(keys) for tape in recorders())) if keys else keys  # type: ignore[attr-defined]
    return [x for x in concrete.captured_tensors if id(x) in found] if found else []


def recording_tapes(arguments: Sequence[Any]) -> list[Any]:
    """Return the tapes that record operations on these arguments."""
    return [tape for tape in recorders() if any(tape.wants(arguments))]  # type: ignore[attr-defined]


def _callables(
    concrete: CalledFunction, captured: Sequence[Any]
) -> tuple[Differentiable, Differentiable | None]:
    """Return the graph with inputs for the tensors `captured`, and its form without references, if there is one."""
    plan = _WHERE_POSSIBLE.get(concrete.executor) or EXECUTORS[concrete.executor]
    graph = lift_captured(concrete.graph, captured) if captured else concrete.graph
    pure = of_contents(graph)
    return (
        Differentiable(graph, plan, is_repeatable=pure is not None),
        None if pure is None else Differentiable(pure, plan, is_pure=True),
    )


def _where_possible(executor: str, graph: Graph) -> Runner:
    """Return a runner of a forward or backward graph: compiled, or a plan if its operations cannot be compiled."""
    from ..executors.llvm import CompilationError

    runner: Runner = compiled_by(executor, graph).run
    plans: list[Runner] = []

    def run(arguments: Sequence[Any]) -> Sequence[Any]:
        if not plans:
            try:
                return runner(arguments)
            except CompilationError:
                plans.append(EXECUTORS["automatic"](graph))
        return plans[0](arguments)

    return run


_WHERE_POSSIBLE = {name: functools.partial(_where_possible, name) for name in ("native", "xla")}
"""By executor that refuses some graphs, the one that runs these as a plan."""


def of_contents(graph: Graph) -> Graph | None:
    """Return the graph with the contents of variables in place of references; None if it has other effects."""
    references = only_read([graph])
    if references != set(graph.variables):
        return None
    if not all(is_repeatable(operation, references) for operation in graph.operations):
        return None
    inputs = [
        clone_value(value, value.spec.content if isinstance(value.spec, VariableType) else None)
        for value in graph.inputs
    ]
    return copied_graph(graph, inputs)


class Differentiable:
    """A graph that is called while tapes record.

    A pure graph has no effects and reads no variables. A repeatable one has no effects, but may read variables.
    """

    def __init__(
        self, graph: Graph, plan: Planner, is_pure: bool = False, is_repeatable: bool = False
    ) -> None:
        self.graph, self.plan, self.is_pure = graph, plan, is_pure
        self.is_repeatable = is_pure or is_repeatable
        self.ways: dict[tuple[bool, ...], _Ways] = {}  # by the inputs that need a gradient

    def called(self, arguments: Sequence[Any], tapes: Sequence[Any]) -> list[Any]:
        """Call the graph and record the call on each of the tapes; return the results."""
        flags = [tape.wants(arguments) for tape in tapes]
        wanted = tuple(any(column) for column in zip(*flags, strict=True))
        if wanted not in self.ways:
            self.ways[wanted] = _Ways(self, wanted)
        call = _Call(self.ways[wanted], arguments)
        results = call.forward()
        for tape in tapes:
            if self.is_repeatable:
                tape.keep(CallRecord(self.graph, arguments, results, call.back))
            else:
                tape.keep(Pullback(arguments, results, call.back))
        return results


class _Ways:
    """The forward and the backward graph for some of a graph's inputs, both planned."""

    def __init__(self, called: Differentiable, wanted: Sequence[bool]) -> None:
        graph = called.graph
        given = [spec_carries_gradient(output.spec) for output in graph.outputs]
        reversal = GraphVjp(graph, given, wanted, lambda grad, _: public(grad))
        outputs = reversal.outputs(reversal.has_gradient)
        self.called = called
        self.saved = reversal.saved()  # the residuals
        own = {*graph.inputs, *graph.outputs}
        self.extra = [value for value in self.saved if value not in own]  # no inputs or results
        self.forward_graph, back = reversal.forward_graph(self.extra), reversal.back
        self.backward_graph = Graph(back.name, tuple(back.inputs), tuple(back.operations), tuple(outputs))
        self.forward, self.backward = called.plan(self.forward_graph), called.plan(self.backward_graph)
        self.sizes = reversal.sizes  # the number of tensors in the gradient of each input
        self.specs = [output.spec for output in outputs]

    @functools.cached_property
    def slope(self) -> Differentiable:
        """The gradients as a function of the inputs and of the cotangents of the results."""
        forward, backward = self.forward_graph, self.backward_graph
        inputs = list(map(clone_value, forward.inputs))
        count = len(backward.inputs) - len(self.saved)
        dys = [Value(value.name, value.spec) for value in backward.inputs[:count]]
        known: Substitution = dict(zip(forward.inputs, inputs, strict=True))
        operations = copied(forward.operations, known)
        inside: Substitution = dict(zip(backward.inputs[:count], dys, strict=True))
        inside |= {
            inner: of(value, known) for inner, value in zip(backward.inputs[count:], self.saved, strict=True)
        }
        operations += copied(backward.operations, inside)
        outputs = tuple(of(x, inside) for x in backward.outputs)
        graph = Graph(backward.name, (*inputs, *dys), tuple(operations), outputs)
        return Differentiable(graph, self.called.plan, is_pure=True)


class _Call:
    """One call, which keeps its residuals for the backward call."""

    def __init__(self, graphs: _Ways, arguments: Sequence[Any]) -> None:
        self.ways = graphs
        self.arguments = arguments
        self.results: list[Any] = []
        self.saved: list[Any] = []

    def forward(self) -> list[Any]:
        """Run the forward graph; return the results and keep the residuals."""
        graph = self.ways.called.graph
        given = self.ways.forward(list(map(_value, self.arguments)))
        count = len(graph.outputs)
        self.results = [
            eager_result(x, out.spec) for x, out in zip(given[:count], graph.outputs, strict=True)
        ]
        known = dict(zip(graph.inputs, self.arguments, strict=True))
        known |= {
            out: x for out, x in zip(graph.outputs, self.results, strict=True) if isinstance(out, Value)
        }
        known |= {v: eager_result(x, v.spec) for v, x in zip(self.ways.extra, given[count:], strict=True)}
        self.saved = [known[value] for value in self.ways.saved]
        return self.results

    def back(self, grads: Grads, wanted: Sequence[bool]) -> Grads:
        """Return the gradients of the arguments."""
        outputs = self.ways.called.graph.outputs
        dys = [
            zeros_for(result) if grad is None else grad
            for grad, result, output in zip(grads, self.results, outputs, strict=True)
            if spec_carries_gradient(output.spec)
        ]
        found = put_together(self._gradients(dys), self.ways.sizes)
        return [grad if want else None for grad, want in zip(found, wanted, strict=True)]

    def _gradients(self, dys: list[Any]) -> list[Any]:
        graphs = self.ways
        arguments = [*dys, *self.saved]
        if recorders():
            if not graphs.called.is_pure:
                return replayed(graphs.backward_graph, arguments)
            given = [*self.arguments, *dys]
            tapes = recording_tapes(given)
            if tapes:
                return graphs.slope.called(given, tapes)
        results = graphs.backward(list(map(_value, arguments)))
        return [eager_result(x, spec) for x, spec in zip(results, graphs.specs, strict=True)]


def _value(argument: Any) -> Any:
    return argument if isinstance(argument, Variable) else argument._array
