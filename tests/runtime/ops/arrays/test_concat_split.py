"""concat, stack, unstack, split, and lists of tensors where a tensor is needed."""

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.refusals import refuses

x = tf.reshape(tf.range(6), [2, 3])


def traced_shapes(operation: Any, *specs: tf.TensorSpec) -> list[Any]:
    found: list[Any] = []

    def traced(*tensors: Any) -> Any:
        results = operation(*tensors)
        found.extend(result.shape for result in (results if isinstance(results, list) else [results]))
        return results

    tf.function(traced, autograph=False).get_concrete_function(*specs)
    return found


def test_concat_joins_along_an_existing_axis() -> None:
    assert tf.concat([[1], [2, 3]], 0).numpy().tolist() == [1, 2, 3]
    assert tf.concat([x, x[:, :1]], axis=-1).numpy().tolist() == [[0, 1, 2, 0], [3, 4, 5, 3]]
    assert tf.concat([["a"], ["b"]], 0).numpy().tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    ("values", "axis", "message"),
    [
        (
            [x, [[1]]],
            0,
            r"Dimension 1 in both shapes must be equal: shape\[0\] = \[2,3\] vs\. shape\[1\] = \[1,1\]",
        ),
        ([1, 2], 0, r"Can't concatenate scalars \(use tf\.stack instead\)"),
        ([x, x], 2, r"Expected concatenating dimensions in the range \[-2, 2\), but got 2"),
        (
            [x, [1]],
            0,
            r"Ranks of all input tensors should match: shape\[0\] = \[2,3\] vs\. shape\[1\] = \[1\]",
        ),
        ([x, tf.zeros([2, 3])], 0, "was expected to be a int32 tensor but is a float32 tensor"),
    ],
)
def test_concat_names_the_mismatch(values: Any, axis: int, message: str) -> None:
    with refuses(message):
        tf.concat(values, axis)


def test_stack_and_unstack_are_inverse() -> None:
    for axis in (0, 1, -1):
        assert tf.stack(tf.unstack(x, axis=axis), axis=axis).numpy().tolist() == x.numpy().tolist()
    assert tf.stack([1, 2.5]).dtype is tf.float32
    with refuses(
        r"Shapes of all inputs must match: values\[0\]\.shape = \[2,3\] != values\[1\]\.shape = \[1\]"
    ):
        tf.stack([x, [1]])
    with pytest.raises(ValueError, match=r"Argument `axis` = 3 not in range \[-3, 3\)"):
        tf.stack([x, x], 3)


def test_unstack_needs_a_known_number() -> None:
    rows = tf.TensorSpec([None, 2])
    with pytest.raises(ValueError, match=r"Cannot infer argument `num` from shape \(None, 2\)"):
        traced_shapes(tf.unstack, rows)
    assert traced_shapes(lambda t: tf.unstack(t, num=3), rows) == [[2]] * 3

    @tf.function(input_signature=[rows])
    def three(t: Any) -> Any:
        return tf.unstack(t, num=3)

    assert three([[1.0, 2.0]] * 3)[2].numpy().tolist() == [1, 2]
    with refuses("axis 0 must equal 3"):
        three([[1.0, 2.0]] * 2)


def test_split() -> None:
    assert [part.numpy().tolist() for part in tf.split([1, 2, 3, 4], 2)] == [[1, 2], [3, 4]]
    assert [part.numpy().tolist() for part in tf.split(x, [1, -1], axis=1)] == [[[0], [3]], [[1, 2], [4, 5]]]
    assert [part.numpy().tolist() for part in tf.split([1, 2, 3], tf.constant([1, 2]))] == [[1], [2, 3]]
    with refuses(r"split_dim 1 \(size = 3\) and num_split 2"):
        tf.split(x, 2, axis=1)
    with refuses(r"Determined shape must either match .* Got: 2"):
        tf.split(x, [1, 1], axis=1)
    with refuses("Determined shape must either match"):
        tf.split(x, np.array([2**32 + 1, 2]), axis=1)


SPLITS = {"eager": None, "plan": {"jit_compile": False}, "native": {"jit_compile": True}}


@pytest.mark.parametrize("options", SPLITS.values(), ids=SPLITS.keys())
def test_the_sizes_of_a_split_are_as_many_as_its_parts_and_one_is_the_rest(options: Any) -> None:
    """Two sizes of -1 were the rest both: native code read after the end of the tensor."""
    signature = [tf.TensorSpec([None]), tf.TensorSpec([None], tf.int32)]

    def split(value: Any, sizes: Any) -> Any:
        return tf.split(value, sizes, num=3)

    run = split if options is None else tf.function(split, input_signature=signature, **options)
    values = tf.constant([1.0, 2.0, 3.0, 4.0])
    assert [part.numpy().tolist() for part in run(values, [1, -1, 2])] == [[1], [2], [3, 4]]
    with refuses("size_splits may have one -1, for the rest"):
        run(values, [1, -1, -1])
    with refuses("size_splits must have 3 elements, one for each part, but it has 2"):
        run(values, [2, 2])


