"""Lower convolutions and their gradients to im2col and one GEMM per chunk of images.

conv x, w                  rows ← im2col(x);   y ← rows · w
conv_backprop_filter       w' ← rowsᵀ · dy, accumulated over chunks
conv_backprop_input        rows ← dy · wᵀ;   col2im: each row is added to its window

Windows of one element with stride 1 need no im2col. Grouped convolutions are sums over windows in loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .... import dtypes
from ....ir.graph import Operation
from ....ops.nn.conv_kernel import parts
from ....ops.nn.window_geometry import sliding
from ..codegen.dynamic_shapes import regrouped
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .elementwise import add, multiply
from .fill import shape_of, uniform
from .gemm_selection import Factor, Product
from .matmul import beyond, permuted
from .padding import surrounded
from .reduction_codegen import reduced
from .reduction_kinds import site_of, sums
from .reshape import moved
from .softmax import as_dtype, widened

_ELEMENTS = 1 << 22
"""The most elements of the im2col matrix of a chunk."""


class Setting:
    """The geometry of a convolution: windows, channel groups and chunks."""

    def __init__(self, operation: Operation, full: Shape, filter: Shape) -> None:
        attrs = operation.attrs
        self.n, self.data_format = len(attrs["strides"]), attrs["data_format"]
        self.batch, sizes, self.channels = parts(full, self.n, self.data_format)
        self.slide = sliding(
            sizes,
            filter[:-2],
            attrs["strides"],
            attrs["dilations"],
            attrs["padding"],
            attrs["explicit_paddings"],
        )
        self.count = math.prod(self.batch)
        self.taken, self.given = filter[-2:]
        self.groups = self.channels // self.taken
        self.window, self.outputs = self.slide.window, self.slide.outputs
        self.inside = math.prod(self.window) * self.taken
        self.rows = math.prod(self.outputs)
        self.is_plain = (
            set(self.window) | set(self.slide.strides) == {1} and self.slide.padded == self.slide.sizes
        )
        largest = max(1, _ELEMENTS // max(self.rows * self.inside, 1))
        divisors = (d for d in range(1, self.count + 1) if self.count % d == 0 and d <= largest)
        self.chunk = max(divisors, default=1)

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

    def padded(self, region: Region, x: LazyValue) -> LazyValue:
        margins = [(0, 0), *zip(self.slide.before, self.slide.after, strict=True), (0, 0)]
        return region.settled(surrounded(region, x, margins))

    def coordinates(
        self, e: Emitter, outputs: Sequence[Register], window: Sequence[Register]
    ) -> list[Register]:
        """Return the indices along the padded axes of elements `window` of the windows at `outputs`."""
        return [
            e.plus(e.times(o, stride), e.times(w, dilation))
            for o, w, stride, dilation in zip(
                outputs, window, self.slide.strides, self.slide.dilations, strict=True
            )
        ]

    @contextmanager
    def chunks(self, e: Emitter) -> Iterator[Register]:
        """Emit a loop over chunks of images; yield the index of the first image."""
        if self.chunk == self.count:
            yield e.word(0)
        else:
            with e.nest([self.count // self.chunk], parallel=False, inner=self.rows * self.inside) as (
                number,
            ):
                yield e.times(number, self.chunk)


def _refuse_empty(setting: Setting, *nodes: LazyValue) -> None:
    if not all(node.size for node in nodes) or not setting.count * setting.rows:
        raise RefusedError("convolutions of empty tensors are not compiled")


def _refuse_misfit(setting: Setting, back: LazyValue) -> None:
    """Refuse a gradient with another shape than the result; user code may pass any shape."""
    batch, sizes, channels = parts(back.shape, setting.n, setting.data_format)
    if (*batch, *sizes, channels) != (*setting.batch, *setting.outputs, setting.given):
        raise RefusedError("the gradient has another shape than the result")


class _Rows:
    """The im2col matrix of a chunk: one row per window."""

    def __init__(self, region: Region, setting: Setting, source: Buffer) -> None:
        self.e, self.setting, self.source = region.e, setting, source
        self.shape = (setting.chunk * setting.rows, setting.inside)
        self.memory: Buffer | None = None

    def of(self, first: Register) -> Register:
        """Emit im2col for the images from `first` on; return the address of the matrix."""
        e, setting, source = self.e, self.setting, self.source
        if setting.is_plain:
            return beyond(e, source, e.times(first, setting.rows * setting.channels))
        if self.memory is None:
            self.memory = Buffer.new(e, source.dtype, self.shape)
        n, *outer = setting.n, setting.chunk, *setting.outputs, *setting.window[:-1]
        is_dense = setting.slide.dilations[-1] == 1  # then the last axis of a window is contiguous
        pieces, size = (1, setting.window[-1]) if is_dense else (setting.window[-1], 1)
        with e.nest([*outer, pieces]) as (image, *numbers):
            coordinates = setting.coordinates(e, numbers[:n], numbers[n:])
            wanted = Index.of(source.shape, [e.plus(image, first), *coordinates, e.word(0)]).flat(e)
            number = Index.of((*outer, pieces), [image, *numbers]).flat(e)
            count = size * setting.channels
            here = beyond(e, self.memory, e.times(number, count))
            e.copy(here, beyond(e, source, wanted), count * source.dtype.size)
        return self.memory.address


@lowers("conv")
def _(region: Region, operation: Operation, node: LazyValue, filter: LazyValue) -> LazyValue:
    setting, e, own = Setting(operation, node.shape, filter.shape), region.e, node.dtype
    _refuse_empty(setting, node, filter)
    x, w = setting.channels_last(widened(region, node)), widened(region, filter)
    if setting.groups > 1:
        axes = range(setting.n + 1, 2 * setting.n + 2)
        shape = (setting.count, *setting.outputs, setting.given)
        pairs = _pairs(region, setting, setting.padded(region, x), region.settled(w), None)
        y: LazyValue = reduced(region, pairs, sums(x.dtype), axes, shape, x.dtype)
        return as_dtype(region, setting.as_given(y), own)
    source = region.stored(setting.padded(region, x))
    rows = _Rows(region, setting, source)
    matrix = region.stored(w)
    result = Buffer.new(e, x.dtype, (setting.count, *setting.outputs, setting.given))
    a, b = _plain(x.dtype, rows.shape), _plain(x.dtype, (setting.inside, setting.given))
    e.work += setting.count * setting.rows * setting.inside * setting.given // 8
    product = Product(e, Factor(a), Factor(b), x.dtype, rows.shape[0])
    with setting.chunks(e) as first:
        target = beyond(e, result, e.times(first, setting.rows * setting.given))
        product.write(rows.of(first), matrix.address, target)
    return as_dtype(region, setting.as_given(result), own)


def _plain(dtype: dtypes.DType, shape: Shape) -> LazyValue:
    """Return a placeholder, of which only the shape matters."""
    return uniform(dtype, shape, 0)


@lowers("conv_backprop_filter")
def _(region: Region, operation: Operation, node: LazyValue, sizes: LazyValue, back: LazyValue) -> LazyValue:
    setting, e, own = Setting(operation, node.shape, shape_of(operation)), region.e, node.dtype
    _refuse_misfit(setting, back)
    _refuse_empty(setting, node, back)
    x, dy = (setting.channels_last(widened(region, part)) for part in (node, back))
    if setting.groups > 1:
        pairs = _pairs(region, setting, setting.padded(region, x), None, region.settled(dy))
        axes = range(setting.n + 1)
        total = reduced(region, pairs, sums(x.dtype), axes, shape_of(operation), x.dtype)
        return as_dtype(region, total, own)
    rows, given = _Rows(region, setting, region.stored(setting.padded(region, x))), region.stored(dy)
    shape = (setting.inside, setting.given)
    found, result = (Buffer.new(e, x.dtype, shape) for _ in range(2))
    a, b = _plain(x.dtype, rows.shape), _plain(x.dtype, (rows.shape[0], setting.given))
    e.work += setting.count * setting.rows * setting.inside * setting.given // 8
    product = Product(e, Factor(a, turned=True), Factor(b), x.dtype, setting.inside)
    if setting.chunk == setting.count:
        product.write(rows.of(e.word(0)), given.address, result.address)
        return as_dtype(region, regrouped(result, shape_of(operation)), own)
    e.clear(result.address, result.bytes)
    with setting.chunks(e) as first:
        target = beyond(e, given, e.times(first, setting.rows * setting.given))
        product.write(rows.of(first), target, found.address)
        with e.nest([result.size]) as (number,):
            parts = (e.load(x.dtype, part.address, number) for part in (result, found))
            e.store(x.dtype, result.address, number, add(e, site_of(x.dtype), *parts))
    return as_dtype(region, regrouped(result, shape_of(operation)), own)


@lowers("conv_backprop_input")
def _(
    region: Region, operation: Operation, sizes: LazyValue, filter: LazyValue, back: LazyValue
) -> LazyValue:
    setting, e, own = Setting(operation, shape_of(operation), filter.shape), region.e, filter.dtype
    _refuse_misfit(setting, back)
    _refuse_empty(setting, filter, back)
    w, dy = widened(region, filter), setting.channels_last(widened(region, back))
    wide = region.zeros(w.dtype, (setting.count, *setting.slide.padded, setting.channels))
    if setting.groups > 1:
        _add_rows(region, setting, e.word(0), setting.count, _grouped_rows(region, setting, w, dy), wide)
    else:
        matrix, given = region.stored(w), region.stored(dy)
        shape = (setting.chunk * setting.rows, setting.inside)
        a, b = _plain(w.dtype, (shape[0], setting.given)), _plain(w.dtype, (setting.inside, setting.given))
        product = Product(e, Factor(a), Factor(b, turned=True), w.dtype, shape[0])
        e.work += setting.count * setting.rows * setting.inside * setting.given // 8
        rows = None if setting.is_plain else Buffer.new(e, w.dtype, shape)
        with setting.chunks(e) as first:
            target = beyond(e, given, e.times(first, setting.rows * setting.given))
            if rows is None:
                here = beyond(e, wide, e.times(first, setting.rows * setting.channels))
                product.write(target, matrix.address, here)
            else:
                product.write(target, matrix.address, rows.address)
                _add_rows(region, setting, first, setting.chunk, rows, wide)
    before = [0, *setting.slide.before, 0]
    inner = moved(
        wide,
        (setting.count, *setting.slide.sizes, setting.channels),
        lambda e, coordinates: [
            e.plus(p, e.word(start)) for p, start in zip(coordinates, before, strict=True)
        ],
    )
    return as_dtype(
        region, setting.as_given(inner if any(before) or wide.shape != inner.shape else wide), own
    )


def _add_rows(
    region: Region, setting: Setting, first: Register, count: int, rows: Buffer, wide: Buffer
) -> None:
    """Emit col2im: add the rows of a chunk to their windows."""
    e, n = region.e, setting.n
    shape = (count, *setting.outputs, *setting.window, setting.channels)
    with e.nest(shape[:-1], parallel=False) as (image, *numbers):
        coordinates = [e.plus(image, first), *setting.coordinates(e, numbers[:n], numbers[n:])]
        with e.nest(shape[-1:]) as (channel,):
            target = Index.of(wide.shape, [*coordinates, channel]).flat(e)
            number = Index.of(shape, [image, *numbers, channel]).flat(e)
            parts = e.load(wide.dtype, wide.address, target), e.load(wide.dtype, rows.address, number)
            e.store(wide.dtype, wide.address, target, add(e, site_of(wide.dtype), *parts))


def _pairs(
    region: Region, setting: Setting, x: LazyValue, w: LazyValue | None, dy: LazyValue | None
) -> LazyValue:
    """Return the products of window elements with filters or gradients: [image, outputs, window, taken, given]."""
    n, each = setting.n, setting.given // setting.groups
    shape = (setting.count, *setting.outputs, *setting.window, setting.taken, setting.given)
    readable = [node for node in (x, w, dy) if node is not None]

    def find(e: Emitter, index: Index) -> Element:
        image, *numbers, taken, given = index.coordinates(e)
        outputs, window = numbers[:n], numbers[n:]
        channel = e.plus(e.times(e.over(given, each)[0], setting.taken), taken)
        element = x.at(e, Index.of(x.shape, [image, *setting.coordinates(e, outputs, window), channel]))
        if w is not None:
            other = w.at(e, Index.of(w.shape, [*window, taken, given]))
        else:
            assert dy is not None
            other = dy.at(e, Index.of(dy.shape, [image, *outputs, given]))
        return multiply(e, site_of(x.dtype), element, other)

    return IndexMap(x.dtype, shape, readable, find, cost=2, once=False)


def _grouped_rows(region: Region, setting: Setting, w: LazyValue, dy: LazyValue) -> Buffer:
    """Return dy · wᵀ for each group of channels: [image, outputs, window, channels]."""
    n, each = setting.n, setting.given // setting.groups
    outer = (setting.count, *setting.outputs, *setting.window)
    filters, given = region.settled(w), region.settled(dy)

    def find(e: Emitter, index: Index) -> Element:
        image, *numbers, group, taken, number = index.coordinates(e)
        output = e.plus(e.times(group, each), number)
        factor = filters.at(e, Index.of(filters.shape, [*numbers[n:], taken, output]))
        return multiply(
            e, site_of(w.dtype), factor, given.at(e, Index.of(given.shape, [image, *numbers[:n], output]))
        )

    pairs = IndexMap(
        w.dtype, (*outer, setting.groups, setting.taken, each), [filters, given], find, cost=2, once=False
    )
    shape = (*outer, setting.groups * setting.taken)
    return region.stored(reduced(region, pairs, sums(w.dtype), [len(outer) + 2], shape, w.dtype))
