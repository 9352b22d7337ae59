"""Lower dtype conversions other than `cast`: `saturate_cast` and `bitcast`."""

from __future__ import annotations

from ....ir.graph import Operation
from ....ops.math.cast import limits
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Element, constant, register_type
from ..codegen.rule_registry import Site, elementwise
from .casts import converted
from .elementwise import larger, smaller


@elementwise("saturate_cast")
def _(e: Emitter, site: Site, x: Element) -> Element:
    own, wanted = site.dtype, site.result
    if own.is_complex and not wanted.is_complex:
        x, own = x.re, own.real_dtype
    if not own.is_complex and not wanted.is_complex:
        low, high = (constant(own, limit) for limit in limits(own, wanted))
        x = smaller(e, own, larger(e, own, x, low), high)
    return converted(e, x, own, wanted)


def _of_one_size(operation: Operation) -> str | None:
    own, wanted = operation.inputs[0].dtype, operation.outputs[0].dtype
    if own.kind in "cb" or wanted.kind in "cb":
        return "the bits of bool and of complex numbers are not compiled"
    return None if own.size == wanted.size else "dtypes of different sizes are not compiled"


@elementwise("bitcast", takes=_of_one_size)
def _(e: Emitter, site: Site, x: Element) -> Element:
    return e.b.bitcast(x, register_type(site.result))
