"""Sizes that int32 cannot hold: tensors without elements have them, too, so these tests need no memory."""

from __future__ import annotations

import agc.runtime as tf
import pytest

SIZE = 2**31 + 5
UNKNOWN = [tf.TensorSpec([None, None], tf.int8)]


@pytest.fixture(scope="module")
def empty():
    return tf.zeros([SIZE, 0], tf.int8)


@pytest.mark.parametrize(
    "made",
    [
        lambda: tf.zeros([SIZE, 0]),
        lambda: tf.ones((0, SIZE)),
        lambda: tf.fill([SIZE, 0], 1),
        lambda: tf.reshape(tf.zeros([0, 2]), [SIZE, 0]),
        lambda: tf.broadcast_to(tf.zeros([0]), [SIZE, 0]),
        lambda: tf.tile(tf.zeros([1, 0]), [SIZE, 1]),
        lambda: tf.random.uniform([0, SIZE]),
    ],
)
def test_python_integers_in_a_shape_may_be_larger_than_int32(made):
    assert SIZE in made().shape
    assert SIZE in tf.function(made)().shape


def test_an_integer_that_int64_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"argument `shape`.*does not fit any integer dtype"):
        tf.zeros([2**70, 0])


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_int64_holds_a_large_size(jit_compile, empty):
    f = tf.function(lambda x: tf.shape(x, tf.int64), input_signature=UNKNOWN, jit_compile=jit_compile)
    assert f(empty).numpy().tolist() == [SIZE, 0]


@pytest.mark.parametrize("jit_compile", [None, False, True])
@pytest.mark.parametrize("signature", [None, UNKNOWN])
def test_int32_refuses_a_large_size(signature, jit_compile, empty):
    f = tf.function(lambda x: tf.shape(x), input_signature=signature, jit_compile=jit_compile)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"int32 cannot hold .*2147483653.*out_type=tf.int64"
    ):
        f(empty)


def test_eager_shapes_refuse_a_large_size(empty):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"pass out_type=tf\.int64"):
        tf.shape(empty)
