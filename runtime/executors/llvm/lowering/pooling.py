"""Lower pooling to loops, one axis at a time; gradients are scattered window by window.

max_pool x         for each axis: y[.., o, ..] ← the largest of x[.., o · stride + i - before, ..]
max_pool_grad      the gradient of each window goes to the first of its largest elements
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .... import dtypes
from ....ir.graph import Operation
from ....ops.nn.window_geometry import Sliding, sliding
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, ConstantArray, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers
from .elementwise import add, compared
from .fill import shape_of
from .padding import surrounded
from .reduction_codegen import reduced
from .reduction_kinds import ReductionKind, get, maxima, new_slot, put, site_of, sums
from .softmax import as_dtype, each, widened


def _slide(operation: Operation, shape: Shape) -> Sliding:
    attrs = operation.attrs
    ones = (1,) * len(shape)
    slide = sliding(
        shape, attrs["ksize"], attrs["strides"], ones, attrs["padding"], attrs["explicit_paddings"]
    )
    if not math.prod(shape) or not math.prod(slide.outputs):
        raise RefusedError("windows over empty tensors are not compiled")
    return slide


def _pooled(region: Region, node: LazyValue, slide: Sliding, kind: ReductionKind) -> LazyValue:
    """Reduce windows along one axis after the other."""
    for axis, size in enumerate(slide.window):
        if size == slide.strides[axis] == 1 and slide.outputs[axis] == node.shape[axis]:
            continue
        node = _along(region, node, slide, axis, kind)
    return node


def _along(region: Region, node: LazyValue, slide: Sliding, axis: int, kind: ReductionKind) -> LazyValue:
    margins = [(0, 0)] * len(node.shape)
    stride, extent = slide.strides[axis], (slide.outputs[axis] - 1) * slide.strides[axis] + slide.window[axis]
    before = slide.before[axis]
    margins[axis] = (before, max(extent - before - node.shape[axis], 0))
    padded = region.readable(surrounded(region, node, margins, constant(node.dtype, kind.start)))
    shape = (*node.shape[:axis], slide.outputs[axis], slide.window[axis], *node.shape[axis + 1 :])

    def find(e: Emitter, index: Index) -> Element:
        coordinates = index.coordinates(e)
        position = e.plus(e.times(coordinates[axis], stride), coordinates[axis + 1])
        return padded.at(e, Index.of(padded.shape, [*coordinates[:axis], position, *coordinates[axis + 2 :]]))

    windows = IndexMap(node.dtype, shape, [padded], find, once=False)
    result = (*shape[: axis + 1], *shape[axis + 2 :])
    return reduced(region, windows, kind, [axis + 1], result, node.dtype)


@lowers("max_pool")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    return _pooled(region, node, _slide(operation, node.shape), maxima(node.dtype))


@lowers("avg_pool")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    slide, wide = _slide(operation, node.shape), widened(region, node)
    return as_dtype(
        region, _divided(region, _pooled(region, wide, slide, sums(wide.dtype)), slide), node.dtype
    )


def _divided(region: Region, node: LazyValue, slide: Sliding) -> LazyValue:
    """Divide the sums of windows by the number of their elements, without padding."""
    for axis, counts in enumerate(slide.counts()):
        if slide.window[axis] > 1:
            trailing = (1,) * (len(node.shape) - axis - 1)
            divisors = ConstantArray(counts.astype(node.dtype.numpy).reshape(-1, *trailing))
            node = each(
                region, lambda e, x, y: e.b.fdiv(x, y), node.dtype, node.shape, node, divisors, cost=4
            )
    return node


@lowers("avg_pool_grad")
def _(region: Region, operation: Operation, shape: LazyValue, grad: LazyValue) -> LazyValue:
    e, slide = region.e, _slide(operation, shape_of(operation))
    shares = _divided(region, widened(region, grad), slide)
    for axis, size in enumerate(slide.window):
        if size == slide.strides[axis] == 1 and slide.sizes[axis] == slide.outputs[axis]:
            continue
        source = region.settled(shares)
        found = region.zeros(
            source.dtype, (*source.shape[:axis], slide.sizes[axis], *source.shape[axis + 1 :])
        )
        with e.nest([size, *source.shape], parallel=False) as (at, *coordinates):
            inside, position = _element(e, slide, axis, coordinates[axis], at)
            target = Index.of(found.shape, [*coordinates[:axis], position, *coordinates[axis + 1 :]]).flat(e)
            before = e.load(found.dtype, found.address, target)
            after = add(e, site_of(found.dtype), before, source.at(e, Index.of(source.shape, coordinates)))
            e.store(found.dtype, found.address, target, e.choose(inside, after, before))
        shares = found
    return as_dtype(region, shares, grad.dtype)


def _element(
    e: Emitter, slide: Sliding, axis: int, window: Register, at: Register
) -> tuple[Register, Register]:
    """Return whether element `at` of a window is inside the operand along an axis, and its index."""
    position = e.minus(e.plus(e.times(window, slide.strides[axis]), at), e.word(slide.before[axis]))
    inside = e.b.icmp_unsigned("<", position, e.word(slide.sizes[axis]))
    return inside, e.choose(inside, position, e.word(0))


_UNROLLED = 32
"""The elements of a window up to which the code for each is emitted, so that LLVM vectorizes over windows."""


class _Largest:
    """A traversal of windows that finds the first largest element of each."""

    def __init__(self, region: Region, slide: Sliding, x: LazyValue, largest: LazyValue) -> None:
        self.e, self.slide = region.e, slide
        self.x, self.largest = region.settled(x), region.settled(largest)
        self.count = math.prod(slide.window)
        self.is_free = new_slot(self.e, dtypes.bool_, True) if self.count > _UNROLLED else None

    def walk(self, visit: Callable[[Register, Register, Register], None]) -> None:
        """Emit `visit(is_first_largest, index of the element, index of the window)` for each element of each window."""
        e, slide = self.e, self.slide
        apart = [window <= stride for window, stride in zip(slide.window, slide.strides, strict=True)]
        axis = next((axis for axis, is_apart in enumerate(apart[:-1]) if not is_apart), len(apart) - 1)
        outer, middle, inner = slide.outputs[:axis], slide.outputs[axis:-1], slide.outputs[-1:]
        work = math.prod((*middle, *inner)) * self.count
        with (
            e.nest(outer, inner=work) as first,
            e.nest(middle, parallel=False) as second,
            e.nest(inner, parallel=apart[-1]) as third,
        ):
            self._walk_window([*first, *second, *third], visit)

    def _walk_window(
        self, outer: Sequence[Register], visit: Callable[[Register, Register, Register], None]
    ) -> None:
        e, free = self.e, integer(1)(1)
        own = self.largest.at(e, Index.of(self.slide.outputs, outer))
        if self.is_free is None:
            for offset in self.slide.offsets():
                free = self._look(outer, [e.word(at) for at in offset], own, free, visit)
            return
        put(e, self.is_free, free)
        with e.nest(self.slide.window, parallel=False) as inner:
            put(e, self.is_free, self._look(outer, inner, own, get(e, dtypes.bool_, self.is_free), visit))

    def _look(
        self,
        outer: Sequence[Register],
        inner: Sequence[Register],
        own: Element,
        free: Register,
        visit: Callable[[Register, Register, Register], None],
    ) -> Register:
        """Visit an element; return whether no largest element of the window has been found yet."""
        e, x = self.e, self.x
        inside, coordinates = self._elements(outer, inner)
        index = Index.of(x.shape, coordinates)
        equal = compared(e, "u" if x.dtype.is_bool else x.dtype.kind, "==", x.at(e, index), own)
        here = e.b.and_(e.b.and_(inside, equal), free)
        visit(here, index.flat(e), Index.of(self.slide.outputs, outer).flat(e))
        return e.b.and_(free, e.b.not_(here))

    def _elements(
        self, outer: Sequence[Register], inner: Sequence[Register]
    ) -> tuple[Register, list[Register]]:
        e, inside, coordinates = self.e, integer(1)(1), []
        for axis, (window, at) in enumerate(zip(outer, inner, strict=True)):
            if not self.slide.before[axis] and self._reach(axis) <= self.slide.sizes[axis]:
                coordinates.append(e.plus(e.times(window, self.slide.strides[axis]), at))
                continue
            fits, position = _element(e, self.slide, axis, window, at)
            inside = e.b.and_(inside, fits)
            coordinates.append(position)
        return inside, coordinates

    def _reach(self, axis: int) -> int:
        return (self.slide.outputs[axis] - 1) * self.slide.strides[axis] + self.slide.window[axis]


@lowers("max_pool_grad")
def _(region: Region, operation: Operation, x: LazyValue, y: LazyValue, grad: LazyValue) -> LazyValue:
    e, slide, dtype = region.e, _slide(operation, x.shape), x.dtype
    given = region.stored(grad)
    tiles = tuple(size * count for size, count in zip(slide.window, slide.outputs, strict=True))
    is_partition = slide.window == slide.strides and slide.sizes == tiles and not any(slide.before)
    found = Buffer.new(e, dtype, x.shape) if is_partition else region.zeros(dtype, x.shape)

    def visit(here: Register, element: Register, window: Register) -> None:
        zero = constant(dtype, 0)
        before = zero if is_partition else e.load(dtype, found.address, element)
        after = add(e, site_of(dtype), before, e.load(dtype, given.address, window))
        e.store(dtype, found.address, element, e.choose(here, after, before))

    _Largest(region, slide, x, y).walk(visit)
    return found
