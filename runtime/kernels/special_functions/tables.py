"""Functions of float32 numbers as tables of polynomials, which are made from their formulas on float64 arrays.

    |x|      0 … 2**-24     2**-24 … 2**7                              2**7 …
             a + b |x|      polynomials of degree 9, 32 an octave      the formula

The polynomials of an octave are made when its first number occurs: they interpolate the formula at Chebyshev's nodes.
Where one differs from the formula between its nodes, as near a pole, the formula itself computes the numbers.
Rounded to float32, the results of a table and of its formula are the same but for an occasional last bit.

An optional extension evaluates the polynomials. Without it, all numbers are computed by the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tiles import in_tiles

try:
    from . import _native_tables as native  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    native = None

Array = Any
Formula = Callable[[Array], Array]

_TERMS = 10  # as in the extension
_BITS = 5
"""The leading bits of a mantissa, which number the intervals of an octave."""
_FIRST, _OCTAVES = -24, 31
_BIAS, _MANTISSA = 127, 23
_FIRST_NUMBER, _SHIFT = (_FIRST + _BIAS) << _BITS, _MANTISSA - _BITS
_NODES = np.cos(np.pi * (2 * np.arange(_TERMS) + 1) / (2 * _TERMS))
_PROBES = np.array([-1.0, -0.95, -0.3, 0.4, 0.95, 1.0])
_FITTED = np.linalg.inv(np.vander(_NODES, increasing=True))
"""Maps values at the nodes to coefficients, the constant one first."""

_RELATIVE, _ABSOLUTE = 2.0**-30, 2.0**-44
"""The greatest errors relative to the value, and to the greatest value of the interval."""


class Table:
    """The table of a function."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._state: tuple[Array, Array] | None = None

    def __call__(self, x: Array) -> Array:
        """Return the function of a float32 array.

        >>> Table(np.sqrt)(np.array([4.0, 2.25], np.float32)).tolist()
        [2.0, 1.5]
        """
        result = np.empty_like(x)
        if not self._evaluate(x, result):
            return result
        if self._extend(x[np.isnan(result)].view(np.uint32)) and not self._evaluate(x, result):
            return result
        rest = np.isnan(result)
        result[rest] = self._formula(x[rest].astype(np.float64))
        return result

    def few(self, x: Array) -> Array | None:
        """Return the function of few float32 numbers, in no octaves but those that have been made; None for others."""
        return None if self._state is None else native.evaluated(x, self._state[0], _FIRST_NUMBER, _SHIFT)

    def _evaluate(self, x: Array, result: Array) -> bool:
        """Compute what the polynomials give, and return whether some of it is NaN."""
        if self._state is None:
            self._state = self._begin(), np.zeros((2, _OCTAVES), bool)
        is_any: bool = native.evaluate(x, result, self._state[0], _FIRST_NUMBER, _SHIFT)
        return is_any

    def _begin(self) -> Array:
        """Return the rows of no octaves, with those of the numbers before the first one."""
        rows = np.full((2, (_OCTAVES << _BITS) + 2, _TERMS + 1), np.nan)
        edge = 2.0**_FIRST
        for side, sign in enumerate((1.0, -1.0)):
            probes = edge * np.array([0.0, 1.0, 0.75, 2.0**-3, 2.0**-20, 2.0**-90])
            with np.errstate(all="ignore"):
                values = self._formula(sign * probes)
            slope = (values[1] - values[0]) / edge
            if np.all(np.abs(values[0] + slope * probes - values) <= _RELATIVE * np.abs(values)):
                rows[side, 0] = [values[0], slope, *[np.copysign(0.0, values[0])] * (_TERMS - 1)]
        return rows

    def _extend(self, bits: Array) -> bool:
        """Make the octaves of numbers with these bits; return whether some have been missing."""
        octave = ((bits >> _MANTISSA) & 0xFF).astype(np.int64) - (_BIAS + _FIRST)
        is_inside = (octave >= 0) & (octave < _OCTAVES)
        wanted = np.zeros((2, _OCTAVES), bool)
        wanted[(bits >> 31)[is_inside], octave[is_inside]] = True
        assert self._state is not None
        rows, known = self._state
        missing = np.argwhere(wanted & ~known)
        if not len(missing):
            return False
        rows, known = rows.copy(), known.copy()  # other threads read the old ones
        for side, number in missing.tolist():
            begin = (number << _BITS) + 1
            rows[side, begin : begin + (1 << _BITS)] = self._octave(-1.0 if side else 1.0, number + _FIRST)
            known[side, number] = True
        self._state = rows, known
        return True

    def _octave(self, sign: float, exponent: int) -> Array:
        """Return the polynomials of an octave, each followed by the value of the interval's first number.

        Those that are inaccurate are NaN.
        """
        count = 1 << _BITS
        half = 2.0**exponent / count / 2
        middles = 2.0**exponent + half * (2 * np.arange(count) + 1)
        points = middles[:, None] + half * np.concatenate([_NODES, _PROBES])
        with np.errstate(all="ignore"):
            values = self._formula(sign * points)
            rows = values[:, :_TERMS] @ _FITTED.T
            expected = values[:, _TERMS:]
            error = np.abs(rows @ np.vander(_PROBES, _TERMS, increasing=True).T - expected)
            greatest = np.max(np.abs(values), -1, keepdims=True)
            is_accurate = np.all(error <= _RELATIVE * np.abs(expected) + _ABSOLUTE * greatest, -1)
            is_accurate &= np.isfinite(greatest[:, 0])
            rows /= half ** np.arange(_TERMS)
        return np.where(is_accurate[:, None], np.column_stack([rows, expected[:, 0]]), np.nan)


def looked_up(table: Table, x: Array) -> Array | None:
    """Return the function of floats of up to 32 bits; None for others, and without the extension."""
    if native is None or x.dtype.itemsize > 4:
        return None
    found = table(np.asarray(x, np.float32, order="C"))
    return found if x.dtype == found.dtype else found.astype(x.dtype)


def tabulated(formula: Formula) -> Formula:
    """Return the kernel of a function, which uses its table where it can, and its formula elsewhere.

    >>> tabulated(np.sqrt)(np.array([4.0, 1e30])).tolist()
    [2.0, 1000000000000000.0]
    """
    table = Table(formula)

    @in_tiles
    def of_tiles(x: Array) -> Array:
        found = looked_up(table, x)
        return formula(np.asarray(x, np.float64)).astype(x.dtype) if found is None else found

    def compute(x: Array) -> Array:
        found = table.few(x)
        return of_tiles(x) if found is None else found

    return compute
