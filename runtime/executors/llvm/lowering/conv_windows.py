"""The windows of a convolution, and their matrix for one block of results (im2col).

    image with a margin        windows of 2 by 2, one row of the matrix each
    0 0 0 0                    0 0 0 a
    0 a b 0        ==>         0 0 a b
    0 c d 0                    …

A block first copies its part of the image with the margin, then the windows from there: both stay in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ....ops.nn.window_geometry import Sliding, is_by_channel
from ..codegen.blockwise import Blockwise, RowBlock, RowBlocks
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index
from ..codegen.llvm_types import Register, integer
from .blas_calls import one_thread
from .matmul import beyond

PARTS = 16
"""The parts of a filter gradient. Each has a sum of its own, and the sums are added in the end."""

PART_BYTES = 1 << 24
"""The bytes of these sums together."""


class ImagePiece(NamedTuple):
    """An array in memory, and the index in it of the first element that a block reads."""

    buffer: Buffer
    first: list[Register]


class Windows:
    """Windows over `count` images with channels, in groups of `taken` channels."""

    def __init__(self, count: int, slide: Sliding, channels: int, taken: int, size: int) -> None:
        self.count, self.slide, self.channels, self.taken, self.size = count, slide, channels, taken, size
        self.n = len(slide.window)
        self.groups = channels // taken
        self.inside = math.prod(slide.window) * taken
        ends = zip(slide.outputs, slide.strides, slide.window, slide.dilations, slide.sizes, strict=True)
        reaches_out = any((o - 1) * s + (w - 1) * d + 1 > size for o, s, w, d, size in ends)
        self.has_margin = reaches_out or any(slide.before)
        self.is_plain = not self.has_margin and set(slide.window) | set(slide.strides) == {1}
        """Whether the matrix of windows is the tensor itself."""

    @property
    def result_sizes(self) -> tuple[int, ...]:
        return (self.count, *self.slide.outputs)

    @property
    def row_bytes(self) -> int:
        """The bytes of a row of the matrix of windows."""
        return self.inside * self.size

    def are_by_channel(self, given: int) -> bool:
        """Return whether each channel is computed by itself, with so many filters."""
        return is_by_channel(self.slide.window, self.taken, self.groups, given)

    def extents(self, lengths: Sequence[int]) -> list[int]:
        """Return the sizes of the part of an image that this many windows cover."""
        slide = zip(lengths, self.slide.strides, self.slide.window, self.slide.dilations, strict=True)
        return [(length + -1) * stride + ((w - 1) * d + 1) for length, stride, w, d in slide]

    def piece_shape(self, blocks: RowBlocks) -> tuple[int, ...]:
        """Return the shape of the part of the images that a block reads, with margins."""
        counts = [1] * blocks.axis + [blocks.step, *blocks.sizes[blocks.axis + 1 :]]
        return (counts[0], *self.extents(counts[1:]), self.channels)

    def piece_bytes(self, blocks: RowBlocks) -> int:
        return math.prod(self.piece_shape(blocks)) * self.size if self.has_margin else 0

    def matrix_bytes(self, blocks: RowBlocks) -> int:
        return 0 if self.is_plain else blocks.rows * self.row_bytes

    def piece(
        self, e: Emitter, source: Buffer, block: RowBlock, blocks: RowBlocks, memory: Register
    ) -> ImagePiece:
        """Return the part of the images that a block reads; one with margins is copied to `memory`."""
        image, *starts = block.starts(e, self.n + 1)
        corner = [
            e.minus(e.times(start, stride), e.word(before))
            for start, stride, before in zip(starts, self.slide.strides, self.slide.before, strict=True)
        ]
        if not self.has_margin:
            return ImagePiece(source, [image, *corner, e.word(0)])
        piece = Buffer(source.dtype, self.piece_shape(blocks), memory)
        images, *lengths = block.counts(blocks.sizes)
        extents = self.extents(lengths)
        with e.nest([images, *extents[:-1]], parallel=False) as numbers:
            lines = zip(numbers[1:], corner, self.slide.sizes, strict=False)
            self._copy_line(e, source, piece, numbers, e.plus(image, numbers[0]), list(lines), corner[-1])
        return ImagePiece(piece, [e.word(0)] * (self.n + 2))

    def _copy_line(
        self,
        e: Emitter,
        source: Buffer,
        piece: Buffer,
        numbers: Sequence[Register],
        image: Register,
        lines: Sequence[tuple[Register, Register, int]],
        corner: Register,
    ) -> None:
        """Emit the copy of a line along the last axis, with zeros outside of the image."""
        inside, indices = integer(1)(1), [image]
        for number, first, size in lines:
            index = e.plus(number, first)
            fits = e.b.icmp_unsigned("<", index, e.word(size))
            inside = e.b.and_(inside, fits)
            indices.append(e.b.select(fits, index, e.word(0)))
        size, extent, unit = self.slide.sizes[-1], piece.shape[-2], self.channels * self.size
        zero = e.word(0)
        begin = e.intrinsic("smin", e.intrinsic("smax", e.minus(zero, corner), zero), e.word(extent))
        end = e.intrinsic("smax", e.intrinsic("smin", e.minus(e.word(size), corner), e.word(extent)), begin)
        begin, end = (e.b.select(inside, each, zero) for each in (begin, end))
        start = e.intrinsic("smax", corner, zero)
        line = Index.of(piece.shape, [*numbers, zero, zero]).flat(e)
        target = beyond(e, piece, line)
        wanted = beyond(e, source, Index.of(source.shape, [*indices, start, zero]).flat(e))

        def at(offset: Register) -> Register:
            return e.b.gep(target, [e.times(offset, unit)], source_etype=integer(8))

        e.clear_some(target, e.times(begin, unit))
        e.copy_some(at(begin), wanted, e.times(e.minus(end, begin), unit))
        e.clear_some(at(end), e.times(e.minus(e.word(extent), end), unit))

    def matrix(
        self, e: Emitter, place: ImagePiece, block: RowBlock, group: Register, memory: Register
    ) -> Register:
        """Emit im2col of a block for a group of channels into `memory`; return the address of the matrix."""
        buffer, first = place.buffer, [*place.first[:-1], e.times(group, self.taken)]
        if self.is_plain:
            return beyond(e, buffer, Index.of(buffer.shape, first).flat(e))
        slide = self.slide
        is_dense = (
            slide.dilations[-1] == 1 and self.groups == 1
        )  # then the last axis of a window is contiguous
        pieces, size = (1, slide.window[-1]) if is_dense else (slide.window[-1], 1)
        size *= self.taken
        counts = [*block.counts(self.result_sizes), *slide.window[:-1], pieces]
        target = Buffer(buffer.dtype, tuple(counts), memory)
        with e.nest(counts, parallel=False) as numbers:
            image, outputs, window = numbers[0], numbers[1 : self.n + 1], numbers[self.n + 1 :]
            moves = zip(first[1:-1], outputs, slide.strides, window, slide.dilations, strict=True)
            indices = [
                e.plus(start, e.plus(e.times(o, stride), e.times(w, dilation)))
                for start, o, stride, w, dilation in moves
            ]
            wanted = Index.of(buffer.shape, [e.plus(first[0], image), *indices, first[-1]]).flat(e)
            number = Index.of(target.shape, numbers).flat(e)
            here = beyond(e, target, e.times(number, size))
            e.copy(here, beyond(e, buffer, wanted), size * self.size)
        return memory

    def lead(self) -> int:
        """Return the distance of rows of the matrix in memory."""
        return self.channels if self.is_plain else self.inside


class BlockwiseConvolution(Blockwise):
    """A convolution of `source` with `filters`, whose last axis are the channels of the result, in blocks of rows."""

    def __init__(self, windows: Windows, source: Buffer, filters: Buffer) -> None:
        self.windows, self.source, self.filters = windows, source, filters
        self.given = filters.shape[-1]
        super().__init__(source.dtype, (*windows.result_sizes, self.given), [source, filters])
        self.work = windows.inside

    def around(self, e: Emitter) -> Any:
        """Return a context in which BLAS uses one thread: threads share the blocks."""
        return one_thread(e)

    def row_bytes(self) -> int:
        """Return the bytes of a row of the matrix of windows and of the result."""
        return self.windows.row_bytes + self.given * self.dtype.size


def aligned(size: int) -> int:
    """Return the next multiple of the size of a cache line."""
    return -(-size // 64) * 64
