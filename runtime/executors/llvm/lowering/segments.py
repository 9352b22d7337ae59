"""Lower segment reductions: each row is combined with the result of its segment.

unsorted_segment_sum x, ids, n     result ← n zeros;  for each row:  result[ids[row]] ← result[ids[row]] + x[row]

Rows with a negative id are dropped. An empty segment gets a default value, such as the lowest number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import dtypes
from ....ir.graph import Constant, Operation
from ..codegen.dynamic_sizes import Size
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Buffer, Index, IndexMap, LazyElementwise, LazyValue
from ..codegen.llvm_types import Element, Register, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from .casts import converted
from .fill import size_at
from .reduction_kinds import ReductionKind, maxima, minima, products, sums
from .reshape import checked, known

_KINDS: dict[str, Callable[[dtypes.DType], ReductionKind]] = {
    "sum": sums,
    "prod": products,
    "max": maxima,
    "min": minima,
}
_UNSORTED = {f"unsorted_segment_{name}": kind for name, kind in _KINDS.items()}
_SORTED = {f"segment_{name}": kind for name, kind in _KINDS.items()}


@lowers(*_UNSORTED, sized=True)
def _(region: Region, operation: Operation, node: LazyValue, ids: LazyValue, count: LazyValue) -> LazyValue:
    kind = _UNSORTED[operation.type](node.dtype)
    empty = {"max": "min", "min": "max"}.get(operation.type[-3:])
    empty = kind.start if empty is None else getattr(node.dtype, empty)
    known = (operation.outputs[0].shape or ())[0]
    groups = size_at(region, count, 0) if known is None else known
    return _grouped(region, groups, node, ids, kind, empty)


@lowers(*_SORTED, sized=True)
def _(region: Region, operation: Operation, node: LazyValue, ids: LazyValue) -> LazyValue:
    kind = _SORTED[operation.type](node.dtype)
    empty = 0 if operation.type[-3:] in ("max", "min") else kind.start
    return _grouped(region, _groups(region, operation, ids), node, ids, kind, empty)


def _groups(region: Region, operation: Operation, ids: LazyValue) -> int:
    """Return the number of sorted segments: the last id plus one."""
    if not isinstance(operation.inputs[1], Constant):
        return _counted(region, ids)
    numbers = known(operation, 1)
    if numbers.size and (numbers[0] < 0 or bool(np.any(numbers[1:] < numbers[:-1]))):
        raise RefusedError("its groups are not in order")
    return int(numbers[-1]) + 1 if numbers.size else 0


def _counted(region: Region, ids: LazyValue) -> int:
    e, numbers = region.e, region.settled(ids)
    last = e.slot(integer(64))
    e.b.store(e.word(-1), last)
    with e.nest(ids.shape, parallel=False) as coordinates:
        number = converted(e, numbers.at(e, Index.of(ids.shape, coordinates)), ids.dtype, dtypes.int64)
        before = e.b.load(last, typ=integer(64))
        e.demand(e.b.icmp_signed(">=", number, e.b.select(_is_first(e, before), e.word(0), before)))
        e.b.store(number, last)
    return Size.of(e.plus(e.b.load(last, typ=integer(64)), e.word(1)))


def _is_first(e: Emitter, before: Register) -> Register:
    return e.b.icmp_signed("<", before, e.word(0))


def _grouped(
    region: Region, groups: int, node: LazyValue, ids: LazyValue, kind: ReductionKind, empty: Any
) -> LazyValue:
    e, shape = region.e, (groups, *node.shape[len(ids.shape) :])
    for own, size in zip(ids.shape, node.shape, strict=False):
        checked(e, own, size)
    if node.dtype is dtypes.float16:
        raise RefusedError("float16 is not gathered in groups")
    numbers, rows = region.settled(ids), region.read_once(node)
    result = region.stored(_throughout(node.dtype, shape, kind.start))
    is_used = region.zeros(dtypes.bool_, shape[:1])
    if ids.size and not shape[0]:
        raise RefusedError("there are no groups")
    if not ids.size:
        return region.stored(_throughout(node.dtype, shape, empty))
    with e.nest(ids.shape, parallel=False) as outer:
        own = numbers.at(e, Index.of(ids.shape, outer))
        group = converted(e, own, ids.dtype, dtypes.int64)
        inside = e.b.icmp_signed("<", group, e.word(shape[0]))
        e.demand(inside)
        belongs = e.b.and_(inside, e.b.icmp_signed(">=", group, e.word(0)))
        slot = e.choose(belongs, group, e.word(0))
        was_used = e.load(dtypes.bool_, is_used.address, slot)
        e.store(dtypes.bool_, is_used.address, slot, e.b.or_(was_used, belongs))
        with e.nest(shape[1:]) as inner:
            element = rows.at(e, Index.of(rows.shape, [*outer, *inner]))
            target = Index.of(shape, [slot, *inner]).flat(e)
            before = e.load(node.dtype, result.address, target)
            after = kind.combine(e, before, element)
            if node.dtype.kind == "c" and kind.start == 1:
                after = e.choose(was_used, after, element)  # 1 times a complex infinity is NaN
            after = e.choose(belongs, after, before)
            e.store(node.dtype, result.address, target, after)
    return result if empty == kind.start else _filled(result, is_used, empty)


def _throughout(dtype: dtypes.DType, shape: tuple[int, ...], value: Any) -> LazyValue:
    number = constant(dtype, value)
    return LazyElementwise(dtype, shape, lambda e, site: number, site_of(dtype), [], 0)


def _filled(result: Buffer, is_used: Buffer, empty: Any) -> LazyValue:
    """Set the empty segments to `empty`."""

    def find(e: Emitter, index: Index) -> Element:
        used = is_used.at(e, Index.of(is_used.shape, [index.along(e, 0)]))
        return e.choose(used, result.at(e, index), constant(result.dtype, empty))

    return IndexMap(result.dtype, result.shape, [result, is_used], find, once=False)
