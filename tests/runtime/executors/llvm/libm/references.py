"""What the functions are held against: mpmath's numbers of any precision, and NumPy's in a wider format."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
from agc.runtime.kernels.special_functions import bessel, error_functions, gamma
from mpmath import mp, mpf

FloatArray = np.ndarray[Any, Any]

mp.prec = 200


class Reference(NamedTuple):
    """A function of exact numbers, and the same on arrays of float64: good to judge float32 by.

    `holds` says for which numbers the bound of errors is: those of gamma functions are not near their many zeros.
    """

    exact: Callable[..., Any]
    wide: Callable[..., Any]
    holds: Callable[[FloatArray], FloatArray] = lambda x: np.ones(x.shape, bool)


def sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


def power(x: Any, y: Any) -> Any:
    """As IEEE has it: also where mpmath has none or a complex one."""
    if mp.isnan(x) or mp.isnan(y) or mp.isinf(x) or mp.isinf(y) or x == 0:
        return mpf(float(np.power(float(x), float(y))))
    if x < 0:
        return mp.power(-x, y) * (-1) ** int(y % 2) if y == mp.floor(y) else mp.nan
    # Where the result is far outside of every format it would only take long.
    return mp.power(x, y) if abs(y * mp.log(x)) < 10_000 else mpf(0 if y * mp.log(x) < 0 else "inf")


def quantile(p: Any) -> Any:
    """Where the normal distribution reaches `p`: what is nearly it, and Newton's steps from there."""
    if not 0 < p < 1:
        return {0: -mp.inf, 1: mp.inf}.get(p, mp.nan)
    if p > 0.5:
        return -quantile(1 - p)
    x = mpf(max(float(error_functions.quantile(np.float64(float(p)))), -38.0))
    for _ in range(40):
        step = (mp.ncdf(x) - p) / mp.npdf(x)
        x -= step
        if abs(step) <= abs(x) * mpf(2) ** -100:
            break
    return x


def in_float64(function: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    return lambda x: function(x.astype(np.float64)).astype(x.dtype)


def scaled(order: int, x: Any) -> Any:
    """Bessel's modified function times e^-|x|, by its first terms where mpmath would take long."""
    size = abs(x)
    if mp.isnan(x) or mp.isinf(x):
        return x * 0 if mp.isnan(x) else mpf(0)
    if size < 1e10:
        return mp.besseli(order, x) * mp.exp(-size)
    factor = 4 * order * order - 1
    value = (1 - factor / (8 * size) + factor * (factor - 8) / (128 * size * size)) / mp.sqrt(
        2 * mp.pi * size
    )
    return value * mp.sign(x) if order else value


def grown(order: int, x: Any) -> Any:
    if mp.isinf(x) or mp.isnan(x):
        return mp.nan  # a factor of 0 times one that is infinite, as in TensorFlow
    return scaled(order, x) * mp.exp(abs(x)) if abs(x) < 10_000 else mp.inf * (mp.sign(x) if order else 1)


def grown_in_float64(order: int) -> Callable[[FloatArray], FloatArray]:
    """In two halves, so that it is infinite where the function is."""

    def function(x: FloatArray) -> FloatArray:
        half = np.exp(np.abs(x.astype(np.float64)) / 2)
        return (bessel.i(order, x.astype(np.float64)) * half * half).astype(x.dtype)

    return function


def lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # at 0, -1, …, and where the result is too large
        return math.inf


def positive(x: FloatArray) -> FloatArray:
    return x > 0


REFERENCES = {
    "acos": Reference(mp.acos, np.arccos),
    "acosh": Reference(mp.acosh, np.arccosh),
    "asin": Reference(mp.asin, np.arcsin),
    "asinh": Reference(mp.asinh, np.arcsinh),
    "atan": Reference(mp.atan, np.arctan),
    "atan2": Reference(mp.atan2, np.arctan2),
    "atanh": Reference(mp.atanh, np.arctanh),
    "bessel_i0": Reference(lambda x: grown(0, x), grown_in_float64(0)),
    "bessel_i0e": Reference(lambda x: scaled(0, x), in_float64(lambda x: bessel.i(0, x))),
    "bessel_i1": Reference(lambda x: grown(1, x), grown_in_float64(1)),
    "bessel_i1e": Reference(lambda x: scaled(1, x), in_float64(lambda x: bessel.i(1, x))),
    "cbrt": Reference(lambda x: mp.cbrt(x) if x >= 0 else -mp.cbrt(-x), np.cbrt),
    "cos": Reference(mp.cos, np.cos),
    "cosh": Reference(mp.cosh, np.cosh),
    "digamma": Reference(lambda x: mp.digamma(x) if x > 0 else mp.nan, gamma.digamma, positive),
    "erf": Reference(mp.erf, np.vectorize(math.erf, otypes=[np.float64])),
    "erfc": Reference(
        lambda x: mp.erfc(x) if abs(x) < 40 else 1 - mp.sign(x), np.vectorize(math.erfc, otypes=[np.float64])
    ),
    "erfcinv": Reference(lambda x: -quantile(x / 2) / mp.sqrt(2), in_float64(error_functions.inverse_erfc)),
    "erfinv": Reference(
        lambda x: mp.erfinv(x) if abs(x) < 0.5 else quantile((1 + x) / 2) / mp.sqrt(2),
        in_float64(error_functions.inverse_erf),
    ),
    "exp": Reference(mp.exp, np.exp),
    "exp2": Reference(lambda x: mpf(2) ** x, np.exp2),
    "expm1": Reference(mp.expm1, np.expm1),
    "hypot": Reference(lambda x, y: mp.inf if mp.isinf(x) or mp.isinf(y) else mp.hypot(x, y), np.hypot),
    "lgamma": Reference(
        lambda x: mp.loggamma(x) if x < mp.inf else x,
        lambda x: np.vectorize(lgamma, otypes=[x.dtype])(x),
        positive,
    ),
    "log": Reference(mp.log, np.log),
    "log10": Reference(mp.log10, np.log10),
    "log1p": Reference(mp.log1p, np.log1p),
    "log2": Reference(lambda x: mp.log(x) / mp.log(2), np.log2),
    "ndtri": Reference(quantile, in_float64(error_functions.quantile)),
    "nextafter": Reference(lambda x, y: mpf(math.nextafter(float(x), float(y))), np.nextafter),
    "pow": Reference(power, np.power),
    "rsqrt": Reference(lambda x: 1 / mp.sqrt(x), lambda x: 1 / np.sqrt(x)),
    "sin": Reference(mp.sin, np.sin),
    "sinh": Reference(mp.sinh, np.sinh),
    "softplus": Reference(lambda x: mp.log1p(mp.exp(x)), lambda x: np.logaddexp(x, 0.0)),
    "tan": Reference(mp.tan, np.tan),
    "sigmoid": Reference(lambda x: 1 / (1 + mp.exp(-x)), sigmoid),
    "tanh": Reference(mp.tanh, np.tanh),
}


def exactly(name: str, numbers: tuple[float, ...]) -> Any:
    """The exact result; not a number where there is no real one."""
    try:
        result = REFERENCES[name].exact(*map(mpf, numbers))
    except (ValueError, ZeroDivisionError):
        return mp.nan
    return result if isinstance(result, mpf) else mp.nan


def last_place(result: Any, dtype: str) -> Any:
    """The unit of the last place of an exact number in a format: what one more in its last bit would add."""
    info = np.finfo(dtype)
    exponent = mpmath.frexp(result)[1] - 1 if result else int(info.minexp)
    return mpf(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))


