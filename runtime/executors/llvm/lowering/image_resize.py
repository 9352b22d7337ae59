"""Lower resizing of images: gathers through tables, and scatter-adds for the gradients.

resize x           each row of the result is a weighted sum of rows of x; then the same for columns
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import dtypes
from ....ir.graph import Operation
from ....ops.image.resize import nearest, taps
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, ConstantArray, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .elementwise import add
from .fill import shape_of
from .reduction_kinds import site_of
from .reshape import known
from .softmax import as_dtype
from .tile_and_pad import added_up, picked

_MOST = 64
"""The largest number of unrolled terms of a sum."""


def _scattered(
    region: Region,
    node: LazyValue,
    shape: Shape,
    target_of: Callable[[Emitter, Sequence[Register]], Sequence[Register]],
    weigh: Callable[[Emitter, Sequence[Register], Element], Element] | None = None,
    onto: Buffer | None = None,
) -> Buffer:
    """Scatter-add the elements of `node` to zeros, or to `onto`, at the indices that `target_of` computes."""
    e, source, site = region.e, region.settled(node), site_of(node.dtype)
    result = onto or region.zeros(node.dtype, shape)
    if source.size:
        with e.nest(source.shape, parallel=False) as numbers:
            element = source.at(e, Index.of(source.shape, numbers))
            element = element if weigh is None else weigh(e, numbers, element)
            target = Index.of(shape, target_of(e, numbers)).flat(e)
            total = add(e, site, e.load(node.dtype, result.address, target), element)
            e.store(node.dtype, result.address, target, total)
    return result


@lowers("resize")
def _(region: Region, operation: Operation, node: LazyValue, size: LazyValue) -> LazyValue:
    method, antialias = operation.attrs["method"], operation.attrs["antialias"]
    height, width = (int(part) for part in known(operation, 1))
    images = as_dtype(region, node, dtypes.float32)
    order = [(1, height), (2, width)]
    if height * node.shape[2] >= width * node.shape[1]:
        order.reverse()  # first the axis that leaves less work for the other one
    for axis, new in order:
        images = _summed(region, images, axis, *taps(node.shape[axis], new, method, antialias))
    return images


def _summed(region: Region, node: LazyValue, axis: int, sources: Any, weights: Any) -> LazyValue:
    """Return weighted sums of elements along an axis, without terms whose weights are all zero."""
    counted = [k for k in range(sources.shape[1]) if not k or weights[:, k].any()]
    if len(counted) > _MOST:
        raise RefusedError(f"sums of {len(counted)} elements are not compiled")
    found = region.readable(node)
    tables = [
        (
            ConstantArray(np.ascontiguousarray(sources[:, k])),
            ConstantArray(np.ascontiguousarray(weights[:, k])),
        )
        for k in counted
    ]
    site = site_of(node.dtype)

    def find(e: Emitter, index: Index) -> Element:
        coordinates, total = index.coordinates(e), None
        for source, weight in tables:
            entry = Index.of(source.shape, [coordinates[axis]])
            source_index = Index.of(
                found.shape, [*coordinates[:axis], source.at(e, entry), *coordinates[axis + 1 :]]
            )
            part = e.b.fmul(found.at(e, source_index), weight.at(e, entry))
            total = part if total is None else add(e, site, total, part)
        return total

    shape = (*node.shape[:axis], len(sources), *node.shape[axis + 1 :])
    return IndexMap(node.dtype, shape, [found], find, cost=4 * len(tables), once=False)


@lowers("resize_grad")
def _(region: Region, operation: Operation, node: LazyValue, size: LazyValue) -> LazyValue:
    method, antialias = operation.attrs["method"], operation.attrs["antialias"]
    grads = as_dtype(region, node, dtypes.float32)
    for axis, old in zip((1, 2), known(operation, 1), strict=True):
        sources, weights = taps(int(old), node.shape[axis], method, antialias)
        grads = _spread(region, grads, axis, int(old), sources, weights)
    return grads


def _spread(region: Region, node: LazyValue, axis: int, old: int, sources: Any, weights: Any) -> LazyValue:
    """Scatter-add each element, times its weights, to its sources. This is the transpose of `_summed`."""
    shape = (*node.shape[:axis], old, *node.shape[axis + 1 :])
    source, result = region.settled(node), region.zeros(node.dtype, shape)
    for k in range(sources.shape[1]):
        _spread_once(region, source, axis, sources[:, k], weights[:, k], result)
    return result


def _spread_once(
    region: Region, node: LazyValue, axis: int, sources: Any, weights: Any, result: Buffer
) -> None:
    places_of, weight = (
        ConstantArray(np.ascontiguousarray(sources)),
        ConstantArray(np.ascontiguousarray(weights)),
    )

    def entry(e: Emitter, table: ConstantArray, coordinates: Sequence[Register]) -> Element:
        return table.at(e, Index.of(table.shape, [coordinates[axis]]))

    _scattered(
        region,
        node,
        result.shape,
        lambda e, coordinates: [
            *coordinates[:axis],
            entry(e, places_of, coordinates),
            *coordinates[axis + 1 :],
        ],
        lambda e, coordinates, x: e.b.fmul(x, entry(e, weight, coordinates)),
        result,
    )


@lowers("resize_nearest_neighbor")
def _(region: Region, operation: Operation, node: LazyValue, size: LazyValue) -> LazyValue:
    rows, columns = (
        nearest(old, int(new)) for old, new in zip(node.shape[1:3], known(operation, 1), strict=True)
    )
    return picked(region, node, [None, rows, columns, None], shape_of(operation))


@lowers("resize_nearest_neighbor_grad")
def _(region: Region, operation: Operation, node: LazyValue, size: LazyValue) -> LazyValue:
    rows, columns = (
        nearest(int(old), new) for old, new in zip(known(operation, 1), node.shape[1:3], strict=True)
    )
    return added_up(region, node, [None, rows, columns, None], shape_of(operation))
