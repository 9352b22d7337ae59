"""Eager calls with a key that ran twice take a short path, and give what the first call gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework import kept_calls
from agc.runtime.ops.framework import op as op_module
from agc.runtime.ops.framework.eager_calls import MOST, EagerCall
from agc.runtime.ops.framework.op import REGISTRY
from agc.runtime.ops.lists.tensor_list import list_extend_rows, list_new, list_size
from support.each_case import each_case
from support.eager_calls import kept_by

pytestmark = pytest.mark.usefixtures("language")

X = np.arange(6, dtype=np.float32).reshape(2, 3)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "an attribute by position": lambda x, y: tf.reduce_sum(x, 1),
    "an attribute by name": lambda x, y: tf.reduce_sum(x, axis=0, keepdims=True),
    "a list of tensors": lambda x, y: tf.stack([x, y], axis=1),
    "a list with a number in it": lambda x, y: tf.stack([x[0, 0], 1.0]),
    "a shape": lambda x, y: tf.reshape(x, [3, -1]),
    "a shape with a size of a tensor": lambda x, y: tf.reshape(x, y.shape),
    "several results": lambda x, y: tf.concat(tf.split(x, 3, axis=1)[::-1], axis=1),
    "a constant operand": lambda x, y: tf.where(x > 2.0, x, 0.0),
    "two orders of names": lambda x, y: tf.subtract(x=x, y=y) + tf.subtract(y=x, x=y) * 2.0,
    "indices": lambda x, y: x[1] + y[:, ::-1][0] + x[..., tf.newaxis][0, :, 0],
    "a cast": lambda x, y: tf.cast(x, tf.int32) + tf.cast(y, np.dtype("int32")) + tf.cast(y, np.int32),
    "a range of axes": lambda x, y: tf.reduce_sum(x, range(1, 2)) + tf.reduce_sum(y, range(1))[0],
    "a product": lambda x, y: tf.matmul(x, y, transpose_b=True) @ x,
    "a comparison": lambda x, y: tf.cast(x == y, tf.float32) + tf.cast(x <= 2, tf.float32),
    "a reduction to one number": lambda x, y: tf.reduce_max(x) + tf.reduce_mean(y),
}


@each_case("name", CALLS)
def test_a_kept_call_gives_what_the_first_gave(name: str) -> None:
    call = CALLS[name]
    first = call(tf.constant(X), tf.constant(2 * X))
    for factor in (1, 1, 1, 2):
        found = call(tf.constant(factor * X), tf.constant(2 * factor * X))
        expected = call(tf.constant(factor * X, tf.float64), tf.constant(2 * factor * X, tf.float64))
        assert found.dtype is first.dtype and found.shape == first.shape == found.numpy().shape
        np.testing.assert_allclose(found.numpy(), expected.numpy())


def test_the_same_tensor_twice_has_no_key_of_its_own() -> None:
    x, y = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])
    for other in (x, x, x, y):
        assert tf.concat([x, other], 0).numpy().tolist() == [[1.0, 2.0], other.numpy()[0].tolist()]


def test_equal_numbers_of_other_classes_have_other_keys() -> None:
    x = tf.constant([[1.0, 2.0]])
    for _ in range(3):
        assert tf.where(x > 1.5, x, 0.0).numpy().tolist() == [[0.0, 2.0]]
        assert str(tf.where(x > 1.5, x, -0.0).numpy()) == "[[-0.  2.]]"
        assert str((x * -0.0).numpy()) == "[[-0. -0.]]" and str((x * 0.0).numpy()) == "[[0. 0.]]"
        assert tf.stack([True, False]).dtype is tf.bool and tf.stack([1, 0]).dtype is tf.int32
        assert tf.stack([1.0, 0.0]).dtype is tf.float32


def test_a_call_whose_type_depends_on_elements_is_kept_by_these() -> None:
    x, counts = tf.range(6), []
    REGISTRY["reshape"]._calls.clear()
    for sizes in 5 * [[2, 3], [3, 2], [6, 1], [1, 6]]:
        assert tf.reshape(x, tf.constant(sizes)).shape == sizes
        assert tf.reshape(x, np.array(sizes)).shape == sizes
        counts.append(len(kept_by("reshape")))
    assert counts[0] == 0 and counts[-1] == 8  # as int32 tensors, and as int64 arrays
    for stop in (3, 3, 3, 3, 5):
        assert tf.range(tf.constant(stop)).numpy().tolist() == list(range(stop))
    with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
        tf.reshape(x, tf.constant([4, 2]))


def test_many_elements_are_in_no_key() -> None:
    op = REGISTRY["reshape"]
    op._calls.clear()
    sizes = tf.constant([1] * 70)
    for _ in range(4):
        with pytest.raises(tf.errors.OpError):
            tf.reshape(tf.constant([1.0]), sizes)
    assert not any(call for call in op._calls.values())


def test_a_call_with_arrays_is_kept_and_copies_them() -> None:
    array, x = np.ones([2, 3], np.float32), tf.constant(X)
    REGISTRY["matmul"]._calls.clear()
    for i in range(5):
        product = tf.matmul(x, array, transpose_b=True)
        view = tf.reshape(array, [3, 2])
        array += 1
        assert (product.numpy() == X.sum(1, keepdims=True) * (i + 1)).all() and (view.numpy() == i + 1).all()
        assert tf.gather(x, np.int64(1)).numpy().tolist() == X[1].tolist()
        assert tf.stack([x[0, 1], 2.5, np.float32(i)]).numpy().tolist() == [1.0, 2.5, i]
        assert tf.stack([x[0, 1], np.float64(2.5)]).dtype is tf.float32  # a cast: the call is not kept
        assert tf.strings.length(np.array(["a", "bc"])).numpy().tolist() == [1, 2]
    assert len(kept_by("matmul")) == 1


def test_names_in_another_order_than_parameters_are_kept() -> None:
    x, y = tf.constant(X), tf.constant(X[:, :2])
    for _ in range(4):
        assert tf.matmul(transpose_a=True, a=x, b=y).numpy().tolist() == (X.T @ X[:, :2]).tolist()
        assert tf.matmul(transpose_a=True, b=y, a=x).numpy().tolist() == (X.T @ X[:, :2]).tolist()


def test_calls_with_a_tensor_array_are_kept(language: str) -> None:
    for name in ("array_write", "array_read", "array_stack"):
        REGISTRY[name]._calls.clear()
    for _ in range(4):
        array = tf.TensorArray(tf.float32, 3)
        with tf.GradientTape() as tape:
            x = tf.Variable([1.0, 2.0])
            for i in range(3):
                array = array.write(i, x * float(i))
            y = array.read(1) + array.stack()[2]
        assert y.numpy().tolist() == [3.0, 6.0]
        assert tape.gradient(y, x).numpy().tolist() == [3.0, 3.0]
    assert [len(kept_by(name)) for name in ("array_write", "array_read", "array_stack")] == [2, 1, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Tried to write to index 3"):
        array.write(3, x)
    nested = tf.ragged.constant([[1.0], [2.0, 3.0]])
    assert nested.to_list() == [[1.0], [2.0, 3.0]]


def test_the_size_of_an_array_is_asked_in_each_call() -> None:
    for _ in range(2):
        array = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        for i in range(5):
            assert array.size().numpy() == i
            array = array.write(array.size(), i * i)
        assert array.stack().numpy().tolist() == [0, 1, 4, 9, 16]
    for items in ([7], [7, 8], [7, 8, 9], []):
        elements = list_extend_rows(list_new(tf.int32, ()), tf.constant(items, tf.int32))
        assert list_size(elements).numpy() == len(items)


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kept_calls, op_module):
        monkeypatch.setattr(module, "MOST", MOST)
    REGISTRY["reshape"]._calls.clear()


def test_an_operation_keeps_a_limited_number_of_calls(limited: None) -> None:
    x = tf.constant(X)
    for i in range(2 * MOST):
        for _ in range(2):
            assert tf.reshape(x, [1] * (i % 16) + [6] + [1] * (i // 16)).shape.rank == i % 16 + 1 + i // 16
        if len(REGISTRY["reshape"]._calls) > MOST:
            pytest.fail("too many calls")


def test_most_calls_stay_kept_if_there_are_too_many(limited: None) -> None:
    x, kept = tf.constant(X), REGISTRY["reshape"]._calls
    for _ in range(4):
        for i in range(MOST + 40):
            tf.reshape(x, [1] * (i % 17) + [6] + [1] * (i // 17))
    assert sum(type(call) is EagerCall for call in kept.values()) > MOST * 3 // 4


def test_an_error_of_a_kept_call_names_operation_and_reason() -> None:
    x = tf.constant([1.0, 2.0])
    for _ in range(4):
        assert tf.gather(x, tf.constant([1])).numpy().tolist() == [2.0]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"indices.* = 7 is not in \[0, 2\) \[op gather\]"
        ):
            tf.gather(x, tf.constant([7]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="expected to be a float32 tensor but is a int32"
    ):
        tf.add(x, tf.constant([1, 2]))


def test_exceptions_that_are_no_errors_of_kernels_pass(monkeypatch: Any) -> None:
    def interrupted(*arrays: Any) -> Any:
        raise KeyboardInterrupt

    x = tf.constant(np.zeros([5, 7], np.float32))
    for _ in range(3):
        tf.transpose(x)
    calls = tf.transpose._calls.values()
    (call,) = [each for each in calls if isinstance(each, EagerCall) and each.kinds[0].shape == [7, 5]]
    monkeypatch.setattr(call, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tf.transpose(x)


def test_calls_of_many_tensors_run() -> None:
    for count in (30, 31, 32):
        for _ in range(4):
            assert tf.concat([tf.constant([float(i)]) for i in range(count)], 0).numpy().sum() == sum(
                range(count)
            )
            assert tf.add_n([tf.constant(1)] * (count + 40)).numpy() == count + 40
    assert tf.einsum("a,b,c->abc", *[tf.ones(2)] * 3).shape == [2, 2, 2]


@pytest.mark.parametrize("count", [33, 256])
def test_calls_with_a_long_list_of_tensors_are_kept(count: int) -> None:
    REGISTRY["add_n"]._calls.clear()
    for factor in (1, 1, 2):
        assert tf.add_n([tf.constant(factor)] * count).numpy() == factor * count
    assert len(kept_by("add_n")) == 1


def test_an_array_operand_is_copied() -> None:
    x, array = tf.constant(X), np.full([2, 3], 2, np.float32)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * array
        array *= 2
        assert (tape.gradient(y, x).numpy() == array / 2).all()
        assert (X + array == (array + x).numpy()).all()
    words = tf.constant(["a", "b"])
    assert (words + np.array(["c", "d"], object)).numpy().tolist() == [b"ac", b"bd"]
    assert (x + np.ones([2, 3])).dtype is tf.float32


def test_a_function_that_is_traced_records_operations_that_eager_calls_kept() -> None:
    def total(x: Any) -> Any:
        return tf.reduce_sum(tf.stack([x, x], 1), 1)

    x = tf.constant(X)
    for _ in range(3):
        total(x)
    concrete = tf.function(total).get_concrete_function(tf.TensorSpec([None, 3]))
    assert [operation.op.name for operation in concrete.graph.operations] == ["stack", "reduce_sum"]
    assert concrete(tf.constant(X)).numpy().tolist() == total(x).numpy().tolist()


def test_check_numerics_sees_results_of_kept_calls() -> None:
    zero = tf.constant([[0.0]])
    for _ in range(3):
        assert np.isinf(tf.reduce_sum(1.0 / zero).numpy())
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="reduce_sum"):
            tf.reduce_sum(tf.constant([[np.inf]]))
    finally:
        tf.debugging.disable_check_numerics()


def test_a_call_of_constants_returns_new_arrays() -> None:
    for _ in range(4):
        v = tf.Variable(tf.zeros([3]))
        tf.function(lambda v=v: v.assign_add(tf.ones([3])))()
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(tf.range(3))[:] = 7
        assert v.numpy().tolist() == [1.0, 1.0, 1.0]
        assert tf.zeros([3]).numpy().tolist() == [0.0] * 3 and tf.range(3).numpy().tolist() == [0, 1, 2]
        assert tf.eye(2).numpy().tolist() == [[1, 0], [0, 1]] and tf.fill([1, 2], 3.5).numpy().tolist() == [
            [3.5] * 2
        ]
        assert tf.linspace(0.0, 1.0, 3).numpy().tolist() == [0.0, 0.5, 1.0]
        assert (
            tf.constant(2) ** 3 == 8
            and tf.random.uniform([5]).numpy().tolist() != tf.random.uniform([5]).numpy().tolist()
        )


@pytest.mark.parametrize("count", [1, 2])
def test_a_call_of_constants_may_return_a_list(count: int) -> None:
    """A list of one result is no tensor."""
    for number in range(4):
        grid = tf.meshgrid(*[[number, 2]] * count)
        assert [x.shape.rank for x in grid] == [count] * count and grid[0].numpy().ravel()[0] == number
        assert [x.numpy().tolist() for x in tf.meshgrid([3, 4])] == [[3, 4]]


POSITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a row": lambda x, n: tf.gather(x, 1),
    "a column": lambda x, n: tf.gather(x, 2, axis=1),
    "a part": lambda x, n: tf.slice(x, [0, 1], [-1, 2]),
    "a part from a tensor on": lambda x, n: tf.slice(x, [n, 1], [1, 2 - n]),
    "reversed axes": lambda x, n: tf.reverse(x, [0, -1]),
    "an axis in a tensor": lambda x, n: tf.reverse(x, [n]),
    "a row in a tensor": lambda x, n: tf.gather(x, n),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_constant_positions_are_told_from_those_in_tensors(name: str) -> None:
    for n in (0, 0, 0, 1, 1, 1, 0):
        x, expected = tf.constant(X), tf.function(POSITIONS[name])(tf.constant(X), tf.constant(n))
        with tf.GradientTape() as recorded:
            recorded.watch(x)
            found = POSITIONS[name](x, tf.constant(n))
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        assert recorded.gradient(found, x).shape == x.shape
    for wrong in (lambda: tf.gather(x, 2), lambda: tf.slice(x, [0, 1], [2, 3]), lambda: tf.reverse(x, [2])):
        for _ in range(3):
            with pytest.raises((ValueError, tf.errors.OpError)):
                wrong()
