"""Lower assertions and other operations that raise. A failure leads to a run of the plan, which raises the error."""

from __future__ import annotations

from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import LazyValue
from ..codegen.llvm_types import Element, constant, integer
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import Site, elementwise, lowers


@lowers("assert", sized=True, moves=True)
def _(region: Region, operation: Operation, condition: LazyValue, *data: LazyValue) -> list[LazyValue]:
    e = region.e
    if not condition.shape:
        e.demand(region.register(condition))
    elif condition.size:
        region.prepared([condition])
        with region.loops(condition.shape, [condition]) as index:
            e.demand(condition.at(e, index))
    return []


@lowers("raise", moves=True)
def _(region: Region, operation: Operation, *values: LazyValue) -> list[LazyValue]:
    region.e.fail_unless(integer(1)(0))
    return []


@lowers("no_op", moves=True)
def _(region: Region, operation: Operation, *values: LazyValue) -> list[LazyValue]:
    return []


@elementwise("check_numerics", may_fail=True)
def _(e: Emitter, site: Site, x: Element) -> Element:
    e.demand(e.b.fcmp_ordered("<", e.intrinsic("fabs", x), constant(site.dtype, float("inf"))))
    return x
