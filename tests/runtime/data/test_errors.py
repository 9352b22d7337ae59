"""Errors in a pipeline name their location, and the iterator continues after them."""

from __future__ import annotations

import agc.runtime as tf
import pytest

D = tf.data.Dataset


def tenth(x):
    return 10 // (x - 3)


def outcomes(ds):
    """The elements, and the errors among them."""
    iterator, found = iter(ds), []
    while True:
        try:
            found.append(next(iterator).numpy().tolist())
        except StopIteration:
            return found
        except tf.errors.OpError as error:
            found.append(error)


def test_the_error_names_the_line_the_transformation_and_the_element():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(D.range(6).map(tenth))
    message = str(caught.value)
    assert "Integer division by zero" in message
    assert f"test_errors.py:{tenth.__code__.co_firstlineno + 1}, in tenth" in message
    assert "in element 3 of map" in message


@pytest.mark.parametrize(
    "change",
    [
        lambda ds: ds.map(tenth),
        lambda ds: ds.map(tenth, num_parallel_calls=3),
        lambda ds: ds.map(tenth).prefetch(2),
        lambda ds: ds.map(tenth).repeat(1),
        lambda ds: ds.map(tenth).take(6),
        lambda ds: ds.map(tenth).filter(lambda x: True),
        lambda ds: ds.map(tenth).with_options(tf.data.Options()),
    ],
)
def test_elements_after_an_error_are_produced(change):
    *before, error, one, two = outcomes(change(D.range(6)))
    assert (before, one, two) == ([-4, -5, -10], 10, 5)
    assert "in element 3 of map" in error.message


def test_a_batch_fails_as_a_whole():
    first, error, last = outcomes(D.range(6).map(tenth).batch(2))
    assert (first, last) == ([-4, -5], [10, 5])
    assert isinstance(error, tf.errors.InvalidArgumentError)


def test_errors_can_be_ignored():
    assert outcomes(D.range(6).map(tenth).ignore_errors()) == [-4, -5, -10, 10, 5]


def test_a_loop_in_a_graph_names_the_element_and_both_lines():
    @tf.function
    def total(ds):
        result = tf.constant(0, tf.int64)
        for x in ds:
            result += x
        return result

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        total(D.range(6).map(tenth))
    message = str(caught.value)
    assert "in tenth" in message and "in element 3 of map" in message and "in total" in message


def test_an_exception_of_a_generator_keeps_its_text_and_cause():
    def numbers():
        yield 1
        raise KeyError("lost")

    ds = D.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int32))
    with pytest.raises(
        tf.errors.UnknownError, match=r"KeyError: 'lost'\n.*element 1 of from_generator"
    ) as caught:
        list(ds)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (lambda: D.from_tensor_slices(()), ValueError, "cannot be empty"),
        (lambda: D.range(), ValueError, "between 1 and 3"),
        (lambda: D.range(3).batch([1, 2]), ValueError, "rank 0"),
        (lambda: D.range(3).map("x"), ValueError, "must be a callable"),
        (lambda: D.range(3).window(2, shift=0), tf.errors.InvalidArgumentError, "shift must be greater"),
        (lambda: D.range(3).shard(2, 5), tf.errors.InvalidArgumentError, "between 0 and 1"),
        (lambda: D.range(3).flat_map(lambda x: x), TypeError, "must return a `Dataset`"),
        (lambda: D.range(3).unbatch(), ValueError, "rank >= 1"),
        (lambda: D.range(3).prefetch(-3), tf.errors.InvalidArgumentError, "buffer_size"),
        (lambda: D.range(0, 5, 0), tf.errors.InvalidArgumentError, "non-zero"),
        (lambda: D.zip([D.range(2)]), TypeError, "structures of `tf.data.Dataset`"),
        (lambda: D.range(2).window(2).batch(2), TypeError, "DatasetSpec"),
        (lambda: D(3), TypeError, "a dataset is made with"),
        (
            lambda: D.from_tensor_slices(([1, 2], [3])),
            ValueError,
            "2 and 1 are not comp.*the same number of rows",
        ),
        (lambda: D.range(3).options().wrong, AttributeError, "wrong"),
    ],
)
def test_wrong_arguments_are_refused(wrong, error, said):
    with pytest.raises(error, match=said):
        wrong()


def test_elements_of_other_shapes_cannot_be_batched():
    ds = D.range(1, 3).map(lambda n: tf.fill([n], n)).batch(2)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(ds)
    assert "First element had shape [1] and element 1 had shape [2]" in str(caught.value)
    assert "padded_batch" in str(caught.value)


@pytest.mark.parametrize("function", [lambda x: x, lambda x, y, z: x], ids=["too few", "too many"])
def test_a_function_with_other_parameters_than_an_element_has_components(function):
    pairs = D.from_tensor_slices(([1, 2], [3.0, 4.0]))
    with pytest.raises(TypeError, match="positional argument") as caught:
        pairs.map(function)
    assert caught.value.__notes__ == [
        "  map calls it with the components of an element: TensorSpec(shape=(), dtype=tf.int32, name=None), "
        "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    ]


def test_a_type_error_within_a_function_has_no_note_on_its_parameters():
    with pytest.raises(TypeError) as caught:
        D.range(2).map(lambda x: x + len(3))
    assert not hasattr(caught.value, "__notes__")


def test_values_computed_in_a_graph_are_checked_at_run_time():
    @tf.function
    def first(size):
        return next(iter(D.range(5).batch(size)))

    assert first(tf.constant(2, tf.int64)).numpy().tolist() == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size must be greater than zero"):
        first(tf.constant(0, tf.int64))


def test_a_dataset_of_a_graph_cannot_be_used_outside():
    kept = []

    @tf.function
    def f(n):
        kept.append(D.range(n))
        return n

    f(tf.constant(3, tf.int64))
    with pytest.raises(TypeError, match=r"AGC283.*a dataset is used outside of the function"):
        list(kept[0])


def test_variables_cannot_be_made_in_functions_of_pipelines():
    with pytest.raises(ValueError, match="singleton"):
        D.range(3).map(lambda x: tf.Variable(1))


def test_sparse_tensors_are_not_padded():
    rows = D.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0]]))
    for batch in (lambda: rows.padded_batch(2), lambda: rows.bucket_by_sequence_length(tf.size, [2], [2, 3])):
        with pytest.raises(TypeError, match="padded_batch cannot take elements with SparseTensorSpec"):
            batch()
