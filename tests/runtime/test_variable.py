"""Variables: creation, assignment, and what is refused."""

import copy

import agc.runtime as tf
import numpy as np
import pytest


def test_assignment():
    v = tf.Variable([1.0, 2.0], name="w")
    assert v.assign([3.0, 4.0]) is v
    v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.5])
    assert v.numpy().tolist() == [3.5, 4.5]
    assert (v.name, v.dtype, v.shape, v.trainable) == ("w:0", tf.float32, (2,), True)
    assert v.assign([0.0, 0.0], read_value=False) is None


def test_operators_and_conversion():
    v = tf.Variable(3)
    assert (v + 1).numpy() == (1 + v).numpy() == 4
    assert (v == 3).numpy()
    assert int(v) == 3
    assert [10, 20, 30, 40][v] == 40
    assert np.asarray(tf.Variable([1, 2])).tolist() == [1, 2]
    assert repr(v) == "<tf.Variable 'Variable:0' shape=() dtype=int32, numpy=3>"


def test_a_new_variable_has_memory_of_its_own():
    array = np.ones(2, np.float32)
    first = tf.Variable(array)
    array[0] = 7
    second = tf.Variable(first)
    second.assign_add([1.0, 1.0])
    assert first.numpy().tolist() == [1.0, 1.0]
    assert copy.deepcopy(second).assign([0.0, 0.0]).numpy().tolist() == [0.0, 0.0]
    assert second.numpy().tolist() == [2.0, 2.0]


@pytest.mark.parametrize("eagerly", [True, False])
def test_parts_are_updated_in_place(eagerly):
    v = tf.Variable([1, 2, 3, 4])

    def update(i):
        v.scatter_nd_add([[i]], [10])
        v.scatter_nd_sub([[i], [i + 1]], [1, 1])
        v.scatter_nd_update([[3]], [0])
        return v.gather_nd([[i], [3]])

    part = (update if eagerly else tf.function(update))(tf.constant(1))
    assert part.numpy().tolist() == [11, 0]
    assert v.numpy().tolist() == [1, 11, 2, 0]


def test_a_shape_that_varies():
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))
    v.assign([1.0, 2.0, 3.0])
    assert v.shape == [None]
    assert v.numpy().shape == (3,)


@pytest.mark.parametrize(
    "mistake, error",
    [
        (lambda: tf.Variable(), ValueError),
        (lambda: tf.Variable([1.0]).assign([1.0, 2.0]), ValueError),
        (lambda: tf.Variable([1]).assign(tf.constant([1.0])), ValueError),
        (lambda: tf.Variable([1]).assign([1.5]), TypeError),
        (lambda: tf.Variable([1.0], shape=[2]), ValueError),
        (lambda: hash(tf.Variable(1)), TypeError),
    ],
)
def test_refused(mistake, error):
    with pytest.raises(error):
        mistake()


def test_references_are_hashable():
    v, w = tf.Variable(1), tf.Variable(1)
    assert {v.ref(), v.ref()} == {v.ref()}
    assert v.ref() != w.ref()
    assert v.ref().deref() is v


def test_parts_are_assigned() -> None:
    def change(v, i):
        v[i].assign(9.0)
        v[1:3].assign([7.0, 8.0])
        if i > 1:
            v[:1].assign_sub([1.0])
        for j in range(i):
            v[j].assign_add(10.0)
        return v[-1].assign(0.5)[0]

    for run in (change, tf.function(change), tf.function(change, experimental_executor="interpret")):
        v = tf.Variable([1.0, 2.0, 3.0, 4.0])
        assert float(run(v, tf.constant(2))) == 10.0
        assert v.numpy().tolist() == [10.0, 17.0, 8.0, 0.5]
    with pytest.raises(AttributeError, match="no attribute 'assign'"):
        tf.constant([1.0])[0].assign(2.0)
