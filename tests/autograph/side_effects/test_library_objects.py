"""Objects of the standard library and of NumPy: a loop may hold them, and must not change them while it is traced."""

import io
import random
from types import SimpleNamespace

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph.side_effects import pickled_state
from support.hidden_changes import refused

MAKERS = {
    "np.random.RandomState": lambda: np.random.RandomState(0),
    "np.random.default_rng": lambda: np.random.default_rng(0),
    "np.random.Generator": lambda: np.random.Generator(np.random.Philox(3)),
    "random.Random": lambda: random.Random(0),
    "io.BytesIO": lambda: io.BytesIO(b"abcd"),
}


def use(item):
    """Change the state of an object of `MAKERS`."""
    return item.read(1)[0] if hasattr(item, "read") else item.random()


@pytest.mark.parametrize("maker", MAKERS)
def test_an_object_that_the_trace_leaves_alone_is_no_side_effect(maker):
    world = SimpleNamespace(item=MAKERS[maker]())

    @tf.numpy_function(Tout=tf.float64)
    def step(x):
        return np.float64(x + use(world.item))

    @tf.function
    def total(n):
        x = tf.constant(0.0, tf.float64)
        for _ in tf.range(n):
            x = step(x)
            x.set_shape([])
        return x

    same = MAKERS[maker]()
    assert total(tf.constant(3)).numpy() == pytest.approx(sum(use(same) for _ in range(3)))


@pytest.mark.parametrize("maker", MAKERS)
def test_an_object_that_the_trace_changes_is_refused(maker):
    world = SimpleNamespace(item=MAKERS[maker]())

    def total(n):
        x = tf.constant(0.0, tf.float64)
        for _ in tf.range(n):
            x += use(world.item)
        return x

    refused(total, "AGC291", "`world.item`", "changes")


def test_views_that_an_array_makes_at_each_access_are_no_side_effect():
    """The attributes that the loop assigns to another object have the names of views."""
    offsets = np.array([1.0, 2.0])

    def total(n):
        x = tf.zeros([2], tf.float64)
        for _ in tf.range(n):
            note = SimpleNamespace()
            note.data = note.flat = note.imag = note.real = x
            x = note.data + offsets
        return x

    assert tf.function(total)(tf.constant(3)).numpy().tolist() == [3.0, 6.0]


def test_an_array_that_the_trace_changes_through_a_view_is_refused():
    offsets = np.array([1.0, 2.0])

    def total(n):
        x = tf.zeros([2], tf.float64)
        for _ in tf.range(n):
            offsets.flat = 5.0
            x += offsets
        return x

    refused(total, "AGC291", "`offsets`", "gets other items")


def test_a_state_of_zero_is_a_state():
    class Counted:
        def __reduce_ex__(self, protocol):
            return Counted, (), self.state

    counted = Counted()
    counted.state = 0
    assert pickled_state._reduced(counted) == (Counted, (), 0)
    counted.state = {}
    assert pickled_state._reduced(counted) == (Counted, ())


class Box:
    def __init__(self):
        self.shape, self.is_new = tf.TensorShape([2]), False

    def name_dims(self):
        self.dims = ["rows"]


def test_a_property_that_only_reads_is_no_side_effect():
    """`TensorShape.dims` is a new list at each access, and code that may run assigns `dims` of another object."""
    box = Box()

    @tf.function
    def f(x):
        if x > 0:
            if box.is_new:
                box.name_dims()
            x = x * 2
        return x

    assert [int(f(tf.constant(x))) for x in (2, -2)] == [4, -2]
