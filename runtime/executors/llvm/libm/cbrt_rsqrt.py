"""Cube root, reciprocal square root and hypotenuse."""

from __future__ import annotations

from .double_double import DoubleDouble, exact_product, product
from .formula_builder import Number, through_double
from .log import split


@through_double()
def cbrt(x: Number) -> Number:
    """Return the cube root, by Halley's iteration and a final correction with the exact cube."""
    code = x.code
    size = x.magnitude()
    tiny = size < 2.0**-1000
    normal = tiny.where(size * 2.0**120, size)
    k, m = split(normal)
    third = (k * (1.0 / 3.0)).rounded(code.bias)
    rest = k - third[0] * 3.0
    # The number as 2^(3 q) a, with a between 1/4 and 4.
    a = m * (rest > 0.5).where(2.0, (rest < -0.5).where(0.5, code.real(1.0)))
    root = a * (1.0 / 3.0) + 2.0 / 3.0
    for _ in range(4):
        cube = root * root * root
        root = root * ((cube + a * 2.0) / (cube * 2.0 + a))
    square = exact_product(root, root)
    exact = product(square, DoubleDouble(root, code.real(0.0)))
    error = (a - exact.high) - exact.low
    root = root + error / (square.high * 3.0)
    scale = (third[1] << code.fraction).as_real()
    result = root * scale * tiny.where(2.0**-40, code.real(1.0))
    plain = size.equals(0.0) | size.equals(float("inf")) | x.is_nan()
    return plain.where(x, result.with_sign_of(x))


def rsqrt(x: Number) -> Number:
    """Return the reciprocal square root of `x`."""
    return 1.0 / x.sqrt()


def rough_hypot(x: Number, y: Number) -> Number:
    """Return the hypotenuse of float32 operands in float64, where the squares neither overflow nor underflow."""
    infinite = x.magnitude().equals(float("inf")) | y.magnitude().equals(float("inf"))
    return infinite.where(float("inf"), (x * x + y * y).sqrt())


@through_double(rough=rough_hypot)
def hypot(x: Number, y: Number) -> Number:
    """Return sqrt(x² + y²) without intermediate overflow."""
    first, second = x.magnitude(), y.magnitude()
    swapped = first < second
    large, small = swapped.where(second, first), swapped.where(first, second)
    scale = (large > 2.0**500).where(2.0**-600, (large < 2.0**-450).where(2.0**600, x.code.real(1.0)))
    a, b = large * scale, small * scale
    total = (b * b).plus_product(a, a).sqrt()
    back = (large > 2.0**500).where(2.0**600, (large < 2.0**-450).where(2.0**-600, x.code.real(1.0)))
    infinite = first.equals(float("inf")) | second.equals(float("inf"))
    return infinite.where(float("inf"), total * back)
