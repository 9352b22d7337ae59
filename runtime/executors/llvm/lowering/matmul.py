"""Lower matrix products to single GEMMs (gemm_selection.py).

matmul a, b [transpose_b=True]      cblas_sgemm(…, not transposed, transposed, m, n, k, 1, a, k, b, k, 0, c, n)
batches                             a loop of GEMMs; if only `a` has batch axes, they become rows of one GEMM
tensordot, einsum                   transposes, one GEMM, a transpose
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .... import dtypes
from ....core import shapes
from ....ir.graph import Operation
from ..codegen.dynamic_shapes import broadcast_size
from ..codegen.dynamic_sizes import typical
from ..codegen.function_builder import Emitter
from ..codegen.interrupts import PATIENCE, unless_interrupted
from ..codegen.lazy_values import Buffer, Index, LazyValue, Shape
from ..codegen.llvm_types import Register, memory_type
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers
from .blas_calls import shares_products
from .casts import as_dtype, widened
from .fill import uniform
from .gemm_selection import Factor, Product, ProductBatch
from .reshape import checked, moved


@lowers("matmul", sized=True)
def _(region: Region, operation: Operation, a: LazyValue, b: LazyValue) -> LazyValue:
    attrs = operation.attrs
    return multiplied(
        region,
        Factor(a, attrs["transpose_a"] or attrs["adjoint_a"], attrs["adjoint_a"]),
        Factor(b, attrs["transpose_b"] or attrs["adjoint_b"], attrs["adjoint_b"]),
    )


@lowers("matvec", sized=True)
def _(region: Region, operation: Operation, a: LazyValue, b: LazyValue) -> LazyValue:
    attrs = operation.attrs
    column = reshaped(region, b, (*b.shape, 1))
    found = multiplied(
        region, Factor(a, attrs["transpose_a"] or attrs["adjoint_a"], attrs["adjoint_a"]), Factor(column)
    )
    return Buffer(found.dtype, found.shape[:-1], found.address, found.is_own)


@lowers("tensordot", sized=True)
def _(region: Region, operation: Operation, a: LazyValue, b: LazyValue) -> LazyValue:
    gone_a, gone_b = (
        [shapes.normal_axis(axis, len(node.shape)) for axis in operation.attrs[name]]
        for node, name in ((a, "axes_a"), (b, "axes_b"))
    )
    return contracted(region, a, gone_a, b, gone_b)


def contracted(
    region: Region, a: LazyValue, gone_a: Sequence[int], b: LazyValue, gone_b: Sequence[int]
) -> Buffer:
    """Return the sum of products over pairs of axes, with the remaining axes of `a`, then those of `b`."""
    for one, other in zip(gone_a, gone_b, strict=True):
        checked(region.e, a.shape[one], b.shape[other])
    left = [axis for axis in range(len(a.shape)) if axis not in gone_a]
    right = [axis for axis in range(len(b.shape)) if axis not in gone_b]
    shape = (*(a.shape[axis] for axis in left), *(b.shape[axis] for axis in right))
    inner = math.prod(a.shape[axis] for axis in gone_a)
    first = _as_matrix(region, a, left, list(gone_a), inner, is_left=True)
    second = _as_matrix(region, b, list(gone_b), right, inner, is_left=False)
    found = multiplied(region, first, second)
    return Buffer(found.dtype, shape, found.address, found.is_own)


def _as_matrix(
    region: Region, node: LazyValue, rows: list[int], columns: list[int], inner: int, is_left: bool
) -> Factor:
    """Return a tensor as a matrix, marked as transposed instead of copied if its axes are in that order."""
    outer = math.prod(node.shape[axis] for axis in (rows if is_left else columns))
    size = (outer, inner) if is_left else (inner, outer)
    if [*columns, *rows] == sorted([*columns, *rows]) and rows and columns:
        return Factor(reshaped(region, node, size[::-1]), turned=True)
    return Factor(reshaped(region, permuted(node, [*rows, *columns]), size))


def permuted(node: LazyValue, order: Sequence[int]) -> LazyValue:
    """Transpose a tensor by `order`."""
    if list(order) == list(range(len(order))):
        return node
    shape = tuple(node.shape[axis] for axis in order)
    return moved(
        node, shape, lambda e, coordinates: [coordinates[list(order).index(i)] for i in range(len(order))]
    )


def reshaped(region: Region, node: LazyValue, shape: tuple[int, ...]) -> Buffer:
    """Return a tensor in memory with another shape."""
    stored = region.stored(node)
    return Buffer(stored.dtype, shape, stored.address)


def multiplied(region: Region, a: Factor, b: Factor) -> Buffer:
    """Return the product of matrices, or of batches of them, which are broadcast. That of float16 is float32 before."""
    e, dtype = region.e, a.node.dtype
    if dtype is dtypes.float16:
        wide = multiplied(region, *(Factor(widened(region, each.node), each.turned) for each in (a, b)))
        return region.stored(as_dtype(region, wide, dtype))
    shape = (*_batch_shape(e, a.batch, b.batch), a.rows, b.columns)
    checked(e, a.columns, b.rows)
    if not a.columns:
        return region.stored(uniform(dtype, shape, 0))
    result = Buffer.new(e, dtype, shape)
    if not result.size:
        return result
    left, right = region.stored(a.node), region.stored(b.node)
    count = math.prod(shape[:-2])
    e.work += math.prod(map(typical, (count, a.rows, b.columns, a.columns))) // 8
    if count == 1 or (math.prod(b.batch) == 1 and not a.turned):
        Product(e, a, b, dtype, count * a.rows).write(left.address, right.address, result.address)
        return result
    _write_batches(region, a, b, left, right, result)
    return result


class _Axis(NamedTuple):
    """A batch axis: its size, and its distances in the factors and the result, in elements."""

    size: int
    a: int
    b: int
    c: int


def _write_batches(region: Region, a: Factor, b: Factor, left: Buffer, right: Buffer, result: Buffer) -> None:
    """Emit one call for all products of two batch axes, in loops over the other ones."""
    e, dtype, batch = region.e, result.dtype, result.shape[:-2]
    work = math.prod(map(typical, (a.rows, b.columns, a.columns)))
    is_long = work * math.prod(map(typical, batch)) >= PATIENCE
    one = Product(e, a, b, dtype, a.rows)
    axes = _merged(_axes(batch, a, b, a.rows * b.columns))
    joins = shares_products() and not (one.is_small or one.gemm is None or is_long)
    inner = min(len(axes), 2) if joins else 0
    outer, rest = axes[: len(axes) - inner], [_Axis(1, 0, 0, 0)] * (2 - inner) + axes[len(axes) - inner :]
    if inner:
        first, second = rest
        distances = ((first[i], second[i]) for i in (1, 2, 3))
        together = ProductBatch(first.size * second.size, second.size, *distances)
        one = Product(e, a, b, dtype, a.rows, together)
    is_parallel = one.is_small and not b.turned
    with e.nest([axis.size for axis in outer], parallel=is_parallel, inner=work) as numbers:
        places = []
        for buffer, name in ((left, "a"), (right, "b"), (result, "c")):
            place = e.word(0)
            for axis, number in zip(outer, numbers, strict=True):
                place = e.plus(place, e.times(number, getattr(axis, name)))
            places.append(beyond(e, buffer, place))
        if not is_long:
            one.write(*places)
        else:
            number = Index.of(tuple(axis.size for axis in outer), numbers).flat(e)
            with unless_interrupted(e, work, number):
                one.write(*places)


def _axes(batch: Shape, a: Factor, b: Factor, size: int) -> list[_Axis]:
    """Return the batch axes of a product. A factor has the distance 0 along axes that it is broadcast along."""
    found: list[_Axis] = []
    strides = [a.rows * a.columns, b.rows * b.columns, size]
    for axis in range(1, len(batch) + 1):
        distances = []
        for i, shape in enumerate((a.batch, b.batch, batch)):
            own = shape[-axis] if axis <= len(shape) else 1
            distances.append(0 if own == 1 else strides[i])
            strides[i] = strides[i] * own
        found.insert(0, _Axis(batch[-axis], *distances))
    return found


def _merged(axes: Sequence[_Axis]) -> list[_Axis]:
    """Return the axes without those of size 1. Axes that are consecutive in memory become one.

    >>> _merged([_Axis(2, 60, 0, 60), _Axis(3, 20, 0, 20)])
    [_Axis(size=6, a=20, b=0, c=20)]
    """
    found: list[_Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        if found and all(far == near * axis.size for far, near in zip(found[-1][1:], axis[1:], strict=True)):
            axis = axis._replace(size=found.pop().size * axis.size)
        found.append(axis)
    return found


def _batch_shape(e: Emitter, *batches: Shape) -> Shape:
    """Return the batch axes of a product; dynamic sizes must be equal, or the plan runs instead."""
    padded = [(1,) * (max(map(len, batches)) - len(batch)) + batch for batch in batches]
    return tuple(broadcast_size(e, sizes) for sizes in zip(*padded, strict=True))


def beyond(e: Emitter, buffer: Buffer, by: Register) -> Register:
    parts = 2 if buffer.dtype.kind == "c" else 1
    return e.b.gep(
        buffer.address, [e.times(by, parts)], inbounds=True, source_etype=memory_type(buffer.dtype)
    )
