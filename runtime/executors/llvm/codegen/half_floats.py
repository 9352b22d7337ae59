"""Casts of 16-bit floats that most processors lack.

float64 to float16: round to odd in float32, then cast to float16.

    x: double     ==>     near: float, x rounded to odd (the inexact neighbor with last bit 1)     ==>     half

LLVM lowers this cast to a function of compiler-rt, which few processes have; without it, LLVM calls a null
address. LLVM also derives such casts from others, so the library defines a function of that name.

bfloat16 is the upper half of the bits of a float32. All of LLVM's vector instructions have these integers.
"""

from __future__ import annotations

from typing import Any

from .llvm_types import Register, integer, ir


def half_of_double(b: Any, x: Register) -> Register:
    """Cast a float64 to float16."""
    return b.fptrunc(_rounded_to_odd(b, x), ir().HalfType())


def _rounded_to_odd(b: Any, x: Register) -> Register:
    near = b.fptrunc(x, ir().FloatType())
    back = b.fpext(near, x.type)
    pattern, bits = b.bitcast(near, integer(32)), integer(32)
    # Both have the same sign, so their magnitudes compare like their bits.
    is_below = b.icmp_unsigned("<", b.bitcast(back, integer(64)), b.bitcast(x, integer(64)))
    odd = b.select(is_below, b.add(pattern, bits(1)), b.sub(pattern, bits(1)))
    is_even = b.icmp_unsigned("==", b.and_(pattern, bits(1)), bits(0))
    is_moved = b.and_(b.fcmp_ordered("!=", back, x), is_even)
    return b.bitcast(b.select(is_moved, odd, pattern), near.type)


def single_of_bfloat16(b: Any, x: Register) -> Register:
    """Cast the bits of a bfloat16 to float32, which is exact."""
    return b.bitcast(b.shl(b.zext(x, integer(32)), integer(32)(16)), ir().FloatType())


def bfloat16_of_single(b: Any, x: Register) -> Register:
    """Return the bits of the nearest bfloat16, of two the even one; NaN stays NaN."""
    bits = integer(32)
    pattern = b.bitcast(x, bits)
    is_odd = b.and_(b.lshr(pattern, bits(16)), bits(1))
    rounded = b.add(pattern, b.add(is_odd, bits(0x7FFF)))  # infinity is next to the largest number
    quiet = b.or_(pattern, bits(0x400000))
    found = b.select(b.fcmp_unordered("uno", x, x), quiet, rounded)
    return b.trunc(b.lshr(found, bits(16)), integer(16))
