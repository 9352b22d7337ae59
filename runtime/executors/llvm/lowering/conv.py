"""Lower convolutions and their gradients to products of blocks of windows (im2col) that stay in the cache.

conv x, w                  for each block of rows of y:          rows ← windows of x;  y[block] ← rows · w
                           with few filters, see conv_by_offset.py
                           with large filters and few windows, see conv_one_matrix.py
conv_backprop_filter       for each part, and block in it:       rows ← windows of x;  w'[part] += rowsᵀ · dy[block]
conv_backprop_input        with stride 1: a convolution of dy with the flipped filter
                           else, for each image and block in it: rows ← dy[block] · wᵀ;  add each to its window of x'

Threads share blocks, parts and images; each product is one call of BLAS, or of gemm_blocked.py. What reads y element by
element runs on each block before the next one is computed (blockwise.py).
"""

from __future__ import annotations

import math

from .... import dtypes
from ....ir.graph import Operation
from ....kernels import blas
from ....ops.nn.conv_kernel import parts
from ....ops.nn.window_geometry import Sliding, sliding
from ..codegen.blockwise import BYTES, RowBlock, RowBlocks, Scratch
from ..codegen.dynamic_shapes import regrouped
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, LazyValue, Shape
from ..codegen.llvm_types import Register, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from ..codegen.scalar_builder import counted
from . import conv_by_channel as by_channel
from . import conv_by_offset, conv_one_matrix, conv_winograd
from .blas_calls import Matrix, multiply_add, one_thread
from .casts import as_dtype, widened
from .conv_by_channel import ConvolvedByChannel
from .conv_windows import PART_BYTES, PARTS, BlockwiseConvolution, Windows, aligned
from .elementwise import add
from .fill import shape_of
from .matmul import beyond, permuted
from .reduction_codegen import reduced
from .reduction_kinds import sums
from .reshape import moved

_ROWS = 96
"""The rows from which on BLAS multiplies at nearly its full speed."""


class Setting:
    """The geometry of a convolution, with the operand in channels-last format."""

    def __init__(self, operation: Operation, full: Shape, filter: Shape) -> None:
        attrs = operation.attrs
        self.n, self.data_format = len(attrs["strides"]), attrs["data_format"]
        self.batch, sizes, self.channels = parts(full, self.n, self.data_format)
        self.slide = sliding(
            sizes, filter[:-2], attrs["strides"], attrs["dilations"], attrs["padding"],
            attrs["explicit_paddings"],
        )  # fmt: skip
        self.count = math.prod(self.batch)
        self.taken, self.given = filter[-2:]
        self.groups = self.channels // self.taken
        self.result = (self.count, *self.slide.outputs, self.given)

    def channels_last(self, node: LazyValue) -> LazyValue:
        """Transpose to channels-last, with all batch axes as one."""
        if self.data_format.startswith("NC"):
            rank = len(node.shape)
            first = rank - self.n - 1
            node = permuted(node, [*range(first), *range(first + 1, rank), first])
        return regrouped(node, (self.count, *node.shape[-self.n - 1 :]))

    def as_given(self, node: LazyValue) -> LazyValue:
        """Transpose from channels-last to the data format of the operation, with its batch axes."""
        node = regrouped(node, (*self.batch, *node.shape[1:]))
        if not self.data_format.startswith("NC"):
            return node
        rank = len(node.shape)
        first = rank - self.n - 1
        return permuted(node, [*range(first), rank - 1, *range(first, rank - 1)])

    def windows(self, dtype: dtypes.DType) -> Windows:
        return Windows(self.count, self.slide, self.channels, self.taken, dtype.size)

    def is_by_channel(self, dtype: dtypes.DType) -> bool:
        return self.windows(dtype).are_by_channel(self.given)

    def refuse_empty(self, *nodes: LazyValue) -> None:
        if not all(node.size for node in nodes) or not math.prod(self.result):
            raise RefusedError("convolutions of empty tensors are not compiled")

    def refuse_misfit(self, back: LazyValue) -> None:
        """Refuse a gradient with another shape than the result; user code may pass any shape."""
        batch, sizes, channels = parts(back.shape, self.n, self.data_format)
        if (*batch, *sizes, channels) != (*self.batch, *self.slide.outputs, self.given):
            raise RefusedError("the gradient has another shape than the result")


