"""Convolutions of few windows with large filters, by one matrix of all windows: threads share the filters.

    y   ←  windows of x · w              parts of rows and columns, by gemm_selection.py
    x'  ←  Σ windows of y' [at] · w[at]ᵀ  at each offset, in parts of columns: the filter is not transposed in memory

In blocks of few windows, BLAS would take longer to pack a large filter for each block than to multiply by it.
"""

from __future__ import annotations

import math

from .... import dtypes
from ....kernels import blas
from ..codegen.blockwise import BYTES, RowBlocks, Scratch
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer
from .blas_calls import Matrix, multiply_add, one_thread, shares_products
from .conv_windows import PARTS, Windows
from .gemm_selection import Factor, Product
from .matmul import beyond

_WINDOWS = 1536
"""The most windows: there are enough blocks of more of them for all threads."""

_COLUMNS = 64
"""The fewest columns that a thread computes."""


def is_usable(windows: Windows, dtype: dtypes.DType, given: int) -> bool:
    """Return whether there are few windows, and the filters take more memory than two blocks, or half of the matrix."""
    rows, filter_bytes = math.prod(windows.result_sizes), windows.row_bytes * given
    is_large = filter_bytes >= max(2 * BYTES, rows * windows.row_bytes // 2)
    return is_large and rows < _WINDOWS and windows.groups == 1 and dtype.kind == "f" and shares_products()


def convolved(e: Emitter, windows: Windows, source: Buffer, filters: Buffer) -> Buffer:
    """Return a convolution with filters, a matrix [window and taken channels, given channels]."""
    matrix = _matrix(e, windows, source)
    found = Buffer.new(e, source.dtype, (*windows.result_sizes, filters.shape[-1]))
    product = Product(e, Factor(matrix), Factor(filters), source.dtype, matrix.shape[0])
    product.write(matrix.address, filters.address, found.address)
    return found


def convolved_with_flipped(e: Emitter, windows: Windows, source: Buffer, filters: Buffer) -> Buffer:
    """Return a convolution with filters, a matrix [window backwards and given channels, taken channels]."""
    dtype, taken, offsets = source.dtype, windows.taken, math.prod(windows.slide.window)
    matrix, given = _matrix(e, windows, source), filters.shape[0] // offsets
    found, rows = Buffer.new(e, dtype, (*windows.result_sizes, given)), matrix.shape[0]
    parts = pieces(given, PARTS)
    each = given // parts
    work = rows * each * windows.inside // 8
    with one_thread(e), e.nest([parts], inner=work) as (part,), e.nest([offsets], parallel=False) as (at,):
        column = e.times(part, each)
        row = e.plus(e.times(e.minus(e.word(offsets - 1), at), given), column)
        multiply_add(
            e, dtype, (rows, each, taken),
            Matrix(beyond(e, matrix, e.times(at, taken)), windows.inside),
            Matrix(beyond(e, filters, e.times(row, taken)), taken, blas.TRANSPOSED),
            Matrix(beyond(e, found, column), given),
            e.b.icmp_unsigned("!=", at, e.word(0)),
        )  # fmt: skip
    return found


def pieces(columns: int, most: int) -> int:
    """Return into how many equal pieces of columns a large matrix is divided."""
    most = min(most, max(columns // _COLUMNS, 1))
    return next(number for number in range(most, 0, -1) if columns % number == 0)


def _matrix(e: Emitter, windows: Windows, source: Buffer) -> Buffer:
    """Emit im2col of all windows."""
    shape = math.prod(windows.result_sizes), windows.inside
    if windows.is_plain:
        return Buffer(source.dtype, shape, source.address)
    found = Buffer.new(e, source.dtype, shape)
    blocks = RowBlocks(windows.result_sizes, max(BYTES // windows.row_bytes, 1))
    scratch = Scratch(e, windows.piece_bytes(blocks), blocks.count)
    with e.nest([blocks.count], inner=blocks.rows * windows.inside) as (number,), scratch.claimed() as memory:
        block = blocks.at(e, number)
        place = windows.piece(e, source, block, blocks, memory)
        windows.matrix(e, place, block, e.word(0), beyond(e, found, e.times(block.start, windows.inside)))
    return found
