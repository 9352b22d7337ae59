"""Sums with a product that is exact, rounded once by one instruction.

    x * 0.5 + 1.0      ==>      fma(x, 0.5, 1.0)

Times a power of two, a float only gets another exponent, so that the sum is all that is rounded, by two instructions
as by one. Where the product is too small or too large to be exact, a constant of middling size hides it: sums with what
is smaller than the smallest normal number are the constant, and with what is infinite infinite.
"""

from __future__ import annotations

import math

from ..codegen.function_builder import Emitter
from ..codegen.llvm_types import Register, ir
from ..codegen.scalar_builder import is_known

_MIDDLING = {"float": 100, "double": 900}
"""For each type: the constants between 2 to the power of minus and plus this are of middling size."""


def fused(e: Emitter, x: Register, y: Register, is_difference: bool = False) -> Register | None:
    """`x + y`, or `x - y`, where one is such a product and the other such a constant; None otherwise."""
    known, product = (x, y) if is_known(x) else (y, x)
    if not _is_middling(known) or (found := _parts(product)) is None or not _fuses():
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
    """What is multiplied, and the power of two, if it is a product with one."""
    if getattr(product, "opname", None) != "fmul":
        return None
    x, y = product.operands
    factor, power = (y, x) if is_known(x) else (x, y)
    return (factor, power) if is_known(power) and _is_power(power.constant) else None


def _is_power(number: float) -> bool:
    return abs(math.frexp(number)[0]) == 0.5


def _constant(like: Register, value: float) -> Register:
    return ir().Constant(like.type, value)


def _fuses() -> bool:
    from ..libm.registry import fuses

    return fuses()
