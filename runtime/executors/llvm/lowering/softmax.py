"""Lower softmax, cross entropies, variances and norms: reductions combined with elementwise operations.

softmax x    ==>    largest ← max x;  weights ← e^(x - largest);  weights / sum weights
"""

from __future__ import annotations

import math

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.dynamic_shapes import agreeing, regrouped
from ..codegen.dynamic_sizes import is_sized
from ..codegen.element_formulas import call_function
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Index, IndexMap, LazyValue, Shape
from ..codegen.llvm_types import Element, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from .casts import as_dtype, converted, each, widened
from .elementwise import divide
from .reduction_codegen import axes_of, divisor, reduced, reduced_shape
from .reduction_kinds import maxima, sums


def kept_shape(node: LazyValue, axes: tuple[int, ...]) -> Shape:
    """Return the shape of a reduction with keepdims."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(node.shape))


def shifted(region: Region, node: LazyValue, axes: tuple[int, ...]) -> LazyValue:
    """Return the elements minus the maximum along the axes."""

    def make() -> LazyValue:
        largest = reduced(region, node, maxima(node.dtype), axes, kept_shape(node, axes), node.dtype)
        return each(region, lambda e, x, most: e.b.fsub(x, most), node.dtype, node.shape, node, largest)

    return region.once((shifted, node, axes), make)


def exponentials(region: Region, node: LazyValue) -> LazyValue:
    def make() -> LazyValue:
        return each(region, lambda e, x: call_function(e, "exp", x), node.dtype, node.shape, node, cost=10)

    return region.once((exponentials, node), make)


def total(region: Region, node: LazyValue, axes: tuple[int, ...]) -> LazyValue:
    """Return the sum of e^x along the axes."""

    def make() -> LazyValue:
        weights = exponentials(region, node)
        return reduced(region, weights, sums(node.dtype), axes, kept_shape(node, axes), node.dtype)

    return region.once((total, node, axes), make)


def log_of_sum(region: Region, node: LazyValue, axes: tuple[int, ...]) -> LazyValue:
    """Return ln of the sum of e^x along the axes."""
    found = total(region, node, axes)
    return each(region, lambda e, x: call_function(e, "log", x), node.dtype, found.shape, found, cost=14)


def _axis(operation: Operation, node: LazyValue) -> tuple[int, ...]:
    return (operation.attrs["axis"] % len(node.shape),)


@lowers("softmax", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    own, axes = node.dtype, _axis(operation, node)
    wide = widened(region, node)
    logits = shifted(region, wide, axes)
    weights = exponentials(region, logits)
    region.wanted.add(weights)
    sum = total(region, logits, axes)
    weights = region.settled(weights)
    result = each(region, lambda e, x, sum: e.b.fdiv(x, sum), wide.dtype, node.shape, weights, sum, cost=4)
    return as_dtype(region, result, own)


@lowers("log_softmax", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    own, axes = node.dtype, _axis(operation, node)
    logits = shifted(region, widened(region, node), axes)
    logarithm = region.settled(log_of_sum(region, logits, axes))
    result = each(region, lambda e, x, y: e.b.fsub(x, y), logits.dtype, node.shape, logits, logarithm)
    return as_dtype(region, result, own)


@lowers("reduce_logsumexp", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    own, axes = node.dtype, axes_of(operation, node)
    wide = widened(region, node)
    shape = kept_shape(wide, axes)
    largest = reduced(region, wide, maxima(wide.dtype), axes, shape, wide.dtype)

    def finite(e: Emitter, x: Element) -> Element:
        size = e.intrinsic("fabs", x)
        zero = constant(wide.dtype, 0)
        return e.b.select(e.b.fcmp_ordered("<", size, constant(wide.dtype, math.inf)), x, zero)

    most = region.settled(each(region, finite, wide.dtype, shape, largest))
    less = each(region, lambda e, x, y: e.b.fsub(x, y), wide.dtype, wide.shape, wide, most)
    logarithm = region.settled(log_of_sum(region, less, axes))
    result = each(region, lambda e, x, y: e.b.fadd(x, y), wide.dtype, shape, logarithm, most)
    return as_dtype(region, regrouped(result, reduced_shape(operation, node)), own)


def _prepare(region: Region, operation: Operation, less: LazyValue) -> None:
    """Keep the exponentials if a softmax of the same logits, which the gradient needs, also uses them."""
    logits = operation.inputs[1]
    if any(each.type == "softmax" and logits in each.inputs for each in region.graph.operations):
        region.wanted.add(exponentials(region, less))


@lowers("softmax_cross_entropy", sized=True)
def _(region: Region, operation: Operation, labels: LazyValue, logits: LazyValue) -> LazyValue:
    if is_sized(labels.shape) or is_sized(logits.shape):
        _, (labels, logits) = agreeing(region.e, [labels, logits])
    if labels.shape != logits.shape:
        raise RefusedError("labels and logits have different shapes")
    own, axes = logits.dtype, (len(logits.shape) - 1,)
    less = shifted(region, widened(region, logits), axes)
    _prepare(region, operation, less)
    logarithm = region.settled(log_of_sum(region, less, axes))

    def loss(e: Emitter, label: Element, logarithm: Element, x: Element) -> Element:
        return e.b.fmul(label, e.b.fsub(logarithm, x))

    each_loss = each(region, loss, less.dtype, less.shape, widened(region, labels), logarithm, less)
    total = reduced(region, each_loss, sums(less.dtype), axes, less.shape[:-1], less.dtype)
    return as_dtype(region, total, own)


@lowers("sparse_softmax_cross_entropy")
def _(region: Region, operation: Operation, labels: LazyValue, logits: LazyValue) -> LazyValue:
    if labels.shape != logits.shape[:-1]:
        raise RefusedError("labels and logits have different shapes")
    own, axes = logits.dtype, (len(logits.shape) - 1,)
    less = shifted(region, widened(region, logits), axes)
    _prepare(region, operation, less)
    less = region.readable(less)
    logarithm = regrouped(log_of_sum(region, less, axes), labels.shape)
    classes = logits.shape[-1]

    def find(e: Emitter, index: Index) -> Element:
        label = converted(e, labels.at(e, index), labels.dtype, dtypes.int64)
        holds = e.b.icmp_unsigned("<", label, integer(64)(classes))
        e.demand(holds)
        position = e.b.select(holds, label, integer(64)(0))
        return less.at(e, Index.of(less.shape, [*index.coordinates(e), position]))

    chosen = region.settled(IndexMap(less.dtype, labels.shape, [labels, less], find, fails=True, once=False))
    loss = each(region, lambda e, x, y: e.b.fsub(x, y), less.dtype, labels.shape, logarithm, chosen)
    return as_dtype(region, loss, own)


def variance(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    """Return the mean of the squared distances from the mean; float16 is widened."""
    if node.dtype.kind == "c":
        raise RefusedError("complex numbers are not compiled here")
    axes, wide = axes_of(operation, node), widened(region, node)
    mean = region.settled(mean_of(region, wide, axes, kept_shape(wide, axes)))

    def squared(e: Emitter, x: Element, mean: Element) -> Element:
        distance = e.b.fsub(x, mean)
        return e.b.fmul(distance, distance)

    squares = each(region, squared, wide.dtype, wide.shape, wide, mean, cost=2)
    return mean_of(region, squares, axes, reduced_shape(operation, node))


def mean_of(region: Region, node: LazyValue, axes: tuple[int, ...], shape: Shape) -> LazyValue:
    total = reduced(region, node, sums(node.dtype), axes, shape, node.dtype)
    count = divisor(region.e, node.dtype, math.prod(node.shape[axis] for axis in axes))
    site = site_of(node.dtype)
    return each(region, lambda e, x: divide(e, site, x, count), node.dtype, shape, total, cost=4)


@lowers("reduce_variance", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    return as_dtype(region, variance(region, operation, node), node.dtype)


@lowers("reduce_std", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    found = variance(region, operation, node)
    root = each(region, lambda e, x: e.intrinsic("sqrt", x), found.dtype, found.shape, found, cost=6)
    return as_dtype(region, root, node.dtype)


@lowers("reduce_euclidean_norm", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    if node.dtype.kind != "f" or node.dtype is dtypes.float16:
        raise RefusedError(f"norms of {node.dtype.name} are not compiled")
    squares = each(region, lambda e, x: e.b.fmul(x, x), node.dtype, node.shape, node)
    total = reduced(
        region,
        squares,
        sums(node.dtype),
        axes_of(operation, node),
        reduced_shape(operation, node),
        node.dtype,
    )
    return each(region, lambda e, x: e.intrinsic("sqrt", x), node.dtype, total.shape, total, cost=6)


@lowers("count_nonzero", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    (value,) = operation.outputs

    def there(e: Emitter, x: Element) -> Element:
        return converted(e, converted(e, x, node.dtype, dtypes.bool_), dtypes.bool_, value.dtype)

    counted = each(region, there, value.dtype, node.shape, node)
    return reduced(
        region,
        counted,
        sums(value.dtype),
        axes_of(operation, node),
        reduced_shape(operation, node),
        value.dtype,
    )
