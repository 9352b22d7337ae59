"""Functions of complex numbers, composed of real functions.

    exp(x + iy) = e^x (cos y + i sin y)

`f` emits a real function by its name. Infinite and NaN parts get no special treatment beyond these formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import ComplexPair, Element, Register, ir

Apply = Callable[..., Register]


def exp(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    size = f(e, "exp", z.re)
    zero = ir().Constant(z.im.type, 0.0)
    turned = e.b.fmul(size, f(e, "sin", z.im))
    flat = e.b.fcmp_ordered("==", z.im, zero)  # avoids infinity times zero
    return ComplexPair(e.b.fmul(size, f(e, "cos", z.im)), e.b.select(flat, z.im, turned))


def log(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    return ComplexPair(f(e, "log", f(e, "hypot", z.re, z.im)), f(e, "atan2", z.im, z.re))


def sin(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    return ComplexPair(
        e.b.fmul(f(e, "sin", z.re), f(e, "cosh", z.im)), e.b.fmul(f(e, "cos", z.re), f(e, "sinh", z.im))
    )


def cos(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    return ComplexPair(
        e.b.fmul(f(e, "cos", z.re), f(e, "cosh", z.im)),
        e.b.fneg(e.b.fmul(f(e, "sin", z.re), f(e, "sinh", z.im))),
    )


def sinh(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    return ComplexPair(
        e.b.fmul(f(e, "sinh", z.re), f(e, "cos", z.im)), e.b.fmul(f(e, "cosh", z.re), f(e, "sin", z.im))
    )


def cosh(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    return ComplexPair(
        e.b.fmul(f(e, "cosh", z.re), f(e, "cos", z.im)), e.b.fmul(f(e, "sinh", z.re), f(e, "sin", z.im))
    )


def sqrt(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    """Emit the root with a nonnegative real part. The larger part is computed first, to avoid cancellation."""
    b, half = e.b, ir().Constant(z.re.type, 0.5)
    zero = ir().Constant(z.re.type, 0.0)
    size = f(e, "hypot", z.re, z.im)
    real_size = e.intrinsic("fabs", z.re)
    large = e.intrinsic("sqrt", b.fmul(b.fadd(size, real_size), half))
    is_zero = b.fcmp_ordered("==", large, zero)
    small = b.select(is_zero, zero, b.fdiv(b.fmul(e.intrinsic("fabs", z.im), half), large))
    negative = b.fcmp_ordered("<", z.re, zero)
    imaginary = b.select(negative, large, small)
    return ComplexPair(b.select(negative, small, large), e.intrinsic("copysign", imaginary, z.im))


def sign(e: Emitter, z: ComplexPair, f: Apply) -> Element:
    """Emit z / |z|: 0 for 0, and NaN if a part is infinite, as the NumPy kernel's complex division gives it."""
    b, kind = e.b, z.re.type
    zero, one, infinity, nan = (ir().Constant(kind, value) for value in (0.0, 1.0, math.inf, math.nan))
    size = f(e, "hypot", z.re, z.im)
    is_infinite = b.or_(*(b.fcmp_ordered("==", e.intrinsic("fabs", part), infinity) for part in z))
    is_zero = b.fcmp_ordered("==", size, zero)
    divisor = b.select(is_infinite, nan, b.select(is_zero, one, size))
    return ComplexPair(*(b.select(is_zero, zero, b.fdiv(part, divisor)) for part in z))


FUNCTIONS: dict[str, Callable[[Emitter, ComplexPair, Apply], Any]] = {
    "abs": lambda e, z, f: f(e, "hypot", z.re, z.im),
    "cos": cos,
    "cosh": cosh,
    "exp": exp,
    "log": log,
    "sin": sin,
    "sinh": sinh,
    "sqrt": sqrt,
}
"""The functions that are lowered for complex operands."""
