"""Calls of functions while a tape of eager code records.

One tape: the forward graph runs, which gives also what it saves, and the tape records the call. Its way back is the
backward graph. Both are planned once for each function, and for what is asked of it.

Several tapes, or a persistent one, may want derivatives of derivatives: then the operations of the graph run one by
one, and each tape records what it wants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import leaves
from ..execute import EXECUTORS, Runner
from ..ir.builder import recorders
from ..ir.graph import Graph, Value
from ..ir.specs import AnySpec
from ..variable import Variable
from .records import Grads, Pullback, spec_carries_gradient
from .replay import replayed
from .reversal import Reversal, zeros_for
from .slices import public, put_together

if TYPE_CHECKING:
    from ..tracing.concrete import ConcreteFunction


def recorded(concrete: ConcreteFunction, inputs: Sequence[Any]) -> Any:
    """The results of a call that the tapes record."""
    arguments = [*map(leaves.carried, inputs), *concrete.variables]
    tapes: list[Any] = [tape for tape in recorders() if any(tape.wants(arguments))]  # type: ignore[attr-defined]
    if not tapes:
        return concrete.run([argument._array for argument in arguments[: len(inputs)]])
    if len(tapes) > 1 or tapes[0].is_persistent:
        return concrete.packed(replayed(concrete.graph, arguments))
    call = _Call(_ways(concrete, tuple(tapes[0].wants(arguments))), arguments)
    results = call.forward()
    tapes[0].keep(Pullback(arguments, results, call.back))
    return concrete.packed(results)


class _Ways(NamedTuple):
    """A graph that is differentiated, and both ways planned."""

    graph: Graph
    forward: Runner
    backward_graph: Graph
    backward: Runner
    saved: list[Value]  # what the backward graph reads of the forward one
    extra: list[Value]  # those that the forward graph gives in addition to its results
    sizes: list[int]  # of how many tensors the gradient of each input consists
    specs: list[AnySpec]  # of the gradients


def _ways(concrete: ConcreteFunction, wanted: tuple[bool, ...]) -> _Ways:
    """Both ways for these inputs; made at the first call."""
    known: dict[Any, _Ways] = concrete.ways
    if wanted not in known:
        known[wanted] = _differentiated(concrete.graph, wanted, EXECUTORS[concrete.executor])
    return known[wanted]


def _differentiated(graph: Graph, wanted: Sequence[bool], plan: Callable[[Graph], Runner]) -> _Ways:
    given = [spec_carries_gradient(output.spec) for output in graph.outputs]
    reversal = Reversal(graph, given, wanted, lambda grad, _: public(grad))
    outputs = reversal.outputs(reversal.has_gradient)
    saved = reversal.saved()
    own = {*graph.inputs, *graph.outputs}
    extra = [value for value in saved if value not in own]
    forward, back = reversal.forward_graph(extra), reversal.back
    backward = Graph(back.name, tuple(back.inputs), tuple(back.operations), tuple(outputs))
    specs = [output.spec for output in outputs]
    return _Ways(graph, plan(forward), backward, plan(backward), saved, extra, reversal.sizes, specs)


class _Call:
    """One call, between its way there and its way back."""

    def __init__(self, ways: _Ways, arguments: list[Any]) -> None:
        self.ways = ways
        self.arguments = arguments
        self.results: list[Any] = []
        self.saved: list[Any] = []

    def forward(self) -> list[Any]:
        """The results; what is saved stays here."""
        graph = self.ways.graph
        given = self.ways.forward(list(map(_value, self.arguments)))
        count = len(graph.outputs)
        self.results = [_eager(x, out.spec) for x, out in zip(given[:count], graph.outputs, strict=True)]
        known = dict(zip(graph.inputs, self.arguments, strict=True))
        known |= {
            out: x for out, x in zip(graph.outputs, self.results, strict=True) if isinstance(out, Value)
        }
        known |= {v: _eager(x, v.spec) for v, x in zip(self.ways.extra, given[count:], strict=True)}
        self.saved = [known[value] for value in self.ways.saved]
        return self.results

    def back(self, grads: Grads, wanted: Sequence[bool]) -> Grads:
        """The gradients of the arguments."""
        ways = self.ways
        dys = [
            zeros_for(result) if grad is None else grad
            for grad, result, output in zip(grads, self.results, ways.graph.outputs, strict=True)
            if spec_carries_gradient(output.spec)
        ]
        arguments = [*dys, *self.saved]
        if recorders():
            found = replayed(ways.backward_graph, arguments)
        else:
            results = ways.backward(list(map(_value, arguments)))
            found = [_eager(x, spec) for x, spec in zip(results, ways.specs, strict=True)]
        return put_together(found, ways.sizes)


def _value(argument: Any) -> Any:
    return argument if isinstance(argument, Variable) else argument._array


def _eager(result: Any, spec: AnySpec) -> Any:
    from ..tracing.results import eager

    return eager(result, spec)
