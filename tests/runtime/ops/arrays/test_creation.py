"""Constants, filled tensors, ranges and the questions shape, size and rank."""

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.tensor import EagerTensor


def same(tensor: Any, expected: Any, dtype: Any) -> bool:
    return tensor.dtype is dtype and tensor.numpy().tolist() == expected


def test_a_constant_takes_the_dtype_of_its_value() -> None:
    assert tf.constant([1, 2]).dtype is tf.int32
    assert tf.constant(2**40).dtype is tf.int64
    assert tf.constant([1, 2.5]).dtype is tf.float32
    assert tf.constant(True).dtype is tf.bool
    assert tf.constant("a").dtype is tf.string
    assert tf.constant(np.float64(1)).dtype is tf.float64


def test_a_wide_constant_is_not_rounded_to_float32() -> None:
    assert tf.constant(0.1, tf.float64).numpy() == 0.1
    assert tf.constant([0.1, 1 / 3], tf.float64).numpy().tolist() == [0.1, 1 / 3]


def test_a_constant_is_reshaped_or_filled_to_a_given_shape() -> None:
    assert tf.constant([1, 2, 3, 4], shape=[2, 2]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant(7, shape=[2, 1]).numpy().tolist() == [[7], [7]]
    with pytest.raises(TypeError, match=r"has 3 elements, but got `shape` \(2,\) with 2 elements"):
        tf.constant([1, 2, 3], shape=[2])


def test_a_constant_does_not_change_dtype_silently() -> None:
    with pytest.raises(TypeError, match=r"Cannot convert 1\.5 to EagerTensor of dtype int32"):
        tf.constant(1.5, tf.int32)
    with pytest.raises(TypeError, match="got dtype"):
        tf.constant(tf.constant(1), tf.float32)


def test_a_constant_is_eager_while_tracing() -> None:
    @tf.function
    def f(x: Any) -> Any:
        one = tf.constant(1)
        assert isinstance(one, EagerTensor)
        return x + one

    assert f(tf.constant(2)).numpy() == 3


def test_filled_tensors() -> None:
    assert same(tf.zeros([2]), [0.0, 0.0], tf.float32)
    assert same(tf.zeros([], tf.bool), False, tf.bool)
    assert same(tf.zeros([2], tf.string), [b"", b""], tf.string)
    assert same(tf.ones((1, 2), tf.int64), [[1, 1]], tf.int64)
    assert same(tf.fill([2], "a"), [b"a", b"a"], tf.string)
    assert same(tf.eye(2, 3, [1], tf.int32), [[[1, 0, 0], [0, 1, 0]]], tf.int32)
    assert same(tf.ones_like([1.5], tf.int32), [1], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Dimension -1 must be >= 0"):
        tf.zeros([-1])


@pytest.mark.parametrize(
    ("arguments", "expected", "dtype"),
    [
        ((5,), [0, 1, 2, 3, 4], tf.int32),
        ((2, 11, 3), [2, 5, 8], tf.int32),
        ((5, 2, -1), [5, 4, 3], tf.int32),
        ((0,), [], tf.int32),
        ((3.0,), [0.0, 1.0, 2.0], tf.float32),
        ((1.5, 4), [1.5, 2.5, 3.5], tf.float32),
        ((np.int64(2),), [0, 1], tf.int64),
    ],
)
def test_range_counts_in_the_richest_dtype_of_its_arguments(
    arguments: Any, expected: Any, dtype: Any
) -> None:
    assert same(tf.range(*arguments), expected, dtype)


def test_range_rounds_every_number_by_itself() -> None:
    tenths = tf.range(0, 1, 0.1).numpy()
    assert len(tenths) == 10
    assert tenths[9] == np.float32(0.90000004)  # 9 times the float32 next to 0.1, as in TensorFlow


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 0), "Requires start <= limit when delta > 0: 3/0"),
        ((0, 3, -1), "Requires start >= limit when delta < 0: 0/3"),
        ((0, 3, 0), "Requires delta != 0: 0"),
    ],
)
def test_range_refuses_invalid_steps(arguments: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.range(*arguments)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_length_of_a_range_is_computed_in_its_dtype(dtype: str) -> None:
    assert tf.range(0.1, 1.1, 0.1, dtype=dtype).shape == [10]
    assert tf.range(0, 0.9, 0.3, dtype=dtype).shape == [3]
    for executor in ("plan", "interpret", "automatic"):
        late = tf.function(lambda limit: tf.range(0.1, limit, 0.1, dtype), experimental_executor=executor)
        assert late(tf.constant(1.1, dtype)).shape == [10]


def test_range_truncates_float_tensors_for_an_integer_dtype() -> None:
    assert same(tf.range(tf.constant(0), tf.constant(5.5), dtype=tf.int32), [0, 1, 2, 3, 4], tf.int32)


@pytest.mark.parametrize("limit", [float("nan"), float("inf")])
def test_range_refuses_a_limit_that_is_not_finite(limit: float) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires"):
        tf.range(limit)


def test_range_of_a_traced_limit_has_an_unknown_length() -> None:
    seen = []

    @tf.function
    def f(n: Any) -> Any:
        seen.extend([tf.range(n).shape, tf.range(5).shape])
        return tf.range(n)

    assert f(tf.constant(4)).numpy().tolist() == [0, 1, 2, 3]
    assert seen == [[None], [5]]


def test_linspace_ends_exactly_at_its_end() -> None:
    assert same(tf.linspace(0, 10, 5), [0, 2.5, 5, 7.5, 10], tf.float64)
    assert tf.linspace(0.1, 0.9, 7).numpy()[-1] == np.float32(0.9)
    assert tf.linspace([0.0, 1.0], [10.0, 11.0], 3, axis=-1).numpy().tolist() == [[0, 5, 10], [1, 6, 11]]


@pytest.mark.parametrize("executor", ["plan", "interpret", "automatic"])
def test_linspace_without_numbers(executor: str) -> None:
    assert same(tf.linspace(0.0, 1.0, 0), [], tf.float32)
    assert tf.linspace([0.0, 1.0], [1.0, 2.0], 0, axis=1).shape == [2, 0]
    late = tf.function(lambda n: tf.linspace(0.0, 1.0, n), experimental_executor=executor)
    assert late(tf.constant(0)).shape == [0]
    assert tf.function(lambda: tf.linspace(0.0, 1.0, 0), experimental_executor=executor)().shape == [0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="-1"):
        late(tf.constant(-1))


def test_linspace_between_integer_tensors() -> None:
    assert same(tf.linspace(tf.constant(0), tf.constant(1), 3), [0, 0.5, 1], tf.float64)


def test_one_hot() -> None:
    assert same(tf.one_hot([0, 2, -1, 5], 3)[2:], [[0, 0, 0], [0, 0, 0]], tf.float32)
    assert same(tf.one_hot([0, 2], 3, 5, 2), [[5, 2, 2], [2, 2, 5]], tf.int32)
    assert same(
        tf.one_hot([[0], [2]], 3, axis=0, dtype=tf.int32)[:, :, 0], [[1, 0], [0, 0], [0, 1]], tf.int32
    )
    assert same(tf.one_hot([1], 2, True, False), [[False, True]], tf.bool)
    for dtype, depth in ((tf.int8, 200), (tf.int16, 65_534)):  # as unsigned numbers, they would be in range
        assert not np.any(tf.one_hot(tf.constant([-60, -5], dtype), depth).numpy())


def test_a_size_that_is_none_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"argument `shape`.*value \(None\).*None while tracing is tf.shape\(x\)\[i\]"
    ):
        tf.random.stateless_uniform([2, None], [1, 2])
    with pytest.raises(ValueError, match=r"mixed types to Tensor: \[1, 'a'\]"):
        tf.constant([1, "a"])


