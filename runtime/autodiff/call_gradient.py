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
from ..ir.builder import current, recorders
from ..ir.captured_tensors import lift_captured
from ..ir.clone import Substitution, clone_value
from ..ir.graph import Graph, Value
from ..ir.value_types import VariableType
from ..ops.framework.eager_calls import KeptAttributes
from ..ops.framework.op import eager_result, wrap
from ..ops.framework.region_ops import CALL
from ..ops.state.variable_ops import read_variable
from .clone_operations import copied, copied_graph, of
from .graph_vjp import GraphVjp, zeros_for
from .loop_invariants import is_repeatable, only_read
from .replay import Located, replayed
from .sparse_gradients import public, put_together
from .tape_records import Grads, Record, spec_carries_gradient

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
    arguments = [*given, *concrete.variables, *captured]
    tapes = recording_tapes(arguments)
    if not tapes:
        return concrete.run([argument._array for argument in given])
    known = concrete.ways.get(tuple(map(id, captured)))
    if known is None:
        if concrete.executor in _WHERE_POSSIBLE:
            compiled = compiled_by(concrete.executor, concrete.graph)
            compiled.demand([argument._array for argument in given] + concrete.references)
        known = concrete.ways[tuple(map(id, captured))] = _callables(concrete, captured)
    simple, pure = known
    if len(tapes) == 1 and not tapes[0][0].is_persistent:
        return concrete.packed(simple.called(arguments, tapes))
    if pure is None:
        return concrete.packed(Located([tape for tape, _ in tapes]).outputs(simple.graph, arguments))
    contents = [*given, *map(read_variable, concrete.variables), *captured]
    return concrete.packed(pure.called(contents, recording_tapes(contents)))


def _tracked_captures(concrete: CalledFunction) -> list[Any]:
    """Return the captured tensors that a tape tracks; most calls have none, so only sets of keys are compared."""
    keys = concrete.captured_keys
    found = frozenset().union(*(tape.tracked(keys) for tape in recorders())) if keys else keys  # type: ignore[attr-defined]
    return [x for x in concrete.captured_tensors if id(x) in found] if found else []


def recording_tapes(arguments: Sequence[Any]) -> list[tuple[Any, list[bool]]]:
    """Return the tapes that record operations on these arguments, each with the arguments that it wants."""
    wanted = [(tape, tape.wants(arguments)) for tape in recorders()]  # type: ignore[attr-defined]
    return [(tape, flags) for tape, flags in wanted if any(flags)]


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
        self.ways: dict[tuple[bool, ...], Ways] = {}  # by the inputs that need a gradient

    def called(self, arguments: Sequence[Any], tapes: Sequence[tuple[Any, list[bool]]]) -> list[Any]:
        """Call the graph and record the call on each of the `recording_tapes`; return the results."""
        wanted = tuple(map(any, zip(*[flags for _, flags in tapes], strict=True)))
        if wanted not in self.ways:
            self.ways[wanted] = Ways(self, wanted)
        ways = self.ways[wanted]
        outputs = ways.outputs(arguments)
        for tape, _ in tapes:
            tape.keep(CallRecord(ways, list(arguments), list(outputs)))
        return outputs[: len(self.graph.outputs)]


class Ways:
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
        self.kept: Any = CallAttributes({}, ()) if self._can_join(called.plan) else {}
        values = [*graph.inputs, *graph.outputs, *self.extra]
        positions = {value: i for i, value in enumerate(values) if isinstance(value, Value)}
        self.places = [positions[value] for value in self.saved]

    def _can_join(self, plan: Planner) -> bool:
        """Return whether the backward graph may become a part of another one, which runs when it would run."""
        is_default = plan is EXECUTORS["automatic"]
        return is_default and not any(operation.stateful for operation in self.backward_graph.walk())

    def outputs(self, arguments: Sequence[Any]) -> list[Any]:
        """Call the forward graph; return the results and the residuals that are no results."""
        found = self.forward(list(map(_value, arguments)))
        specs = [x.spec for x in (*self.called.graph.outputs, *self.extra)]
        return list(map(eager_result, found, specs))

    def gradients(self, arguments: Sequence[Any], outputs: Sequence[Any], dys: Sequence[Any]) -> list[Any]:
        """Return the tensors in the gradients of the arguments."""
        values = [*arguments, *outputs]
        given = [*dys, *[values[i] for i in self.places]]
        builder = current()
        if builder is not None:
            operands = list(map(builder.operand, given))
            graph = self.backward_graph
            found = builder.add(CALL, operands, {"name": graph.name}, self.specs, (graph,))
            return [wrap(value, builder) for value in found]
        if recorders():
            if not self.called.is_pure:
                return replayed(self.backward_graph, given)
            given_to_slope = [*arguments, *dys]
            tapes = recording_tapes(given_to_slope)
            if tapes:
                return self.slope.called(given_to_slope, tapes)
        results = self.backward(list(map(_value, given)))
        return list(map(eager_result, results, self.specs))

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


class CallAttributes(KeptAttributes):
    """The part of a call's record that identifies its backward graph, which a plan of a tape may contain."""

    __slots__ = ()


class CallRecord(Record):
    """A call of a graph. Its outputs are the results, and then the residuals that are no results."""

    __slots__ = ("ways",)

    def __init__(self, ways: Ways, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        super().__init__(None, inputs, ways.kept, outputs)
        self.ways = ways

    def on(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> CallRecord:
        return CallRecord(self.ways, inputs, outputs)

    @property
    def size(self) -> int:
        return 1 + len(self.ways.backward_graph.operations)

    @property
    def graph(self) -> Graph | None:
        """The graph, if it has no effects; to run it again reads variables with their current contents."""
        called = self.ways.called
        return called.graph if called.is_repeatable else None

    def back(self, grads: Grads, wanted: Sequence[bool]) -> Grads:
        """Return the gradients of the arguments."""
        outputs = self.ways.called.graph.outputs
        dys = [
            zeros_for(result) if grad is None else grad
            for grad, result, output in zip(grads, self.outputs, outputs, strict=False)  # residuals follow
            if spec_carries_gradient(output.spec)
        ]
        found = put_together(self.ways.gradients(self.inputs, self.outputs, dys), self.ways.sizes)
        return [grad if want else None for grad, want in zip(found, wanted, strict=True)]


def _value(argument: Any) -> Any:
    return argument if isinstance(argument, Variable) else argument._array
