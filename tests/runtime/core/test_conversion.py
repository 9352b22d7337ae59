"""Conversion of bools, texts, and lists that contain tensors."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core import conversion


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


TEXTS = {
    "a text": ("ä", "ä".encode()),
    "texts and bytes": (["ä", b"\xff", ""], ["ä".encode(), b"\xff", b""]),
    "rows": ((["a", "b"], ("c", b"d")), [[b"a", b"b"], [b"c", b"d"]]),
    "texts of NumPy": ([np.str_("a"), np.bytes_(b"b")], [b"a", b"b"]),
    "a transposed array": (np.array([["a", "bc"], ["d", "e"]]).T, [[b"a", b"d"], [b"bc", b"e"]]),
    "an array of objects": (np.array([b"a", "b"], object), [b"a", b"b"]),
    "an empty array": (np.array([], "U1"), []),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("value, expected", TEXTS.values(), ids=TEXTS.keys())
def test_texts_become_bytes(value: Any, expected: Any, traced: bool) -> None:
    found = (tf.function(lambda: tf.constant(value)) if traced else lambda: tf.constant(value))()
    assert found.dtype == tf.string
    assert found.numpy() == expected if isinstance(expected, bytes) else found.numpy().tolist() == expected


def test_a_tensor_of_texts_keeps_them_if_the_array_changes() -> None:
    array = np.array([b"a", b"b"], object)
    tensor = tf.constant(array)
    array[0] = b"c"
    assert tensor.numpy().tolist() == [b"a", b"b"]


def test_texts_and_other_values_are_refused() -> None:
    for value in (["a", 1], [1, "a"], ["a", None], ["a", ["b"]]):
        with pytest.raises((ValueError, TypeError)):
            tf.constant(value)


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


NESTS = [
    1.5, 3, True, -0.0, float("nan"), float("inf"), 1e38, 1e39, 2**31, 2**31 - 1, -(2**31), 2**63, 2**70,
    10**400, 16777217, [], [[]], [1, 2.5], [1.0, 2], [1.0, 2**31], [[1], [2, 3]], [[1, 2], 3], [1, [2]], (1, 2),
    [(1.0, 2.0), [3, 4]], [True, 1], [1, True], [1, "a"], [None], [1.0, 1j], [1.0, np.float32(2)], [1, 2**40],
    [float("nan"), 1e39], [1e-60, 1e-45], [[[[[[[[[1.0]]]]]]]]], [[1.1 * i for i in range(7)]] * 5,
]  # fmt: skip


@pytest.mark.parametrize("dtype", [None, "float16", "float32", "float64", "int8", "int32", "int64", "bool"])
def test_the_extension_converts_as_python_does(dtype: str | None, monkeypatch: Any) -> None:
    def converted(nest: Any) -> Any:
        try:
            found = tf.convert_to_tensor(nest, dtype).numpy()
        except (TypeError, ValueError, OverflowError) as error:
            return type(error), str(error)
        return found.dtype, found.shape, found.tobytes()

    by_extension = list(map(converted, NESTS))
    monkeypatch.setattr(conversion, "literal_array", lambda value, dtype: None)
    assert by_extension == list(map(converted, NESTS))


def test_a_ragged_nest_with_long_items_takes_no_memory() -> None:
    with pytest.raises(ValueError, match="non-rectangular"):
        tf.constant([[[0] * 20_000] + [[0]] * 20_000] + [[[0]]] * 20_000)


def test_the_shape_of_a_scalar_is_a_vector_of_integers() -> None:
    shape = tf.convert_to_tensor(tf.TensorShape([]))
    assert (shape.dtype, shape.shape.as_list()) == (tf.int32, [0])
    assert tf.zeros(shape).shape == []


def test_dates_and_durations_are_numbers_of_their_unit():
    dates = np.array(["2020-01-01", "1969-05-06"], "datetime64[D]")
    assert tf.constant(dates, tf.int32).numpy().tolist() == [18262, -240]
    assert tf.convert_to_tensor(dates[0], tf.int64).numpy() == 18262
    assert tf.convert_to_tensor(dates - dates[0], tf.float32).numpy().tolist() == [0.0, -18502.0]
    assert (tf.constant([1, 2]) + dates).numpy().tolist() == [18263, -238]
    for dtype in (None, tf.string, tf.complex64):
        with pytest.raises(TypeError):
            tf.constant(dates, dtype)
