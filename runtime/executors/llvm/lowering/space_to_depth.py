"""Lower space_to_depth, space_to_batch_nd and their inverses to reshapes and transposes.

space_to_depth x    [n, 2h, 2w, c]  ==>  [n, h, 2, w, 2, c]  ==>  [n, h, w, 2, 2, c]  ==>  [n, h, w, 4c]
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....ir.graph import Operation
from ..codegen.dynamic_shapes import regrouped
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import lowers
from .fill import shape_of
from .matmul import permuted
from .reshape import known, moved


def rearranged(node: LazyValue, split: Sequence[int], order: Sequence[int], shape: Shape) -> LazyValue:
    """Reshape `node` to `split`, transpose it by `order`, and reshape the result to `shape`."""
    return regrouped(permuted(regrouped(node, tuple(split)), order), shape)


def _channels_last(operation: Operation, node: LazyValue) -> LazyValue:
    return node if operation.attrs["data_format"] == "NHWC" else permuted(node, [0, 2, 3, 1])


def _as_given(operation: Operation, node: LazyValue) -> LazyValue:
    return node if operation.attrs["data_format"] == "NHWC" else permuted(node, [0, 3, 1, 2])


@lowers("space_to_depth")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    x, size = _channels_last(operation, region.readable(node)), operation.attrs["block_size"]
    n, height, width, channels = x.shape
    rows, columns = height // size, width // size
    split = (n, rows, size, columns, size, channels)
    found = rearranged(x, split, [0, 1, 3, 2, 4, 5], (n, rows, columns, size * size * channels))
    return _as_given(operation, found)


@lowers("depth_to_space")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    x, size = _channels_last(operation, region.readable(node)), operation.attrs["block_size"]
    n, rows, columns, channels = x.shape
    depth = channels // size**2
    split = (n, rows, columns, size, size, depth)
    found = rearranged(x, split, [0, 1, 3, 2, 4, 5], (n, rows * size, columns * size, depth))
    return _as_given(operation, found)


@lowers("space_to_batch_nd")
def _(
    region: Region, operation: Operation, node: LazyValue, block_shape: LazyValue, paddings: LazyValue
) -> LazyValue:
    blocks = known(operation, 1).tolist()
    margins = known(operation, 2).tolist()
    n, rest = len(blocks), node.shape[len(blocks) + 1 :]
    padded = surrounded(region, node, [(0, 0), *margins, *[(0, 0)] * len(rest)])
    split = [padded.shape[0]]
    for size, block in zip(padded.shape[1 : n + 1], blocks, strict=True):
        split += [size // block, block]
    inner, outer = range(2, 2 * n + 1, 2), range(1, 2 * n + 1, 2)
    order = [*inner, 0, *outer, *range(2 * n + 1, 2 * n + 1 + len(rest))]
    return rearranged(padded, (*split, *rest), order, shape_of(operation))


@lowers("batch_to_space_nd")
def _(
    region: Region, operation: Operation, node: LazyValue, block_shape: LazyValue, crops: LazyValue
) -> LazyValue:
    blocks = known(operation, 1).tolist()
    n, whole = len(blocks), math.prod(blocks)
    sizes, rest = node.shape[1 : n + 1], node.shape[n + 1 :]
    order = [n]
    for axis in range(n):
        order += [n + 1 + axis, axis]
    order += range(2 * n + 1, 2 * n + 1 + len(rest))
    batch = node.shape[0] // whole
    split = (*blocks, batch, *sizes, *rest)
    joined = tuple(size * block for size, block in zip(sizes, blocks, strict=True))
    full = rearranged(region.readable(node), split, order, (batch, *joined, *rest))
    starts = [0, *(int(before) for before, _ in known(operation, 2)), *[0] * len(rest)]
    return moved(
        full,
        shape_of(operation),
        lambda e, coordinates: [
            e.plus(p, e.word(start)) for p, start in zip(coordinates, starts, strict=True)
        ],
    )


def surrounded(
    region: Region, node: LazyValue, margins: Sequence[tuple[int, int]], value: Element | None = None
) -> LazyValue:
    """Return `node` padded with `value`, or with zeros."""
    inner = region.readable(node)
    if not any(before or after for before, after in margins):
        return inner
    outside = constant(node.dtype, 0) if value is None else value
    shape = tuple(before + size + after for size, (before, after) in zip(node.shape, margins, strict=True))

    def find(e: Emitter, index: Index) -> Element:
        inside, coordinates = integer(1)(1), []
        for position, (before, after), size in zip(index.coordinates(e), margins, inner.shape, strict=True):
            own = e.minus(position, e.word(before))
            if before or after:
                fits = e.b.icmp_unsigned("<", own, e.word(size))
                inside, own = e.b.and_(inside, fits), e.b.select(fits, own, e.word(0))
            coordinates.append(own)
        return e.choose(inside, inner.at(e, Index.of(inner.shape, coordinates)), outside)

    if not inner.size:
        return IndexMap(node.dtype, shape, [], lambda e, index: outside, cost=0)
    return IndexMap(node.dtype, shape, [inner], find, cost=4)
