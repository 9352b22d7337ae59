"""Eager tensors as Python values: conversions, texts, identity, copies."""

from __future__ import annotations

import copy
import pickle

import agc.runtime as tf
import numpy as np
import pytest


def test_a_tensor_owns_its_value() -> None:
    source = np.array([1, 2], np.int32)
    tensor = tf.constant(source)
    source[0] = 9
    tensor.numpy()[0] = 9
    np.array(tensor)[0] = 9
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(tensor)[0] = 9
    assert np.shares_memory(np.asarray(tensor), np.asarray(tensor))
    assert tensor.numpy().tolist() == [1, 2]


def test_numpy_gives_arrays_and_for_rank_0_numpy_scalars() -> None:
    assert type(tf.constant([1.0]).numpy()) is np.ndarray
    assert type(tf.constant(1.0).numpy()) is np.float32
    assert tf.constant("é").numpy() == "é".encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tf.constant(0.1), "0.10000000149011612"),
        (tf.constant(0.1, tf.float64), "0.1"),
        (tf.constant(1 / 3, tf.float16), "0.333251953125"),
        (tf.constant(2.2360680103302), "2.2360680103302"),
        (tf.constant(3, tf.uint8), "3"),
        (tf.constant(True), "True"),
        (tf.constant("hi"), "b'hi'"),
        (tf.constant(0.5 + 2j), "(0.5+2j)"),
        (tf.constant([0.1]), "array([0.1], dtype=float32)"),
        (tf.constant([[1], [2]]), "\narray([[1],\n       [2]], dtype=int32)"),
    ],
)
def test_repr_shows_scalars_as_python_does_and_arrays_as_numpy_does(value: tf.Tensor, text: str) -> None:
    assert repr(value) == f"<tf.Tensor: shape={value.shape}, dtype={value.dtype.name}, numpy={text}>"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tf.constant(0.1), "0.1"),
        (tf.constant(1e20), "1e+20"),
        (tf.constant("hi"), "b'hi'"),
        (tf.constant([1, 2]), "[1 2]"),
        (tf.constant([[1], [2]]), "\n[[1]\n [2]]"),
    ],
)
def test_str_is_shorter(value: tf.Tensor, text: str) -> None:
    assert str(value) == f"tf.Tensor({text}, shape={value.shape}, dtype={value.dtype.name})"


def test_format_takes_the_specification_of_numbers() -> None:
    assert f"{tf.constant(3.14159):.2f} {tf.constant(7):03d} {tf.constant([1, 2])}" == "3.14 007 [1 2]"
    with pytest.raises(TypeError):
        format(tf.constant([1.0]), ".2f")


def test_python_conversions() -> None:
    assert (int(tf.constant(3.7)), float(tf.constant(2)), complex(tf.constant(1j))) == (3, 2.0, 1j)
    assert bool(tf.constant([1])) and not bool(tf.constant(0.0)) and not bool(tf.constant(""))
    assert "abc"[tf.constant(1)] == "b"
    assert list(range(tf.constant(2))) == [0, 1]


def test_python_conversions_that_have_no_answer_are_refused() -> None:
    with pytest.raises(TypeError, match="only 0-dimensional arrays"):
        int(tf.constant([3]))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))
    with pytest.raises(TypeError, match="only integer scalar tensors can be an index"):
        "abc"[tf.constant(1.0)]
    with pytest.raises(TypeError, match="Scalar tensor has no"):
        len(tf.constant(1))


