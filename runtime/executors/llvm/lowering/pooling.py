"""Lower pooling to loops: small windows at once, others along one axis after the other.

max_pool x         y[.., o, ..] ← the largest of x[.., o · stride + i - before, ..], a reduction over i
avg_pool_grad      the sum of the shares of the windows that have an element
max_pool_grad      the gradient of each window goes to the first of its largest elements, window by window
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .... import dtypes
from ....ir.graph import Operation
from ....ops.nn.window_geometry import SMALL, Sliding, sliding
from ..codegen.blockwise import Scratch
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, ConstantArray, Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from .casts import as_dtype, each, widened
from .elementwise import add, compared
from .fill import shape_of
from .reduction_codegen import reduced
from .reduction_kinds import ReductionKind, maxima, sums
from .window_places import element_place, window_place

Place = tuple[Register, Register]
"""Whether there is such an element, and its index, or 0."""

Visit = Callable[[Register, Register, Register], None]


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
    """Reduce windows: small ones at once, others along one axis after the other."""
    for axes in _steps(slide):
        node = _along(region, node, slide, axes, kind)
    return node


def _steps(slide: Sliding) -> list[list[int]]:
    """Return the axes with windows, in the groups that one traversal reduces."""
    pairs = zip(slide.window, slide.strides, slide.sizes, slide.outputs, strict=True)
    axes = [axis for axis, (w, s, *sizes) in enumerate(pairs) if w > 1 or s > 1 or len(set(sizes)) > 1]
    is_small = math.prod(slide.window) <= SMALL and slide.window[-1] == 1
    return [axes] if axes and is_small else [[axis] for axis in axes]


def _along(
    region: Region, node: LazyValue, slide: Sliding, axes: Sequence[int], kind: ReductionKind
) -> LazyValue:
    """Reduce windows along some axes."""

    def place(e: Emitter, axis: int, window: Register, at: Register) -> Place:
        return element_place(e, slide, axis, window, at)

    sizes = tuple(slide.outputs[axis] if axis in axes else size for axis, size in enumerate(node.shape))
    return _gathered(region, node, axes, sizes, slide.window, place, kind)


def _gathered(
    region: Region,
    node: LazyValue,
    axes: Sequence[int],
    sizes: Shape,
    counts: Sequence[int],
    place: Callable[[Emitter, int, Register, Register], Place],
    kind: ReductionKind,
) -> LazyValue:
    """Reduce some elements of `node` for each element of the result, which has these sizes.

    Along each of `axes` there are `counts[axis]` elements, at the index `place(e, axis, index, number)`.
    """
    source, outside = region.readable(node), constant(node.dtype, kind.start)
    added = [axis for axis in axes if counts[axis] > 1]
    pairs = [(size, counts[axis]) if axis in added else (size,) for axis, size in enumerate(sizes)]

    def find(e: Emitter, index: Index) -> Element:
        coordinates, inside, at = iter(index.coordinates(e)), integer(1)(1), []
        for axis in range(len(sizes)):
            position = next(coordinates)
            if axis in axes:
                number = next(coordinates) if axis in added else e.word(0)
                fits, position = place(e, axis, position, number)
                inside = e.b.and_(inside, fits)
            at.append(position)
        return e.choose(inside, source.at(e, Index.of(source.shape, at)), outside)

    shape = tuple(part for pair in pairs for part in pair)
    elements = IndexMap(node.dtype, shape, [source], find, cost=4, once=False)
    if not added:
        return elements
    over = [axis + 1 + number for number, axis in enumerate(added)]
    return reduced(region, elements, kind, over, sizes, node.dtype, SMALL)


@lowers("max_pool")
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    return _pooled(region, node, _slide(operation, node.shape), maxima(node.dtype, zeros_have_signs=False))


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
            divisors = ConstantArray(counts.astype(node.dtype.numpy_dtype).reshape(-1, *trailing))
            node = each(
                region, lambda e, x, y: e.b.fdiv(x, y), node.dtype, node.shape, node, divisors, cost=4
            )
    return node


@lowers("avg_pool_grad")
def _(region: Region, operation: Operation, shape: LazyValue, grad: LazyValue) -> LazyValue:
    slide = _slide(operation, shape_of(operation))
    shares = _divided(region, widened(region, grad), slide)
    counts = [-(-size // stride) for size, stride in zip(slide.window, slide.strides, strict=True)]

    def place(e: Emitter, axis: int, element: Register, number: Register) -> Place:
        return window_place(e, slide, axis, element, number)[:2]

    for axes in _steps(slide):
        sizes = tuple(slide.sizes[axis] if axis in axes else size for axis, size in enumerate(shares.shape))
        shares = _gathered(region, shares, axes, sizes, counts, place, sums(shares.dtype))
    return as_dtype(region, shares, grad.dtype)


class _Largest:
    """A traversal of windows that finds the first largest element of each."""

    def __init__(self, region: Region, slide: Sliding, x: LazyValue, largest: LazyValue) -> None:
        self.e, self.slide = region.e, slide
        self.x, self.largest = region.settled(x), region.settled(largest)
        self.is_small = math.prod(slide.window) <= SMALL

    def walk(self, visit: Visit) -> None:
        """Emit `visit(is_first_largest, index of the element, index of the window)` for each element of each window."""
        e, slide = self.e, self.slide
        apart = [window <= stride for window, stride in zip(slide.window, slide.strides, strict=True)]
        axis = next((axis for axis, is_apart in enumerate(apart[:-1]) if not is_apart), len(apart) - 1)
        outer, middle, inner = slide.outputs[:axis], slide.outputs[axis:-1], slide.outputs[-1:]
        work = math.prod((*middle, *inner, *slide.window))
        flags = None if self.is_small else Scratch(e, inner[0], math.prod(outer))
        with e.nest(outer, inner=work) as first, e.nest(middle, parallel=False) as second:
            if flags is not None:
                with flags.claimed() as free:
                    self._walk_row([*first, *second], free, apart[-1], visit)
                return
            with e.nest(inner, parallel=apart[-1], each_once=apart[-1]) as third:
                self._walk_window([*first, *second, *third], visit)

    def _walk_window(self, outer: Sequence[Register], visit: Visit) -> None:
        """Visit the elements of a window, each by code of its own."""
        free = integer(1)(1)
        own = self.largest.at(self.e, Index.of(self.slide.outputs, outer))
        for offset in self.slide.offsets():
            free = self._look(outer, [self.e.word(at) for at in offset], own, free, visit)

    def _walk_row(self, outer: Sequence[Register], free: Register, is_parallel: bool, visit: Visit) -> None:
        """Visit the elements of a row of windows along the last axis; `free` has a flag for each of them."""
        e, count = self.e, self.slide.outputs[-1:]
        with e.nest(count) as (number,):
            e.store(dtypes.bool_, free, number, integer(1)(1))
        with (
            e.nest(self.slide.window, parallel=False) as offset,
            e.nest(count, parallel=is_parallel) as (number,),
        ):
            window = [*outer, number]
            own = self.largest.at(e, Index.of(self.slide.outputs, window))
            still = self._look(window, offset, own, e.load(dtypes.bool_, free, number), visit)
            e.store(dtypes.bool_, free, number, still)

    def _look(
        self, outer: Sequence[Register], inner: Sequence[Register], own: Element, free: Register, visit: Visit
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
            fits, position = element_place(e, self.slide, axis, window, at)
            inside = e.b.and_(inside, fits)
            coordinates.append(position)
        return inside, coordinates


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
