"""Run graphs of nodes with the operations of agc, eagerly or while a function is traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....control_flow.tracing_context import init_scope
from ....core.tensor import EagerTensor
from ....errors import OpError
from .nodes import NodeGraph, OnnxNode
from .operators.registry import DRAWING, OPERATORS, OperatorCall

Values = dict[str, Any]


def run_graph(graph: NodeGraph, inputs: Sequence[Any], outer: Mapping[str, Any]) -> list[Any]:
    """Return the results of a graph; `outer` are the values of the graphs around it."""
    known: Values = {**outer, **{name: EagerTensor(value) for name, value in graph.constants.items()}}
    known.update(zip(graph.inputs, inputs, strict=True))
    return run_nodes(graph, known)


def run_nodes(graph: NodeGraph, known: Values) -> list[Any]:
    """Run the nodes of a graph, and enter their results in `known`."""
    for node in graph.nodes:
        results = _results(node, known)
        known.update((name, value) for name, value in zip(node.outputs, results, strict=False) if name)
    return [known[name] for name in graph.outputs]


def _results(node: OnnxNode, known: Values) -> Sequence[Any]:
    operands = [known[name] if name else None for name in node.inputs]
    call = OperatorCall(node, lambda graph, inputs: run_graph(graph, inputs, known))
    rule = OPERATORS[node.op]
    has_graphs = any(isinstance(value, NodeGraph) for value in node.attrs.values())
    try:
        if node.op not in DRAWING and not has_graphs and all(map(_is_constant, operands)):
            with init_scope():  # shapes and axes that follow from constants are constants, too
                found = rule(call, *operands)
        else:
            found = rule(call, *operands)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        if isinstance(error, OpError):
            raise
        raise ValueError(f"the node {node} cannot be computed: {error}") from error
    return found if isinstance(found, (list, tuple)) else [found]


def _is_constant(value: Any) -> bool:
    return value is None or type(value) is EagerTensor
