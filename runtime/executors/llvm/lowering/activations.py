"""Lower activation functions, and elementwise losses."""

from __future__ import annotations

from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Element, constant
from ..codegen.rule_registry import Site, elementwise
from .elementwise import compared, larger, smaller


@elementwise("relu")
def relu(e: Emitter, site: Site, x: Element) -> Element:
    return larger(e, site.dtype, x, constant(site.dtype, 0))


@elementwise("relu6")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return smaller(e, site.dtype, relu(e, site, x), constant(site.dtype, 6))


def _of_one_shape(operation: Operation) -> str | None:
    """Return a reason if the shapes do not broadcast; the comparison then has one result for whole tensors."""
    x, y = (operand.shape for operand in operation.inputs)
    if (
        x is None
        or y is None
        or any(a != b and 1 not in (a, b) for a, b in zip(x[::-1], y[::-1], strict=False))
    ):
        return "its operands have incompatible shapes"
    return None


@elementwise("equal_or_false", takes=_of_one_shape)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return compared(e, site.dtype.kind, "==", x, y)


@elementwise("not_equal_or_true", takes=_of_one_shape)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return compared(e, site.dtype.kind, "!=", x, y)
