"""Lower elementwise mathematical functions to calls of the formulas in libm/.

exp x: float32[n]     ==>    %y = call float @agc.exp.f32(float %x)       inlined, then vectorized
exp x: float16[n]     ==>    the float32 function, rounded to float16 as in NumPy
"""

from __future__ import annotations

from typing import Any

from ....ir.graph import Operation
from ..codegen.element_formulas import call_function
from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import ComplexPair, Element, Register, constant, integer, ir
from ..codegen.rule_registry import Site, elementwise
from ..codegen.scalar_builder import is_known
from . import complex
from .elementwise import absolute, divide, multiply, sign

OF_ONE = (
    "exp",
    "expm1",
    "log",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "softplus",
    "erf",
    "erfc",
    "erfinv",
    "erfcinv",
    "ndtri",
    "lgamma",
    "digamma",
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
)
"""Unary operations that libm/ computes."""


def _takes(operation: Operation) -> str | None:
    if operation.inputs[0].dtype.kind == "c" and operation.type not in complex.FUNCTIONS:
        return "complex numbers are not compiled here"
    return None


def _function(e: Emitter, site: Site, x: Element) -> Element:
    if isinstance(x, ComplexPair):
        return complex.FUNCTIONS[site.type](e, x, call_function)
    return call_function(e, site.type, x)


elementwise(*OF_ONE, takes=_takes)(_function)


@elementwise("abs", takes=_takes)
def _(e: Emitter, site: Site, x: Element) -> Element:
    return call_function(e, "hypot", x.re, x.im) if isinstance(x, ComplexPair) else absolute(e, site, x)


@elementwise("sign")
def _(e: Emitter, site: Site, x: Element) -> Element:
    return complex.sign(e, x, call_function) if isinstance(x, ComplexPair) else sign(e, site, x)


@elementwise("sqrt", takes=_takes)
def _(e: Emitter, site: Site, x: Element) -> Element:
    return complex.sqrt(e, x, call_function) if isinstance(x, ComplexPair) else e.intrinsic("sqrt", x)


@elementwise("angle")
def _(e: Emitter, site: Site, x: Element) -> Element:
    if isinstance(x, ComplexPair):
        return call_function(e, "atan2", x.im, x.re)
    negative = e.b.fcmp_ordered("<", x, constant(site.dtype, 0))
    return e.b.select(negative, constant(site.dtype, 3.141592653589793), constant(site.dtype, 0))


def _of_signed(operation: Operation) -> bool:
    return operation.inputs[0].dtype.kind == "i"


@elementwise("pow", may_fail=_of_signed, takes=_takes)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    if site.dtype.kind in "iu":
        return _integer_power(e, site, x, y)
    known = _known_power(e, site, x, y)
    return call_function(e, "pow", x, y) if known is None else known


def _known_power(e: Emitter, site: Site, x: Register, y: Register) -> Register | None:
    """Return `x` to a constant power that takes one or two multiplications, accurate to one ulp; else None."""
    if not is_known(y) or not isinstance(y.constant, float):
        return None
    one = constant(site.dtype, 1)
    if y.constant == 0.0:
        return one
    if y.constant == 1.0:
        return x
    if y.constant == 2.0:
        return e.b.fmul(x, x)
    if y.constant == 3.0:
        return e.b.fmul(e.b.fmul(x, x), x)
    return e.b.fdiv(one, x) if y.constant == -1.0 else None


def _integer_power(e: Emitter, site: Site, x: Register, y: Register) -> Register:
    """Emit a power by repeated squaring, modulo the integer range; constant exponents are unrolled."""
    b, kind = e.b, x.type
    if site.dtype.kind == "i":
        e.demand(b.icmp_signed(">=", y, kind(0)))
    if not is_known(y):
        return b.call(_power_of_integers(e, kind), [x, y])
    result, factor = kind(1), x
    for bit in range(max(int(y.constant), 0).bit_length()):
        factor = b.mul(factor, factor) if bit else x
        result = b.mul(result, factor) if int(y.constant) >> bit & 1 else result
    return result


def _power_of_integers(e: Emitter, kind: Any) -> Any:
    """Return a function with a loop over the bits of the exponent."""
    name = f"agc.power.i{kind.width}"
    known = e.module.globals.get(name)
    if known is not None:
        return known
    function = ir().Function(e.module, ir().FunctionType(kind, [kind, kind]), name)
    function.linkage = "internal"
    entry, body, done = map(function.append_basic_block, ("entry", "body", "done"))
    b = ir().IRBuilder(entry)
    b.branch(body)
    b.position_at_end(body)
    result, factor, bits = (b.phi(kind) for _ in range(3))
    odd = b.trunc(bits, integer(1))
    following = [b.select(odd, b.mul(result, factor), result), b.mul(factor, factor), b.lshr(bits, kind(1))]
    starts = [kind(1), *function.args]
    for phi, start, value in zip((result, factor, bits), starts, following, strict=True):
        phi.add_incoming(start, entry)
        phi.add_incoming(value, body)
    b.cbranch(b.icmp_unsigned("!=", following[2], kind(0)), body, done)
    b.position_at_end(done)
    b.ret(following[0])
    return function


def _unless_zero(e: Emitter, site: Site, tested: Element, value: Element) -> Element:
    """Return 0 if `tested` is 0, else `value`."""
    b, zero = e.b, constant(site.dtype, 0)
    if isinstance(tested, ComplexPair):
        is_zero = b.and_(b.fcmp_ordered("==", tested.re, zero.re), b.fcmp_ordered("==", tested.im, zero.im))
    else:
        is_zero = b.fcmp_ordered("==", tested, zero)
    return e.choose(is_zero, zero, value)


@elementwise("divide_no_nan")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return _unless_zero(e, site, y, divide(e, site, x, y))


@elementwise("multiply_no_nan")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return _unless_zero(e, site, y, multiply(e, site, x, y))


@elementwise("xdivy")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return _unless_zero(e, site, x, divide(e, site, x, y))


@elementwise("xlogy")
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    logarithm = complex.log(e, y, call_function) if isinstance(y, ComplexPair) else call_function(e, "log", y)
    return _unless_zero(e, site, x, multiply(e, site, x, logarithm))


@elementwise("xlog1py", takes=_takes)
def _(e: Emitter, site: Site, x: Element, y: Element) -> Element:
    return _unless_zero(e, site, x, multiply(e, site, x, call_function(e, "log1p", y)))
