"""The next float in a direction, by an increment or decrement of the bits."""

from __future__ import annotations

from .formula_builder import Number


def nextafter(x: Number, y: Number) -> Number:
    """Return the next float after `x` in the direction of `y`."""
    code = x.code
    bits = x.bits()
    away = (x < y) ^ (x < 0.0)  # the magnitude increases, unless x is zero
    moved = away.where(bits + 1, bits - 1).as_real()
    least = code.whole(1).as_real().with_sign_of(y)
    result = x.equals(0.0).where(least, moved)
    result = x.equals(y).where(y, result)
    return (x.is_nan() | y.is_nan()).where(float("nan"), result)
