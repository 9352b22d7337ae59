"""No result is further from the exact one than the table of functions says.

float64 is held against mpmath, float32 against NumPy in float64, whose own errors are 2^-29 of a float32's last place.
With AGC_ULP=all in the environment, functions of one float32 are tried on every float32 that there is.
"""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from agc.runtime.executors.llvm.libm import FUNCTIONS, exp
from support.selection import at_most

from . import array_loop
from .references import REFERENCES, error, errors, exactly, samples, special

NAMES = sorted(FUNCTIONS)
EVERYTHING = os.environ.get("AGC_ULP") == "all"


def test_all_functions_have_a_reference():
    assert sorted(REFERENCES) == NAMES


def chosen(name, operands):
    """Those for which a bound is stated."""
    holds = REFERENCES[name].holds
    return [operand[holds(operand)] for operand in operands]


@pytest.mark.parametrize("name", NAMES)
def test_float64_is_within_its_bound(name):
    function = FUNCTIONS[name]
    operands = chosen(name, samples("float64", at_most(20, 200), function.arity))
    got = array_loop.as_ufunc(name, "float64")(*operands)
    numbers = zip(*(operand.tolist() for operand in operands), strict=True)
    worst = max((error(g, exactly(name, xs), "float64"), xs) for g, xs in zip(got, numbers, strict=True))
    assert worst[0] <= function.bound("float64"), worst


HARD = [("erf", 0.9728668811371792), ("erfc", 1.9158326076643604), ("erfc", 3.5794538205277635)]
"""The largest errors of some ten thousand float64."""


@pytest.mark.parametrize(("name", "x"), HARD)
def test_hard_cases_of_float64(name, x):
    (got,) = array_loop.as_ufunc(name, "float64")(np.array([x]))
    assert error(got, exactly(name, (x,)), "float64") <= FUNCTIONS[name].bound("float64")


@pytest.mark.parametrize("name", sorted({*NAMES} - {"nextafter"}))  # which depends on the format
def test_float32_is_within_its_bound(name):
    function = FUNCTIONS[name]
    chunks = [samples("float32", at_most(5_000, 20_000), function.arity)]
    if EVERYTHING and function.arity == 1:
        size = 1 << 22
        chunks = ([np.arange(k, k + size, dtype=np.uint32).view(np.float32)] for k in range(0, 1 << 32, size))
    for operands in (chosen(name, chunk) for chunk in chunks):
        got = array_loop.as_ufunc(name, "float32")(*operands)
        with np.errstate(all="ignore"):
            expected = REFERENCES[name].wide(*(operand.astype(np.float64) for operand in operands))
        wrong = errors(got, expected, "float32")
        place = int(np.argmax(wrong))
        assert wrong[place] <= function.bound("float32"), [operand[place] for operand in operands]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_special_values_equal_numpys(name, dtype):
    """Infinities, NaN and the signs of zeros."""
    operands = np.meshgrid(*[special(dtype)] * FUNCTIONS[name].arity)
    got = array_loop.as_ufunc(name, dtype)(*operands)
    with np.errstate(all="ignore"):
        expected = REFERENCES[name].wide(*operands)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    edges = np.isinf(got) | np.isinf(expected) | (got == 0) | (expected == 0)
    np.testing.assert_array_equal(got[edges], expected[edges])
    np.testing.assert_array_equal(np.signbit(got[edges]), np.signbit(expected[edges]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_neighboring_lanes_do_not_mix(name, dtype):
    """A result is the same in a vector and in the rest of a loop."""
    operands = samples(dtype, 5, FUNCTIONS[name].arity)
    together = array_loop.as_ufunc(name, dtype)(*operands)
    apart = [
        array_loop.as_ufunc(name, dtype)(*(x[k : k + 1] for x in operands))[0] for k in range(len(together))
    ]
    np.testing.assert_array_equal(together, apart)


@pytest.mark.parametrize("size", [32, 64])
def test_exponentials_of_masked_elements_do_not_underflow(size: int) -> None:
    """A product that underflows takes a hundred cycles, but not if a factor is 0."""
    least, bias = exp.RANGE[size][0], {32: 127, 64: 1023}[size]
    assert round(least / math.log(2)) + 2 * bias == 0  # the exponents of both factors
