"""Operations on each element give in native code what the interpreter's kernels give: integers bitwise, floats within
a few units of the last place, with the same infinities, NaN and signs of zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

OF_ONE_FLOAT = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc",
    "exp", "expm1", "floor", "is_finite", "is_inf", "is_nan", "log", "log1p", "log_sigmoid", "negative",
    "reciprocal", "rint", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "softplus", "softsign",
    "sqrt", "square", "tan", "tanh", "angle", "elu", "relu", "relu6", "selu", "leaky_relu", "silu",
    "gelu",
)  # fmt: skip
OF_TWO_FLOATS = (
    "add", "atan2", "divide_no_nan", "equal", "floordiv", "floormod", "greater", "greater_equal",
    "less", "less_equal", "maximum", "minimum", "multiply", "multiply_no_nan", "nextafter", "not_equal",
    "pow", "squared_difference", "subtract", "truediv", "xdivy", "xlog1py", "xlogy",
)  # fmt: skip
OF_ONE_INTEGER = (
    "abs", "negative", "sign", "square", "relu", "relu6", "bitwise.invert",
)  # fmt: skip
OF_TWO_INTEGERS = (
    "add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "greater_equal", "floordiv",
    "floormod", "squared_difference", "bitwise.bitwise_and", "bitwise.bitwise_or",
    "bitwise.bitwise_xor", "bitwise.left_shift", "bitwise.right_shift",
)  # fmt: skip
OF_COMPLEX = (
    "abs", "angle", "conj", "cos", "cosh", "exp", "imag", "log", "negative", "real", "sin", "sinh", "sqrt",
    "square",
)  # fmt: skip

OTHER_IN_HALF = ("sigmoid", "silu", "relu", "relu6")
"""In float16 the kernel's e^-x overflows, and its sigmoid is 0 where ours is the nearest number; relu(-0) is -0."""

ULP = {"float16": 1, "float32": 4, "float64": 4}
"""What the kernels, NumPy's, add to our own bounds."""


def operation(name: str) -> Any:
    for room in (tf, tf.math, tf.nn):
        try:
            return operator.attrgetter(name)(room)
        except AttributeError:
            continue
    raise AssertionError(f"there is no {name}")


def floats(dtype: str) -> np.ndarray[Any, Any]:
    """Zeros, infinities, NaN, the ends of the range, and numbers of all sizes."""
    info = np.finfo(dtype)
    ends = [0.0, 0.5, 1.0, 2.5, info.smallest_subnormal, info.tiny, info.max, np.inf]
    usual = np.random.default_rng(3).normal(0, 1, 40) * np.repeat([0.01, 1, 5, 50], 10)
    return np.concatenate([ends, np.negative(ends), [np.nan], usual]).astype(dtype)


def integers(dtype: str) -> np.ndarray[Any, Any]:
    info = np.iinfo(dtype)
    return np.array(
        [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1, 100, -1 & info.max], dtype
    )


def both_ways(program: Any, *arrays: np.ndarray[Any, Any]) -> tuple[list[Any], list[Any]]:
    """The results of native code, and of the interpreter."""
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    return list(JitFunction(graph).run(list(arrays))), list(interpret(graph, list(arrays)))


