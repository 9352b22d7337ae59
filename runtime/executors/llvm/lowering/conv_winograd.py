"""Convolutions with windows of 3 by 3 by Winograd's minimal filtering: 16 multiplications for 4 results, not 36.

    y, 2 by 2           ←  Aᵀ [ (G w Gᵀ) · (Bᵀ x B) ] A           tiles of x are 4 by 4, in steps of 2
    gradient of w       ←  Gᵀ [ Σ (Bᵀ x B)ᵀ · (A y' Aᵀ) ] G

The products in brackets are 16 matrix products over channels, of all tiles of a block. Blocks stay in the cache.
Windows of 5 by 3 by 3 are the sums of 5 such products, of tiles in planes one after the other.
The matrices are those of Lavin and Gray: Fast Algorithms for Convolutional Neural Networks, 2015.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .... import dtypes
from ....kernels import blas
from ..codegen.blockwise import BYTES, RowBlock, RowBlocks, Scratch
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index
from ..codegen.llvm_types import Element, Register
from ..codegen.region_lowering import Region
from ..codegen.scalar_builder import counted
from .blas_calls import multiply_add, one_thread
from .conv_tiles import BlockMemory, TiledWindows, Tiles, matrix_at, places
from .conv_windows import PART_BYTES, PARTS, BlockwiseConvolution, Windows
from .matmul import beyond
from .reduction_codegen import reduced
from .reduction_kinds import sums

Coefficients = Sequence[Sequence[float]]

_INPUT: Coefficients = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
_FILTER: Coefficients = ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1))
_OUTPUT: Coefficients = ((1, 1, 1, 0), (0, 1, -1, -1))

_CHANNELS = 32
"""The fewest channels of operand and result, times the planes of a window, which share transforms.

With fewer, the transforms take as long as the saved multiplications.
"""

_WASTE = 1.5
"""The most results of tiles for each result: with more, tiles that reach out take as long as is saved."""


def is_usable(windows: Windows, dtype: dtypes.DType, given: int) -> bool:
    """Return whether a convolution has such a filter, enough channels and results, and few tiles that reach out."""
    slide = windows.slide
    is_plain = windows.n in (2, 3) and set(slide.strides) == {1} and windows.groups == 1 and dtype.kind == "f"
    if not is_plain or slide.window[-2:] != (3, 3):
        return False
    if min(windows.channels, given) * math.prod(slide.window[:-2]) < _CHANNELS:
        return False
    tiles = TiledWindows(windows)
    rows, tiled = (math.prod(each.result_sizes) for each in (windows, tiles))
    least = tiles.fewest_rows(16 * tiles.depth * windows.channels * given * windows.size)
    return rows >= least and tiled <= _WASTE * rows


class ConvolvedByWinograd(BlockwiseConvolution):
    """A convolution of `source` with filters that `transformed_filters` has returned."""

    def __init__(self, windows: Windows, source: Buffer, filters: Buffer) -> None:
        super().__init__(windows, source, filters)
        self.tiled = TiledWindows(windows)
        self.row_multiple = self.tiled.multiples[0]

    def row_bytes(self) -> int:
        return self.tiled.bytes_of_row(self.given)

    def fewest_rows(self) -> int:
        return self.tiled.fewest_rows(self.filters.bytes)

    def scratch_bytes(self, blocks: RowBlocks) -> int:
        return BlockMemory(self.tiled, self.given, blocks).bytes

    def write(
        self, e: Emitter, block: RowBlock, blocks: RowBlocks, scratch: Register, target: Register
    ) -> None:
        dtype, given, taken = self.dtype, self.given, self.windows.channels
        tiles = Tiles(e, self.tiled, given, dtype, block, blocks, scratch)
        _transform_source(tiles, self.source)
        filters = Buffer(dtype, (16 * self.tiled.depth, taken, given), self.filters.address)
        with tiles.products() as (image, plane, k):
            a, c = tiles.source_matrix(image, plane, k), tiles.result_matrix(image, k)
            b = matrix_at(e, filters, e.plus(e.times(plane, 16), k))
            adds = e.b.icmp_unsigned("!=", plane, e.word(0)) if self.tiled.depth > 1 else None
            multiply_add(e, dtype, (tiles.count, given, taken), a, b, c, adds)
        with tiles.each(tiles.planes, tiles.most.planes) as (number, corner):
            rows = tiles.rows(corner, Buffer(dtype, (1,), target), e.word(0))
            with e.nest([given]) as (channel,):
                products = [e.load(dtype, *place) for place in places(e, tiles.outer, number, channel)]
                for row, value in zip(rows, _transformed(e, _OUTPUT, products), strict=True):
                    e.store(dtype, row, channel, value)


def _transform_source(tiles: Tiles, source: Buffer) -> None:
    """Emit Bᵀ x B of all tiles."""
    e, windows = tiles.e, tiles.windows
    piece, first = windows.piece(e, source, tiles.block, tiles.most.blocks, tiles.memory)
    with tiles.each(tiles.sources, tiles.most.sources) as (number, (image, plane, *corner)):
        planes = [image, plane] if windows.n == 3 else [plane]
        indices = []
        for k in range(16):
            inner = (e.word(distance * at) for distance, at in zip(windows.apart, divmod(k, 4), strict=True))
            place = [*planes, *(e.plus(a, b) for a, b in zip(corner, inner, strict=True))]
            indices.append([e.plus(a, b) for a, b in zip(first, place, strict=False)])
        with e.nest([windows.channels]) as (channel,):
            values = [piece.at(e, Index.of(piece.shape, [*place, channel])) for place in indices]
            _store(e, tiles.inner, number, channel, _transformed(e, _INPUT, values))


def _store(
    e: Emitter, target: Buffer, number: Register, channel: Register, values: Sequence[Element]
) -> None:
    for place, value in zip(places(e, target, number, channel), values, strict=True):
        e.store(target.dtype, *place, value)


def filter_gradient(region: Region, windows: Windows, x: Buffer, dy: Buffer) -> Buffer:
    """Return the gradient of the filters, a matrix [window · taken, given]: the sum over parts, each of some blocks."""
    e, dtype, taken, given, tiled = region.e, x.dtype, windows.channels, dy.shape[-1], TiledWindows(windows)
    most = max(BYTES // tiled.bytes_of_row(given), tiled.fewest_rows(0))
    blocks, numbers = RowBlocks(windows.result_sizes, most, tiled.multiples[0]), 16 * tiled.depth
    count = max(min(PARTS, PART_BYTES // (numbers * taken * given * dtype.size), blocks.count), 1)
    total = Buffer.new(e, dtype, (count, numbers, taken * given))
    scratch = Scratch(e, BlockMemory(tiled, given, blocks).bytes, count)
    work = math.prod(windows.result_sizes) * taken * given * tiled.depth // (2 * count)
    with one_thread(e), e.nest([count], inner=work) as (part,), scratch.claimed() as memory:
        start, end = (e.over(e.times(n, blocks.count), count)[0] for n in (part, e.plus(part, e.word(1))))
        own = Buffer(dtype, (numbers, taken, given), beyond(e, total, e.times(part, numbers * taken * given)))
        with e.nest([counted(e.minus(end, start))], parallel=False) as (number,):
            block = blocks.at(e, e.plus(start, number))
            tiles = Tiles(e, tiled, given, dtype, block, blocks, memory)
            _add_block(tiles, x, dy, own, number)
    sum = region.stored(reduced(region, total, sums(dtype), [0], (numbers, taken * given), dtype))
    return _transformed_matrices(e, sum, list(zip(*_FILTER, strict=True)), taken, given)


def _add_block(tiles: Tiles, x: Buffer, dy: Buffer, total: Buffer, number: Register) -> None:
    """Emit the addition of a block's products to the sums."""
    e, dtype, (_, taken, given) = tiles.e, x.dtype, total.shape
    _transform_source(tiles, x)
    e.clear(tiles.spare, given * dtype.size)
    with tiles.each(tiles.planes, tiles.most.planes) as (tile, corner):
        rows = tiles.rows(corner, dy, tiles.start)
        with e.nest([given]) as (channel,):
            values = [e.load(dtype, row, channel) for row in rows]
            _store(e, tiles.outer, tile, channel, _transformed(e, list(zip(*_OUTPUT, strict=True)), values))
    with tiles.products() as (image, plane, k):
        a, b = tiles.source_matrix(image, plane, k, blas.TRANSPOSED), tiles.result_matrix(image, k)
        adds = e.b.icmp_unsigned("!=", e.plus(number, image), e.word(0))
        sums = matrix_at(e, total, e.plus(e.times(plane, 16), k))
        multiply_add(e, dtype, (taken, given, tiles.count), a, b, sums, adds)


