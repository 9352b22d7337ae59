"""Multiples of known integers, found without a division."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph
from agc.runtime.executors.llvm.lowering import divisibility

DIVISORS = (3, 6, 7, 12, 96, 100, 127)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_multiples_are_recognized_for_every_number(dtype: str) -> None:
    signs = (1,) if dtype == "uint8" else (1, -1)
    divisors = [sign * divisor for divisor in DIVISORS for sign in signs]

    @tf.function(jit_compile=True)
    def remainders(x: Any) -> Any:
        return tf.stack(
            [x % divisor == 0 for divisor in divisors] + [x % divisor != 0 for divisor in divisors]
        )

    lowest = 0 if dtype == "uint8" else -128
    numbers = np.arange(lowest, lowest + 256).astype(dtype)
    expected = [numbers % np.array(divisor, dtype) == 0 for divisor in divisors]
    found = remainders(tf.constant(numbers)).numpy()
    np.testing.assert_array_equal(found, [*expected, *np.logical_not(expected)])


def test_the_extreme_integers() -> None:
    ends = np.array([-(2**31), 2**31 - 1, 1 - 2**31, 2**31 - 2, 0, 3 * 715827882], np.int32)
    found = tf.function(lambda x: x % 3 == 0, jit_compile=True)(tf.constant(ends))
    assert found.numpy().tolist() == (ends % 3 == 0).tolist()


def test_no_division_is_left() -> None:
    graph = tf.function(lambda x: x % 3 == 0).get_concrete_function(tf.TensorSpec([], tf.int32)).graph
    text = compile_graph.text(graph)
    assert "rem i32" not in text and str(divisibility.numbers(3, 32, True)[1]) in text
