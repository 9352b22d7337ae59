"""The array API's functions of elements, and the promotion of dtypes: NumPy's results, in eager code and in graphs."""

import numpy as np
from agc.runtime.executors import COMPLETE
from agc.runtime.interop import array_api as xp
from support.array_calls import (
    ANY,
    BOOLS,
    COMPLEX,
    FLOATING,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REAL,
    SPECIAL,
    TRACED,
    UNSIGNED,
    assert_as_numpy,
    assert_traced,
    binary,
    rows,
    unary,
)
from support.each_case import each_case

CALLS = [
    (
        "elements of numbers",
        NUMERIC,
        unary("abs conj negative positive real round sign square isfinite isinf isnan"),
    ),
    ("elements of reals", REAL, unary("ceil floor trunc")),
    (
        "elements of floats",
        FLOATING,
        unary("acos acosh asin asinh atan cos cosh exp expm1 sin sinh sqrt tan tanh"),
    ),
    ("elements from -1 to 1", FLOATS, unary("atanh log1p signbit")),
    ("positive elements", FLOATS, lambda xp, x: unary("log log10 log2 reciprocal")(xp, xp.abs(x) + 0.5)),
    ("parts", COMPLEX, unary("imag log")),
    (
        "specials",
        SPECIAL,
        unary("abs ceil exp floor isfinite isinf isnan round sign signbit sqrt square trunc"),
    ),
    ("arithmetic", NUMERIC, binary("add subtract multiply equal not_equal")),
    ("powers", NUMERIC, lambda xp, x: (xp.pow(x, xp.astype(x == x, x.dtype)), xp.pow(x, 2))),
    ("division", FLOATING, lambda xp, x: xp.divide(x, xp.flip(x) + 1.5)),
    ("whole division", REAL, lambda xp, x: [f(x, xp.flip(x) + 7) for f in (xp.floor_divide, xp.remainder)]),
    ("order", REAL, binary("less less_equal greater greater_equal maximum minimum")),
    ("pairs of floats", FLOATS, binary("atan2 copysign hypot logaddexp nextafter")),
    ("pairs of specials", SPECIAL, binary("atan2 copysign hypot maximum minimum less equal")),
    ("sums of logarithms", SPECIAL, lambda xp, x: (xp.logaddexp(x, x), xp.logaddexp(x, xp.zeros_like(x)))),
    ("large sides", FLOATS, lambda xp, x: xp.hypot(x * xp.asarray(1e30, dtype=x.dtype), x)),
    ("bits", {**INTEGERS, **UNSIGNED}, binary("bitwise_and bitwise_or bitwise_xor bitwise_left_shift")),
    ("bits of one", {**INTEGERS, **UNSIGNED, **BOOLS}, unary("bitwise_invert")),
    ("bits moved down", {**INTEGERS, **UNSIGNED}, lambda xp, x: xp.bitwise_right_shift(x, 1)),
    ("logic", BOOLS, binary("logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor")),
    ("not", BOOLS, unary("logical_not")),
    (
        "clip",
        REAL,
        lambda xp, x: (xp.clip(x, 1, 3), xp.clip(x, max=2), xp.clip(x, x, xp.flip(x)), xp.clip(x)),
    ),
    # Numbers of Python's take the array's dtype; arrays are promoted.
    ("beside numbers", NUMERIC, lambda xp, x: (xp.add(x, 2), xp.multiply(3, x), xp.where(x != 0, x, 1))),
    (
        "beside int8",
        INTEGERS,
        lambda xp, x: (xp.add(x, xp.asarray([1, 2, 3], dtype=xp.int8)), xp.result_type(x, xp.int16)),
    ),
    (
        "beside float64",
        FLOATS,
        lambda xp, x: (xp.subtract(x, xp.asarray(2.0, dtype=xp.float64)), xp.add(x, 1j)),
    ),
    ("astype", ANY, lambda xp, x: (xp.astype(x, xp.complex64), xp.astype(x, xp.bool))),
    (
        "astype of reals",
        {**REAL, **BOOLS},
        lambda xp, x: (xp.astype(x, xp.float64), xp.astype(xp.abs(x) if x.dtype != xp.bool else x, xp.int16)),
    ),
]


@each_case(("call", "x"), rows(CALLS))
def test_results_are_numpys(call, x):
    assert_as_numpy(call, x)


@each_case("executor", COMPLETE)
@each_case(("call", "x"), rows(CALLS, TRACED))
def test_traced_results_are_eager_results(call, x, executor):
    assert_traced(call, x, executor)


def test_a_quotient_too_small_to_be_seen_is_rounded_down():
    x, y = xp.asarray([-1.0, 1.0, 1.0, 0.0, -np.inf]), xp.asarray([np.inf, -np.inf, np.inf, -np.inf, 2.0])
    assert xp.floor_divide(x, y).numpy().tolist() == [-1.0, -1.0, 0.0, 0.0, -np.inf]


def test_logarithms_of_infinite_complex_numbers():
    found = xp.log10(xp.asarray([complex(1.0, np.inf), complex(-np.inf, 0.0)], dtype=xp.complex128)).numpy()
    assert found.real.tolist() == [np.inf, np.inf]
    np.testing.assert_allclose(found.imag, np.array([np.pi / 2, np.pi]) / np.log(10))
