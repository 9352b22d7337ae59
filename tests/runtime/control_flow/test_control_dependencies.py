"""executing_eagerly, control_dependencies, group and no_op."""

import agc.runtime as tf
import pytest


def test_a_graph_being_built_does_not_execute_eagerly():
    assert tf.executing_eagerly()
    assert not tf.function(lambda: tf.executing_eagerly())().numpy()


def test_effects_happen_in_the_order_of_the_program():
    v = tf.Variable(1)

    @tf.function
    def step():
        with tf.control_dependencies([v.assign_add(1)]):
            product = v * 10
        tf.group(v.assign(0), tf.no_op())
        return product

    assert (step().numpy(), v.numpy()) == (20, 0)


@pytest.mark.parametrize("staged", [False, True])
def test_several_tensors_at_once(staged):
    def several(x):
        return tf.identity_n([x, 2.0]), tf.tuple([x, None], control_inputs=[x])

    same, optional = (tf.function(several) if staged else several)(tf.constant(1))
    assert [float(tensor) for tensor in same] == [1.0, 2.0]
    assert (int(optional[0]), optional[1]) == (1, None)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="at least one"):
        (tf.function(tf.identity_n) if staged else tf.identity_n)([])


def test_functions_among_control_inputs_run_at_once():
    calls = []
    with tf.control_dependencies([lambda: calls.append(1)]):
        assert calls == [1]


def test_the_time_is_read_at_each_run():
    now = tf.function(tf.timestamp)
    first = now()
    assert first.dtype == tf.float64
    assert now().numpy() >= first.numpy() > 1.7e9
