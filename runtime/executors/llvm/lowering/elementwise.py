"""Lower elementwise arithmetic with NumPy's semantics: integers wrap around, each float operation rounds."""

from __future__ import annotations

import functools
import math

import numpy as np

from .... import dtypes
from ....ir.graph import Operation
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import ComplexPair, Element, Register, constant, ir
from ..codegen.rule_registry import Site, elementwise
from ..codegen.scalar_builder import is_known
from . import divisibility, fma


def _of_integers(operation: Operation) -> bool:
    return operation.inputs[0].dtype.kind in "iu"


@elementwise("add")
def add(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    if site.dtype.kind == "c":
        return ComplexPair(e.b.fadd(x.re, y.re), e.b.fadd(x.im, y.im))
    if site.dtype.kind == "f":
        return fma.fused(e, x, y) or e.b.fadd(x, y)
    return e.b.add(x, y)


@elementwise("subtract")
def subtract(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    if site.dtype.kind == "c":
        return ComplexPair(e.b.fsub(x.re, y.re), e.b.fsub(x.im, y.im))
    if site.dtype.kind == "f":
        return fma.fused(e, x, y, is_difference=True) or e.b.fsub(x, y)
    return e.b.sub(x, y)


@elementwise("multiply")
def multiply(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    b = e.b
    if site.dtype.kind == "c":
        return ComplexPair(
            b.fsub(b.fmul(x.re, y.re), b.fmul(x.im, y.im)), b.fadd(b.fmul(x.re, y.im), b.fmul(x.im, y.re))
        )
    return b.fmul(x, y) if site.dtype.kind == "f" else b.mul(x, y)


@elementwise("square")
def square(e: Emitter, site: Site, x: Element) -> Element:
    return multiply(e, site, x, x)


@elementwise("squared_difference", takes=lambda operation: not_complex(operation))
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    difference = subtract(e, site, x, y)
    return multiply(e, site, difference, difference)


def not_complex(operation: Operation) -> str | None:
    """Return a reason if the operands are complex."""
    return "complex numbers are not compiled here" if operation.inputs[0].dtype.kind == "c" else None


@elementwise("realdiv")
def divide(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return quotient_of_complex(e, x, y) if site.dtype.kind == "c" else e.b.fdiv(x, y)


def quotient_of_complex(e: Emitter, x: ComplexPair, y: ComplexPair) -> ComplexPair:
    """Divide by Smith's algorithm, as NumPy does: scaled by the larger part of the divisor."""
    b = e.b
    kind = y.re.type
    real_size, imaginary_size = e.intrinsic("fabs", y.re), e.intrinsic("fabs", y.im)
    by_real = b.fcmp_ordered(">=", real_size, imaginary_size)
    large, small = b.select(by_real, y.re, y.im), b.select(by_real, y.im, y.re)
    first, second = b.select(by_real, x.re, x.im), b.select(by_real, x.im, x.re)
    ratio = b.fdiv(small, large)
    scale = b.fdiv(ir().Constant(kind, 1.0), b.fadd(large, b.fmul(small, ratio)))
    re = b.fmul(b.fadd(first, b.fmul(second, ratio)), scale)
    over_real = b.fsub(x.im, b.fmul(x.re, ratio))
    over_imaginary = b.fsub(b.fmul(x.im, ratio), x.re)
    im = b.fmul(b.select(by_real, over_real, over_imaginary), scale)
    zero = ir().Constant(kind, 0.0)
    is_zero = b.and_(b.fcmp_ordered("==", real_size, zero), b.fcmp_ordered("==", imaginary_size, zero))
    return ComplexPair(
        b.select(is_zero, b.fdiv(x.re, real_size), re), b.select(is_zero, b.fdiv(x.im, real_size), im)
    )


@elementwise("negative")
def negative(e: Emitter, site: Site, x: Element) -> Element:
    if site.dtype.kind == "c":
        return ComplexPair(e.b.fneg(x.re), e.b.fneg(x.im))
    return e.b.fneg(x) if site.dtype.kind == "f" else e.b.neg(x)


def _divided(e: Emitter, x: Register, y: Register, signed: bool) -> tuple[Register, Register, Register]:
    """Return quotient and remainder of integers, rounded toward zero, and the divisor used."""
    b, kind = e.b, y.type
    zero, one = ir().Constant(kind, 0), ir().Constant(kind, 1)
    if is_known(y) and y.constant not in (0, -1):
        return (b.sdiv(x, y), b.srem(x, y), y) if signed else (b.udiv(x, y), b.urem(x, y), y)
    e.demand(b.icmp_unsigned("!=", y, zero))
    if not signed:
        safe = b.select(b.icmp_unsigned("==", y, zero), one, y)
        return b.udiv(x, safe), b.urem(x, safe), safe
    # The least integer divided by -1 wraps around to itself; the instruction would trap.
    minus = b.icmp_signed("==", y, ir().Constant(kind, -1))
    harmless = b.or_(b.icmp_unsigned("==", y, zero), minus)
    safe = b.select(harmless, one, y)
    quotient = b.select(minus, b.neg(x), b.sdiv(x, safe))
    return quotient, b.srem(x, safe), y


def _rounded_down(e: Emitter, y: Register, remainder: Register) -> Register:
    """Return whether floor division must decrement the truncated quotient: a remainder is left, and signs differ."""
    b, zero = e.b, ir().Constant(y.type, 0)
    left = b.icmp_unsigned("!=", remainder, zero)
    return b.and_(left, b.icmp_signed("<", b.xor(remainder, y), zero))


@elementwise("floordiv", may_fail=_of_integers)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    if site.dtype.kind == "f":
        return e.intrinsic("floor", e.b.fdiv(x, y))
    quotient, remainder, divisor = _divided(e, x, y, site.dtype.kind == "i")
    if site.dtype.kind == "u":
        return quotient
    down = _rounded_down(e, divisor, remainder)
    return e.b.sub(quotient, e.b.zext(down, x.type))


@elementwise("floormod", may_fail=_of_integers)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    b = e.b
    if site.dtype.kind == "f":
        return _float_remainder(e, x, y)
    _, remainder, divisor = _divided(e, x, y, site.dtype.kind == "i")
    if site.dtype.kind == "i":
        zero = ir().Constant(x.type, 0)
        remainder = b.add(remainder, b.select(_rounded_down(e, divisor, remainder), divisor, zero))
    divisibility.note(e, remainder, x, y)
    return remainder


def _float_remainder(e: Emitter, x: Register, y: Register) -> Register:
    """Return the remainder of NumPy's divmod: fmod, with the sign of the divisor."""
    b = e.b
    zero = ir().Constant(x.type, 0.0)
    left = b.frem(x, y)
    is_left = b.fcmp_unordered("!=", left, zero)
    differs = b.xor(b.fcmp_ordered("<", y, zero), b.fcmp_ordered("<", left, zero))
    moved = b.select(differs, b.fadd(left, y), left)
    return b.select(is_left, moved, e.intrinsic("copysign", zero, y))


@elementwise("truncatediv", may_fail=_of_integers)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    if site.dtype.kind == "f":
        return e.intrinsic("trunc", e.b.fdiv(x, y))
    return _divided(e, x, y, site.dtype.kind == "i")[0]


@elementwise("truncatemod", may_fail=_of_integers)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    if site.dtype.kind == "f":
        return e.b.frem(x, y)
    return _divided(e, x, y, site.dtype.kind == "i")[1]


@functools.cache
def zeros_that_win(largest: bool) -> str:
    """Return which zero NumPy's maximum (else minimum) returns: "second", as on x86, or "sorted", by the sign."""
    zeros = np.array([0.0, -0.0], np.float32)
    compute = np.maximum if largest else np.minimum
    return "second" if np.signbit(compute(zeros, -zeros)).tolist() == [True, False] else "sorted"


def larger(e: Emitter, dtype: dtypes.DType, x: Register, y: Register) -> Register:
    """Return the larger number; NaN if either is NaN. Among zeros of both signs, NumPy's choice."""
    return _extreme(e, dtype, ">", x, y)


def smaller(e: Emitter, dtype: dtypes.DType, x: Register, y: Register) -> Register:
    """Return the smaller number; NaN if either is NaN. Among zeros of both signs, NumPy's choice."""
    return _extreme(e, dtype, "<", x, y)


def _extreme(e: Emitter, dtype: dtypes.DType, sign: str, x: Register, y: Register) -> Register:
    b = e.b
    if dtype.kind in "iu":
        return e.intrinsic(f"{'s' if dtype.kind == 'i' else 'u'}{'max' if sign == '>' else 'min'}", x, y)
    if dtype.kind != "f":
        return b.select(compared(e, dtype.kind, sign, x, y), x, y)
    if dtype.size > 2 and zeros_that_win(sign == ">") == "sorted":
        return e.intrinsic("maximum" if sign == ">" else "minimum", x, y)
    if dtype.size == 2:  # NumPy's scalar loop, which returns the first of equal numbers
        sign += "="
    return b.select(b.or_(b.fcmp_ordered(sign, x, y), b.fcmp_unordered("uno", x, x)), x, y)


@elementwise("maximum")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return larger(e, site.dtype, x, y)


@elementwise("minimum")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return smaller(e, site.dtype, x, y)


@elementwise("_clip")
def _(e: Emitter, site: Site, x: Element, low: Element, high: Element) -> Element:
    return larger(e, site.dtype, smaller(e, site.dtype, x, high), low)


def compared(e: Emitter, kind: str, sign: str, x: Element, y: Element) -> Register:
    """Return a comparison; false if an operand is NaN, except for `!=`."""
    b = e.b
    if kind == "c":
        real, imaginary = (compared(e, "f", sign, *parts) for parts in zip(x, y, strict=True))
        return b.and_(real, imaginary) if sign == "==" else b.or_(real, imaginary)
    if kind == "f":
        return b.fcmp_unordered(sign, x, y) if sign == "!=" else b.fcmp_ordered(sign, x, y)
    return b.icmp_signed(sign, x, y) if kind == "i" else b.icmp_unsigned(sign, x, y)


_COMPARISONS = {
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}


@elementwise(*_COMPARISONS)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    if site.type in ("equal", "not_equal") and site.dtype.kind in "iu":
        is_multiple = divisibility.is_multiple(e, x, y, site.dtype.kind == "i")
        if is_multiple is not None:
            return is_multiple if site.type == "equal" else e.b.not_(is_multiple)
    return compared(e, site.dtype.kind, _COMPARISONS[site.type], x, y)


@elementwise("where")
def _(e: Emitter, site: Site, test: Element, x: Element, y: Element) -> Element:
    return e.choose(test, hidden_infinity(e, x), hidden_infinity(e, y))


def hidden_infinity(e: Emitter, x: Element) -> Element:
    """Hide an infinity, so that LLVM can vectorize the maximum of chosen elements.

    It would replace `maximum(best, test ? x : -inf)` by `test ? maximum(best, x) : best`, which it does not vectorize.
    """
    return e.hidden(x.constant, x.type) if is_known(x) and x.constant in (-math.inf, math.inf) else x


def absolute(e: Emitter, site: Site, x: Element) -> Element:
    b = e.b
    if site.dtype.kind == "f":
        return e.intrinsic("fabs", x)
    if site.dtype.kind == "u":
        return x
    zero = ir().Constant(x.type, 0)
    return b.select(b.icmp_signed("<", x, zero), b.neg(x), x)


def sign(e: Emitter, site: Site, x: Element) -> Element:
    b = e.b
    if site.dtype.kind == "f":
        zero, one = constant(site.dtype, 0), constant(site.dtype, 1)
        positive = b.select(b.fcmp_ordered(">", x, zero), one, b.fadd(x, zero))
        return b.select(b.fcmp_ordered("<", x, zero), constant(site.dtype, -1), positive)
    zero = ir().Constant(x.type, 0)
    above, below = b.icmp_signed(">", x, zero), b.icmp_signed("<", x, zero)
    return b.sub(b.zext(above, x.type), b.zext(below, x.type))


@elementwise("reciprocal")
def _(e: Emitter, site: Site, x: Element) -> Element:
    if isinstance(x, ComplexPair):
        return _reciprocal_of_complex(e, x)
    return divide(e, site, constant(site.dtype, 1), x)


def _reciprocal_of_complex(e: Emitter, x: ComplexPair) -> ComplexPair:
    """Return the reciprocal as NumPy computes it, scaled by the larger part; NaN for 0."""
    b, one = e.b, ir().Constant(x.re.type, 1.0)
    by_real = b.fcmp_ordered("<=", e.intrinsic("fabs", x.im), e.intrinsic("fabs", x.re))
    large, small = b.select(by_real, x.re, x.im), b.select(by_real, x.im, x.re)
    ratio = b.fdiv(small, large)
    size = b.fadd(large, b.fmul(small, ratio))
    return ComplexPair(
        b.fdiv(b.select(by_real, one, ratio), size), b.fdiv(b.fneg(b.select(by_real, ratio, one)), size)
    )


_ROUNDINGS = {"floor": "floor", "ceil": "ceil", "rint": "rint", "round": "rint"}


@elementwise(*_ROUNDINGS)
def _(e: Emitter, site: Site, x: Element) -> Element:
    return e.intrinsic(_ROUNDINGS[site.type], x) if site.dtype.kind == "f" else x


@elementwise("is_nan")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return e.b.fcmp_unordered("uno", x, x)


@elementwise("is_inf")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return e.b.fcmp_ordered("==", e.intrinsic("fabs", x), constant(site.dtype, float("inf")))


@elementwise("is_finite")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return e.b.fcmp_ordered("<", e.intrinsic("fabs", x), constant(site.dtype, float("inf")))


@elementwise("identity", "stop_gradient", moves=True)
def _(e: Emitter, site: Site, x: Element) -> Element:
    return x


@elementwise("real")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return x.re if isinstance(x, ComplexPair) else x


@elementwise("imag")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return x.im if isinstance(x, ComplexPair) else constant(site.result, 0)


@elementwise("conj")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return ComplexPair(x.re, e.b.fneg(x.im)) if isinstance(x, ComplexPair) else x
