"""Gradients of the eager tensors that a traced function closes over."""

import agc.runtime as tf
import pytest

X = tf.constant([2.0, 5.0])
W = tf.constant([3.0, 4.0])


def gradients(function, *sources, persistent=False):
    """Return the gradients of `function(X)` by the sources, as lists; by `W` and `X` if none are given."""
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch([W, X])
        y = function(X)
    found = tape.gradient(y, list(sources or (W, X)))
    return [None if g is None else tf.convert_to_tensor(g).numpy().tolist() for g in found]


def branch(x):
    return x * W if tf.reduce_sum(x) > 0 else x - W


def loop(x):
    for _ in tf.range(3):
        x = x * W
    return x


def state_of_loop(x):
    y = W
    while tf.reduce_sum(y) < 1000.0:
        y = y * W + x
    return y


def switch(x):
    return tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x, lambda: W, lambda: x * W * W])


@tf.function
def squared(x):
    return x * W * W


PROGRAMS = [
    (lambda x: x * W, [[2.0, 5.0], [3.0, 4.0]]),
    (lambda x: (W, W * x), [[3.0, 6.0], [3.0, 4.0]]),
    (lambda x: tf.gather(W, [1, 1]) * x, [[0.0, 7.0], [4.0, 4.0]]),
    (branch, [[2.0, 5.0], [3.0, 4.0]]),
    (loop, [[54.0, 240.0], [27.0, 64.0]]),
    (state_of_loop, [[473.0, 1565.0], [40.0, 85.0]]),
    (switch, [[12.0, 40.0], [9.0, 16.0]]),
    (lambda x: squared(x) * W, [[54.0, 240.0], [27.0, 64.0]]),
    (lambda x: tf.map_fn(lambda row: row * W, tf.stack([x, x])), [[4.0, 10.0], [6.0, 8.0]]),
    (lambda x: tf.vectorized_map(lambda row: row * W, tf.stack([x, x])), [[4.0, 10.0], [6.0, 8.0]]),
    (lambda x: tf.py_function(lambda a, b: a * b, [x, W], tf.float32), [[2.0, 5.0], [3.0, 4.0]]),
]


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_gradients_reach_captured_tensors(program, expected, persistent):
    assert gradients(tf.function(program), persistent=persistent) == expected


@pytest.mark.parametrize("number", [0, 4, 5])
def test_native_code(number):
    program, expected = PROGRAMS[number]
    assert gradients(tf.function(program, jit_compile=True)) == expected


def test_a_function_that_was_traced_before_the_tape():
    function = tf.function(lambda x: x * W)
    function(X)
    assert gradients(function) == [[2.0, 5.0], [3.0, 4.0]]


def test_a_concrete_function():
    concrete = tf.function(lambda x: x * W).get_concrete_function(tf.TensorSpec([2]))
    assert gradients(concrete) == [[2.0, 5.0], [3.0, 4.0]]


def test_a_function_that_assigns_a_variable():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def function(x):
        v.assign_add(x)
        return v * W

    assert gradients(function, W) == [[3.0, 7.0]]
    assert gradients(function, W, persistent=True) == [[5.0, 12.0]]


def test_a_captured_tensor_that_depends_on_a_watched_one():
    with tf.GradientTape() as tape:
        tape.watch(W)
        square = W * W
        y = tf.function(lambda x: x * square)(X)
    assert [g.numpy().tolist() for g in tape.gradient(y, [W, square])] == [[12.0, 40.0], [2.0, 5.0]]


def test_equal_tensors_are_distinguished():
    copy = tf.identity(W)
    assert gradients(tf.function(lambda x: x * W * copy)) == [[6.0, 20.0], [9.0, 16.0]]


def test_only_watched_tensors_have_gradients():
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = squared(X)
    assert tape.gradient(y, W) is None


def test_second_derivatives():
    function = tf.function(lambda x: x * W * W * W)
    with tf.GradientTape() as outer:
        outer.watch(W)
        with tf.GradientTape() as tape:
            tape.watch(W)
            y = function(X)
        slope = tape.gradient(y, W)
    assert outer.gradient(slope, W).numpy().tolist() == [36.0, 120.0]


def test_jacobian():
    with tf.GradientTape() as tape:
        tape.watch(W)
        y = squared(X)
    assert tape.jacobian(y, W).numpy().tolist() == [[12.0, 0.0], [0.0, 40.0]]


def test_forward_mode():
    with tf.autodiff.ForwardAccumulator(W, tf.constant([1.0, 10.0])) as accumulator:
        y = squared(X)
    assert accumulator.jvp(y).numpy().tolist() == [12.0, 400.0]


def test_a_custom_gradient_passes_only_what_it_returns():
    @tf.custom_gradient
    def scaled(x):
        return x * W, lambda dy: dy * W * W

    function = tf.function(lambda x: scaled(x))
    assert gradients(function) == [None, [9.0, 16.0]]
    with tf.GradientTape() as outer:
        outer.watch(W)
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = function(X)
        slope = tape.gradient(y, X)
    assert outer.gradient(slope, W).numpy().tolist() == [6.0, 8.0]


def test_a_tape_inside_a_function_reaches_what_a_called_function_captures():
    squared(X)

    @tf.function
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(W)
            y = tf.cond(tf.reduce_sum(x) > 0, lambda: squared(x), lambda: x)
        return tape.gradient(y, W)

    assert function(X).numpy().tolist() == [12.0, 40.0]


def test_gradients_in_a_graph_reach_regions_and_calls():
    @tf.function
    def function(x):
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * W, lambda: x)
        z = squared(x)
        for _ in tf.range(2):
            z = z * W
        return tf.gradients([y, z], W)

    assert function(X)[0].numpy().tolist() == [2 + 4 * 2 * 3.0**3, 5 + 4 * 5 * 4.0**3]


def test_the_attribute_of_an_object():
    class Scale(tf.Module):
        def __init__(self):
            self.factor = tf.constant(2.0)

        @tf.function
        def __call__(self, x):
            return x * self.factor

    scale = Scale()
    with tf.GradientTape() as tape:
        tape.watch(scale.factor)
        y = scale(X)
    assert tape.gradient(y, scale.factor).numpy() == 7.0
