"""What the functions are held against: mpmath's numbers of any precision, and NumPy's in a wider format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mp, mpf

FloatArray = np.ndarray[Any, Any]

mp.prec = 200


class Reference(NamedTuple):
    """A function of exact numbers, and the same on arrays of float64: good to judge float32 by."""

    exact: Callable[..., Any]
    wide: Callable[..., Any]


def sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


REFERENCES = {
    "cos": Reference(mp.cos, np.cos),
    "sin": Reference(mp.sin, np.sin),
    "tan": Reference(mp.tan, np.tan),
    "exp": Reference(mp.exp, np.exp),
    "exp2": Reference(lambda x: mpf(2) ** x, np.exp2),
    "expm1": Reference(mp.expm1, np.expm1),
    "log": Reference(mp.log, np.log),
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
