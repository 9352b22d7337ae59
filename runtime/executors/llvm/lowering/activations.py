"""Lower activation functions, and elementwise losses."""

from __future__ import annotations

from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Element, constant
from ..codegen.rule_registry import Site, elementwise
from .elementwise import compared, larger, smaller
from .math_functions import applied

_SCALE = 1.0507009873554804934193349852946
_SCALE_ALPHA = 1.7580993408473768599402175208123
"""The constants of `selu` (Klambauer et al., 2017)."""


@elementwise("relu")
def relu(e: Emitter, site: Site, x: Element) -> Element:
    return larger(e, site.dtype, x, constant(site.dtype, 0))


@elementwise("relu6")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return smaller(e, site.dtype, relu(e, site, x), constant(site.dtype, 6))


@elementwise("leaky_relu")
def _(e: Emitter, site: Site, x: Element) -> Element:
    positive = e.b.fcmp_ordered(">", x, constant(site.dtype, 0))
    return e.b.select(positive, x, e.b.fmul(x, constant(site.dtype, site.attrs["alpha"])))


@elementwise("elu", cost=16)
def _(e: Emitter, site: Site, x: Element) -> Element:
    negative = e.b.fcmp_ordered("<", x, constant(site.dtype, 0))
    return e.b.select(negative, applied(e, "expm1", x), x)


@elementwise("selu", cost=16)
def _(e: Emitter, site: Site, x: Element) -> Element:
    negative = e.b.fcmp_ordered("<", x, constant(site.dtype, 0))
    below = e.b.fmul(constant(site.dtype, _SCALE_ALPHA), applied(e, "expm1", x))
    return e.b.select(negative, below, e.b.fmul(constant(site.dtype, _SCALE), x))


@elementwise("softsign", cost=6)
def _(e: Emitter, site: Site, x: Element) -> Element:
    return e.b.fdiv(x, e.b.fadd(constant(site.dtype, 1), e.intrinsic("fabs", x)))


def _of_one_shape(operation: Operation) -> str | None:
    """Return a reason if the shapes do not broadcast; the comparison then has one result for whole tensors."""
    x, y = (operand.shape for operand in operation.inputs)
    if (
        x is None
        or y is None
        or any(a != b and 1 not in (a, b) for a, b in zip(x[::-1], y[::-1], strict=False))
    ):
        return "its operands have shapes that do not meet"
    return None


@elementwise("equal_or_false", takes=_of_one_shape)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return compared(e, site.dtype.kind, "==", x, y)


@elementwise("not_equal_or_true", takes=_of_one_shape)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return compared(e, site.dtype.kind, "!=", x, y)


@elementwise("nextafter", cost=6)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return applied(e, "nextafter", x, y)
