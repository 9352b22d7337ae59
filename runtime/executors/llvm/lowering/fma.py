"""Contract an addition and an exact product to one fused multiply-add.

    x * 0.5 + 1.0      ==>      fma(x, 0.5, 1.0)

Multiplication by a power of two only changes the exponent, so that only the sum rounds, with two instructions
as with one. If the product underflows or overflows, an addend of moderate size hides the difference: the sum with a
subnormal product is the addend, and the sum with an infinite product is infinite.
"""

from __future__ import annotations

import math

from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Register, ir
from ..codegen.scalar_builder import is_known
from ..processor import fuses

_MIDDLING = {"float": 100, "double": 900}
"""For each type, n such that addends between 2^-n and 2^n have moderate size."""


def fused(e: Emitter, x: Register, y: Register, is_difference: bool = False) -> Register | None:
    """Return `x + y` or `x - y` as a fused multiply-add; None if the operands have another form."""
    known, product = (x, y) if is_known(x) else (y, x)
    if not _is_middling(known) or (found := _parts(product)) is None or not fuses():
        return None
    factor, power = found
    if is_difference:
        if known is y:
            known = _constant(known, -known.constant)
        else:
            power = _constant(power, -power.constant)
    return e.intrinsic("fma", factor, power, known)


def _is_middling(x: Register) -> bool:
    most = _MIDDLING.get(str(x.type), 0)
    return most > 0 and is_known(x) and 2.0**-most <= abs(x.constant) <= 2.0**most


def _parts(product: Register) -> tuple[Register, Register] | None:
    """Return the factor and the power of two of a product; None for other values."""
    if getattr(product, "opname", None) != "fmul":
        return None
    x, y = product.operands
    factor, power = (y, x) if is_known(x) else (x, y)
    return (factor, power) if is_known(power) and _is_power(power.constant) else None


def _is_power(number: float) -> bool:
    return abs(math.frexp(number)[0]) == 0.5


def _constant(like: Register, value: float) -> Register:
    return ir().Constant(like.type, value)