def transformed_filters(e: Emitter, filters: Buffer, taken: int) -> Buffer:
    """Emit G w Gᵀ of filters, a matrix [9 · depth · taken, given]: a matrix [16 · depth · taken, given]."""
    return _transformed_matrices(e, filters, _FILTER, taken, filters.shape[-1])


def _transformed_matrices(e: Emitter, source: Buffer, left: Coefficients, taken: int, given: int) -> Buffer:
    """Emit `left · w · leftᵀ`, where the numbers of each w are matrices [taken, given] in memory."""
    dtype, size, given_numbers, numbers = source.dtype, taken * given, len(left[0]) ** 2, len(left) ** 2
    depth = math.prod(source.shape) // (given_numbers * size)
    found = Buffer.new(e, dtype, (depth * numbers * taken, given))
    with e.nest([depth, size], inner=16) as (plane, at):
        first, target = (e.plus(e.times(plane, count * size), at) for count in (given_numbers, numbers))
        values = [
            e.load(dtype, source.address, e.plus(first, e.word(k * size))) for k in range(given_numbers)
        ]
        for k, value in enumerate(_transformed(e, left, values)):
            e.store(dtype, found.address, e.plus(target, e.word(k * size)), value)
    return found


def _transformed(e: Emitter, left: Coefficients, values: Sequence[Element]) -> list[Element]:
    """Emit `left · values · leftᵀ`, where the values are a square matrix, row by row."""
    size = len(left[0])
    columns = [[_combined(e, row, values[j::size]) for row in left] for j in range(size)]
    return [_combined(e, each, row) for row in zip(*columns, strict=True) for each in left]


def _combined(e: Emitter, coefficients: Sequence[float], values: Sequence[Element]) -> Element:
    """Emit the sum of values times coefficients; those with coefficients of the same size are added first."""
    total: Any = None
    for scale in sorted({abs(each) for each in coefficients} - {0}):
        part: Any = None
        for coefficient, value in sorted(zip(coefficients, values, strict=True), key=lambda pair: -pair[0]):
            if abs(coefficient) == scale:
                if part is None:
                    part = value if coefficient > 0 else e.b.fneg(value)
                else:
                    part = (e.b.fadd if coefficient > 0 else e.b.fsub)(part, value)
        part = part if scale == 1 else e.b.fmul(part, part.type(scale))
        total = part if total is None else e.b.fadd(total, part)
    return total
