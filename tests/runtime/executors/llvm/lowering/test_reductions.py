"""Sums and maxima of all elements of large tensors whose axes cannot be read as one."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.selection import pairs

SHAPES = [(25, 40, 256), (64, 300, 3), (5000, 8, 8), (9, 4000), (30, 20, 5, 4, 8)]
"""The innermost axis is a row, too short for a block, and has outer axes of several lengths."""


def _arguments(shape: tuple[int, ...]) -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    return random.standard_normal(shape, np.float32), random.standard_normal(shape[-1:], np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min])
def test_a_vector_for_each_row_is_read_by_reductions(reduction: Any, shape: tuple[int, ...]) -> None:
    x, y = _arguments(shape)
    found = tf.function(lambda x, y: reduction(tf.square(x + y)), jit_compile=True)(x, y)
    with np.errstate(all="ignore"):
        wanted = reduction(np.square(x.astype(np.float64) + y))
    assert float(found) == pytest.approx(float(wanted), rel=1e-6)


def test_sums_of_integers_wrap_around() -> None:
    x = np.full((100, 10, 256), 2**30, np.int32)
    found = tf.function(lambda x, y: tf.reduce_sum(x + y), jit_compile=True)(
        x, np.arange(256, dtype=np.int32)
    )
    assert int(found) == int(np.sum(x + np.arange(256, dtype=np.int32), dtype=np.int32))


def test_sums_of_rows_are_accurate() -> None:
    """Numbers of one sign, whose rounding errors add up in one long sum."""
    x = np.full((8, 3000, 256), 0.1, np.float32)
    zeros = np.zeros(256, np.float32)
    found = tf.function(lambda x, y: tf.reduce_sum(x + y), jit_compile=True)(x, zeros)
    assert float(found) == pytest.approx(float(x[0, 0, 0]) * x.size, rel=256 / 8 * 2**-24)


def test_operands_with_later_readers_are_stored() -> None:
    x, y = _arguments((40, 30, 64))

    def program(x: Any, y: Any) -> Any:
        z = tf.tanh(x + y)
        return tf.reduce_sum(z), z

    total, z = tf.function(program, jit_compile=True)(x, y)
    np.testing.assert_allclose(z, np.tanh(x + y), rtol=1e-5, atol=1e-6)
    assert float(total) == pytest.approx(float(np.tanh(x.astype(np.float64) + y).sum()), rel=1e-5, abs=1e-3)


WIDE_ROWS: list[tuple[tuple[int, ...], Any]] = [
    ((3000, 50), 0), ((30, 100, 50), (0, 1)), ((60, 50, 60), 0), ((3, 9, 5000), 1),
]  # fmt: skip
NARROW_ROWS: list[tuple[tuple[int, ...], Any]] = [
    ((40, 1000, 8), 1), ((90000, 5), 0), ((70, 3, 60, 7), (0, 2)), ((30, 40, 1, 5), 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "dtype"), pairs([*WIDE_ROWS, *NARROW_ROWS], [np.float16, np.float32, np.int32])
)
def test_rows_are_reduced_to_one(rows: tuple[tuple[int, ...], Any], dtype: Any) -> None:
    shape, axis = rows
    x = (np.random.default_rng(1).standard_normal(shape) * (2 if dtype == np.float16 else 8)).astype(dtype)
    x[(slice(None),) * (len(shape) - 1) + (4,)] = -x[..., 4] if dtype == np.int32 else np.nan

    def reductions(x: Any) -> Any:
        y = x * x - x  # which has a later reader
        return (
            tf.reduce_sum(y, axis),
            tf.reduce_max(x, axis),
            tf.reduce_min(y, axis),
            tf.reduce_any(x > 20, axis),
            y,
        )

    exact = (
        tf.constant(x) if dtype == np.int32 else tf.constant(x, tf.float64)
    )  # NumPy adds float16 inaccurately
    bound = 1e-2 if dtype == np.float16 else 1e-5
    for found, wanted in zip(tf.function(reductions, jit_compile=True)(x), reductions(exact), strict=True):
        with np.errstate(over="ignore"):  # a large sum of float16 is infinite
            rounded = wanted.numpy().astype(found.numpy().dtype)
        np.testing.assert_allclose(found, rounded, rtol=bound, atol=1e-2)
