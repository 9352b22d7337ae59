"""Where code runs, what is known while tracing, and the initializers of the top level, as in TensorFlow 2.21."""

import agc.runtime as tf
import numpy as np
import pytest


def test_init_scope_runs_outside_of_the_graph():
    seen = []

    @tf.function
    def f(x):
        seen.append((tf.inside_function(), tf.is_symbolic_tensor(x)))
        with tf.init_scope():
            seen.append((tf.inside_function(), float(tf.constant(2.0) * 3)))
        return x

    f(tf.constant(1))
    assert seen == [(True, True), (False, 6.0)]
    assert not tf.inside_function()
    assert not tf.is_symbolic_tensor(tf.constant(1))


def test_get_static_value_returns_constants():
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert (tf.get_static_value(3), tf.get_static_value([]), tf.get_static_value(None)) == (3, [], None)
    assert tf.get_static_value(tf.Variable(3)) is None
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        seen.append(tf.get_static_value(x))
        seen.append(tf.get_static_value(tf.shape(x)))
        seen.append(tf.get_static_value(tf.shape(x), partial=True).tolist())
        seen.append(tf.get_static_value(tf.shape(x)[1]))
        return x

    f(tf.zeros([2, 3]))
    assert seen == [None, None, [None, 3], 3]


def test_libraries_take_the_int_of_a_known_value():
    """They ask `get_static_value` first; of other values there is none."""

    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        assert int(tf.rank(x) - 1) == 1
        for unknown in (tf.shape(x)[0], tf.shape(x), x[0, 0]):
            with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="int"):
                int(unknown)
        return x

    f(tf.zeros([2, 3]))


def test_constants_of_a_trace_belong_to_its_graph():
    """Libraries keep what they compute for one graph under the identity of the graph."""
    graphs = []

    @tf.function
    def f(x):
        graphs.extend([x.graph, tf.constant(True).graph])
        return x

    f(tf.constant(1))
    assert graphs[0] is graphs[1]
    with pytest.raises(AttributeError, match="undefined when eager execution is enabled"):
        tf.constant(True).graph  # noqa: B018


def test_the_logger():
    assert tf.get_logger().name == "tensorflow"


@pytest.mark.parametrize(
    "made, dtype, expected",
    [
        (tf.constant_initializer(3), None, [3, 3, 3]),
        (tf.constant_initializer([1, 2, 3]), tf.float64, [1.0, 2.0, 3.0]),
        (tf.zeros_initializer(), tf.float32, [0.0, 0.0, 0.0]),
        (tf.ones_initializer(), tf.int32, [1, 1, 1]),
        (tf.random_normal_initializer(seed=1), tf.float32, [0.0063325153, -0.02465083, 0.031559538]),
        (tf.random_uniform_initializer(seed=1), tf.float32, [0.03784882, -0.004001975, 0.010029126]),
    ],
)
def test_initializers(made, dtype, expected):
    value = made([3]) if dtype is None else made([3], dtype=dtype)
    assert value.dtype == (dtype or tf.int32)
    assert type(made).from_config(made.get_config()).get_config() == made.get_config()
    assert value.numpy() == pytest.approx(expected, rel=1e-6)
    assert made([5], partition_shape=[3]).shape == [3]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: tf.constant_initializer([1, 2, 3])([2]), TypeError, "3 elements"),
        (lambda: tf.constant_initializer(object()), TypeError, "Invalid type for initial value: object"),
        (lambda: tf.zeros_initializer()([2], foo=1), TypeError, "partition_shape"),
        (lambda: tf.zeros_initializer()([2], dtype=tf.string), ValueError, "numeric or boolean"),
        (lambda: tf.random_normal_initializer()([2], dtype=tf.int32), ValueError, "floating point"),
        (
            lambda: tf.random_uniform_initializer()([2], dtype=tf.string),
            ValueError,
            "integer or floating point",
        ),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_shapes_of_constants():
    assert tf.constant_initializer(np.arange(4.0))([2, 2]).numpy().tolist() == [[0.0, 1.0], [2.0, 3.0]]
