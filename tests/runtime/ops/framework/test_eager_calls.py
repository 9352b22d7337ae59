"""Eager calls with a key that ran twice take a short path, and give what the first call gave."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core.export import EXPORTED
from agc.runtime.ops.framework import eager_calls, kept_calls
from agc.runtime.ops.framework.eager_calls import MANY, MOST, EagerCall
from agc.runtime.ops.framework.op import REGISTRY
from support.each_case import each_case

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


def kept_by(name: str) -> list[Any]:
    """Return the calls that an operation keeps."""
    return [call for call in REGISTRY[name]._calls.values() if isinstance(call, EagerCall)]


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
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tried to write to index 3"):
        array.write(3, x)
    nested = tf.ragged.constant([[1.0], [2.0, 3.0]])
    assert nested.to_list() == [[1.0], [2.0, 3.0]]


def test_an_operation_keeps_a_limited_number_of_calls() -> None:
    x = tf.constant(X)
    for i in range(2 * MOST):
        for _ in range(2):
            assert tf.reshape(x, [1] * (i % 16) + [6] + [1] * (i // 16)).shape.rank == i % 16 + 1 + i // 16
        if len(REGISTRY["reshape"]._calls) > MOST:
            pytest.fail("too many calls")


def test_most_calls_stay_kept_if_there_are_too_many() -> None:
    x, kept = tf.constant(X), REGISTRY["reshape"]._calls
    kept.clear()
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


C = np.array([True, False])

OF_NUMBERS: dict[str, Callable[[int, Any], Any]] = {
    "an index": lambda i, x: tf.gather(x, i % 7),
    "an index of a variable": lambda i, x: tf.gather(tf.Variable(x), i % 7),
    "a list of indices": lambda i, x: tf.gather(x, [i % 7, 0]),
    "an index and an axis": lambda i, x: tf.gather(x, i % 2, axis=i % 2 - 1),
    "a nested list": lambda i, x: tf.gather_nd(x, [[i % 7, 0]]),
    "an operand by name": lambda i, x: tf.roll(shift=i, input=x, axis=0),
    "a tuple": lambda i, x: tf.roll(x, (i, -i), (1, 0)),
    "the start of a slice": lambda i, x: tf.slice(x, [i % 7, 0], [1, 2]),
    "the start of the rest": lambda i, x: tf.slice(x, [i % 7, 0], [-1, 2]),
    "a size": lambda i, x: tf.slice(x, [0, 0], [i % 7, 1]),
    "a float": lambda i, x: tf.where(C, x[:, :2], i / 3),
    "an int with a float tensor": lambda i, x: tf.where(C, x[:, :2], i - 20),
    "one of two numbers": lambda i, x: tf.where(C, i, 2.5 if i < 0 else 3),
    "bools": lambda i, x: tf.where(C, tf.cast(x[:, :2], tf.bool), i % 2 == 0),
    "bounds": lambda i, x: tf.clip_by_value(x, i / 7, i + 1),
    "equal bounds": lambda i, x: tf.clip_by_value(x, 3.0, i / 7),
    "all operands": lambda i, x: tf.clip_by_value(i, 3, 20),
    "a value for a shape": lambda i, x: tf.fill([2, 1], i),
    "a shape": lambda i, x: tf.fill([i, 1], 0.5),
    "an attribute": lambda i, x: tf.one_hot([1], i),
    "an axis": lambda i, x: tf.reduce_sum(x, i % 2) + tf.reduce_sum(x, axis=[-(i % 2) - 1])[0],
    "an update": lambda i, x: tf.tensor_scatter_nd_update(x, [[i % 7]], [[1.0 * i, 2.0, 3.0]]),
    "a list of tensors and numbers": lambda i, x: tf.stack([x[0, 0], float(i)]),
    "arithmetic": lambda i, x: tf.maximum(x * i, i - 3) + i * 2**20,
    "an exponent": lambda i, x: tf.pow(x, i % 5) + x ** (i / 9),
    "NaN and infinity": lambda i, x: tf.where(C, x[:, :2], [np.nan, np.inf, -np.inf, -0.0, 0.0][i % 5]),
    "ints of other sizes": lambda i, x: tf.fill([1], i * 2**27),
    "great floats": lambda i, x: tf.fill([1], 1e37 * i if i < 30 else 3e38),
    "classes of numbers": lambda i, x: tf.fill([1], [int, float, np.int64, bool, np.float16][i % 5](i)),
    "a NumPy index": lambda i, x: tf.gather(x, np.int64(i % 7)),
    "a size of a shape": lambda i, x: tf.gather(x, tf.compat.v1.Dimension(i % 7)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int64])
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_number_that_differs_in_each_call_counts_by_its_value(
    name: str, dtype: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(kept_calls, "MANY", 3)
    x, call = tf.constant(np.arange(21).reshape(7, 3).astype(dtype)), OF_NUMBERS[name]
    numbers = [*range(-1, 9), 3, 3, 3, 31]
    expected = []
    for i in numbers:
        forget_all_calls()
        expected.append(result_of(call, i, x))
    for i, one in zip(numbers, expected, strict=True):
        assert result_of(call, i, x) == one


def result_of(call: Callable[[int, Any], Any], i: int, x: Any) -> Any:
    """Return the type, the elements and the gradient of a call; or its error."""
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(i, x)
    except (ValueError, TypeError, tf.errors.OpError) as error:
        return type(error), str(error)
    slope = tape.gradient(y, x) if x.dtype.is_floating and y.dtype.is_floating else None
    return y.dtype, y.shape, y.numpy().tobytes(), None if slope is None else str(tf.convert_to_tensor(slope))


def forget_all_calls() -> None:
    cached = [value for value in [*EXPORTED.values()] if isinstance(value, type(tf.concat))]
    for operation in [*REGISTRY.values(), *cached]:
        operation._calls.clear()


def test_calls_that_differ_by_numbers_share_one_kept_call() -> None:
    x = tf.range(600)
    forget_all_calls()
    for i in range(600):
        assert tf.gather(x, i).numpy() == i == tf.where(True, i, x[0]).numpy() == tf.fill([1], i).numpy()[0]
        assert tf.roll(x, i, 0).numpy()[0] == -i % 600 == tf.slice(x, [-i % 600], [1]).numpy()[0]
    for operation in (tf.gather, tf.where, tf.fill, tf.roll, REGISTRY["slice"]):
        assert MANY < len(operation._calls) < 2 * MANY
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices = 600 is not in \[0, 600\) \[op gather\]"
    ):
        tf.gather(x, 600)
    with pytest.raises(tf.errors.InvalidArgumentError, match="but got 601"):
        tf.slice(x, [601], [1])


WHOLE = (0, -1, 7, 2**24 + 1, 2**31 - 1, -(2**31), 2**31)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_a_number_next_to_a_tensor_is_rounded_as_numpy_does(dtype: Any) -> None:
    ones = np.ones(2, dtype)
    fractions = (0.5, 0.1, 1e-46, 1e37, -1e39, np.inf) if ones.dtype.kind == "f" else ()
    for number in 2 * [*WHOLE[: -1 if dtype is np.int32 else None], *fractions]:
        with np.errstate(over="ignore"):
            expected = ones * np.array(number).astype(dtype)
        assert (tf.constant(ones) * number).numpy().tobytes() == expected.tobytes()
    with pytest.raises((TypeError, ValueError)):
        tf.constant(np.ones(2, np.int32)) * WHOLE[-1]


def test_a_variable_has_the_gradient_of_each_index() -> None:
    table = tf.Variable(np.ones([3, 2], np.float32))
    forget_all_calls()
    with tf.GradientTape() as tape:
        y = sum(tf.reduce_sum(tf.gather(table, i % 3)) * float(i) for i in range(2 * MANY))
    slope = tf.convert_to_tensor(tape.gradient(y, table)).numpy()
    assert slope[:, 0].tolist() == [sum(range(i, 2 * MANY, 3)) for i in range(3)]


def test_a_number_that_comes_twice_keeps_a_call_of_its_own() -> None:
    x = tf.range(9)
    forget_all_calls()
    for i in 2 * [*range(3)]:
        assert tf.roll(x, i, 0).numpy()[i] == 0
    assert len(kept_by("roll")) == 3


class Uncalled:
    """What the C extension reads of an operation without kept calls, which returns the key of each call."""

    def __init__(self, calls: dict[Any, Any], by_reference: bool) -> None:
        self._fields = lambda: (calls, None, only_key, by_reference)


def only_key(args: Any, kwargs: Any, *key: Any) -> Any:
    return key


def key_of(args: Any, kwargs: Any, by_reference: bool = False, calls: Any = None) -> Any:
    """Return the key of a call, the number of tensors in it, and its types."""
    if eager_calls.native is None:
        return python_key_of(args, kwargs, by_reference, calls)
    return eager_calls.native.caller(Uncalled(calls or {}, by_reference))(*args, **kwargs)


def python_key_of(args: Any, kwargs: Any, by_reference: bool = False, calls: Any = None) -> Any:
    """Return the same without the C extension."""
    return eager_calls.run_kept(calls or {}, args, kwargs, by_reference, [], only_key)


def test_a_list_that_contains_itself_has_no_key() -> None:
    numbers: list[Any] = [1.0]
    numbers.append(numbers)
    assert python_key_of((numbers,), {}) == key_of((numbers,), {}) == (None, 0, None)
    assert tf.reduce_sum([1.0, 2.0]).numpy() == 3.0


def test_keys_are_the_same_with_and_without_the_extension() -> None:
    x, v = tf.constant(X), tf.Variable(X)
    for args in (
        (x, 1, [0.0, (True, None)]),
        (x.shape, tf.float32, "text"),
        (range(2), np.float32, np.dtype("int8")),
        (..., (slice(None), slice(-1, 2**70, 3)), slice(0)),
        (slice(1.0),),
        (slice(None, True),),
        ("x" * 256, "x"),
        ("x" * 257,),
        (v, -0.0),
        ([0] * 33,),
        (object(),),
        (X.astype(object),),
        (2**31 - 1, -(2**31), 2**31, -(2**31) - 1, 2**70, True, [[1], (2, 0.5)]),
        (1e37, 1e38, -1e37, -1e38, float("inf")),
    ):
        for by_reference in (False, True):
            found = key_of(args, {"axis": 1}, by_reference)
            assert found == python_key_of(args, {"axis": 1}, by_reference)
    given = (X, X[0, 1], [np.int64(3), X.astype(np.float16)], tf.TensorArray(tf.float32, 2).flow)
    assert key_of(given, {}) == python_key_of(given, {})
    assert key_of(given, {})[1] == 5
    key, count, types = key_of((v, x), {"axis": 1}, True)
    assert key == ("axis", tf.Variable, tf.float32, (2, 3), x._kind, int, 1) and count == 2
    assert types == (*key[:-1], None) and key_of((x, True, 2**31), {})[2] is None
    assert key_of((v, x), {"axis": 1}, True, {key: False}) == (None, 2, None)


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


def frames_of(call: Callable[[], Any]) -> int:
    """Return how many Python functions run in a call, itself left out."""
    count = 0

    def watch(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    for _ in range(3):
        call()
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return count - 1


def test_a_kept_call_runs_few_python_functions(language: str) -> None:
    """The call and the kernel; without the extension also the way to the kernel, and the result."""
    x, y, v = tf.constant(X), tf.constant(X), tf.Variable(X)
    way = 0 if language == "c" else 5
    assert frames_of(lambda: tf.add(x, y)) <= 2 + way
    assert frames_of(lambda: x * y) <= 2 + way
    assert frames_of(lambda: x * 2.0) <= 4 + way
    assert frames_of(lambda: x == y) <= 4 + way
    assert frames_of(lambda: tf.reduce_sum(x, axis=1)) <= 3 + way
    assert frames_of(lambda: tf.matmul(x, y, transpose_b=True)) <= 3 + way
    assert frames_of(lambda: x[1]) <= 3 + way
    assert frames_of(lambda: tf.cast(x, tf.float64)) <= 3 + way
    assert frames_of(lambda: v.assign_sub(x)) <= 12 + way


def test_a_tape_adds_few_python_functions(language: str) -> None:
    x = tf.constant(X)
    way = 0 if language == "c" else 7
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert frames_of(lambda: tf.reduce_sum(x, axis=1)) <= 5 + way
        assert frames_of(lambda: tf.exp(x)) <= 3 + way


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
