"""Convolutions of each channel with filters of its own (depthwise), in loops over channels, which LLVM vectorizes.

    y[at, c]         ← Σ x[at · stride + w, c] · filter[w, c]       in blocks of rows, like other convolutions
    x'[at, c]        ← Σ y'[window, c] · filter[w, c]               over the windows with this element
    filter'[w, c]    ← Σ x[at · stride + w, c] · y'[at, c]          in parts of rows, which are added in the end

Matrices of one channel would be too thin for BLAS.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from ..codegen.blockwise import RowBlock, RowBlocks
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from .conv_windows import PARTS, BlockwiseConvolution, Windows
from .elementwise import add, multiply
from .reduction_codegen import reduced
from .reduction_kinds import site_of, sums
from .window_places import SMALL, element_place, window_place

_COLUMNS = 8
"""The most windows whose products are added before a sum is stored."""


def is_by_channel(windows: Windows, given: int) -> bool:
    """Return whether each channel has few filter elements of its own."""
    return windows.taken == 1 and math.prod(windows.slide.window) * (given // windows.groups) <= SMALL


class ConvolvedByChannel(BlockwiseConvolution):
    """A convolution of `source` with filters, a matrix [window, given channels]."""

    def scratch_bytes(self, blocks: RowBlocks) -> int:
        return self.windows.piece_bytes(blocks)

    def around(self, e: Emitter) -> Any:
        return ExitStack()

    def write(
        self, e: Emitter, block: RowBlock, blocks: RowBlocks, scratch: Register, target: Register
    ) -> None:
        windows, dtype, n = self.windows, self.dtype, self.windows.n
        piece, first = windows.piece(e, self.source, block, blocks, scratch)
        counts = block.counts(windows.result_sizes)
        slide = windows.slide
        with e.nest(counts, parallel=False) as numbers, e.nest([self.given]) as (channel,):
            total, source = constant(dtype, 0), _source(e, channel, self.given // windows.groups)
            for at, offset in enumerate(slide.offsets()):
                moves = zip(first[1:-1], numbers[1:], slide.strides, offset, slide.dilations, strict=True)
                indices = [e.plus(e.plus(f, e.times(o, s)), e.word(w * d)) for f, o, s, w, d in moves]
                index = Index.of(piece.shape, [e.plus(first[0], numbers[0]), *indices, source])
                weight = e.load(dtype, self.filters.address, e.plus(e.word(at * self.given), channel))
                product = multiply(e, site_of(dtype), piece.at(e, index), weight)
                total = add(e, site_of(dtype), total, product)
            place = Index.of((*counts, self.given), [*numbers[: n + 1], channel]).flat(e)
            e.store(dtype, target, place, total)


def _source(e: Emitter, channel: Register, each: int) -> Register:
    """Return the channel of the operand from which a channel of the result is computed."""
    return e.over(channel, each)[0]


def input_gradient(region: Region, setting: Any, filters: Buffer, dy: Buffer) -> LazyValue:
    """Return the gradient of the operand, of which each element adds up those of the windows that have it."""
    slide, dtype, each = setting.slide, dy.dtype, setting.given // setting.groups
    counts = [-(-size // stride) for size, stride in zip(slide.window, slide.strides, strict=True)]
    extents = [part for pair in zip(slide.sizes, counts, strict=True) for part in pair]

    def find(e: Emitter, index: Index) -> Element:
        image, *numbers, number, channel = index.coordinates(e)
        inside, at, window = integer(1)(1), e.word(0), [image]
        for axis, size in enumerate(slide.window):
            fits, position, offset = window_place(e, slide, axis, *numbers[2 * axis : 2 * axis + 2])
            inside, at = e.b.and_(inside, fits), e.plus(e.times(at, size), offset)
            window.append(position)
        given = e.plus(e.times(channel, each), number)
        weight = filters.at(e, Index.of(filters.shape, [e.choose(inside, at, e.word(0)), given]))
        product = multiply(e, site_of(dtype), dy.at(e, Index.of(dy.shape, [*window, given])), weight)
        return e.choose(inside, product, constant(dtype, 0))

    pairs = (setting.count, *extents, each, setting.channels)
    products = IndexMap(dtype, pairs, [filters, dy], find, cost=4, once=False)
    axes = [*range(2, 2 * setting.n + 1, 2), 2 * setting.n + 1]
    shape = (setting.count, *slide.sizes, setting.channels)
    return reduced(region, products, sums(dtype), axes, shape, dtype, SMALL)


def filter_gradient(region: Region, setting: Any, x: Buffer, dy: Buffer) -> LazyValue:
    """Return the gradient of the filters, a matrix [window, given channels]."""
    e, dtype, given = region.e, x.dtype, setting.given
    outer, width = (setting.count, *setting.slide.outputs[:-1]), setting.slide.outputs[-1]
    rows, inside = math.prod(outer), math.prod(setting.slide.window)
    parts = min(PARTS, rows)
    columns = next(count for count in range(min(_COLUMNS, width), 0, -1) if width % count == 0)
    total = Buffer.new(e, dtype, (parts, inside, given))
    with e.nest([parts], inner=rows * width * inside * given // parts) as (part,):
        start, end = (e.over(e.times(n, rows), parts)[0] for n in (part, e.plus(part, e.word(1))))
        with e.nest([inside * given]) as (number,):
            at = e.plus(e.times(part, inside * given), number)
            e.store(dtype, total.address, at, constant(dtype, 0))
        with (
            e.nest([Size.of(e.minus(end, start)), width // columns], parallel=False) as (row, group),
            e.nest([given]) as (channel,),
        ):
            image = Index(outer, [(0, len(outer), e.plus(start, row))]).coordinates(e)
            first = e.times(group, columns)
            places = [[*image, e.plus(first, e.word(column))] for column in range(columns)]
            _add_products(e, setting, x, dy, places, channel, Buffer(dtype, total.shape, total.address), part)
    return reduced(region, total, sums(dtype), [0], (inside, given), dtype)


def _add_products(
    e: Emitter, setting: Any, x: Buffer, dy: Buffer, places: Sequence[Sequence[Register]], channel: Register,
    total: Buffer, part: Register,
) -> None:  # fmt: skip
    """Emit the addition of the products of a channel of some windows to the sums of a part."""
    slide, dtype = setting.slide, x.dtype
    source = _source(e, channel, setting.given // setting.groups)
    backs = [dy.at(e, Index.of(dy.shape, [*place, channel])) for place in places]
    for at, offset in enumerate(slide.offsets()):
        where = Index.of(total.shape, [part, e.word(at), channel]).flat(e)
        sum = e.load(dtype, total.address, where)
        for (image, *window), back in zip(places, backs, strict=True):
            inside, index = integer(1)(1), [image]
            for axis, (position, number) in enumerate(zip(window, offset, strict=True)):
                fits, element = element_place(e, slide, axis, position, e.word(number))
                inside = e.b.and_(inside, fits)
                index.append(element)
            element = x.at(e, Index.of(x.shape, [*index, source]))
            element = e.choose(inside, element, constant(dtype, 0))
            sum = add(e, site_of(dtype), sum, multiply(e, site_of(dtype), element, back))
        e.store(dtype, total.address, where, sum)
