"""Casts between all dtypes: the same as NumPy's where the number fits, the processor's where it does not."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ir.builder import Builder
from agc.runtime.ir.value_types import TensorType
from support.each_case import each_case

NUMBERS = [
    tf.float16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32,
    tf.uint64, tf.complex64, tf.complex128, tf.bool,
]  # fmt: skip


@each_case("source", NUMBERS, ids=str)
@each_case("target", NUMBERS, ids=str)
def test_small_numbers_keep_their_value(source: tf.DType, target: tf.DType) -> None:
    x = tf.cast(tf.constant([0, 1, 100]), source)
    result = tf.cast(x, target)
    assert result.dtype is target
    expected = [False, True, True] if tf.bool in (source, target) else [0, 1, 100]
    assert result.numpy().tolist() == expected


def test_casting_to_the_same_dtype_is_no_operation() -> None:
    x = tf.constant([1, 2])
    assert tf.cast(x, tf.int32) is x
    with Builder("f") as builder:
        y = builder.input_tensor("y", TensorType(tf.float32, ()))
        assert tf.cast(y, "float32") is y
    assert not builder.operations


def test_variables_are_cast_by_value() -> None:
    v = tf.Variable(1.5)
    result = tf.cast(v, tf.float32)
    v.assign(2.5)
    assert float(result) == 1.5 and int(tf.cast(v, tf.int32)) == 2


def limits(*numbers: Any) -> list[Any]:
    return [number if isinstance(number, int) else float(number) for number in numbers]


@pytest.mark.parametrize("source", [tf.float32, tf.float64, tf.int64, tf.int16], ids=str)
@pytest.mark.parametrize("target", [tf.int8, tf.uint8, tf.int32, tf.uint16, tf.int64, tf.float16], ids=str)
def test_saturate_cast_ends_at_the_limits_of_both(source: tf.DType, target: tf.DType) -> None:
    lowest, highest = tf.saturate_cast(tf.constant([source.min, source.max], source), target).numpy().tolist()
    assert lowest == pytest.approx(max(limits(source.min, target.min)), rel=1e-3)
    assert highest == pytest.approx(min(limits(source.max, target.max)), rel=1e-3)


def test_bitcast_there_and_back() -> None:
    x = tf.constant([[1.5, -2.0]])
    for dtype, shape in ((tf.int32, [1, 2]), (tf.uint8, [1, 2, 4]), (tf.int64, [1]), (tf.complex64, [1])):
        bits = tf.bitcast(x, dtype)
        assert bits.shape.as_list() == shape
        assert tf.bitcast(bits, tf.float32).numpy().tolist() == [[1.5, -2.0]]


def test_strings_are_not_numbers() -> None:
    with pytest.raises(tf.errors.UnimplementedError):
        tf.cast("1", tf.int32)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.cast(1, tf.string)
    with pytest.raises(TypeError):
        tf.saturate_cast("1", tf.int32)


def test_complex_numbers_and_their_parts() -> None:
    z = tf.complex([1.0, 2.0], tf.constant([3.0, -4.0]))
    assert z.dtype is tf.complex64
    assert tf.math.real(z).numpy().tolist() == [1.0, 2.0]
    assert tf.math.imag(z).numpy().tolist() == [3.0, -4.0]
    np.testing.assert_allclose(tf.math.angle(z).numpy(), np.arctan2([3.0, -4.0], [1.0, 2.0]), rtol=1e-6)
    assert tf.math.conj(z).numpy().tolist() == [1 - 3j, 2 + 4j]
