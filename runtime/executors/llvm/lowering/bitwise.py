"""Lower logical and bitwise operations: a bool is an integer of one bit."""

from __future__ import annotations

from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Element, Register, ir
from ..codegen.rule_registry import Site, elementwise


@elementwise("logical_not", "invert")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return e.b.not_(x)


@elementwise("logical_and", "bitwise_and")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return e.b.and_(x, y)


@elementwise("logical_or", "bitwise_or")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return e.b.or_(x, y)


@elementwise("logical_xor", "bitwise_xor")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return e.b.xor(x, y)


def _distance(e: Emitter, site: Site, y: Register) -> Register:
    """Return the shift count, clamped to the valid range."""
    b, last = e.b, ir().Constant(y.type, y.type.width - 1)
    if site.dtype.is_unsigned:
        return b.select(b.icmp_unsigned("<", y, last), y, last)
    zero = ir().Constant(y.type, 0)
    positive = b.select(b.icmp_signed(">", y, zero), y, zero)
    return b.select(b.icmp_signed("<", positive, last), positive, last)


@elementwise("left_shift")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return e.b.shl(x, _distance(e, site, y))


@elementwise("right_shift")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    shift = e.b.lshr if site.dtype.is_unsigned else e.b.ashr
    return shift(x, _distance(e, site, y))
