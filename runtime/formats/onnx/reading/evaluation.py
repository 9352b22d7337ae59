"""Run graphs of nodes with the operations of agc, eagerly or while a function is traced."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from ....control_flow.tracing_context import init_scope
from ....core.tensor import EagerTensor
from ....errors import OpError
from .nodes import NodeGraph, OnnxNode
from .operators.registry import DRAWING, OPERATORS, OperatorCall, TensorSequence

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
        if any(node.outputs[len(results) :]):
            raise ValueError(f"the node {node} has {len(results)} results, not {len(node.outputs)}")
        known.update((name, value) for name, value in zip(node.outputs, results, strict=False) if name)
    return [known[name] for name in graph.outputs]


def _results(node: OnnxNode, known: Values) -> Sequence[Any]:
    operands = [known[name] if name else None for name in node.inputs]
    if node.body is not None:
        missing = [None] * (len(node.body.inputs) - len(operands))
        return run_graph(node.body, [*operands, *missing], {})
    call = OperatorCall(node, lambda graph, inputs: run_graph(graph, inputs, known))
    rule = OPERATORS[node.op]
    # shapes and axes that follow from constants are constants, too
    is_constant = node.op not in DRAWING and not node.graphs() and all(map(_is_constant, operands))
    try:
        with init_scope() if is_constant else contextlib.nullcontext():
            found = rule(call, *operands)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        if isinstance(error, OpError):
            raise
        raise ValueError(f"the node {node} cannot be computed: {error}") from error
    return found if isinstance(found, (list, tuple)) else [found]


def _is_constant(value: Any) -> bool:
    """Return whether an operand, or each item of a sequence, is known before the model runs."""
    if isinstance(value, TensorSequence):
        return all(map(_is_constant, value.items))
    return value is None or type(value) is EagerTensor
