"""Compute with the channels last, as kernels and native code do: transposes sink below their users, and cancel.

x = conv a, v [data_format='NC...']             a' = transpose a, [0, 2, 3, 1]
y = relu x                                      x  = conv a', v
z = conv y, w [data_format='NC...']    ==>      y  = relu x
                                                z' = conv y, w
                                                z  = transpose z', [0, 3, 1, 2]

A transpose sinks below operations on elements, reductions, pools, broadcasts and parts of a tensor. The other operands
are transposed alike: constants now, numbers for each channel by a reshape, broadcasts before they repeat, and tensors
that have no transpose yet by one of their own. The order of the terms of sums changes, so that their last bits may
differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.op_def import OpDef
from ..ir.traits import Trait
from ..ops.arrays.concat_split import join, split_evenly, split_sizes
from ..ops.arrays.gather_ops import take
from ..ops.arrays.pad_ops import surround
from ..ops.arrays.reshape import broadcast_to, reshape, sum_to
from ..ops.arrays.shape_ops import shape_of, size_of
from ..ops.framework.op import REGISTRY
from ..ops.nn.activations import bias_add
from ..ops.nn.conv_primitive import conv, conv_backprop_filter, conv_backprop_input
from ..ops.nn.pool_primitive import avg_pool, avg_pool_grad, max_pool, max_pool_grad
from ..ops.reduce.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    spread,
)
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, Rule, rewrite_all
from .transposes import (
    Order,
    at_rank,
    broadcast,
    broadcast_again,
    inverse_of,
    order_of,
    permuted,
    rank_of,
    sources,
    taken,
)

_IMAGES: dict[OpDef, tuple[int, ...]] = {conv: (0,), conv_backprop_input: (2,), conv_backprop_filter: (0, 2)}
"""The operands with channels."""

_REDUCTIONS = (reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum)


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    if any(each.op in _IMAGES and _is_channels_first(each) for each in graph.walk()):
        return rewrite_all(graph, _rules())
    return graph


def _is_channels_first(operation: Operation) -> bool:
    return bool(operation.attrs["data_format"].startswith("NC"))


def _conv(operation: Operation, walk: Rewriter) -> Found:
    attrs, inputs = operation.attrs, list(operation.inputs)
    shape = inputs[_IMAGES[operation.op][0]].shape
    if not _is_channels_first(operation) or shape is None:
        return None
    first, last = len(shape) - len(attrs["strides"]) - 1, len(shape) - 1
    order = (*range(first), last, *range(first, last))
    inverse = inverse_of(order)
    if operation.op is conv_backprop_input:
        inputs[0] = taken(walk, inputs[0], inverse)
    for number in _IMAGES[operation.op]:
        inputs[number] = permuted(walk, inputs[number], inverse)
    made = walk.add(operation.op, inputs, {**attrs, "data_format": "N...C"})
    return (made if operation.op is conv_backprop_filter else permuted(walk, made, order),)


def _bias_add(operation: Operation, walk: Rewriter) -> Found:
    value, bias = operation.inputs
    order = order_of(walk, value)
    if (
        order is None
        or not (operation.attrs["data_format"] or "").startswith("NC")
        or order[1] != len(order) - 1
    ):
        return None
    inputs = [permuted(walk, value, inverse_of(order)), bias]
    return (permuted(walk, walk.add(operation.op, inputs, {"data_format": "N...C"}), order),)


def _elementwise(operation: Operation, walk: Rewriter) -> Found:
    found = sources(operation, walk)
    if found is None:
        return _broadcast_later(operation, walk)
    order, inputs = found
    return (permuted(walk, walk.add(operation.op, inputs, operation.attrs), order),)


def _broadcast_later(operation: Operation, walk: Rewriter) -> Found:
    """Compute with numbers before a broadcast, which users can then transpose."""
    tensors = [operand for operand in operation.inputs if operand.shape != ()]
    maker = broadcast(walk, tensors[0]) if len(tensors) == 1 else None
    if maker is None:
        return None
    inputs = [operand if operand.shape == () else maker.inputs[0] for operand in operation.inputs]
    made = walk.add(operation.op, inputs, operation.attrs)
    return (walk.add(maker.op, [made, maker.inputs[1]], maker.attrs),)


def _spread(operation: Operation, walk: Rewriter) -> Found:
    order = order_of(walk, operation.inputs[0])
    if order is None or rank_of(operation.outputs[0]) != len(order):
        return None
    return (permuted(walk, broadcast_again(walk, operation, order), order),)


def _pool(operation: Operation, walk: Rewriter) -> Found:
    found = sources(operation, walk)
    if found is None:
        return None
    order, inputs = found
    return (permuted(walk, walk.add(operation.op, inputs, _moved_windows(operation, order)), order),)


def _avg_pool_grad(operation: Operation, walk: Rewriter) -> Found:
    shape, source = operation.inputs
    order = order_of(walk, source)
    if order is None:
        return None
    inputs = [taken(walk, shape, inverse_of(order)), permuted(walk, source, inverse_of(order))]
    return (permuted(walk, walk.add(operation.op, inputs, _moved_windows(operation, order)), order),)


def _moved_windows(operation: Operation, order: Order) -> dict[str, Any]:
    """Return the attributes of a pool of the transposed tensor."""
    attrs, inverse = dict(operation.attrs), inverse_of(order)
    for name, each in (("ksize", 1), ("strides", 1), ("explicit_paddings", 2)):
        numbers = np.array(attrs[name], np.int64).reshape(-1, each)
        attrs[name] = tuple(numbers[list(inverse)].ravel().tolist()) if numbers.size else ()
    return attrs


def _concat(operation: Operation, walk: Rewriter) -> Found:
    found = sources(operation, walk)
    if found is None or any(rank_of(operand) != len(found[0]) for operand in operation.inputs):
        return None
    order, inputs = found
    attrs = {**operation.attrs, "axis": order[operation.attrs["axis"]]}
    return (permuted(walk, walk.add(operation.op, inputs, attrs), order),)


def _parts(operation: Operation, walk: Rewriter) -> Found:
    """Sink below `split`, and `gather` of a vector of indices."""
    source, *rest = operation.inputs
    order = order_of(walk, source)
    if order is None or (
        operation.op is take and (len(rest[0].shape or ()) != 1 or operation.attrs["batch_dims"])
    ):
        return None
    inputs = [permuted(walk, source, inverse_of(order)), *rest]
    attrs = {**operation.attrs, "axis": order[operation.attrs["axis"]]}
    return [permuted(walk, part, order) for part in walk.add_all(operation.op, inputs, attrs)]


def _reduction(operation: Operation, walk: Rewriter) -> Found:
    (source,), attrs = operation.inputs, operation.attrs
    order = order_of(walk, source)
    if order is None:
        return None
    rank = len(order)
    reduced = {axis % rank for axis in (range(rank) if attrs["axis"] is None else attrs["axis"])}
    inputs = [permuted(walk, source, inverse_of(order))]
    made = walk.add(operation.op, inputs, {**attrs, "axis": tuple(sorted(order[axis] for axis in reduced))})
    kept = [order[axis] for axis in range(rank) if attrs["keepdims"] or axis not in reduced]
    ranks = sorted(kept)
    return (permuted(walk, made, tuple(ranks.index(axis) for axis in kept)),)


def _sum_to(operation: Operation, walk: Rewriter) -> Found:
    source, shape = operation.inputs
    order = order_of(walk, source)
    if order is None:
        return None
    if isinstance(shape, Constant) and len(shape.value) < len(order):
        sizes = Constant.int32(at_rank(shape.value.tolist(), order))
        summed = _summed(walk, source, sizes, order)
        return (walk.add(reshape, [summed, shape]),)
    return (_summed(walk, source, shape, order),) if shape.shape == (len(order),) else None


def _summed(walk: Rewriter, source: Operand, shape: Operand, order: Order) -> Operand:
    inverse = inverse_of(order)
    made = walk.add(sum_to, [permuted(walk, source, inverse), taken(walk, shape, inverse)])
    return permuted(walk, made, order)


def _shape_of(operation: Operation, walk: Rewriter) -> Found:
    """Query the shape or size of what is transposed."""
    order = order_of(walk, operation.inputs[0])
    if order is None:
        return None
    source = permuted(walk, operation.inputs[0], inverse_of(order))
    made = walk.add(operation.op, [source], operation.attrs)
    return (made if operation.op is size_of else taken(walk, made, order),)


def _pad(operation: Operation, walk: Rewriter) -> Found:
    source, pairs, *rest = operation.inputs
    order = order_of(walk, source)
    if order is None or not isinstance(pairs, Constant):
        return None
    inverse = inverse_of(order)
    moved = Constant(np.ascontiguousarray(pairs.value[list(inverse)]))
    made = walk.add(operation.op, [permuted(walk, source, inverse), moved, *rest], operation.attrs)
    return (permuted(walk, made, order),)


def _rules() -> dict[OpDef, Rule]:
    found: dict[OpDef, Rule] = {
        op: _elementwise
        for op in REGISTRY.values()
        if Trait.ELEMENTWISE in op.traits or op.element_operands == 1
    }
    found |= dict.fromkeys(_IMAGES, _conv) | dict.fromkeys((avg_pool, max_pool, max_pool_grad), _pool)
    found |= dict.fromkeys(_REDUCTIONS, _reduction)
    found |= dict.fromkeys((broadcast_to, spread), _spread)
    found |= dict.fromkeys((split_evenly, split_sizes, take), _parts)
    found |= dict.fromkeys((shape_of, size_of), _shape_of)
    found[avg_pool_grad] = _avg_pool_grad
    return found | {bias_add: _bias_add, join: _concat, surround: _pad, sum_to: _sum_to}
