"""Convolutions with filters of 3 by 3 by Winograd's minimal filtering: 16 multiplications for 4 results, not 36.

    y, 2 by 2           ←  Aᵀ [ (G w Gᵀ) · (Bᵀ x B) ] A           tiles of x are 4 by 4, in steps of 2
    gradient of w       ←  Gᵀ [ Σ (Bᵀ x B)ᵀ · (A y' Aᵀ) ] G

The products in brackets are 16 matrix products over channels, of all tiles of a block. Blocks stay in the cache.
The matrices are those of Lavin and Gray: Fast Algorithms for Convolutional Neural Networks, 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .... import dtypes
from ....kernels import blas
from ..codegen.blockwise import BYTES, RowBlock, RowBlocks, Scratch
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index
from ..codegen.llvm_types import Element, Register, integer
from ..codegen.region_lowering import Region
from .blas_calls import Matrix, multiply_add, one_thread
from .conv_windows import PART_BYTES, PARTS, BlockwiseConvolution, Windows, aligned
from .matmul import beyond
from .reduction_codegen import reduced
from .reduction_kinds import sums

Coefficients = Sequence[Sequence[float]]

_INPUT: Coefficients = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
_FILTER: Coefficients = ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1))
_OUTPUT: Coefficients = ((1, 1, 1, 0), (0, 1, -1, -1))

_CHANNELS = 32
"""The fewest channels of operand and result: with fewer, the transforms take as long as the saved multiplications."""

_TILES = 48
"""The fewest tiles of a block, which are the rows of its products. Large filters, read for each block, need more."""


def is_usable(windows: Windows, dtype: dtypes.DType, given: int) -> bool:
    """Return whether a convolution has such a filter, an even number of rows and columns, and enough of each."""
    slide, sizes = windows.slide, windows.slide.outputs
    is_plain = {*slide.strides, *slide.dilations} == {1} and windows.groups == 1 and dtype.kind == "f"
    is_square = is_plain and slide.window == (3, 3)
    is_even = is_square and not sizes[0] % 2 and not sizes[1] % 2
    is_large = math.prod(windows.result_sizes) >= 4 * _TILES
    return is_even and is_large and min(windows.channels, given) >= _CHANNELS


class ConvolvedByWinograd(BlockwiseConvolution):
    """A convolution of `source` with filters that `transformed_filters` has returned."""

    row_multiple = 2

    def row_bytes(self) -> int:
        return _row_bytes(self.windows, self.given)

    def fewest_rows(self) -> int:
        return _fewest_rows(self.windows, self.filters.bytes)

    def scratch_bytes(self, blocks: RowBlocks) -> int:
        return _scratch_bytes(self.windows, self.given, blocks)

    def write(
        self, e: Emitter, block: RowBlock, blocks: RowBlocks, scratch: Register, target: Register
    ) -> None:
        dtype, given, taken = self.dtype, self.given, self.windows.channels
        tiles = _Tiles(e, self.windows, given, dtype, block, blocks, scratch)
        tiles.transform_source(self.source)
        filters = Buffer(dtype, (16, taken, given), self.filters.address)
        with e.nest([16], parallel=False) as (k,):
            a, b, c = (_matrix(e, buffer, k) for buffer in (tiles.inner, filters, tiles.outer))
            multiply_add(e, dtype, (tiles.count, given, taken), a, b, c)
        with tiles.each() as tile, e.nest([given]) as (channel,):
            products = [
                e.load(dtype, tiles.outer.address, at) for at in _places(e, tiles.outer, tile, channel)
            ]
            for row, value in zip(tile.rows, _transformed(e, _OUTPUT, products), strict=True):
                e.store(dtype, target, e.plus(e.times(row, given), channel), value)


def _row_bytes(windows: Windows, given: int) -> int:
    return 4 * (windows.channels + given) * windows.size


def _fewest_rows(windows: Windows, filter_bytes: int) -> int:
    """Return the fewest rows of a block, which has whole rows of images."""
    return max(4 * _TILES * min(max(filter_bytes // BYTES, 1), 4), 2 * windows.result_sizes[-1])


def _scratch_bytes(windows: Windows, given: int, blocks: RowBlocks) -> int:
    return aligned(windows.piece_bytes(blocks)) + blocks.rows * _row_bytes(windows, given)


def _matrix(e: Emitter, buffer: Buffer, number: Register, flag: int = blas.AS_IT_IS) -> Matrix:
    _, rows, columns = buffer.shape
    return Matrix(beyond(e, buffer, e.times(number, rows * columns)), columns, flag)


class _Tile(NamedTuple):
    number: Register
    corner: Sequence[Register]
    """The image, row and column of its first result, counted in the block."""
    rows: Sequence[Register]
    """The numbers of its four results in the block."""


def _places(e: Emitter, buffer: Buffer, tile: _Tile, channel: Register) -> list[Register]:
    """Return the places of the 16 numbers of a tile, each in a matrix of its own."""
    return [Index.of(buffer.shape, [e.word(k), tile.number, channel]).flat(e) for k in range(16)]


class _Tiles:
    """The tiles of a block, and memory for their 16 numbers: of each channel of the operand, and of the result."""

    def __init__(
        self, e: Emitter, windows: Windows, given: int, dtype: dtypes.DType, block: RowBlock, blocks: RowBlocks,
        memory: Register,
    ) -> None:  # fmt: skip
        self.e, self.windows, self.block, self.blocks, self.memory = e, windows, block, blocks, memory
        most, margin = blocks.rows // 4, aligned(windows.piece_bytes(blocks))
        address = e.b.gep(memory, [e.word(margin)], source_etype=integer(8))
        self.inner = Buffer(dtype, (16, most, windows.channels), address)
        self.outer = Buffer(
            dtype, (16, most, given), beyond(e, self.inner, e.word(16 * most * windows.channels))
        )
        images, rows, columns = block.counts(windows.result_sizes)
        half = Size.of(e.over(e.word(rows), 2)[0]) if isinstance(rows, Size) else rows // 2
        self.counts = [images, half, columns // 2]
        self.count = images * half * (columns // 2)

    @contextmanager
    def each(self) -> Iterator[_Tile]:
        """Emit a loop over the tiles."""
        e = self.e
        _, height, width = self.windows.result_sizes
        with e.nest(self.counts, parallel=False) as (image, row, column):
            number = e.plus(e.times(e.plus(e.times(image, height // 2), row), width // 2), column)
            row, column = e.times(row, 2), e.times(column, 2)
            first = e.plus(e.times(e.plus(e.times(image, height), row), width), column)
            yield _Tile(
                number, [image, row, column], [e.plus(first, e.word(at)) for at in (0, 1, width, width + 1)]
            )

    def transform_source(self, source: Buffer) -> None:
        """Emit Bᵀ x B of all tiles."""
        e = self.e
        piece, first = self.windows.piece(e, source, self.block, self.blocks, self.memory)
        with self.each() as tile, e.nest([self.windows.channels]) as (channel,):
            image, row, column = (e.plus(a, b) for a, b in zip(first[:-1], tile.corner, strict=True))
            places = [[image, e.plus(row, e.word(k // 4)), e.plus(column, e.word(k % 4))] for k in range(16)]
            values = [piece.at(e, Index.of(piece.shape, [*place, channel])) for place in places]
            self.store(self.inner, tile, channel, _transformed(e, _INPUT, values))

    def store(self, target: Buffer, tile: _Tile, channel: Register, values: Sequence[Element]) -> None:
        for at, value in zip(_places(self.e, target, tile, channel), values, strict=True):
            self.e.store(target.dtype, target.address, at, value)


def filter_gradient(region: Region, windows: Windows, x: Buffer, dy: Buffer) -> Buffer:
    """Return the gradient of the filters, a matrix [9 · taken, given]: the sum over parts, each of some blocks."""
    e, dtype, taken, given = region.e, x.dtype, windows.channels, dy.shape[-1]
    most = max(BYTES // _row_bytes(windows, given), _fewest_rows(windows, 0))
    blocks = RowBlocks(windows.result_sizes, most, 2)
    count = max(min(PARTS, PART_BYTES // (16 * taken * given * dtype.size), blocks.count), 1)
    total = Buffer.new(e, dtype, (count, 16, taken * given))
    scratch = Scratch(e, _scratch_bytes(windows, given, blocks))
    work = math.prod(windows.result_sizes) * taken * given // (2 * count)
    with one_thread(e), e.nest([count], inner=work) as (part,), scratch.claimed() as memory:
        start, end = (e.over(e.times(n, blocks.count), count)[0] for n in (part, e.plus(part, e.word(1))))
        own = Buffer(dtype, (16, taken, given), beyond(e, total, e.times(part, 16 * taken * given)))
        with e.nest([Size.of(e.minus(end, start))], parallel=False) as (number,):
            block = blocks.at(e, e.plus(start, number))
            tiles = _Tiles(e, windows, given, dtype, block, blocks, memory)
            _add_block(tiles, x, dy, own, e.b.icmp_unsigned("!=", number, e.word(0)))
    sum = region.stored(reduced(region, total, sums(dtype), [0], (16, taken * given), dtype))
    return _transformed_matrices(e, sum, list(zip(*_FILTER, strict=True)), taken, given)


def _add_block(tiles: _Tiles, x: Buffer, dy: Buffer, total: Buffer, adds: Register) -> None:
    """Emit the addition of a block's products to 16 sums."""
    e, dtype, (_, taken, given) = tiles.e, x.dtype, total.shape
    tiles.transform_source(x)
    with tiles.each() as tile, e.nest([given]) as (channel,):
        rows = [e.plus(tiles.block.start, row) for row in tile.rows]
        values = [e.load(dtype, dy.address, e.plus(e.times(row, given), channel)) for row in rows]
        tiles.store(tiles.outer, tile, channel, _transformed(e, list(zip(*_OUTPUT, strict=True)), values))
    with e.nest([16], parallel=False) as (k,):
        factors = _matrix(e, tiles.inner, k, blas.TRANSPOSED), _matrix(e, tiles.outer, k)
        multiply_add(e, dtype, (taken, given, tiles.count), *factors, _matrix(e, total, k), adds)


def transformed_filters(e: Emitter, filters: Buffer, taken: int) -> Buffer:
    """Emit G w Gᵀ of filters, a matrix [9 · taken, given]: a matrix [16 · taken, given]."""
    return _transformed_matrices(e, filters, _FILTER, taken, filters.shape[-1])


def _transformed_matrices(e: Emitter, source: Buffer, left: Coefficients, taken: int, given: int) -> Buffer:
    """Emit `left · w · leftᵀ`, where the numbers of w are matrices [taken, given] in memory."""
    dtype, size = source.dtype, taken * given
    found = Buffer.new(e, dtype, (len(left) ** 2 * taken, given))
    with e.nest([size], inner=16) as (at,):
        places = [e.plus(at, e.word(k * size)) for k in range(16)]
        values = [e.load(dtype, source.address, place) for place in places[: len(left[0]) ** 2]]
        for place, value in zip(places, _transformed(e, left, values), strict=False):
            e.store(dtype, found.address, place, value)
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
