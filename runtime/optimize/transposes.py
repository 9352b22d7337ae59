"""Transposes that move the last axis forward, and operands of operations that shall compute before them.

y = transpose x, [0, 3, 1, 2]                   order_of(y) is (0, 3, 1, 2), permuted(y, inverse) is x
z = multiply y, g                               sources(z) are x, and g in the order of the axes of x
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.graph import Constant, Operand, Operation, Value
from ..ops.arrays.gather_ops import take
from ..ops.arrays.reshape import broadcast_to, permute_axes, reshape
from ..ops.reduce.reductions import spread
from .data_movement import axes
from .rewriter import Rewriter

Order = tuple[int, ...]
"""The axes of the source of a transpose, in the order of its result."""


def order_of(walk: Rewriter, operand: Operand) -> Order | None:
    """Return the order of a transpose that moves the last axis forward; None for other operands."""
    maker = walk.maker(operand)
    order = None if maker is None else _axes_of(maker)
    if order is None or len(order) < 3 or list(order) == sorted(order):
        return None
    others = [axis for axis in order if axis != len(order) - 1]
    return order if others == sorted(others) else None


def _axes_of(maker: Operation) -> Order | None:
    return axes(maker.inputs[1]) if maker.op is permute_axes and not maker.attrs["conjugate"] else None


def inverse_of(order: Order) -> Order:
    """Return the order that undoes a transpose."""
    return tuple(order.index(i) for i in range(len(order)))


def permuted(walk: Rewriter, operand: Operand, order: Order) -> Operand:
    """Return a transpose, or the operand of the inverse one."""
    if list(order) == sorted(order):
        return operand
    maker = walk.maker(operand)
    if maker is not None and _axes_of(maker) == inverse_of(order):
        return maker.inputs[0]
    return walk.add(permute_axes, [operand, Constant.int32(list(order))])


def taken(walk: Rewriter, shape: Operand, order: Order) -> Operand:
    """Return the elements of a shape in another order."""
    if isinstance(shape, Constant):
        return Constant(np.ascontiguousarray(shape.value[list(order)]))
    return walk.add(take, [shape, Constant.int32(list(order))])


def rank_of(operand: Operand) -> int:
    """Return the number of axes; 0 if it is unknown."""
    return len(operand.shape or ())


def at_rank(shape: tuple[int | None, ...], order: Order) -> tuple[Any, ...]:
    """Return a shape with as many axes as a transpose has."""
    return (*(1,) * (len(order) - len(shape)), *shape)


def sources(operation: Operation, walk: Rewriter) -> tuple[Order, list[Operand]] | None:
    """Return the common order of the operands, and the operands before their transposes; None if there is none."""
    orders = {found for operand in operation.inputs if (found := order_of(walk, operand)) is not None}
    if len(orders) != 1:
        return None
    (order,) = orders
    if len(order) != rank_of(operation.outputs[0]):
        return None
    if not all(_is_movable(operand, order) for operand in operation.inputs):
        return None
    return order, [_before(walk, operand, order) for operand in operation.inputs]


def _is_movable(operand: Operand, order: Order) -> bool:
    """Return whether the operand has all axes, or numbers along some that one reshape moves."""
    return (
        isinstance(operand, Constant)
        or rank_of(operand) == len(order)
        or _moved_sizes(operand, order) is not None
    )


def _moved_sizes(operand: Operand, order: Order) -> list[int] | None:
    """Return the shape of the transposed operand, if a reshape transposes it; at most one size is unknown, -1."""
    if operand.shape is None or operand.shape.count(None) > (0 not in operand.shape):
        return None
    sizes = [-1 if size is None else size for size in at_rank(operand.shape, order)]
    moved = inverse_of(order)
    long = [axis for axis in moved if sizes[axis] != 1]
    return [sizes[axis] for axis in moved] if long == sorted(long) else None


def _before(walk: Rewriter, operand: Operand, order: Order) -> Operand:
    """Return what becomes the operand, or one that broadcasts alike, by a transpose."""
    inverse = inverse_of(order)
    if operand.shape == ():
        return operand
    if order_of(walk, operand) is not None:
        return permuted(walk, operand, inverse)
    if isinstance(operand, Constant):
        sizes = at_rank(operand.shape, order)
        return Constant(np.ascontiguousarray(operand.value.reshape(sizes).transpose(inverse)))
    if rank_of(operand) == len(order) and (maker := broadcast(walk, operand)) is not None:
        return broadcast_again(walk, maker, order)
    if (moved := _moved_sizes(operand, order)) is not None:
        return walk.add(reshape, [operand, Constant.int32(moved)])
    return permuted(walk, operand, inverse)


def broadcast(walk: Rewriter, operand: Operand) -> Operation | None:
    """Return the operation that repeats a smaller tensor along the axes that it lacks; None for other operands."""
    maker = walk.maker(operand)
    if maker is None or maker.op not in (broadcast_to, spread):
        return None
    small, large = maker.inputs[0].shape, operand.shape
    if small is None or large is None:
        return None
    return maker if maker.op is spread or len(small) == len(large) else None


def broadcast_again(walk: Rewriter, maker: Operation, order: Order) -> Value:
    """Return the broadcast of the transposed tensor to the transposed shape."""
    (source, shape), attrs = maker.inputs, dict(maker.attrs)
    kept = list(order)
    if maker.op is spread:
        reduced = range(len(order)) if attrs["axis"] is None else attrs["axis"]
        attrs["axis"] = tuple(sorted(order[axis] for axis in reduced))
        if not attrs["keepdims"]:
            kept = [axis for axis in order if axis not in attrs["axis"]]
    moved = permuted(walk, source, tuple(kept.index(axis) for axis in sorted(kept)))
    return walk.add(maker.op, [moved, taken(walk, shape, inverse_of(order))], attrs)