def test_native_code_for_any_sizes_reads_as_many_sizes_as_there_are() -> None:
    signature = [tf.TensorSpec([None]), tf.TensorSpec([None], tf.int32)]
    run = tf.function(lambda x, sizes: tf.split(x, sizes, num=3), input_signature=signature, jit_compile=True)
    for length, sizes in [(3, [4, -9]), (1, [0, 2]), (3, [0]), (3, [1]), (0, [0, 0, 0, 9]), (0, [0, 0])]:
        with refuses("size_splits must have 3 elements"):
            run(tf.zeros([length]), sizes)


@pytest.mark.parametrize(
    ("operation", "shape"),
    [
        (lambda x: tf.range(tf.shape(x)[0]), [5]),
        (lambda x: tf.range(1, tf.shape(x)[0], 2), [2]),
        (lambda x: tf.gather(x, tf.range(tf.shape(x, tf.int64)[0])), [5, None]),
        (lambda x: tf.pad(x, [[tf.shape(x)[0], 1], [0, 0]]), [11, None]),
        (lambda x: tf.pad(x, [[1, 1], [0, tf.shape(x)[1]]]), [7, None]),
        (lambda x: tf.zeros(tf.unstack(tf.shape(x))), [5, None]),
        (lambda x: tf.zeros(tf.split(tf.shape(x), 2)[0]), [5]),
        (lambda x: tf.zeros(tf.gather(tf.shape(x), [1, 0])), [None, 5]),
        (lambda x: tf.zeros(tf.expand_dims(tf.shape(x)[0], 0)), [5]),
        (lambda x: tf.zeros([tf.squeeze(tf.shape(x)[:1])]), [5]),
    ],
)
def test_known_sizes_of_an_argument_are_known_in_shapes(operation: Any, shape: list[int | None]) -> None:
    assert traced_shapes(operation, tf.TensorSpec([5, None]))[0].as_list() == shape


@pytest.mark.parametrize("jit", [False, True])
def test_wrong_sizes_that_shapes_determine_fail_only_where_they_are_used(jit: bool) -> None:
    def guarded(x: Any, take: Any) -> Any:
        n = tf.shape(x)[0]
        if take:
            return tf.reduce_sum(tf.range(5, n)) + tf.size(tf.pad(x, [[n - 5, 0]]))
        return n

    function = tf.function(guarded, jit_compile=jit)
    assert int(function(tf.zeros([2]), tf.constant(False))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.zeros([2]), tf.constant(True))


def test_the_static_value_of_a_matrix_of_sizes() -> None:
    def traced(x: Any) -> Any:
        assert tf.get_static_value(tf.stack([[tf.shape(x)[0], 1], [0, 2]])).tolist() == [[5, 1], [0, 2]]
        return x

    tf.function(traced).get_concrete_function(tf.TensorSpec([5, None]))


def test_static_shapes_in_a_graph() -> None:
    wide, rows = tf.TensorSpec([None, 3]), tf.TensorSpec([4, None])
    assert traced_shapes(lambda a, b: tf.concat([a, b], 0), wide, rows) == [[None, 3]]
    assert traced_shapes(lambda a, b: tf.stack([a, b]), wide, rows) == [[2, 4, 3]]
    assert traced_shapes(lambda a: tf.split(a, 2), rows) == [[2, None]] * 2
    assert traced_shapes(lambda a: tf.split(a, [1, -1], axis=1), wide) == [[None, 1], [None, 2]]


def test_a_list_that_contains_tensors_is_stacked() -> None:
    one = tf.constant(1)
    assert tf.convert_to_tensor([[one, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.convert_to_tensor([x, x]).shape == [2, 2, 3]
    assert tf.convert_to_tensor([tf.constant(1.5), 2]).dtype is tf.float32
    assert tf.add([1, 2], [one, one]).numpy().tolist() == [2, 3]
    with pytest.raises(TypeError, match=r"Cannot convert 1\.5"):
        tf.convert_to_tensor([one, 1.5])


def test_a_list_that_contains_traced_tensors_is_stacked_in_the_graph() -> None:
    @tf.function
    def f(a: Any) -> Any:
        return tf.convert_to_tensor([[a, 2], [3, a]]) + np.array([[10, 10], [20, 20]])

    assert f(tf.constant(1)).numpy().tolist() == [[11, 12], [23, 21]]
