"""`enable_check_numerics` names the first operation whose result is NaN or infinite, and its line."""

import agc.runtime as tf
import pytest

EXECUTORS = {
    "plan": {"jit_compile": False},
    "interpret": {"experimental_executor": "interpret"},
    "native": {"jit_compile": True},
}


@pytest.fixture(autouse=True)
def checks():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def total(x):
    y = tf.math.log(x)
    for _ in tf.range(2):
        y = y / x
    return tf.reduce_sum(y)


def first(operation):
    return pytest.raises(
        tf.errors.InvalidArgumentError,
        match=rf"(?s)output 0 of operation '{operation}'.*test_numerics_watch\.py:\d+",
    )


@pytest.mark.parametrize("options", EXECUTORS.values(), ids=EXECUTORS)
def test_graphs_name_the_operation_and_the_line(options):
    traced = tf.function(total, **options)
    assert float(traced(tf.constant([1.0, 1.0]))) == 0.0
    with first("log"):
        traced(tf.constant([0.0, 1.0]))


def test_eager_operations_are_checked_at_once():
    with first("log"):
        total(tf.constant([0.0, 1.0]))
    with first("add"):
        tf.constant([float("nan")]) + 1.0


def test_gradients_are_checked():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x)
        return tape.gradient(y, x)

    for function in (slope, tf.function(slope)):
        with first("reciprocal"):
            function(tf.constant(0.0))


def test_operations_that_move_elements_are_not_checked():
    infinite = tf.constant([float("-inf"), 1.0])
    assert tf.reshape(tf.concat([infinite, infinite], 0), [2, 2]).shape == (2, 2)
    assert tf.Variable(infinite).numpy()[0] == float("-inf")
    assert tf.reverse(infinite, [0]).numpy()[1] == float("-inf")


def test_the_checks_end():
    tf.debugging.disable_check_numerics()
    assert tf.math.log(0.0).numpy() == float("-inf")
    assert tf.function(tf.math.log)(tf.constant(0.0)).numpy() == float("-inf")
