"""Zeros have signs, and native code gives them those that the interpreter gives; means of integers are rounded."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction

ZEROS = np.array([0.0, -0.0, 0.0, -0.0])
OTHERS = np.array([-0.0, 0.0, 0.0, -0.0])


def bits(program: Any, *arrays: np.ndarray[Any, Any]) -> tuple[list[bytes], list[bytes]]:
    graph = tf.function(program).get_concrete_function(*map(tf.constant, arrays)).graph
    results = interpret(graph, list(arrays)), JitFunction(graph).run(list(arrays))
    return tuple([np.asarray(one).tobytes() for one in found] for found in results)  # type: ignore[return-value]


def extremes(x: Any, y: Any) -> Any:
    return (
        tf.maximum(x, y),
        tf.minimum(x, y),
        tf.nn.relu(x),
        tf.clip_by_value(x, y, y),
        tf.maximum(x[0], y[0]),
    )


def sums_of_nothing_but_zeros(x: Any, y: Any) -> Any:
    low, one = -tf.zeros_like(x), -tf.zeros_like(x)[:1]
    return tf.reduce_sum(low), tf.reduce_sum(one), tf.reduce_mean(one), tf.reduce_sum(low[None], 0)


def running_totals(x: Any, y: Any) -> Any:
    ways = [(exclusive, reverse) for exclusive in (False, True) for reverse in (False, True)]
    return [tf.cumsum(z, exclusive=exclusive, reverse=reverse) for z in (x, y) for exclusive, reverse in ways]


def the_largest_and_the_smallest(x: Any, y: Any) -> Any:
    """However long: NumPy takes many at once, and gives the zero that comes last in them."""
    long = tf.tile(x, [9])
    return [
        reduce(z, axis)
        for reduce in (tf.reduce_max, tf.reduce_min)
        for z, axis in [
            (x, None),
            (y, 0),
            (long, None),
            (tf.sort(long), 0),
            (tf.stack([x, y, -x]), 0),
            (y[:, None], 1),
        ]
    ]


@pytest.mark.parametrize(
    "program", [extremes, the_largest_and_the_smallest, sums_of_nothing_but_zeros, running_totals]
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_signs_of_zeros(program: Any, dtype: Any) -> None:
    wanted, found = bits(program, ZEROS.astype(dtype), OTHERS.astype(dtype))
    assert found == wanted


def test_a_product_of_one_complex_number_starts_from_one() -> None:
    """So an infinity becomes what is partly no number, and a negative zero a positive one."""

    def products(x: Any) -> Any:
        return tf.reduce_prod(x[:1]), tf.reduce_prod(x[:, None], 1), tf.reduce_prod(x), tf.reduce_sum(x[1:])

    with np.errstate(invalid="ignore"):
        wanted, found = bits(products, np.array([complex(np.inf, 1.0), complex(-0.0, -0.0)]))
        assert np.isnan(np.frombuffer(wanted[0], complex).imag)
    # The signs of what is no number are those of the processor.
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(np.frombuffer(one, complex), np.frombuffer(other, complex))
    assert found[1][16:] == wanted[1][16:] and found[3] == wanted[3]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_means_of_integers_are_rounded_towards_zero(dtype: Any) -> None:
    def means(x: Any) -> Any:
        return tf.reduce_mean(x), tf.reduce_mean(x, 0), tf.reduce_mean(x, 1), tf.reduce_mean(x[:0], 1)

    wanted, found = bits(means, (np.arange(12) * 37 - 90).astype(dtype).reshape(3, 4))
    assert found == wanted