def error(got: float, result: Any, dtype: str) -> float:
    """How far a number is from the exact result, in units of its last place."""
    if mp.isnan(result):
        return 0.0 if np.isnan(got) else np.inf
    with np.errstate(over="ignore"):
        nearest = np.dtype(dtype).type(
            float(result) if abs(result) < mpf(2) ** 1025 else np.inf * mp.sign(result)
        )
    if got == nearest:
        return 0.0 if np.isinf(got) else float(abs(mpf(float(got)) - result) / last_place(result, dtype))
    return (
        np.inf if not np.isfinite(got) else float(abs(mpf(float(got)) - result) / last_place(result, dtype))
    )


def errors(got: FloatArray, result: FloatArray, dtype: str) -> FloatArray:
    """The same for arrays, whose exact results are of a wider format."""
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(result)[1] - 1, int(info.minexp))
        distance = np.abs(got.astype(result.dtype) - result) / np.ldexp(1.0, exponent - int(info.nmant))
        same = (got == result.astype(dtype)) | (np.isnan(got) & np.isnan(result))
    return np.where(same & ~np.isfinite(distance), 0.0, np.where(np.isnan(distance), np.inf, distance))


def samples(dtype: str, count: int, arity: int = 1, seed: int = 0) -> list[FloatArray]:
    """Operands of all magnitudes, and more of them where functions bend."""
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 256, (arity, count, np.dtype(dtype).itemsize), dtype=np.uint8).view(dtype)[
        ..., 0
    ]
    rows = [
        bits,
        generator.normal(0, 1, (arity, count)),
        generator.uniform(-20, 20, (arity, count)),
        generator.uniform(-110, 110, (arity, count)),
        generator.uniform(-800, 800, (arity, count)),
        1 + generator.normal(0, 0.1, (arity, count)),
        np.exp(generator.uniform(-20, 5, (arity, count))) * generator.choice([-1, 1], (arity, count)),
    ]
    return [np.concatenate([row[k].astype(dtype) for row in rows]) for k in range(arity)]


def special(dtype: str) -> FloatArray:
    """Zeros, the least and the greatest numbers, infinities, NaN, and some in between."""
    info = np.finfo(dtype)
    least, greatest = float(info.smallest_subnormal), float(info.max)
    positive = [
        0.0,
        least,
        float(info.tiny),
        0.5,
        1.0,
        1 - float(info.epsneg),
        1 + float(info.eps),
        2.0,
        3.0,
        greatest,
    ]
    return np.array([*positive, np.inf, *(-x for x in positive), -np.inf, np.nan], dtype)
