"""Calls of the array API's functions, and how their results are judged: by NumPy's, which implements the standard.

A row is a title, arrays by name, and a function of a namespace and an array. The tests call it with NumPy's namespace
and arrays, with `array_api` and tensors, and in a `tf.function` whose input has a known shape, or unknown dimensions.
"""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.interop import array_api

INTEGERS = {name: np.array([[3, 1, 2], [0, 5, 4]], name) for name in ("int8", "int16", "int32", "int64")}
UNSIGNED = {name: np.array([[3, 1, 2], [0, 5, 4]], name) for name in ("uint8", "uint16", "uint32", "uint64")}
FLOATS = {name: np.array([[0.5, -0.25, 0.75], [-0.5, 0.0, 0.25]], name) for name in ("float32", "float64")}
SPECIAL = {name: np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5], name) for name in FLOATS}
COMPLEX = {
    name: np.array([[0.5 + 0.25j, -1j, 0.75], [-0.5, 0, 0.25 - 1j]], name)
    for name in ("complex64", "complex128")
}
BOOLS = {"bool": np.array([[True, False, True], [False, False, True]])}
SQUARES = {
    name: np.array([[[4, 1, 0], [1, 3, 1], [0, 1, 2]], [[2, 0, 1], [0, 5, 0], [1, 0, 3]]], name)
    for name in (*FLOATS, *COMPLEX)
}
REAL = {**INTEGERS, **UNSIGNED, **FLOATS}
NUMERIC = {**REAL, **COMPLEX}
ANY = {**NUMERIC, **BOOLS}
FLOATING = {**FLOATS, **COMPLEX}


def unary(names):
    return lambda xp, x: tuple(getattr(xp, name)(x) for name in names.split())


def binary(names):
    return lambda xp, x: tuple(getattr(xp, name)(x, xp.flip(x)) for name in names.split())


def rows(calls, names=None):
    """The parameters of a test: all rows, or those of arrays with these names."""
    return [
        pytest.param(call, x, id=f"{title}-{name}")
        for title, arrays, call in calls
        for name, x in arrays.items()
        if names is None or name in names
    ]


TRACED = ("int32", "float32", "complex64", "bool")


def as_arrays(found):
    """The results as NumPy's arrays, in one list; facts other than arrays become texts."""
    many = isinstance(found, tuple | list)
    return [_array(each) for each in found] if many else [_array(found)]


def _array(found):
    if isinstance(found, tf.DType):
        return np.dtype(found.numpy_dtype)
    return found.numpy() if isinstance(found, tf.Tensor) else found


def assert_same(found, expected):
    found, expected = as_arrays(found), as_arrays(expected)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, np.dtype):
            assert one == other
            continue
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        single = one.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(one, other, rtol=3e-5 if single else 1e-9, atol=3e-6 if single else 1e-9)


def numpy_says(call, *arrays):
    with np.errstate(all="ignore"):
        return call(np, *arrays)


def assert_as_numpy(call, x):
    if x is None:
        assert_same(call(array_api), numpy_says(call))
    else:
        assert_same(call(array_api, tf.constant(x)), numpy_says(call, x))


def assert_traced(call, x, executor):
    """Check that a graph gives the results of eager code, also with unknown dimensions."""
    expected = tensors(call(array_api, tf.constant(x)))
    traced = tf.function(lambda x: tensors(call(array_api, x)), experimental_executor=executor)
    assert_same(traced(tf.constant(x)), expected)
    assert_same(
        traced.get_concrete_function(tf.TensorSpec([None] * x.ndim, x.dtype))(tf.constant(x)), expected
    )


def tensors(found):
    many = found if isinstance(found, tuple | list) else [found]
    return [each for each in many if isinstance(each, tf.Tensor)]
