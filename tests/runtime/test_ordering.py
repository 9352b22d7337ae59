"""executing_eagerly, control_dependencies, group and no_op."""

import agc.runtime as tf


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
