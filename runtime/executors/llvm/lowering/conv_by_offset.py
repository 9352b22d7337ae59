"""Convolutions with few filters, by a product for each line of a window, without a matrix of windows.

Lines of three windows      a row of the first matrix      products, for a window of 2 by 3
    a b c                   a b c                          y'  ← rows of x, from line 0 on · filter[0]
      b c d          ==>    d e f                          y'  += rows of x, from line 1 on · filter[1]
        c d e               the same from b, c on          y[line, at] ← y'[line · pitch + at]

The rows are read where the image is. BLAS takes no rows that overlap: with windows of width 3, each product has every
third row. Rows at the end of a line reach into the next one; their sums are not copied to the result.
Both im2col and BLAS would copy each window, which takes as long as the products with few filters.
"""

from __future__ import annotations

import math

from .... import dtypes
from ..codegen.blockwise import RowBlock, RowBlocks
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index
from ..codegen.llvm_types import Register
from .blas_calls import Matrix, multiply_add
from .conv_windows import BlockwiseConvolution, ImagePiece, Windows, aligned
from .matmul import beyond

_FILTERS = 64
"""The most filters: with more, copies are short next to products."""

_INSIDE = 64
"""The fewest elements of a window: with fewer, loads and stores of sums take as long as the copies."""

_SHARE = 4
"""The fewest windows of a line for each element of a window's width, so that few rows are at the end of a line."""


def is_usable(windows: Windows, dtype: dtypes.DType, given: int) -> bool:
    """Return whether windows are rows in memory, at a distance of one element, and copies of them are expensive."""
    slide, width = windows.slide, windows.slide.window[-1]
    is_contiguous = {*slide.strides, slide.dilations[-1]} == {1} and windows.groups == 1
    is_wide = width > 1 and width * _SHARE <= slide.outputs[-1]
    return is_contiguous and is_wide and dtype.kind == "f" and given <= _FILTERS and windows.inside >= _INSIDE


class ConvolvedByOffset(BlockwiseConvolution):
    """A convolution of `source` with filters, a matrix [window and taken channels, given channels]."""

    def _wide_shape(self, blocks: RowBlocks) -> tuple[int, int, int]:
        """Return the shape of the sums of the lines of a block along the last two axes, with the ends of lines."""
        lines = blocks.step if blocks.axis == self.windows.n - 1 else blocks.sizes[-2]
        image = self.windows.piece_shape(blocks) if self.windows.has_margin else self.source.shape
        return (1 if blocks.axis == self.windows.n else lines, image[-2], self.given)

    def scratch_bytes(self, blocks: RowBlocks) -> int:
        sums = math.prod(self._wide_shape(blocks)) * self.dtype.size
        return aligned(self.windows.piece_bytes(blocks)) + sums

    def write(
        self, e: Emitter, block: RowBlock, blocks: RowBlocks, scratch: Register, target: Register
    ) -> None:
        windows, dtype = self.windows, self.dtype
        place = windows.piece(e, self.source, block, blocks, scratch)
        memory = Buffer(dtype, (1,), scratch)
        after = e.word(aligned(windows.piece_bytes(blocks)) // dtype.size)
        wide = Buffer(dtype, self._wide_shape(blocks), beyond(e, memory, after))
        *outer, lines, length = counts = block.counts(windows.result_sizes)
        found = Buffer(dtype, (*counts, self.given), target)
        zero = e.word(0)
        with e.nest(outer, parallel=False) as planes:
            self._multiply(e, place, planes, (lines + -1) * wide.shape[1] + length, wide)
            with e.nest([lines], parallel=False) as (line,):
                start = beyond(e, wide, Index.of(wide.shape, [line, zero, zero]).flat(e))
                here = beyond(e, found, Index.of(found.shape, [*planes, line, zero, zero]).flat(e))
                e.copy_some(here, start, e.word(length * (self.given * dtype.size)))

    def _multiply(
        self, e: Emitter, place: ImagePiece, planes: list[Register], rows: int, wide: Buffer
    ) -> None:
        """Emit the sum of the products for each line of a window."""
        slide, given, zero = self.windows.slide, self.given, e.word(0)
        width = slide.window[-1]
        inside = width * self.windows.taken
        with e.nest([*slide.window[:-1], width], parallel=False) as (*offsets, first):
            steps = [e.times(at, dilation) for at, dilation in zip(offsets, slide.dilations, strict=False)]
            moves = zip(place.first, [*planes, zero, zero], [zero, *steps, first], strict=False)
            corner = [e.plus(e.plus(start, plane), step) for start, plane, step in moves]
            line = Index.of((*slide.window[:-1], 1), [*offsets, zero]).flat(e)
            number = Size.of(e.over(e.minus(e.word(rows + (width - 1)), first), width)[0])
            source = beyond(e, place.buffer, Index.of(place.buffer.shape, [*corner, zero]).flat(e))
            multiply_add(
                e, self.dtype, (number, given, inside),
                Matrix(source, inside),
                Matrix(beyond(e, self.filters, e.times(line, inside * given)), given),
                Matrix(beyond(e, wide, e.times(first, given)), width * given),
                e.b.icmp_unsigned("!=", line, zero),
            )  # fmt: skip
