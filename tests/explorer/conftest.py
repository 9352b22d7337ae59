"""Programs that the pages of these tests show."""

import agc.runtime as tf
import pytest

w = tf.Variable([[0.5, 0.0], [0.25, -0.5]], name="w")


def leaky(x, slope):
    if tf.reduce_sum(x) > 100.0:
        return tf.tanh(x)
    return tf.where(x > 0.0, x, slope * x)


@tf.function
def settle(x, rounds):
    loss = tf.constant(0.0)
    for _ in tf.range(rounds):
        x = leaky(x @ w, 0.1) * 1.0
        loss += tf.reduce_sum(x)
    return x, loss


ARGUMENTS = tf.constant([[1.0, 2.0]]), tf.constant(3)


@pytest.fixture(scope="session")
def program():
    """A function that calls another, with a loop, a branch and a variable; and its arguments."""
    return settle, ARGUMENTS


@pytest.fixture(scope="session")
def model(program):
    """The model of a page."""
    from agc.explorer import collect

    function, arguments = program
    return collect(function, *arguments)
