"""Lower operations that create tensors: zeros, ones, fill, range, one_hot, linspace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import ConstantArray, Index, IndexMap, LazyValue, Scalar, Shape
from ..codegen.llvm_types import Element, Register, constant, register_type
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .casts import converted


def uniform(dtype: dtypes.DType, shape: Shape, value: int) -> LazyValue:
    """Return a tensor of one constant, without memory."""
    made = ConstantArray(np.array(value, dtype.numpy_dtype))
    return IndexMap(dtype, shape, [], lambda e, index: made.element(e, index), cost=0, cuts=frozenset)


@lowers("zeros", "zeros_like", "ones", "ones_like", sized=True)
def _(region: Region, operation: Operation, *nodes: LazyValue) -> LazyValue:
    (value,) = operation.outputs
    kind, _, like = operation.type.partition("_")
    shape = nodes[0].shape if like else asked_shape(region, operation, nodes[0] if nodes else None)
    return uniform(value.dtype, shape, int(kind == "ones"))


@lowers("fill", sized=True)
def _(region: Region, operation: Operation, dims: LazyValue, value: LazyValue) -> LazyValue:
    number, shape = region.scalar(value), asked_shape(region, operation, dims)
    return IndexMap(number.dtype, shape, [], lambda e, index: number.value, cost=0, cuts=frozenset)


def asked_shape(region: Region, operation: Operation, requested: LazyValue | None) -> Shape:
    """Return the shape of the result; dynamic sizes are read from the operand `requested`."""
    sizes: Sequence[int | None] = operation.outputs[0].shape or ()
    if None not in sizes:
        return tuple(size for size in sizes if size is not None)
    assert requested is not None
    return tuple(
        size_at(region, requested, axis) if size is None else size for axis, size in enumerate(sizes)
    )


def size_at(region: Region, requested: LazyValue, axis: int) -> Size:
    """Return an element of a vector as a size; a negative size fails the check."""
    e, found = region.e, region.settled(requested)
    at_axis = Index(found.shape, [(0, len(found.shape), e.word(axis))] if found.shape else [])
    size = converted(e, found.at(e, at_axis), found.dtype, dtypes.int64)
    e.demand(e.b.icmp_signed(">=", size, e.word(0)))
    return Size.of(size)


@lowers("identity_matrix")
def _(region: Region, operation: Operation, *nodes: LazyValue) -> LazyValue:
    (value,) = operation.outputs
    shape = shape_of(operation)

    def find(e: Emitter, index: Index) -> Element:
        rank = len(shape)
        is_diagonal = e.b.icmp_signed("==", index.along(e, rank - 2), index.along(e, rank - 1))
        return converted(e, is_diagonal, dtypes.bool_, value.dtype)

    return IndexMap(value.dtype, shape, [], find)


@lowers("range", sized=True)
def _(
    region: Region, operation: Operation, start: LazyValue, limit: LazyValue, delta: LazyValue
) -> LazyValue:
    (value,) = operation.outputs
    if not value.dtype.is_integer or not all(node.dtype.is_integer for node in (start, delta)):
        raise RefusedError("only ranges of integers are compiled")
    first, step = (
        Scalar(value.dtype, converted(region.e, region.register(node), node.dtype, value.dtype))
        for node in (start, delta)
    )

    shape: Shape = (_count(region, *(region.integer(node) for node in (start, limit, delta))),)
    if value.shape and value.shape[0] is not None:
        shape = shape_of(operation)

    def find(e: Emitter, index: Index) -> Element:
        number = converted(e, index.flat(e), dtypes.int64, value.dtype)
        return e.b.add(first.value, e.b.mul(number, step.value))

    return IndexMap(value.dtype, shape, [], find, cuts=frozenset)


def _count(region: Region, start: Register, limit: Register, delta: Register) -> Size:
    """Return the number of elements of a range."""
    e, b = region.e, region.e.b
    zero, one = e.word(0), e.word(1)
    e.demand(b.icmp_signed("!=", delta, zero))
    is_up = b.icmp_signed(">", delta, zero)
    distance = b.select(is_up, b.sub(limit, start), b.sub(start, limit))
    stride = b.select(is_up, delta, b.sub(zero, delta))
    e.demand(b.icmp_signed(">=", distance, zero))
    return Size.of(b.sdiv(b.add(distance, b.sub(stride, one)), stride))


@lowers("one_hot", sized=True)
def _(
    region: Region, operation: Operation, indices: LazyValue, depth: LazyValue, on: LazyValue, off: LazyValue
) -> LazyValue:
    rank = len(indices.shape) + 1
    axis = operation.attrs["axis"] % rank
    known = (operation.outputs[0].shape or ())[axis]
    shape = list(indices.shape)
    shape.insert(axis, size_at(region, depth, 0) if known is None else known)
    chosen, other = region.scalar(on), region.scalar(off)
    rows = region.readable(indices)

    def find(e: Emitter, index: Index) -> Element:
        coordinates = index.coordinates(e)
        position = coordinates.pop(axis)
        wanted = rows.at(e, Index.of(rows.shape, coordinates))
        wide = converted(e, wanted, rows.dtype, dtypes.int64)
        return e.choose(e.b.icmp_signed("==", wide, position), chosen.value, other.value)

    return IndexMap(chosen.dtype, tuple(shape), [rows], find, once=False)


def shape_of(operation: Operation) -> Shape:
    """Return the static shape of an operation's only result."""
    (value,) = operation.outputs
    assert value.shape is not None and None not in value.shape, value.spec
    return value.shape  # type: ignore[return-value]


@lowers("linspace")
def _(region: Region, operation: Operation, start: LazyValue, stop: LazyValue, count: LazyValue) -> LazyValue:
    """Emit evenly spaced numbers; the last one is exactly `stop`."""
    dtype, shape = start.dtype, shape_of(operation)
    if dtype.kind != "f":
        raise RefusedError(f"linspace of {dtype.name} is not compiled")
    axis = operation.attrs["axis"] % len(shape)
    ends = shape[:axis] + shape[axis + 1 :]
    first, last = region.readable(start), region.readable(stop)
    steps = shape[axis] - 1

    def find(e: Emitter, index: Index) -> Element:
        coordinates = list(index.coordinates(e))
        number = coordinates.pop(axis)
        position = Index.of(ends, coordinates)
        low, high = (end.at(e, position.within(e, end.shape)) for end in (first, last))
        if steps < 1:
            return low
        step = e.b.fdiv(e.b.fsub(high, low), constant(dtype, steps))
        inner = e.b.fadd(low, e.b.fmul(step, e.b.uitofp(number, register_type(dtype))))
        return e.b.select(e.b.icmp_unsigned("==", number, e.word(steps)), high, inner)

    return IndexMap(dtype, shape, [first, last], find, once=False)
