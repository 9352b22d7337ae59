"""Control flow: subgraphs as branches and bodies of loops."""

from __future__ import annotations

from typing import Any

from ..... import dtypes
from .....control_flow.functional_api import cond, while_loop
from .....core.shapes import normal_axis
from .....core.tensor import EagerTensor
from .....core.tensor_array import TensorArray
from .....core.tensor_spec import TensorSpec
from .....ops.arrays import creation, reshape, shape_ops
from .....ops.arrays.reverse_and_roll import reverse
from .....ops.math.cast import cast
from .....tracing.function import function
from .registry import OperatorCall, operator, rank_of


@operator("If")
def _(call: OperatorCall, predicate: Any) -> Any:
    then, otherwise = call.get("then_branch"), call.get("else_branch")
    if isinstance(predicate, EagerTensor):
        return call.run(then if predicate.numpy().item() else otherwise, [])
    test = reshape.reshape(predicate, [])
    results = cond(test, lambda: tuple(call.run(then, [])), lambda: tuple(call.run(otherwise, [])))
    return list(results)


@operator("Loop")
def _(call: OperatorCall, most: Any = None, going: Any = None, *state: Any) -> Any:
    body, count = call.get("body"), len(state)
    scans = len(body.outputs) - 1 - count
    limit = None if most is None else reshape.reshape(most, [])
    start = creation.constant(True) if going is None else reshape.reshape(going, [])
    counters = [TensorSpec([], dtypes.int64), TensorSpec([], dtypes.bool_)]
    specs = _results(call, body, [*counters, *map(_spec_of, state)])[1 + count :] if scans else []
    arrays = [TensorArray(spec.dtype, 0, dynamic_size=True, element_shape=spec.shape) for spec in specs]

    def test(i: Any, more: Any, *rest: Any) -> Any:
        return more if limit is None else (i < limit) & more

    def step(i: Any, more: Any, *rest: Any) -> Any:
        current, lists = rest[:count], rest[count:]
        again, *results = call.run(body, [i, more, *current])
        place, pairs = cast(i, dtypes.int32), zip(lists, results[count:], strict=True)
        written = [array.write(place, value) for array, value in pairs]
        return (i + 1, reshape.reshape(again, []), *results[:count], *written)

    first = (creation.constant(0, dtypes.int64), start, *state, *arrays)
    _, _, *last = while_loop(test, step, first)
    return [*last[:count], *[array.stack() for array in last[count:]]]


def _spec_of(value: Any) -> TensorSpec:
    return TensorSpec(value.shape, value.dtype)


def _results(call: OperatorCall, body: Any, specs: list[TensorSpec]) -> list[TensorSpec]:
    """Return the types of the results of a body, by tracing it once."""
    traced = function(lambda *values: call.run(body, list(values)), autograph=False)
    return list(traced.get_concrete_function(*specs).result_specs)


@operator("Scan")
def _(call: OperatorCall, *operands: Any) -> Any:
    if call.opset < 9:
        raise ValueError("Scan of opset 8 is not supported")
    body, inputs = call.get("body"), call.get("num_scan_inputs")
    if not 0 < inputs <= len(operands):
        raise ValueError(f"{inputs} of {len(operands)} operands are scanned")
    state, rows = list(operands[:-inputs]), list(operands[-inputs:])
    axes = call.get("scan_input_axes") or (0,) * inputs
    ways = call.get("scan_input_directions") or (0,) * inputs
    rows = [_first(row, axis, way) for row, axis, way in zip(rows, axes, ways, strict=True)]
    count, time = len(state), shape_ops.shape(rows[0])[0]
    outputs = len(body.outputs) - count
    slices = [TensorSpec(row.shape[1:], row.dtype) for row in rows]
    specs = _results(call, body, [*map(_spec_of, state), *slices])[count:]
    arrays = [TensorArray(spec.dtype, time, element_shape=spec.shape) for spec in specs]

    def step(i: Any, *rest: Any) -> Any:
        current, lists = rest[:count], rest[count:]
        results = call.run(body, [*current, *[row[i] for row in rows]])
        written = [array.write(i, value) for array, value in zip(lists, results[count:], strict=True)]
        return (i + 1, *results[:count], *written)

    _, *last = while_loop(lambda i, *rest: i < time, step, (creation.constant(0), *state, *arrays))
    out_axes = call.get("scan_output_axes") or (0,) * outputs
    out_ways = call.get("scan_output_directions") or (0,) * outputs
    stacked = [array.stack() for array in last[count:]]
    return [*last[:count], *[_moved(x, a, w) for x, a, w in zip(stacked, out_axes, out_ways, strict=True)]]


def _first(row: Any, axis: int, way: int) -> Any:
    """Return the operand with the scanned axis first, and in the order of the scan."""
    rank = rank_of(row)
    axis = normal_axis(axis, rank)
    turned = reshape.transpose(row, [axis, *[i for i in range(rank) if i != axis]])
    return reverse(turned, [0]) if way else turned


def _moved(x: Any, axis: int, way: int) -> Any:
    x = reverse(x, [0]) if way else x
    rank = rank_of(x)
    axis = normal_axis(axis, rank)
    return reshape.transpose(x, [*range(1, axis + 1), 0, *range(axis + 1, rank)])
