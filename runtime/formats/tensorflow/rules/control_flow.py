"""Conditionals, loops and calls, as TensorFlow's functional operations: the functions are the regions.

z = cond p, x                      node { name: "z" op: "StatelessIf" input: ["p", "x"]
      then x … else x …    ==>            attr { then_branch: f_then  else_branch: f_else } }
                                   library { function { … f_then … } function { … f_else … } }
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....ir.graph import Graph, Operation, Value
from ....ir.value_types import TensorType
from ....ops.framework import region_ops
from ..functions import FunctionWriter, dtype_of, shape_of
from ..nodes import NodeResult
from ..rule_registry import writes_regions


@writes_regions(region_ops.COND)
def _(writer: FunctionWriter, operation: Operation) -> Any:
    predicate, *args = map(writer.result, operation.inputs)
    then, otherwise = map(writer.region, operation.regions, ("then", "else"))
    return _branches(writer, operation, "If", predicate, args, then_branch=then, else_branch=otherwise)


@writes_regions(region_ops.SWITCH)
def _(writer: FunctionWriter, operation: Operation) -> Any:
    index, *args = map(writer.result, operation.inputs)
    branches = [writer.region(region, "branch") for region in operation.regions]
    if index.dtype != "int32":
        index = writer.body.Cast(index, DstT="int32")
    return _branches(writer, operation, "Case", index, args, branches=branches)


def _branches(
    writer: FunctionWriter,
    operation: Operation,
    node: str,
    chosen: NodeResult,
    args: list[NodeResult],
    **functions: Any,
) -> Any:
    specs = [value.spec for value in operation.outputs]
    return writer.body.add(
        node if operation.stateful else f"Stateless{node}",
        chosen, args, **functions, Tout=[dtype_of(spec) for spec in specs],
        output_shapes=[shape_of(spec) for spec in specs], _lower_using_switch_merge=True,
    )  # fmt: skip


@writes_regions(region_ops.CALL)
def _(writer: FunctionWriter, operation: Operation) -> Any:
    (callee,) = operation.regions
    name = writer.library.function(callee, operation.attrs.get("name") or callee.name)
    return writer.body.add(
        "StatefulPartitionedCall" if operation.stateful else "PartitionedCall",
        list(map(writer.result, operation.inputs)), f=name,
        Tout=[dtype_of(value.spec) for value in operation.outputs],
    )  # fmt: skip


@writes_regions(region_ops.CUSTOM)
def _(writer: FunctionWriter, operation: Operation) -> Any:
    kept = operation.inputs[: len(operation.outputs)]
    return [writer.body.Identity(writer.result(operand)) for operand in kept]


@writes_regions(region_ops.WHILE)
def _(writer: FunctionWriter, operation: Operation) -> Any:
    """Write a loop: TensorFlow's bodies return the invariants, too, and count to `maximum_iterations`."""
    test, body = operation.regions
    limit = operation.attrs.get("maximum_iterations")
    has_limit, count = limit is not None, len(operation.outputs)
    inputs = list(map(writer.result, operation.inputs))
    shapes = [shape_of(value.spec) for value in body.inputs] + [()] * has_limit
    if limit is not None:
        inputs.append(writer.body.const(min(limit, 2**31 - 1)))
    results = writer.body.add(
        "While" if operation.stateful else "StatelessWhile",
        inputs, cond=_test(writer, test, has_limit), body=_body(writer, body, count, has_limit),
        output_shapes=shapes, _lower_using_switch_merge=True,
    )  # fmt: skip
    return results[:count]


def _test(writer: FunctionWriter, region: Graph, has_limit: bool) -> str:
    """Write the test of a loop, which also ends when no iterations are left."""
    inner = FunctionWriter(writer.library, f"{writer.name}_test")
    inner.add(region)
    inputs, outputs = list(region.inputs), list(region.outputs)
    if has_limit:
        inputs.append(_iterations_left(inner))
        go_on = Value("go_on", TensorType(dtypes.bool_, ()))
        is_left = inner.body.Greater(inner.results[inputs[-1]], 0)
        _name(inner, go_on, inner.body.LogicalAnd(is_left, inner.result(outputs[0])))
        outputs = [go_on]
    return writer.library.append(inner.message(inputs, outputs))


def _body(writer: FunctionWriter, region: Graph, count: int, has_limit: bool) -> str:
    """Write the body of a loop, which replaces `count` of the inputs."""
    inner = FunctionWriter(writer.library, f"{writer.name}_body")
    inner.add(region)
    inputs, outputs = list(region.inputs), [*region.outputs, *region.inputs[count:]]
    if has_limit:
        inputs.append(_iterations_left(inner))
        left = Value("left", inputs[-1].spec)
        _name(inner, left, inner.body.Sub(inner.results[inputs[-1]], 1))
        outputs.append(left)
    return writer.library.append(inner.message(inputs, outputs))


def _iterations_left(inner: FunctionWriter) -> Value:
    left = Value("iterations_left", TensorType(dtypes.int32, ()))
    inner.bind(left, inner.body.parameter("iterations_left", "int32"))
    return left


def _name(inner: FunctionWriter, value: Value, result: NodeResult) -> None:
    """Let a result be a value, and name the new nodes like it."""
    inner.bind(value, result)
    inner.body.name_nodes(0, value.name, [result])
