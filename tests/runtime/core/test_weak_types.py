"""A Python number that a loop changes has the dtype of the tensors that it meets, wherever it meets them."""

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

EXECUTORS = ("plan", "interpret")


def halved_until_small(x: Any) -> Any:
    step = 1.0
    v = tf.reduce_sum(x)
    while v > 1.0:
        step *= 0.5
        v = tf.reduce_sum(x * step)
    return step


def met_in_the_test(x: Any) -> Any:
    step = 1.0
    while step * 2 > x[0] / 100:
        step = -(-step / 2)
    return step


def changed_in_branches(x: Any) -> Any:
    step = 0.7
    for value in x:
        if value > 1:
            step = step * 0.1
            x = x + 1
        else:
            step = 1.3 * step
        x = x * step
    return x


def changed_in_a_loop_within(x: Any) -> Any:
    step = 0.7
    for value in x:
        for _ in tf.range(3):
            step = step / 3
            if value > 1:
                step *= 2.0
        x = x * step
    return x


def several(x: Any) -> Any:
    a = b = c = d = e = f = g = h = 0.1
    for value in x:
        a, b, c, d = b * 0.3, c * 0.3, d * 0.3, e * 0.3
        e, f, g, h = f * 0.3, g * 0.3, h * 0.3, a * 0.3
        found = value * a + value * b + value * c + value * d + value * e + value * f + value * g + value * h
    return found


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "f", [halved_until_small, met_in_the_test, changed_in_branches, changed_in_a_loop_within, several]
)
def test_values_computed_from_a_number_become_float64(f: Any, executor: str) -> None:
    x = np.array([1.0, 2.0])
    expected = f(tf.constant(x))
    result = tf.function(f, experimental_executor=executor)(tf.constant(x))
    assert result.dtype is tf.float64
    np.testing.assert_allclose(result.numpy(), np.asarray(expected), rtol=1e-14)


def test_an_integer_used_in_integer_division_stays_an_integer() -> None:
    """`k // 2` is another number for a float, so only a loop's number itself becomes one."""

    @tf.function
    def f(x: Any) -> Any:
        k = 0
        for value in x:
            k = k // 2 + 1
            x = x * (k // 2) * value
        return x

    with pytest.raises(TypeError, match="float64"):
        f(tf.constant([1.0, 2.0], tf.float64))


def test_a_counter_becomes_int64() -> None:
    @tf.function
    def f(n: Any, xs: Any) -> Any:
        k = 0
        for _ in xs:
            k = k + 1
            n = n * (2 * k + 1)
        return n, k

    n, k = f(tf.constant(2**40, tf.int64), tf.constant([1, 2, 3]))
    assert (n.numpy(), k.numpy()) == (2**40 * 3 * 5 * 7, 3)


def test_a_cast_fixes_the_dtype() -> None:
    @tf.function
    def f(x: Any) -> Any:
        step = 1.0
        while step > 0.1:
            step = step / 2
            x = x * tf.cast(step + 1.0, tf.float32)
        return x

    with pytest.raises(TypeError, match="float32"):
        f(tf.constant(1.0, tf.float64))