def off_by(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How many units of the last place lie between numbers; infinitely many where special values differ."""
    assert found.dtype == wanted.dtype
    if found.dtype.kind not in "f":
        return np.where(found == wanted, 0.0, np.inf)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(wanted), np.finfo(wanted.dtype).tiny))
        distance = np.abs(found.astype(np.float64) - wanted.astype(np.float64)) / unit.astype(np.float64)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    signs = (found == 0) & (wanted == 0) & (np.signbit(found) != np.signbit(wanted))
    return np.where(signs, np.inf, np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance)))


def check(names: Sequence[str], bound: float, *arrays: np.ndarray[Any, Any]) -> None:
    """All operations in one program, which is compiled once."""
    operations = [operation(name) for name in names]
    found, wanted = both_ways(lambda *operands: [each(*operands) for each in operations], *arrays)
    for name, one, other in zip(names, found, wanted, strict=True):
        distance = off_by(np.asarray(one), np.asarray(other))
        worst = int(np.argmax(distance))
        culprits = [array.flat[worst] for array in arrays]
        assert distance.flat[worst] <= bound, (
            f"{name}{culprits}: {one.flat[worst]}, not {np.asarray(other).flat[worst]}"
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_elementwise_functions_of_one_float(dtype: str) -> None:
    other = OTHER_IN_HALF if dtype == "float16" else ()
    check([name for name in OF_ONE_FLOAT if name not in other], ULP[dtype], floats(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_two_floats(dtype: str) -> None:
    values = floats(dtype)[::3]
    x, y = (grid.ravel() for grid in np.meshgrid(values, values))
    check([name for name in OF_TWO_FLOATS if dtype != "float16" or name != "nextafter"], ULP[dtype], x, y)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_elementwise_functions_of_one_integer(dtype: str) -> None:
    names = OF_ONE_INTEGER if dtype.startswith("int") else ("square", "bitwise.invert", "relu")
    check(names, 0, integers(dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_functions_of_two_integers(dtype: str) -> None:
    values = integers(dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(values, values))
    check(OF_TWO_INTEGERS, 0, x[y != 0], y[y != 0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_power_of_one_half_is_no_square_root(dtype: str) -> None:
    """As in C: `sqrt` of -0 is -0, and `sqrt` of the negative infinity is NaN."""
    x, half = tf.cast([-0.0, -np.inf], dtype), tf.cast(0.5, dtype)
    found = [
        tf.pow(x, half),
        tf.pow(x[:, None], [[half], [half]])[:, 0],
        tf.function(lambda x: tf.stack([x[0] ** half, x[1] ** half]), jit_compile=False)(x),
        tf.function(lambda x: x**half, jit_compile=True)(x),
    ]
    for powers in found:
        assert list(tf.math.reciprocal(tf.cast(powers, "float32")).numpy()) == [np.inf, 0]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_powers_of_integers_wrap_around(dtype: str) -> None:
    x, y = (grid.ravel() for grid in np.meshgrid(integers(dtype), np.arange(40).astype(dtype)))
    check(["pow"], 0, x, y)


def test_negative_powers_of_integers_are_the_plan_s_error() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
        both_ways(tf.pow, np.array([2, 3]), np.array([1, -1]))


@pytest.mark.parametrize(("dtype", "bound"), [("complex64", 4e-7), ("complex128", 8e-16)])
def test_functions_of_complex_numbers(dtype: str, bound: float) -> None:
    """Errors of complex numbers are measured by their length: of a part that nearly cancels little may be right."""
    real, imaginary = np.random.default_rng(4).normal(0, 3, (2, 60))
    z = np.concatenate([real + 1j * imaginary, [0, 1, -1, 1j, -1j, 1e-10, 100]]).astype(dtype)
    operations = [operation(name) for name in OF_COMPLEX]
    found, wanted = both_ways(lambda z: [each(z) for each in operations], z)
    for name, one, other in zip(OF_COMPLEX, found, wanted, strict=True):
        finite = np.isfinite(other)
        wrong = np.abs(one[finite] - other[finite]) / np.maximum(np.abs(other)[finite], 1e-30)
        assert wrong.max() <= bound, f"{name}({z[finite][np.argmax(wrong)]})"


def in_a_branch(x: tf.Tensor, run: tf.Tensor) -> tf.Tensor:
    checked = tf.debugging.check_numerics(x, "a branch")
    return checked * 2.0 if run else x


def unread(x: tf.Tensor, run: tf.Tensor) -> tf.Tensor:
    tf.debugging.assert_all_finite(x, "no reader")
    return x * 2.0


def unread_in_a_loop(x: tf.Tensor, run: tf.Tensor) -> tf.Tensor:
    for _ in tf.range(2):
        tf.debugging.assert_all_finite(x, "a loop")
        x = x * 2.0
    return x


@pytest.mark.parametrize("function", [in_a_branch, unread, unread_in_a_loop])
def test_a_check_of_numbers_fails_also_if_its_result_is_not_read(function: Any) -> None:
    compiled = tf.function(function, jit_compile=True)
    np.testing.assert_array_equal(
        compiled(tf.constant([1.0, 2.0]), tf.constant(False)), function(tf.constant([1.0, 2.0]), False)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
        compiled(tf.constant([1.0, np.nan]), tf.constant(False))
