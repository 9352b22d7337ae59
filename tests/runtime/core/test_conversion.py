"""Conversion of bools, and of lists that contain tensors, to a given dtype."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "bfloat16", "float64", "complex64"])
@pytest.mark.parametrize("value", [np.array([True, False]), [True, False]], ids=["array", "list"])
def test_bools_become_numbers(value: Any, dtype: str) -> None:
    result = tf.convert_to_tensor(value, dtype)
    assert result.dtype == tf.as_dtype(dtype)
    assert tf.cast(result, tf.int32).numpy().tolist() == [1, 0]


def test_bools_become_no_strings() -> None:
    for value in (np.array([True]), [True]):
        with pytest.raises(TypeError, match="Cannot convert"):
            tf.convert_to_tensor(value, tf.string)


def test_an_array_of_bools_is_an_operand_of_floats() -> None:
    mask = np.array([True, False])
    assert (tf.constant([2.0, 3.0]) * mask).numpy().tolist() == [2, 0]
    assert tf.Variable([5.0, 5.0]).assign(mask).numpy().tolist() == [1, 0]


@pytest.mark.parametrize("traced", [False, True])
def test_lists_of_tensors_are_cast_to_a_given_dtype(traced: bool) -> None:
    def packed(x: Any, dtype: Any = None) -> Any:
        return tf.convert_to_tensor([[x, 4], [tf.cast(x, tf.int64), 5]], dtype)

    call = tf.function(packed) if traced else packed
    x = tf.constant(3)
    for dtype in ("float32", "bfloat16", "int64", "uint8", "complex64"):
        result = call(x, dtype)
        assert result.dtype == tf.as_dtype(dtype)
        assert tf.cast(result, tf.int32).numpy().tolist() == [[3, 4], [3, 5]]
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="was expected to be a int"):
        call(x)


@pytest.mark.parametrize("dtype", ["int32", "string"])
def test_lists_of_floats_do_not_become_integers_or_strings(dtype: str) -> None:
    x = tf.constant(3.5)
    with pytest.raises(ValueError, match="requested dtype"):
        tf.convert_to_tensor([x, x], dtype)
    with pytest.raises(ValueError, match="requested dtype"):
        tf.convert_to_tensor([x, 4.0], dtype)


def test_lists_of_tensors_are_converted_before_any_operation() -> None:
    program = "import agc.runtime as tf; print(tf.convert_to_tensor([tf.constant(3), 4]).numpy().tolist())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[3, 4]\n"
