"""Tapes record `x[i, :, j]` with `i` and `j` as operands: indices that differ need no calls of their own.

So are bounds of slices, if a program has many: `x[i : i + 2]` for 64 values of `i`.
"""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.autodiff import tape_plans
from agc.runtime.ops.arrays.getitem import getitem
from support.each_case import each_case

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
KEYS: dict[str, Any] = {
    "an integer": 1,
    "a negative integer": -2,
    "the last axis": (..., 2),
    "a full slice": (slice(None), -1),
    "integers around a slice": (0, slice(None), 3),
    "a new axis": (1, None, 2),
    "all axes": (1, 2, 3),
    "a scalar tensor": (tf.constant(1), 0),
    "an integer of NumPy": np.int64(1),
    "other slices": (0, slice(1, None)),
    "no integer": (slice(None), None),
}


in_c = pytest.mark.skipif(tf.Tensor.__getitem__ is getitem, reason="needs the C extension")


def item(x: Any, key: Any) -> list[Any]:
    """Return an item, and its first and second derivatives."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[key]
            total = tf.reduce_sum(y**3)
        slope = tape.gradient(total, x)
        loss = tf.reduce_sum(slope * slope)
    return [y, slope, outer.gradient(loss, x)]


@each_case("name", KEYS)
def test_items_and_derivatives(name: str) -> None:
    key, x = KEYS[name], tf.constant(X)
    index = tuple(int(i) if isinstance(i, tf.Tensor) else i for i in key) if type(key) is tuple else key
    mask = np.zeros_like(X)
    mask[index] = 1
    for _ in range(8):  # the backward pass becomes a plan
        y, slope, second = item(x, key)
        np.testing.assert_array_equal(y, X[index])
        np.testing.assert_allclose(slope, mask * 3 * X**2)
        np.testing.assert_allclose(second, mask * 36 * X**3)


@each_case("dtype", ["float16", "float64", "complex64", "int32"])
def test_items_of_other_dtypes(dtype: str) -> None:
    x = tf.constant(X.astype(dtype))
    with tf.GradientTape() as tape:
        tape.watch(x if dtype != "int32" else tf.constant(1.0))
        y = x[1, :, 2]
    assert y.dtype == x.dtype and y.numpy().tolist() == x.numpy()[1, :, 2].tolist()
    if dtype != "int32":
        assert tape.gradient(y, x).numpy().sum() == 3


@in_c
def test_all_indices_have_one_flow() -> None:
    x, flows = tf.constant(X), set()
    for i in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[:, i] * x[1, i - 3]
        assert tape._records is not None
        flows.add(tape_plans.flow_key_fast(tape._records, frozenset(), [y, x], {})[1])
    assert len(flows) == 1


SLICES: dict[str, Any] = {
    "both bounds": lambda i: slice(i, i + 2),
    "a start": lambda i: slice(i, None),
    "a stop": lambda i: slice(None, i),
    "negative bounds": lambda i: slice(-i - 2, -i),
    "bounds outside": lambda i: slice(i - 200, i + 100),
    "an integer and a slice": lambda i: (i, slice(i % 3, 2)),
    "a new axis and a slice": lambda i: (None, slice(i, i + 1), ..., 1),
    "a step": lambda i: slice(i, None, 2),
}


@each_case("name", SLICES)
def test_many_slices_and_derivatives(name: str) -> None:
    x = tf.constant(np.linspace(-1, 1, 400, dtype=np.float32).reshape(100, 4))
    for i in range(99):
        key = SLICES[name](i)
        mask = np.zeros(x.shape)
        mask[key] = 1
        y, slope, second = item(x, key)
        np.testing.assert_array_equal(y, x.numpy()[key])
        np.testing.assert_allclose(slope, mask * 3 * x.numpy() ** 2, rtol=1e-6)
        np.testing.assert_allclose(second, mask * 36 * x.numpy() ** 3, rtol=1e-5)


def keys_recorded(x: Any, starts: range) -> list[str]:
    """Return the keys of the operations that tapes record for slices."""
    keys: list[str] = []
    for i in starts:
        with tf.GradientTape() as tape:
            tape.watch(x)
            x[i : i + 2, None, :3]
        assert tape._records is not None
        keys.append(tape._records[0].attrs["key"])
    return keys


@in_c
def test_slices_have_operands_after_many_bounds() -> None:
    x = tf.zeros([200, 5])
    before = keys_recorded(x, range(2)) + keys_recorded(x, range(2))
    assert before == ["0:2, None, :3", "1:3, None, :3"] * 2
    assert set(keys_recorded(x, range(100, 200))[-20:]) == {"_:_, None, :_"}
    assert keys_recorded(x, range(2)) == before[:2]  # as calls that are kept


def test_an_index_out_of_bounds_is_refused_on_a_tape() -> None:
    x = tf.constant(X)
    for key in (2, (0, -4), (..., 4), (0, 0, 0, 0)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with pytest.raises(tf.errors.InvalidArgumentError, match="out of"):
                x[key]
    with pytest.raises(tf.errors.InvalidArgumentError), tf.GradientTape():
        x[10**12]
