"""Lower framing, image patches and resizing: gathers through tables, and scatter-adds for the gradients.

resize x           each row of the result is a weighted sum of rows of x; then the same for columns
frame x            y[i, j] is x[i · step + j]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import dtypes
from ....ir.graph import Operation
from ....ops.image.resize import nearest, taps
from ....ops.nn.window_geometry import Sliding, sliding
from ..codegen.dynamic_shapes import regrouped
from ..codegen.element_formulas import call_function
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, ConstantArray, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register, constant
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .elementwise import add
from .fill import shape_of
from .reduction_kinds import site_of
from .reshape import demand_shape, known, moved
from .softmax import as_dtype, each, widened
from .space_to_depth import surrounded
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


# Signals


@lowers("frame")
def _(
    region: Region,
    operation: Operation,
    node: LazyValue,
    length: LazyValue,
    step: LazyValue,
    pad_value: LazyValue,
) -> LazyValue:
    axis, stride = operation.attrs["axis"] % len(node.shape), int(known(operation, 2))
    shape = shape_of(operation)
    margins = [(0, 0)] * len(node.shape)
    margins[axis] = (0, max((shape[axis] - 1) * stride + shape[axis + 1] - node.shape[axis], 0))
    if not math.prod(shape):
        return region.zeros(node.dtype, shape)
    signal = region.readable(surrounded(region, node, margins, region.scalar(pad_value).value))

    def source_of(e: Emitter, coordinates: list[Register]) -> list[Register]:
        here = e.plus(e.times(coordinates[axis], stride), coordinates[axis + 1])
        return [*coordinates[:axis], here, *coordinates[axis + 2 :]]

    return moved(signal, shape, source_of, once=False)


@lowers("overlap_and_add")
def _(region: Region, operation: Operation, node: LazyValue, step: LazyValue) -> LazyValue:
    stride = int(known(operation, 1))
    return _scattered(
        region,
        node,
        shape_of(operation),
        lambda e, coordinates: [*coordinates[:-2], e.plus(e.times(coordinates[-2], stride), coordinates[-1])],
    )


# Windows of images


def _windows(operation: Operation, shape: Shape) -> Sliding:
    attrs = operation.attrs
    return sliding(shape[1:3], attrs["ksizes"], attrs["strides"], attrs["rates"], attrs["padding"])


def _in_window(e: Emitter, slide: Sliding, coordinates: Sequence[Register]) -> list[Register]:
    """Map [image, row, column, row of the window, column of the window, channel] to an index in the padded image."""
    image, *numbers, channel = coordinates
    pairs = zip(numbers[:2], numbers[2:], slide.strides, slide.dilations, strict=True)
    return [image, *(e.plus(e.times(o, stride), e.times(w, rate)) for o, w, stride, rate in pairs), channel]


@lowers("extract_image_patches")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    slide, shape = _windows(operation, node.shape), shape_of(operation)
    if not math.prod(shape):
        return region.zeros(node.dtype, shape)
    margins = [(0, 0), *zip(slide.before, slide.after, strict=True), (0, 0)]
    image = region.readable(surrounded(region, node, margins))
    whole = (*shape[:3], *slide.window, node.shape[3])
    return regrouped(
        moved(image, whole, lambda e, coordinates: _in_window(e, slide, coordinates), once=False), shape
    )


@lowers("extract_image_patches_grad")
def _(region: Region, operation: Operation, node: LazyValue, sizes: LazyValue) -> LazyValue:
    shape = shape_of(operation)
    slide = _windows(operation, shape)
    depth = math.prod(slide.window) * shape[3]
    demand_shape(region.e, node.shape, (shape[0], *slide.outputs, depth))
    split = regrouped(node, (*node.shape[:3], *slide.window, shape[3]))
    padded = (shape[0], *slide.padded, shape[3])
    wide = _scattered(region, split, padded, lambda e, coordinates: _in_window(e, slide, coordinates))
    starts = [0, *slide.before, 0]
    return moved(
        wide,
        shape,
        lambda e, coordinates: [e.plus(p, e.word(s)) for p, s in zip(coordinates, starts, strict=True)],
    )


# Other sizes


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


# Neighboring channels


def _around(region: Region, node: LazyValue, radius: int) -> LazyValue:
    """Return the sums of the channels at most `radius` away."""
    count = node.shape[-1]
    near = min(radius, max(count - 1, 0))
    if 2 * near + 1 > _MOST:
        raise RefusedError(f"sums of {2 * near + 1} channels are not compiled")
    margins = [*[(0, 0)] * (len(node.shape) - 1), (near, near)]
    found = region.readable(surrounded(region, node, margins))
    site = site_of(node.dtype)

    def find(e: Emitter, index: Index) -> Element:
        *batch, channel = index.coordinates(e)
        total = constant(node.dtype, 0)
        for shift in range(2 * near + 1):
            neighbor = Index.of(found.shape, [*batch, e.plus(channel, e.word(shift))])
            total = add(e, site, total, found.at(e, neighbor))
        return total

    return IndexMap(node.dtype, node.shape, [found], find, cost=2 * near + 1, once=False)


@lowers("neighborhood")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    return _around(region, node, operation.attrs["depth_radius"])


@lowers("lrn")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    x, attrs = widened(region, node), operation.attrs
    bias, alpha, beta = (constant(x.dtype, attrs[name]) for name in ("bias", "alpha", "beta"))
    squares = each(region, lambda e, x: e.b.fmul(x, x), x.dtype, x.shape, x)
    sums = _around(region, squares, attrs["depth_radius"])

    def write(e: Emitter, x: Element, total: Element) -> Element:
        base = e.b.fadd(bias, e.b.fmul(alpha, total))
        return e.b.fmul(x, call_function(e, "pow", base, e.b.fneg(beta)))

    return as_dtype(region, each(region, write, x.dtype, x.shape, x, sums, cost=60), node.dtype)
