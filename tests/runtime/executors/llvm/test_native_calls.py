"""Functions with `jit_compile=True` that a plan calls."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm.native_calls import NativePart, with_native_calls
from agc.runtime.executors.plan.plan import Plan
from agc.runtime.optimize import optimize

ROW = np.array([1.0, 2.0], np.float32)
X = tf.constant(ROW)


@tf.function(jit_compile=True)
def sine(x):
    return tf.sin(x) * X


def parts(function, *args):
    """Return the native parts of the plan of a function."""
    graph = with_native_calls(optimize(function.get_concrete_function(*args).graph))
    return [operation.attrs["part"] for operation in graph.walk() if "part" in operation.attrs]


def test_the_call_remains_one_operation():
    function = tf.function(lambda x: sine(x) + 1.0, jit_compile=False)
    (part,) = parts(function, X)
    assert type(part) is NativePart
    graph = function.get_concrete_function(X).graph
    assert "call @sine" in str(optimize(graph))
    assert "jit_compile=true" in str(optimize(graph)).lower()
    expected = (np.sin(ROW) * ROW + 1).tolist()
    assert function(X).numpy().tolist() == pytest.approx(expected)
    assert interpret(graph, [ROW])[0].tolist() == pytest.approx(expected)
    assert Plan(graph).run([ROW])[0].tolist() == pytest.approx(expected)


def test_native_code_of_the_caller_inlines_the_call():
    function = tf.function(lambda x: sine(x) + 1.0, jit_compile=True)
    assert function(X).numpy().tolist() == pytest.approx((np.sin(ROW) * ROW + 1).tolist())


def test_a_call_within_a_loop_and_a_branch():
    @tf.function(jit_compile=False)
    def function(x, n):
        for i in tf.range(n):
            if i > 0:
                x = sine(x)
        return x

    assert len(parts(function, X, tf.constant(3))) == 1
    expected = np.sin(np.sin(ROW) * ROW) * ROW
    assert function(X, tf.constant(3)).numpy().tolist() == pytest.approx(expected.tolist())


def test_gradients_are_compiled_too():
    @tf.function(jit_compile=False)
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = sine(x)
        return tape.gradient(y, x)

    assert len(parts(slope, X)) == 2
    assert slope(X).numpy().tolist() == pytest.approx((np.cos(ROW) * ROW).tolist())


def test_variables_are_assigned_in_order():
    total = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return total * x

    @tf.function(jit_compile=False)
    def function(x):
        add(x)  # the result is not used
        total.assign(total * 2.0)
        return add(x)

    assert function(X).numpy().tolist() == [11.0, 22.0]
    assert total.numpy() == 11.0


def test_random_numbers_are_those_of_the_interpreter():
    def draws(**options):
        tf.random.set_seed(3)
        inner = tf.function(lambda: tf.random.normal([3]), **options)
        outer = tf.function(lambda: (inner(), inner()), jit_compile=False)
        return [x.numpy().tolist() for _ in range(2) for x in outer()]

    first, second, third, fourth = draws(jit_compile=True)
    assert [first, second, third, fourth] == draws(jit_compile=False)
    assert first != third


def test_nests_of_results_and_tensor_arrays():
    @tf.function(jit_compile=True)
    def inner(array, x):
        return {"first": array.read(0), "size": tf.shape(x), "three": 3, "array": array.write(0, x * 2.0)}

    @tf.function(jit_compile=False)
    def function(x):
        found = inner(tf.TensorArray(tf.float32, 1, element_shape=[2]).write(0, x), x)
        return found["first"], found["size"], found["three"], found["array"].read(0)

    assert [x.numpy().tolist() for x in function(X)] == [[1.0, 2.0], [2], 3, [2.0, 4.0]]


def test_numbers_in_loops():
    @tf.function(jit_compile=True)
    def next_state(n, x):
        return n + 1, x * 2.0

    @tf.function(jit_compile=False)
    def function(x):
        n = tf.constant(0)
        while n < 3:
            n, x = next_state(n, x)
        return n, x

    n, x = function(X)
    assert n.numpy() == 3
    assert n.dtype is tf.int32
    assert x.numpy().tolist() == [8.0, 16.0]


def test_errors_name_the_line_of_the_function_that_was_called():
    @tf.function(jit_compile=True)
    def checked(x):
        tf.debugging.assert_less(x, 1.0, message="too big")
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"too big[^\n]*\n  at .*, in checked$"):
        tf.function(lambda x: checked(x) + 1.0, jit_compile=False)(X)


def test_a_function_that_cannot_be_compiled_runs_in_a_plan():
    lengths = tf.function(lambda x: tf.strings.length(tf.strings.as_string(x)), jit_compile=True)
    assert tf.function(lambda x: lengths(x) + 1, jit_compile=False)(X).numpy().tolist() == [9, 9]
