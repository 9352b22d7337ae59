"""Lower reductions and related operations: means, `sum_to`, `spread`, `add_n` and `bias_add`.

The loop nests are emitted by reduction_codegen.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import IndexMap, LazyValue
from ..codegen.llvm_types import Element
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import Site, lowers, site_of
from .casts import converted
from .elementwise import add, divide
from .fill import asked_shape, size_at
from .reduction_codegen import axes_of, divisor, reduced, reduced_shape
from .reduction_kinds import ReductionKind, maxima, minima, products, sums
from .reshape import checked

_KINDS: dict[str, Callable[[dtypes.DType], ReductionKind]] = {
    "reduce_sum": sums,
    "reduce_prod": products,
    "reduce_max": maxima,
    "reduce_min": minima,
    "reduce_all": lambda dtype: ReductionKind(dtype, True, lambda e, x, y: e.b.and_(x, y)),
    "reduce_any": lambda dtype: ReductionKind(dtype, False, lambda e, x, y: e.b.or_(x, y)),
}


@lowers(*_KINDS, sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    kind = _KINDS[operation.type](node.dtype)
    shape = reduced_shape(operation, node)
    return reduced(region, node, kind, axes_of(operation, node), shape, node.dtype)


@lowers("reduce_mean", sized=True)
def _(region: Region, operation: Operation, node: LazyValue) -> LazyValue:
    axes = axes_of(operation, node)
    shape = reduced_shape(operation, node)
    kind = sums(_WIDE.get(node.dtype.kind, node.dtype))
    total = reduced(region, node, kind, axes, shape, kind.wide)
    size = math.prod(node.shape[axis] for axis in axes)
    count = divisor(region.e, kind.wide, size)
    site = site_of(kind.wide)

    def mean(e: Emitter, site: Site, x: Element) -> Element:
        return converted(e, _over(e, site, x, count), site.dtype, node.dtype)

    return region.computed(mean, site, node.dtype, shape, [total], 4)


_WIDE = {"i": dtypes.int64, "u": dtypes.uint64}
"""The accumulator dtype for means of integers, by their kind."""


def _over(e: Emitter, site: Site, total: Element, count: Element) -> Element:
    """Emit a mean; integer means round toward zero."""
    if site.dtype.kind in "fc":
        return divide(e, site, total, count)
    return e.b.sdiv(total, count) if site.dtype.kind == "i" else e.b.udiv(total, count)


@lowers("sum_to", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, *shape: LazyValue) -> LazyValue:
    sizes = operation.outputs[0].shape or ()
    extra = len(node.shape) - len(sizes)
    own = zip(node.shape[extra:], sizes, strict=True)
    wanted = tuple(
        checked(region.e, one, size_at(region, shape[0], axis)) if size is None else size
        for axis, (one, size) in enumerate(own)
    )
    axes = [
        axis
        for axis, size in enumerate(node.shape)
        if axis < extra or (wanted[axis - extra] == 1 and size != 1)
    ]
    for axis, size in enumerate(wanted, extra):
        if size != 1:
            checked(region.e, node.shape[axis], size)
    return reduced(region, node, sums(node.dtype), axes, wanted, node.dtype) if axes else node


@lowers("spread", sized=True)
def _(region: Region, operation: Operation, node: LazyValue, *shape: LazyValue) -> LazyValue:
    """Broadcast a reduced tensor back to the shape of the operand."""
    from ..codegen.dynamic_shapes import regrouped

    wide, axis = asked_shape(region, operation, shape[0] if shape else None), operation.attrs["axis"]
    gone = range(len(wide)) if axis is None else [one % len(wide) for one in axis]
    kept = tuple(1 if dim in gone else size for dim, size in enumerate(wide))
    found = regrouped(region.readable(node), kept)
    return IndexMap(
        found.dtype, wide, [found], lambda e, index: found.at(e, index.within(e, kept)), once=False
    )


@lowers("add_n")
def _(region: Region, operation: Operation, *nodes: LazyValue) -> LazyValue:
    site = site_of(nodes[0].dtype)
    total = nodes[0]
    for node in nodes[1:]:
        total = region.computed(add, site, total.dtype, total.shape, [region.bounded(total), node])
    return total


@lowers("bias_add")
def _(region: Region, operation: Operation, node: LazyValue, bias: LazyValue) -> LazyValue:
    from ..codegen.dynamic_shapes import regrouped

    if (operation.attrs["data_format"] or "NHWC").endswith("C"):
        along = bias
    else:  # the channels are the second axis
        along = regrouped(region.readable(bias), (bias.shape[0], *(1,) * (len(node.shape) - 2)))
    return region.computed(add, site_of(node.dtype), node.dtype, node.shape, [node, along])