def test_known_shapes_are_constants_in_a_graph() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([2, 3]), tf.TensorSpec(None)])
    def f(part: Any, known: Any, unknown: Any) -> Any:
        assert isinstance(tf.shape(known), EagerTensor)
        assert isinstance(tf.size(known), EagerTensor)
        assert isinstance(tf.rank(part), EagerTensor)
        return tf.shape(part), tf.size(part), tf.rank(unknown), tf.shape(unknown)

    x = tf.ones([4, 3])
    assert [result.numpy().tolist() for result in f(x, x[:2], x)] == [[4, 3], 12, 2, [4, 3]]


def test_a_shape_vector_is_known_in_part() -> None:
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x: Any) -> Any:
        rows = tf.shape(x)[0]
        shapes.append(tf.zeros([rows, 5]).shape)
        shapes.append(tf.zeros(tf.shape(x)).shape)
        shapes.append(tf.reshape(x, [rows, -1]).shape)
        shapes.append(tf.ones(tf.concat([tf.shape(x)[1:], [2]], 0)).shape)
        shapes.append(tf.cond(rows > 1, lambda: tf.fill([rows, 7], 1), lambda: tf.fill([rows, 7], 2)).shape)
        return rows

    f(tf.ones([2, 3]))
    assert shapes == [[None, 5], [None, 3], [None, None], [3, 2], [None, 7]]


@pytest.mark.parametrize(
    "program",
    [
        lambda x: tf.fill([-1], 1.0),
        lambda x: tf.eye(-1),
        lambda x: tf.tile(x, [-1, 1]),
        lambda x: tf.repeat(x, [1, -2], axis=0),
        lambda x: tf.slice(x, [0, 0], [2, -3]),
    ],
    ids=["fill", "eye", "tile", "repeat", "slice"],
)
def test_no_operation_has_a_negative_size_in_its_type(program: Callable[[Any], Any]) -> None:
    x = tf.zeros([2, 4])
    with pytest.raises(tf.errors.InvalidArgumentError):
        program(x)
    with pytest.raises(ValueError, match=r"must be >= 0|non-negative|at least -1"):
        tf.function(program).get_concrete_function(x)


def test_an_empty_array_is_the_shape_of_a_scalar() -> None:
    empty = np.array([])  # NumPy gives float64 to it
    assert tf.zeros(empty).shape == tf.reshape([2], empty).shape == tf.fill(empty, 1).shape == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="float64 is not an integer dtype"):
        tf.zeros(np.array([1.0]))
