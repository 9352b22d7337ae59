"""Convolutions as sums over windows in plain loops: of integers, and of floats where NumPy has no BLAS.

conv x, w       y[image, at, given] ← Σ x[image, window at, taken] · w[window, taken, given]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register
from ..codegen.region_lowering import Region
from .elementwise import add, multiply
from .padding import surrounded
from .reduction_codegen import reduced
from .reduction_kinds import site_of, sums
from .reshape import moved


def convolved(region: Region, setting: Any, x: LazyValue, w: LazyValue) -> LazyValue:
    """Return the convolution of channels-last tensors."""
    pairs = _pairs(region, setting, _padded(region, setting, x), region.settled(w), None)
    axes = range(setting.n + 1, 2 * setting.n + 2)
    return reduced(region, pairs, sums(x.dtype), axes, setting.result, x.dtype)


def filter_gradient(region: Region, setting: Any, shape: Shape, x: LazyValue, dy: LazyValue) -> LazyValue:
    """Return the gradient of the filter, which has this shape."""
    pairs = _pairs(region, setting, _padded(region, setting, x), None, region.settled(dy))
    return reduced(region, pairs, sums(x.dtype), range(setting.n + 1), shape, x.dtype)


def input_gradient(region: Region, setting: Any, w: LazyValue, dy: LazyValue) -> LazyValue:
    """Return the gradient of the input."""
    e, n, slide = region.e, setting.n, setting.slide
    each = setting.given // setting.groups
    outer = (setting.count, *slide.outputs, *slide.window)
    filters, given = region.settled(w), region.settled(dy)

    def find(e: Emitter, index: Index) -> Element:
        image, *numbers, group, taken, number = index.coordinates(e)
        output = e.plus(e.times(group, each), number)
        factor = filters.at(e, Index.of(filters.shape, [*numbers[n:], taken, output]))
        back = given.at(e, Index.of(given.shape, [image, *numbers[:n], output]))
        return multiply(e, site_of(w.dtype), factor, back)

    shape = (*outer, setting.groups, setting.taken, each)
    pairs = IndexMap(w.dtype, shape, [filters, given], find, cost=2, once=False)
    shape = (*outer, setting.channels)
    rows = region.stored(reduced(region, pairs, sums(w.dtype), [len(outer) + 2], shape, w.dtype))
    wide = region.zeros(w.dtype, (setting.count, *slide.padded, setting.channels))
    with e.nest(outer, parallel=False) as (image, *numbers):
        indices = [image, *_coordinates(e, setting, numbers[:n], numbers[n:])]
        with e.nest(shape[-1:], each_once=True) as (channel,):
            target = Index.of(wide.shape, [*indices, channel]).flat(e)
            number = Index.of(shape, [image, *numbers, channel]).flat(e)
            parts = e.load(wide.dtype, wide.address, target), e.load(wide.dtype, rows.address, number)
            e.store(wide.dtype, wide.address, target, add(e, site_of(wide.dtype), *parts))
    before = [0, *slide.before, 0]
    return moved(
        wide,
        (setting.count, *slide.sizes, setting.channels),
        lambda e, coordinates: [
            e.plus(p, e.word(start)) for p, start in zip(coordinates, before, strict=True)
        ],
    )


def _padded(region: Region, setting: Any, x: LazyValue) -> LazyValue:
    margins = [(0, 0), *zip(setting.slide.before, setting.slide.after, strict=True), (0, 0)]
    return region.settled(surrounded(region, x, margins))


def _coordinates(
    e: Emitter, setting: Any, outputs: Sequence[Register], window: Sequence[Register]
) -> list[Register]:
    """Return the indices along the padded axes of elements `window` of the windows at `outputs`."""
    slide = setting.slide
    moves = zip(outputs, window, slide.strides, slide.dilations, strict=True)
    return [e.plus(e.times(o, stride), e.times(w, dilation)) for o, w, stride, dilation in moves]


def _pairs(
    region: Region, setting: Any, x: LazyValue, w: LazyValue | None, dy: LazyValue | None
) -> LazyValue:
    """Return the products of window elements with filters or gradients: [image, outputs, window, taken, given]."""
    n, each = setting.n, setting.given // setting.groups
    shape = (setting.count, *setting.slide.outputs, *setting.slide.window, setting.taken, setting.given)
    readable = [node for node in (x, w, dy) if node is not None]

    def find(e: Emitter, index: Index) -> Element:
        image, *numbers, taken, given = index.coordinates(e)
        outputs, window = numbers[:n], numbers[n:]
        channel = e.plus(e.times(e.over(given, each)[0], setting.taken), taken)
        place = [image, *_coordinates(e, setting, outputs, window), channel]
        element = x.at(e, Index.of(x.shape, place))
        if w is not None:
            other = w.at(e, Index.of(w.shape, [*window, taken, given]))
        else:
            assert dy is not None
            other = dy.at(e, Index.of(dy.shape, [image, *outputs, given]))
        return multiply(e, site_of(x.dtype), element, other)

    return IndexMap(x.dtype, shape, readable, find, cost=2, once=False)