def test_iteration_gives_rows() -> None:
    assert [int(item) for item in tf.constant([1, 2, 3])] == [1, 2, 3]
    assert [row.numpy().tolist() for row in tf.constant([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        iter(tf.constant(1))


def test_round_and_divmod_take_tensors_outside_of_graphs_too() -> None:
    assert [part.numpy() for part in divmod(tf.constant(7), -2)] == [*divmod(7, -2)]
    assert [part.numpy() for part in divmod(7.5, tf.Variable(2.0))] == [*divmod(7.5, 2.0)]
    rounded = round(tf.constant([2.5, -3.7]))
    assert (rounded.dtype, rounded.numpy().tolist()) == (tf.int32, [2, -4])
    assert round(tf.constant(5, tf.int64)).dtype is tf.int64
    with pytest.raises(TypeError, match="takes no number of digits"):
        round(tf.constant(2.55), 1)


def test_tensors_are_not_hashable_but_their_references_are() -> None:
    one, other = tf.constant(1), tf.constant(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    assert one.ref() == one.ref() != other.ref()
    assert {one.ref(): "one"}[one.ref()] == "one"
    assert one.ref().deref() is one


def test_copies_and_pickles_have_the_value() -> None:
    tensor = tf.constant([[1.5, 2.5]])
    for other in (copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert other.dtype is tf.float32
        assert other.numpy().tolist() == [[1.5, 2.5]]


def test_numpy_functions_take_tensors() -> None:
    assert np.add(tf.constant([1.0]), 1).tolist() == [2.0]
    assert np.asarray(tf.constant(3)).dtype == np.int32
    assert np.array(tf.constant([1, 2]), dtype=np.float64).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="avoid copy"):
        np.asarray(tf.constant([1, 2]), dtype=np.float64, copy=False)


def test_set_shape_checks_the_shape_of_a_value() -> None:
    x = tf.zeros([2, 3])
    x.set_shape([None, 3])
    with pytest.raises(ValueError, match=r"shape \(2, 3\) is not compatible with supplied shape \(2, 2\)"):
        x.set_shape([2, 2])


def test_queries_of_tensor_shape():
    shape, unknown = tf.TensorShape([1, None]), tf.TensorShape(None)
    assert shape.with_rank_at_least(2) == shape == shape.with_rank_at_most(2)
    assert unknown.with_rank_at_least(1) == unknown == unknown.with_rank_at_most(1)
    assert tf.TensorShape([1, 3]).most_specific_compatible_shape([1, 2]) == shape
    assert shape.most_specific_compatible_shape([1]) == unknown
    shape.assert_same_rank([3, 4])
    shape.assert_same_rank(None)
    tf.TensorShape([1, 2]).assert_is_fully_defined()
    for question, message in (
        (lambda: shape.with_rank_at_least(3), "must have rank at least 3"),
        (lambda: shape.with_rank_at_most(1), "must have rank at most 1"),
        (lambda: shape.assert_same_rank([1]), "must have the same rank"),
        (shape.assert_is_fully_defined, "is not fully defined"),
        (unknown.assert_is_fully_defined, "is not fully defined"),
    ):
        with pytest.raises(ValueError, match=message):
            question()


def test_the_device_of_a_tensor():
    x = tf.constant(1.0)
    assert x.backing_device == x.device and x.cpu() is x
    with pytest.raises(RuntimeError, match="GPU:0 unknown device"):
        x.gpu()


@pytest.mark.parametrize("attribute", ["name", "op", "graph", "value_index"])
def test_an_eager_tensor_has_no_graph_attributes(attribute):
    tensor = tf.constant(1.0)
    assert getattr(tensor, attribute, "default") == "default"
    with pytest.raises(
        AttributeError, match=rf"Tensor\.{attribute} is undefined when eager execution is enabled"
    ):
        getattr(tensor, attribute)


def test_the_class_of_eager_tensors_has_no_subclasses() -> None:
    with pytest.raises(TypeError, match=r"^Rows: EagerTensor is not an acceptable base type\."):

        class Rows(type(tf.constant(1.0))):  # type: ignore[misc]
            pass


def test_a_tensor_has_attributes_of_its_user() -> None:
    x = tf.constant(1.0)
    x._keras_logits = 2
    x.notes = [3]
    assert (x._keras_logits, x.notes, vars(x)) == (2, [3], {"_keras_logits": 2, "notes": [3]})
    assert not hasattr(tf.identity(x), "notes")
    assert not hasattr(tf.constant(1.0), "notes")
    del x.notes
    assert not hasattr(x, "notes")
    for name in ("shape", "dtype", "name", "device"):
        with pytest.raises(AttributeError):
            setattr(x, name, 1)


def test_a_traced_tensor_has_attributes_of_its_user() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        x.history = (1, 2)
        y = x + 1.0
        y.mask = x > 0.0
        return tf.where(y.mask, y, float(len(x.history)))

    assert f(tf.constant([1.0, -1.0])).numpy().tolist() == [2, 2]
    assert f(tf.constant([3.0, -1.0])).numpy().tolist() == [4, 2]
