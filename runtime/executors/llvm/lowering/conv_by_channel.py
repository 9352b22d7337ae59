"""Convolutions of each channel with filters of its own (depthwise), in loops over channels, which LLVM vectorizes.

    y[at, c]         ← Σ x[at · stride + w, c] · filter[w, c]       in blocks of rows, like other convolutions
    x'[at, c]        ← Σ y'[window, c] · filter[w, c]               over the windows with this element
    filter'[w, c]    ← Σ x[at · stride + w, c] · y'[at, c]          in parts of rows, which are added in the end

Matrices of one channel would be too thin for BLAS. The loop over the elements of a window is unrolled, or over a part
of a large window, such as one of its rows: then loops over the other axes add to sums in memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from ....ops.nn.window_geometry import SMALL
from ..codegen.blockwise import RowBlock, RowBlocks
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import site_of
from ..codegen.scalar_builder import counted
from .conv_windows import PARTS, BlockwiseConvolution
from .elementwise import add, multiply
from .reduction_codegen import reduced
from .reduction_kinds import sums
from .window_places import element_place, window_place

_COLUMNS = 8
"""The most windows whose products are added before a sum is stored."""


_PRODUCTS = 128
"""The most products of a channel that the code for windows next to each other has."""


def _first_unrolled(window: Sequence[int], most: int = SMALL) -> int:
    """Return the first axis of a window from which on the loops are unrolled."""
    return next(axis for axis in range(len(window) + 1) if math.prod(window[axis:]) <= most)


def _offsets(e: Emitter, window: Sequence[int], outer: Sequence[Register]) -> Iterator[list[Register]]:
    """Return the offsets of the elements in the unrolled loops, in the iteration `outer` of the other axes."""
    for inner in itertools.product(*map(range, window[len(outer) :])):
        yield [*outer, *map(e.word, inner)]


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
        counts, window = block.counts(windows.result_sizes), windows.slide.window
        looped = window[: _first_unrolled(window)]

        def sum_of(numbers: Sequence[Register], channel: Register) -> Index:
            return Index.of((*counts, self.given), [*numbers[: n + 1], channel])

        with e.nest(counts, parallel=False) as numbers:
            if looped:
                with e.nest([self.given]) as (channel,):
                    e.store(dtype, target, sum_of(numbers, channel).flat(e), constant(dtype, 0))
            with e.nest(looped, parallel=False) as outer, e.nest([self.given]) as (channel,):
                place = sum_of(numbers, channel).flat(e)
                total = e.load(dtype, target, place) if looped else constant(dtype, 0)
                for offset in _offsets(e, window, outer):
                    product = self._product(e, piece, first, numbers, offset, channel)
                    total = add(e, site_of(dtype), total, product)
                e.store(dtype, target, place, total)

    def _product(
        self, e: Emitter, piece: Buffer, first: Sequence[Register], numbers: Sequence[Register],
        offset: Sequence[Register], channel: Register,
    ) -> Element:  # fmt: skip
        """Return an element of a window times that of the filter."""
        slide, dtype = self.windows.slide, self.dtype
        moves = zip(first[1:-1], numbers[1:], slide.strides, offset, slide.dilations, strict=True)
        indices = [e.plus(e.plus(f, e.times(o, s)), e.times(w, d)) for f, o, s, w, d in moves]
        source = _source(e, channel, self.given // self.windows.groups)
        index = Index.of(piece.shape, [e.plus(first[0], numbers[0]), *indices, source])
        at = Index.of((*slide.window, self.given), [*offset, channel]).flat(e)
        weight = e.load(dtype, self.filters.address, at)
        return multiply(e, site_of(dtype), piece.at(e, index), weight)


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
        window = setting.slide.window
        with (
            e.nest([counted(e.minus(end, start)), width // columns], parallel=False) as (row, group),
            e.nest(window[: _first_unrolled(window, _PRODUCTS // columns)], parallel=False) as looped,
            e.nest([given]) as (channel,),
        ):
            image = Index(outer, [(0, len(outer), e.plus(start, row))]).coordinates(e)
            first = e.times(group, columns)
            places = [[*image, e.plus(first, e.word(column))] for column in range(columns)]
            backs = [dy.at(e, Index.of(dy.shape, [*place, channel])) for place in places]
            for offset in _offsets(e, window, looped):
                at = Index.of((parts, *window, given), [part, *offset, channel]).flat(e)
                sum = e.load(dtype, total.address, at)
                for place, back in zip(places, backs, strict=True):
                    element = _element(e, setting, x, place, offset, channel)
                    sum = add(e, site_of(dtype), sum, multiply(e, site_of(dtype), element, back))
                e.store(dtype, total.address, at, sum)
    return reduced(region, total, sums(dtype), [0], (inside, given), dtype)


def _element(
    e: Emitter, setting: Any, x: Buffer, place: Sequence[Register], offset: Sequence[Register], channel: Register
) -> Element:  # fmt: skip
    """Return the element of a window from which a channel of the result is computed, or 0 if it is outside."""
    inside, index = integer(1)(1), [place[0]]
    for axis, (position, number) in enumerate(zip(place[1:], offset, strict=True)):
        fits, at = element_place(e, setting.slide, axis, position, number)
        inside = e.b.and_(inside, fits)
        index.append(at)
    index.append(_source(e, channel, setting.given // setting.groups))
    return e.choose(inside, x.at(e, Index.of(x.shape, index)), constant(x.dtype, 0))
