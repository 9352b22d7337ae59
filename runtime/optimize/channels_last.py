"""Compute with the channels last, as kernels and native code do: transposes sink below their users, and cancel.

x = conv a, v [data_format='NC...']             a' = transpose a, [0, 2, 3, 1]
y = relu x                                      x  = conv a', v
z = conv y, w [data_format='NC...']    ==>      y  = relu x
                                                z' = conv y, w
                                                z  = transpose z', [0, 3, 1, 2]

A transpose sinks below operations on elements, reductions, pools and parts of a tensor if all operands have the same
one, or are constants, or only change their shape, as numbers for each channel. The order of the terms of sums changes,
so that their last bits may differ.
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
from ..ops.arrays.reshape import permute_axes, reshape
from ..ops.framework.op import REGISTRY
from ..ops.nn.activations import bias_add
from ..ops.nn.conv_primitive import conv, conv_backprop_filter, conv_backprop_input
from ..ops.nn.pool_primitive import avg_pool, max_pool, max_pool_grad
from ..ops.reduce.reductions import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from .data_movement import axes
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, Rule, rewrite_all

Order = tuple[int, ...]
"""The axes of the source of a transpose, in the order of its result."""

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
    inverse = _inverse(order)
    if operation.op is conv_backprop_input:
        inputs[0] = walk.add(take, [inputs[0], Constant.int32(list(inverse))])
    for number in _IMAGES[operation.op]:
        inputs[number] = _permuted(walk, inputs[number], inverse)
    made = walk.add(operation.op, inputs, {**attrs, "data_format": "N...C"})
    return (made if operation.op is conv_backprop_filter else _permuted(walk, made, order),)


def _bias_add(operation: Operation, walk: Rewriter) -> Found:
    value, bias = operation.inputs
    order = _order(walk, value)
    if (
        order is None
        or not (operation.attrs["data_format"] or "").startswith("NC")
        or order[1] != len(order) - 1
    ):
        return None
    inputs = [_permuted(walk, value, _inverse(order)), bias]
    return (_permuted(walk, walk.add(operation.op, inputs, {"data_format": "N...C"}), order),)


def _elementwise(operation: Operation, walk: Rewriter) -> Found:
    found = _sources(operation, walk)
    if found is None:
        return None
    order, inputs = found
    return (_permuted(walk, walk.add(operation.op, inputs, operation.attrs), order),)


def _pool(operation: Operation, walk: Rewriter) -> Found:
    orders = {_order(walk, operand) for operand in operation.inputs}
    order = orders.pop()
    if orders or order is None:
        return None
    attrs, inverse = dict(operation.attrs), _inverse(order)
    for name, each in (("ksize", 1), ("strides", 1), ("explicit_paddings", 2)):
        numbers = np.array(attrs[name], np.int64).reshape(-1, each)
        attrs[name] = tuple(numbers[list(inverse)].ravel().tolist()) if numbers.size else ()
    inputs = [_permuted(walk, operand, inverse) for operand in operation.inputs]
    return (_permuted(walk, walk.add(operation.op, inputs, attrs), order),)


def _concat(operation: Operation, walk: Rewriter) -> Found:
    found = _sources(operation, walk)
    if found is None or any(len(operand.shape or ()) != len(found[0]) for operand in operation.inputs):
        return None
    order, inputs = found
    attrs = {**operation.attrs, "axis": order[operation.attrs["axis"]]}
    return (_permuted(walk, walk.add(operation.op, inputs, attrs), order),)


def _parts(operation: Operation, walk: Rewriter) -> Found:
    """Sink below `split`, and `gather` of a vector of indices."""
    source, *rest = operation.inputs
    order = _order(walk, source)
    if order is None or (
        operation.op is take and (len(rest[0].shape or ()) != 1 or operation.attrs["batch_dims"])
    ):
        return None
    inputs = [_permuted(walk, source, _inverse(order)), *rest]
    attrs = {**operation.attrs, "axis": order[operation.attrs["axis"]]}
    return [_permuted(walk, part, order) for part in walk.add_all(operation.op, inputs, attrs)]


def _reduction(operation: Operation, walk: Rewriter) -> Found:
    (source,), attrs = operation.inputs, operation.attrs
    order = _order(walk, source)
    if order is None:
        return None
    rank = len(order)
    reduced = {axis % rank for axis in (range(rank) if attrs["axis"] is None else attrs["axis"])}
    inputs = [_permuted(walk, source, _inverse(order))]
    made = walk.add(operation.op, inputs, {**attrs, "axis": tuple(sorted(order[axis] for axis in reduced))})
    kept = [order[axis] for axis in range(rank) if attrs["keepdims"] or axis not in reduced]
    ranks = sorted(kept)
    result = tuple(ranks.index(axis) for axis in kept)
    return (made if result == tuple(range(len(kept))) else _permuted(walk, made, result),)


def _pad(operation: Operation, walk: Rewriter) -> Found:
    source, pairs, *rest = operation.inputs
    order = _order(walk, source)
    if order is None or not isinstance(pairs, Constant):
        return None
    inverse = _inverse(order)
    moved = Constant(np.ascontiguousarray(pairs.value[list(inverse)]))
    made = walk.add(operation.op, [_permuted(walk, source, inverse), moved, *rest], operation.attrs)
    return (_permuted(walk, made, order),)


def _sources(operation: Operation, walk: Rewriter) -> tuple[Order, list[Operand]] | None:
    """Return the common order of the operands, and the operands before their transposes; None if there is none."""
    orders = {found for operand in operation.inputs if (found := _order(walk, operand)) is not None}
    if len(orders) != 1:
        return None
    (order,) = orders
    if len(order) != len(operation.outputs[0].shape or ()):
        return None
    if not all(_order(walk, operand) or _is_moved_freely(operand, order) for operand in operation.inputs):
        return None
    return order, [_before(walk, operand, order) for operand in operation.inputs]


def _is_moved_freely(operand: Operand, order: Order) -> bool:
    """Return whether the transpose of an operand, which the others broadcast, is a constant or a reshape."""
    if isinstance(operand, Constant):
        return True
    if operand.shape is None or operand.shape.count(None) > 1:
        return False
    sizes = _at_rank(operand.shape, order)
    long = [axis for axis in _inverse(order) if sizes[axis] != 1]
    return long == sorted(long)


def _before(walk: Rewriter, operand: Operand, order: Order) -> Operand:
    """Return what becomes the operand, or one that broadcasts alike, by a transpose."""
    inverse, shape = _inverse(order), operand.shape
    if _order(walk, operand) is not None:
        return _permuted(walk, operand, inverse)
    if not shape:
        return operand
    sizes = _at_rank(shape, order)
    if isinstance(operand, Constant):
        return Constant(np.ascontiguousarray(operand.value.reshape(sizes).transpose(inverse)))
    unknown = [-1 if (size := sizes[axis]) is None else size for axis in inverse]
    return walk.add(reshape, [operand, Constant.int32(unknown)])


def _at_rank(shape: tuple[int | None, ...], order: Order) -> tuple[Any, ...]:
    """Return a shape with as many axes as a transpose has."""
    return (*(1,) * (len(order) - len(shape)), *shape)


def _permuted(walk: Rewriter, operand: Operand, order: Order) -> Operand:
    """Return a transpose, or the operand of the inverse one."""
    maker = walk.maker(operand)
    if maker is not None and _order_of(maker) == _inverse(order):
        return maker.inputs[0]
    return walk.add(permute_axes, [operand, Constant.int32(list(order))])


def _order(walk: Rewriter, operand: Operand) -> Order | None:
    """Return the order of a transpose that moves the last axis forward; None for other operands."""
    maker = walk.maker(operand)
    order = None if maker is None else _order_of(maker)
    if order is None or len(order) < 3 or list(order) == sorted(order):
        return None
    others = [axis for axis in order if axis != len(order) - 1]
    return order if others == sorted(others) else None


def _order_of(maker: Operation) -> Order | None:
    return axes(maker.inputs[1]) if maker.op is permute_axes and not maker.attrs["conjugate"] else None


def _inverse(order: Order) -> Order:
    return tuple(order.index(i) for i in range(len(order)))


def _rules() -> dict[OpDef, Rule]:
    found: dict[OpDef, Rule] = {
        op: _elementwise for op in REGISTRY.values() if Trait.ELEMENTWISE in op.traits
    }
    found |= dict.fromkeys(_IMAGES, _conv) | dict.fromkeys((avg_pool, max_pool, max_pool_grad), _pool)
    found |= dict.fromkeys(_REDUCTIONS, _reduction)
    found |= dict.fromkeys((split_evenly, split_sizes, take), _parts)
    return found | {bias_add: _bias_add, join: _concat, surround: _pad}
