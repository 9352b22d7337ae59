"""Lower resizing of images: gathers through tables, and scatter-adds for the gradients.

resize x           each row of the result is a weighted sum of rows of x; then the same for columns
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ....ir.graph import Operation
from ....ops.image.resize import nearest, taps
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import ConstantArray, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from .casts import as_dtype
from .elementwise import add
from .fill import shape_of
from .reshape import known
from .tile_and_pad import added_up, picked

_MOST = 64
"""The largest number of unrolled terms of a sum."""


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
        [ConstantArray(np.ascontiguousarray(table[:, k])) for table in (sources, weights)] for k in counted
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
    e, source = region.e, region.settled(node)
    result = region.zeros(node.dtype, (*node.shape[:axis], old, *node.shape[axis + 1 :]))
    if not source.size:
        return result
    for k in range(sources.shape[1]):
        places, shares = (ConstantArray(np.ascontiguousarray(table[:, k])) for table in (sources, weights))
        with e.nest(source.shape, parallel=False) as numbers:
            entry = Index.of(places.shape, [numbers[axis]])
            indices = [*numbers[:axis], places.at(e, entry), *numbers[axis + 1 :]]
            part = e.b.fmul(source.at(e, Index.of(source.shape, numbers)), shares.at(e, entry))
            target = Index.of(result.shape, indices).flat(e)
            before = e.load(node.dtype, result.address, target)
            e.store(node.dtype, result.address, target, add(e, site_of(node.dtype), before, part))
    return result


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
