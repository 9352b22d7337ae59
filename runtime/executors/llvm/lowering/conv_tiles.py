"""Tiles of 2 by 2 results of a convolution, in blocks: their numbers, their places, and their matrices in memory.

results of 3 by 4          tiles, in memory 16 matrices [tiles, channels]
a b c d                    (a b e f)   (c d g h)
e f g h           ==>      (i j . .)   (k l . .)
i j k l                    the dots are outside: they are read as zeros, and written to a spare row
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .... import dtypes
from ....kernels import blas
from ..codegen.blockwise import BYTES, RowBlock, RowBlocks
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index
from ..codegen.llvm_types import Register, integer
from .blas_calls import Matrix
from .conv_windows import Windows, aligned
from .matmul import beyond

TILES = 48
"""The fewest tiles of a block, which are the rows of its products. Large filters, read for each block, need more."""


class TiledWindows(Windows):
    """The windows of whole tiles, some of which reach out of the result.

    With dilation, the results of a tile are at this distance. With three axes, tiles are in planes, and a result is
    the sum over the `depth` planes of its window.
    """

    def __init__(self, windows: Windows) -> None:
        slide = windows.slide
        self.inner, self.apart = windows.result_sizes, slide.dilations[-2:]
        self.multiples = [2 * distance for distance in self.apart]
        rounded = (-(-size // by) * by for size, by in zip(slide.outputs[-2:], self.multiples, strict=True))
        wide = slide._replace(outputs=(*slide.outputs[:-2], *rounded))
        super().__init__(windows.count, wide, windows.channels, windows.taken, windows.size)
        self.depth, self.step = (slide.window[0], slide.dilations[0]) if self.n == 3 else (1, 1)

    def bytes_of_row(self, given: int) -> int:
        return 4 * (self.channels + given) * self.size

    def fewest_rows(self, filter_bytes: int) -> int:
        """Return the fewest rows of a block, which has whole rows of images, and planes that share their tiles."""
        tiles = TILES * min(max(filter_bytes // BYTES, 1), 4)
        return max(4 * tiles * self.depth, self.multiples[0] * self.inner[-1])

    def planes(self, counts: Sequence[int]) -> tuple[int, int]:
        """Return how many images and planes of each these windows or elements are; images of one plane are one."""
        return (counts[0], counts[1]) if self.n == 3 else (1, counts[0])


class BlockMemory:
    """The memory for a block: its part of the images, 16 numbers of each tile, and a row."""

    def __init__(self, windows: TiledWindows, given: int, blocks: RowBlocks) -> None:
        self.blocks = blocks.over(windows.result_sizes)
        counts = [1] * blocks.axis + [blocks.step, *self.blocks.sizes[blocks.axis + 1 :]]
        self.tiles = counts[-2] // 2, counts[-1] // 2
        self.planes = windows.planes(counts)
        self.sources = windows.planes([counts[0], *windows.extents(counts[1:])])
        each = math.prod(self.tiles)
        self.inner = (16, math.prod(self.sources) * each, windows.channels)
        self.outer = (16, math.prod(self.planes) * each, given)
        parts = (
            windows.piece_bytes(self.blocks),
            *(math.prod(p) * windows.size for p in (self.inner, self.outer)),
        )
        *self.starts, last = itertools.accumulate(map(aligned, parts))
        self.starts.append(last)
        self.bytes = last + aligned(given * windows.size)


class Tiles:
    """The tiles of a block, and memory for their 16 numbers: of each channel of the operand, and of the result."""

    def __init__(
        self, e: Emitter, windows: TiledWindows, given: int, dtype: dtypes.DType, block: RowBlock, blocks: RowBlocks,
        memory: Register,
    ) -> None:  # fmt: skip
        self.e, self.windows, self.memory = e, windows, memory
        self.given, self.start, self.most = given, block.start, BlockMemory(windows, given, blocks)
        self.ends = block.counts(windows.inner)[-2:]
        if isinstance(self.ends[0], Size):
            by = windows.multiples[0]
            pairs, _ = e.over(e.plus(e.word(self.ends[0]), e.word(by - 1)), by)
            block = block._replace(length=Size.of(e.times(pairs, by)))
            height: int = Size.of(e.times(pairs, windows.apart[0]))
        else:
            height = self.most.tiles[0]
        self.block, self.counts = block, (height, self.most.tiles[1])
        counts = block.counts(windows.result_sizes)
        self.planes = windows.planes(counts)
        self.sources = windows.planes([counts[0], *windows.extents(counts[1:])])
        self.count = self.planes[1] * height * self.most.tiles[1]
        inner, outer, self.spare = (
            e.b.gep(memory, [e.word(start)], source_etype=integer(8)) for start in self.most.starts
        )
        self.inner, self.outer = Buffer(dtype, self.most.inner, inner), Buffer(dtype, self.most.outer, outer)

    @contextmanager
    def each(
        self, planes: tuple[int, int], most: tuple[int, int]
    ) -> Iterator[tuple[Register, list[Register]]]:
        """Emit a loop over tiles: the number of a tile, and image, plane, row and column of its first result."""
        e = self.e
        with e.nest([*planes, *self.counts], parallel=False) as (image, plane, *numbers):
            number = Index.of((*most, *self.most.tiles), [image, plane, *numbers]).flat(e)
            corner = [image, plane]
            for at, distance in zip(numbers, self.windows.apart, strict=True):
                pair, within = e.over(at, distance)
                corner.append(e.plus(e.times(pair, 2 * distance), within))
            yield number, corner

    @contextmanager
    def products(self) -> Iterator[tuple[Register, Register, Register]]:
        """Emit a loop over the products of matrices: the image, the plane of a window, and the number of a tile."""
        with self.e.nest([self.planes[0], self.windows.depth, 16], parallel=False) as (image, plane, k):
            yield image, plane, k

    def source_matrix(
        self, image: Register, plane: Register, k: Register, flag: int = blas.AS_IT_IS
    ) -> Matrix:
        e = self.e
        first = e.plus(e.times(image, self.most.sources[1]), e.times(plane, self.windows.step))
        return matrix_at(e, self.inner, k, e.times(first, math.prod(self.most.tiles)), flag)

    def result_matrix(self, image: Register, k: Register) -> Matrix:
        row = self.e.times(image, self.most.planes[1] * math.prod(self.most.tiles))
        return matrix_at(self.e, self.outer, k, row)

    def rows(self, corner: Sequence[Register], buffer: Buffer, start: Register) -> list[Register]:
        """Return the addresses of the four results of a tile: the spare row, if they are outside."""
        e, (image, plane, *places), found = self.e, corner, []
        first = e.plus(e.times(image, self.most.planes[1]), plane)
        height, width = self.windows.inner[-2:]
        for k in range(4):
            inside, at = integer(1)(1), []
            for axis, (place, distance) in enumerate(zip(places, self.windows.apart, strict=True)):
                at.append(e.plus(place, e.word(distance * (k % 2 if axis else k // 2))))
                if self.windows.inner[axis - 2] % self.windows.multiples[axis]:
                    inside = e.b.and_(inside, e.b.icmp_unsigned("<", at[-1], e.word(self.ends[axis])))
            row = e.plus(e.times(e.plus(e.times(first, height), at[0]), width), at[1])
            address = beyond(e, buffer, e.times(e.plus(start, row), self.given))
            found.append(e.b.select(inside, address, self.spare))
        return found


def matrix_at(
    e: Emitter, buffer: Buffer, number: Register, row: Register = None, flag: int = blas.AS_IT_IS
) -> Matrix:
    """Return the matrix with this number, from a row on."""
    _, rows, columns = buffer.shape
    first = e.times(number, rows)
    return Matrix(
        beyond(e, buffer, e.times(first if row is None else e.plus(first, row), columns)), columns, flag
    )


def places(
    e: Emitter, buffer: Buffer, number: Register, channel: Register
) -> list[tuple[Register, Register]]:
    """Return the places of the 16 numbers of a tile, each in a matrix of its own."""
    indices = [Index.of(buffer.shape, [e.word(k), number, channel]) for k in range(16)]
    return [(buffer.address, index.flat(e)) for index in indices]