class Convolved(BlockwiseConvolution):
    """A convolution of `source` with filters, a matrix [window and taken channels, given channels]."""

    def fewest_rows(self) -> int:
        """Return more rows for large filters, which BLAS packs for each block."""
        return _ROWS * min(max(self.filters.bytes // (BYTES // 2), 1), 4)

    def scratch_bytes(self, blocks: RowBlocks) -> int:
        return aligned(self.windows.piece_bytes(blocks)) + self.windows.matrix_bytes(blocks)

    def write(
        self, e: Emitter, block: RowBlock, blocks: RowBlocks, scratch: Register, target: Register
    ) -> None:
        windows, dtype = self.windows, self.dtype
        place = windows.piece(e, self.source, block, blocks, scratch)
        rest = _after(e, scratch, aligned(windows.piece_bytes(blocks)))
        each = self.given // windows.groups
        with e.nest([windows.groups], parallel=False) as (group,):
            matrix = windows.matrix(e, place, block, group, rest)
            column = e.times(group, each * dtype.size)
            multiply_add(
                e, dtype, (block.rows, each, windows.inside),
                Matrix(matrix, windows.lead()),
                Matrix(_beyond(e, self.filters.address, column), self.given),
                Matrix(_beyond(e, target, column), self.given),
            )  # fmt: skip


def _convolved(e: Emitter, windows: Windows, source: Buffer, filters: Buffer) -> LazyValue:
    dtype, given = source.dtype, filters.shape[-1]
    if conv_winograd.is_usable(windows, dtype, given):
        transformed = conv_winograd.transformed_filters(e, filters, windows.channels)
        return conv_winograd.ConvolvedByWinograd(windows, source, transformed)
    if conv_by_offset.is_usable(windows, dtype, given):
        return conv_by_offset.ConvolvedByOffset(windows, source, filters)
    if conv_one_matrix.is_usable(windows, dtype, given):
        return conv_one_matrix.convolved(e, windows, source, filters)
    kind = ConvolvedByChannel if windows.are_by_channel(given) else Convolved
    return kind(windows, source, filters)


def _after(e: Emitter, address: Register, size: int) -> Register:
    return _beyond(e, address, e.word(size)) if size else address


def _beyond(e: Emitter, address: Register, by: Register) -> Register:
    return e.b.gep(address, [by], source_etype=integer(8))


@lowers("conv")
def _(region: Region, operation: Operation, node: LazyValue, filter: LazyValue) -> LazyValue:
    setting, own = Setting(operation, node.shape, filter.shape), node.dtype
    setting.refuse_empty(node, filter)
    x, w = setting.channels_last(widened(region, node)), widened(region, filter)
    y = _convolved(region.e, setting.windows(x.dtype), region.stored(x), _matrix(region, w))
    return as_dtype(region, setting.as_given(y), own)


def _matrix(region: Region, w: LazyValue) -> Buffer:
    stored = region.stored(w)
    return Buffer(stored.dtype, (math.prod(w.shape[:-1]), w.shape[-1]), stored.address)


@lowers("conv_backprop_filter")
def _(region: Region, operation: Operation, node: LazyValue, sizes: LazyValue, back: LazyValue) -> LazyValue:
    shape, own = shape_of(operation), node.dtype
    setting = Setting(operation, node.shape, shape)
    setting.refuse_misfit(back)
    setting.refuse_empty(node, back)
    x, dy = (setting.channels_last(widened(region, part)) for part in (node, back))
    windows = setting.windows(x.dtype)
    if conv_winograd.is_usable(windows, x.dtype, setting.given):
        total: LazyValue = conv_winograd.filter_gradient(region, windows, region.stored(x), region.stored(dy))
    else:
        gradient = by_channel.filter_gradient if setting.is_by_channel(x.dtype) else _filter_gradient
        total = gradient(region, setting, region.stored(x), region.stored(dy))
    return as_dtype(region, regrouped(total, shape), own)


def _filter_gradient(region: Region, setting: Setting, x: Buffer, dy: Buffer) -> LazyValue:
    """Return the sum over parts of transposed windows times gradients."""
    e, dtype, windows = region.e, x.dtype, setting.windows(x.dtype)
    inside, given, each = windows.inside, setting.given, setting.given // windows.groups
    rows = math.prod(windows.result_sizes)
    fitting = BYTES // (windows.row_bytes + given * dtype.size)
    blocks = RowBlocks(windows.result_sizes, max(min(fitting, -(-rows // PARTS)), _ROWS))
    count = max(min(PARTS, PART_BYTES // (inside * given * dtype.size), blocks.count), 1)
    total = Buffer.new(e, dtype, (count, inside, given))
    piece = aligned(windows.piece_bytes(blocks))
    pieces = conv_one_matrix.pieces(given, max(PARTS // count, 1)) if windows.groups == 1 else 1
    scratch = Scratch(e, piece + windows.matrix_bytes(blocks), count * pieces)
    each //= pieces
    work = rows * inside * given // (8 * count * pieces)
    with one_thread(e), e.nest([count, pieces], inner=work) as (part, columns), scratch.claimed() as memory:
        start, end = (e.over(e.times(n, blocks.count), count)[0] for n in (part, e.plus(part, e.word(1))))
        with e.nest([counted(e.minus(end, start))], parallel=False) as (number,):
            block = blocks.at(e, e.plus(start, number))
            place = windows.piece(e, x, block, blocks, memory)
            adds = e.b.icmp_unsigned("!=", number, e.word(0))
            with e.nest([windows.groups], parallel=False) as (group,):
                matrix = windows.matrix(e, place, block, group, _after(e, memory, piece))
                column = e.times(e.plus(group, columns), each)
                multiply_add(
                    e, dtype, (inside, each, block.rows),
                    Matrix(matrix, windows.lead(), blas.TRANSPOSED),
                    Matrix(beyond(e, dy, e.plus(e.times(block.start, given), column)), given),
                    Matrix(beyond(e, total, e.plus(e.times(part, inside * given), column)), given),
                    adds,
                )  # fmt: skip
    if count == 1:
        return total.also((inside, given), is_own=True)
    return reduced(region, total, sums(dtype), [0], (inside, given), dtype)


@lowers("conv_backprop_input")
def _(
    region: Region, operation: Operation, sizes: LazyValue, filter: LazyValue, back: LazyValue
) -> LazyValue:
    setting, own = Setting(operation, shape_of(operation), filter.shape), filter.dtype
    setting.refuse_misfit(back)
    setting.refuse_empty(filter, back)
    w, dy, slide = widened(region, filter), setting.channels_last(widened(region, back)), setting.slide
    if setting.is_by_channel(w.dtype) and all(
        1 in pair for pair in zip(slide.strides, slide.dilations, strict=True)
    ):
        found: LazyValue = by_channel.input_gradient(region, setting, _matrix(region, w), region.stored(dy))
    elif set(slide.strides) == {1}:
        found = _by_flipped_filter(region, setting, w, region.stored(dy))
    else:
        found = _by_images(region, setting, _matrix(region, w), region.stored(dy))
    return as_dtype(region, setting.as_given(found), own)


def _by_flipped_filter(region: Region, setting: Setting, w: LazyValue, dy: Buffer) -> LazyValue:
    """Return the convolution of the gradient with the filter, flipped and with its channels exchanged."""
    slide, groups = setting.slide, setting.groups
    each, taken = setting.given // groups, setting.taken
    reaches = [(size - 1) * dilation for size, dilation in zip(slide.window, slide.dilations, strict=True)]
    before = tuple(reach - b for reach, b in zip(reaches, slide.before, strict=True))
    flipped = Sliding(
        slide.outputs, slide.window, slide.strides, slide.dilations, before, slide.after, slide.sizes
    )
    windows = Windows(setting.count, flipped, setting.given, each, w.dtype.size)
    if not conv_winograd.is_usable(windows, w.dtype, setting.channels) and conv_one_matrix.is_usable(
        windows, w.dtype, setting.channels
    ):
        return conv_one_matrix.convolved_with_flipped(region.e, windows, dy, _matrix(region, w))

    def source(e: Emitter, coordinates: list[Register]) -> list[Register]:
        *offset, output, channel = coordinates
        group, inner = e.over(channel, taken)
        last = [
            e.minus(e.word(size - 1), at) if size > 1 else at
            for size, at in zip(slide.window, offset, strict=True)
        ]
        return [*last, inner, e.plus(e.times(group, each), output)]

    filters = moved(w, (*slide.window, each, setting.channels), source)
    return _convolved(region.e, windows, dy, _matrix(region, filters))


def _by_images(region: Region, setting: Setting, w: Buffer, dy: Buffer) -> LazyValue:
    """Return the sums of products of gradients and the transposed filter, each added to its window (col2im)."""
    e, dtype, slide = region.e, w.dtype, setting.slide
    inside, given, each = w.shape[0], setting.given, setting.given // setting.groups
    full = (*slide.padded, setting.channels)
    found = Buffer.new(e, dtype, (setting.count, *slide.sizes, setting.channels))
    most = max(BYTES // ((inside + given) * dtype.size), _ROWS)
    blocks = RowBlocks((1, *slide.outputs), most)
    wide_bytes, unit = aligned(math.prod(full) * dtype.size), dtype.size
    scratch = Scratch(e, wide_bytes + blocks.rows * inside * unit, setting.count)
    work = math.prod(slide.outputs) * inside * given // 8
    with one_thread(e), e.nest([setting.count], inner=work) as (image,), scratch.claimed() as memory:
        e.clear(memory, wide_bytes)
        wide, rows = Buffer(dtype, full, memory), _after(e, memory, wide_bytes)
        with e.nest([blocks.count], parallel=False) as (number,):
            block = blocks.at(e, number)
            first = e.plus(e.times(image, math.prod(slide.outputs)), block.start)
            with e.nest([setting.groups], parallel=False) as (group,):
                column = e.times(group, each)
                multiply_add(
                    e, dtype, (block.rows, inside, each),
                    Matrix(beyond(e, dy, e.plus(e.times(first, given), column)), given),
                    Matrix(beyond(e, w, column), given, blas.TRANSPOSED),
                    Matrix(rows, inside),
                )  # fmt: skip
                _add_rows(e, setting, block, group, Buffer(dtype, (blocks.rows, inside), rows), wide)
        _copy_inner(e, setting, wide, found, image)
    return found


def _add_rows(
    e: Emitter, setting: Setting, block: RowBlock, group: Register, rows: Buffer, wide: Buffer
) -> None:
    """Emit col2im: add the rows of a block to their windows."""
    slide, n, taken = setting.slide, setting.n, setting.taken
    shape = (*block.counts((1, *slide.outputs))[1:], *slide.window, taken)
    starts = block.starts(e, n + 1)[1:]
    with e.nest(shape[:-1], parallel=False) as numbers:
        moves = zip(starts, numbers[:n], slide.strides, numbers[n:], slide.dilations, strict=True)
        indices = [
            e.plus(e.times(e.plus(start, o), stride), e.times(w, dilation))
            for start, o, stride, w, dilation in moves
        ]
        base = Index.of(wide.shape, [*indices, e.times(group, taken)]).flat(e)
        number = Index.of(shape, [*numbers, e.word(0)]).flat(e)
        with e.nest([taken], each_once=True) as (channel,):
            target = e.plus(base, channel)
            pair = (
                e.load(wide.dtype, wide.address, target),
                e.load(wide.dtype, rows.address, e.plus(number, channel)),
            )
            e.store(wide.dtype, wide.address, target, add(e, site_of(wide.dtype), *pair))


def _copy_inner(e: Emitter, setting: Setting, wide: Buffer, found: Buffer, image: Register) -> None:
    """Emit the copy of an image without its margin."""
    slide = setting.slide
    line = slide.sizes[-1] * setting.channels
    with e.nest(slide.sizes[:-1], parallel=False) as numbers:
        shifted = [e.plus(at, e.word(before)) for at, before in zip(numbers, slide.before, strict=False)]
        source = Index.of(wide.shape, [*shifted, e.word(slide.before[-1]), e.word(0)]).flat(e)
        target = Index.of(found.shape, [image, *numbers, e.word(0), e.word(0)]).flat(e)
        e.copy(beyond(e, found, target), beyond(e, wide, source), line * found.dtype.size)
