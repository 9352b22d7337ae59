"""Operations check their indices and counts in native code as eager code does, also if the result has no elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

Call = Callable[..., Any]


def rows(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def numbers(*values: Any) -> Any:
    return np.array(values, np.int32)


def with_attributes(function: Call, **attributes: Any) -> Call:
    return lambda *inputs: function(*inputs, **attributes)


def message(function: Call, arguments: list[Any]) -> str:
    """Return the first line of the error that a call raises."""
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        function(*arguments)
    return str(caught.value).split("\n")[0]


WRONG: list[tuple[Call, list[Any]]] = [
    (with_attributes(tf.gather, axis=0), [rows(2, 0), numbers(0, 5)]),
    (with_attributes(tf.gather, batch_dims=1), [rows(2, 3, 0), numbers([0, 5], [1, 1])]),
    (tf.gather_nd, [rows(2, 0), numbers([5])]),
    (with_attributes(tf.math.unsorted_segment_sum, num_segments=2), [rows(2, 0), numbers(0, 5)]),
    (with_attributes(tf.math.unsorted_segment_max, num_segments=3), [rows(2, 1, 0), numbers([0], [9])]),
    (tf.math.segment_sum, [rows(2, 0), numbers(1, 0)]),
    (tf.sparse.segment_sum, [rows(2, 0), numbers(0, 1), numbers(-1, 0)]),
    (tf.tensor_scatter_nd_add, [rows(2, 0), numbers([5]), rows(1, 0)]),
    (tf.tensor_scatter_nd_update, [rows(2, 3, 0), numbers([1, -1]), rows(1, 0)]),
    (with_attributes(tf.scatter_nd, shape=[2, 0]), [numbers([5]), rows(1, 0)]),
    (with_attributes(tf.repeat, axis=0), [rows(0, 3), numbers(-1)]),
    (with_attributes(tf.repeat, axis=1), [rows(3, 0), np.int32(-1)]),
    (with_attributes(tf.repeat, axis=0), [rows(3, 0), numbers(1, -1, 2)]),
    (tf.tile, [rows(0), numbers(-1)]),
    (with_attributes(tf.reverse_sequence, seq_axis=1, batch_axis=0), [rows(2, 0), numbers(1, 1)]),
    (with_attributes(tf.reverse_sequence, seq_axis=1, batch_axis=0), [rows(2, 3, 0), numbers(1, -2)]),
]


@pytest.mark.parametrize("function, arrays", WRONG)
def test_a_wrong_index_is_the_same_error_in_all_executors(function: Call, arrays: list[Any]) -> None:
    arguments = [tf.constant(array) for array in arrays]
    specs = [tf.TensorSpec([None] * array.ndim, array.dtype) for array in arrays]
    wanted = message(function, arguments)
    assert message(tf.function(function, jit_compile=False), arguments) == wanted
    assert message(tf.function(function, jit_compile=True), arguments) == wanted
    assert message(tf.function(function, jit_compile=True, input_signature=specs), arguments) == wanted


@pytest.mark.parametrize(
    "function",
    [tf.math.floordiv, tf.math.floormod, tf.truncatediv, tf.truncatemod, tf.pow],
    ids=lambda function: function.__name__,
)
def test_no_element_is_divided_by_zero_and_none_has_a_negative_power(function: Call) -> None:
    wrong = -1 if function is tf.pow else 0
    arguments = [tf.constant(numbers()), tf.constant(wrong)]
    calls = [function, *(tf.function(function, jit_compile=is_native) for is_native in (False, True))]
    assert [call(*arguments).shape.as_list() for call in calls] == [[0]] * 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(numbers(1), wrong)


def test_each_sequence_that_is_searched_has_a_row_of_values() -> None:
    sequences, values = rows(2, 2), rows(3, 1)
    error = "Leading dim_size of both tensors must match: 2 sequences, 3 rows of values"
    assert message(tf.searchsorted, [sequences, values]).startswith(error)
    specs = [tf.TensorSpec([None, None], tf.float32)] * 2
    found = tf.function(tf.searchsorted, jit_compile=True, input_signature=specs)
    assert message(found, [sequences, values]).startswith(error)
