"""Traced functions that call themselves, and a tensor decides when that ends."""

import sys

import agc.runtime as tf
import pytest
from agc.autograph import StagingError
from agc.runtime.executors.llvm import CompilationError
from agc.runtime.tracing import recursive_call

EXECUTORS = ("plan", "interpret")


@pytest.fixture(params=EXECUTORS)
def function(request):
    return lambda f: tf.function(f, experimental_executor=request.param)


def test_linear_and_tree_recursion(function):
    @function
    def fact(n):
        if n <= 1:
            return 1
        return n * fact(n - 1)

    @function
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert (fact(tf.constant(10)).numpy(), fib(tf.constant(10)).numpy()) == (3628800, 55)
    assert fib.experimental_get_tracing_count() == 2


def test_recursive_calls_in_arguments_of_recursive_calls(function):
    @function
    def ackermann(m, n):
        if m == 0:
            return n + 1
        if n == 0:
            return ackermann(m - 1, 1)
        return ackermann(m - 1, ackermann(m, n - 1))

    assert ackermann(tf.constant(2), tf.constant(3)).numpy() == 9


def test_functions_that_call_each_other(function):
    @function
    def is_even(n):
        return True if n == 0 else is_odd(n - 1)

    @function
    def is_odd(n):
        return False if n == 0 else is_even(n - 1)

    answers = [[bool(f(tf.constant(n))) for n in range(4)] for f in (is_even, is_odd, is_even)]
    assert answers == [[True, False, True, False], [False, True, False, True], [True, False, True, False]]


def test_in_a_loop_with_a_signature_and_shapes_that_change(function):
    @function
    def trees(n):
        total = 1
        for i in tf.range(n):
            total += trees(i)
        return total

    def quicksort(x):
        if tf.size(x) <= 1:
            return x
        pivot, rest = x[0], x[1:]
        return tf.concat([sort(rest[rest < pivot]), [pivot], sort(rest[rest >= pivot])], 0)

    sort = tf.function(quicksort, input_signature=[tf.TensorSpec([None], tf.int32)])
    assert trees(tf.constant(5)).numpy() == 32
    assert sort(tf.constant([3, 1, 2, 5, 1])).numpy().tolist() == [1, 1, 2, 3, 5]


def test_nests_methods_and_effects(function):
    class Tower:
        def __init__(self):
            self.moves = tf.Variable(0)

        @tf.function
        def solve(self, n, source, target, via):
            if n > 0:
                self.solve(n - 1, source, via, target)
                self.moves.assign_add(1)
                self.solve(n - 1, via, target, source)

    @function
    def grown(n, x):
        if n == 0:
            return {"x": x, "rest": (n, None)}
        found = grown(n - 1, x * 2)
        return {"x": found["x"] + 1, "rest": (found["rest"][0] + 1, None)}

    tower = Tower()
    assert tower.solve(tf.constant(4), *map(tf.constant, (0, 1, 2))) is None
    assert tower.moves.numpy() == 15
    found = grown(tf.constant(2), tf.constant(1))
    assert (found["x"].numpy(), found["rest"][0].numpy(), found["rest"][1]) == (6, 2, None)


# Gradients.


def test_gradients_reach_arguments_variables_and_captured_tensors(function):
    scale, offset = tf.Variable(2.0), tf.constant(5.0)

    @function
    def f(n, x):
        if n == 0:
            return x * offset
        return scale * f(n - 1, x) + tf.constant(1.0)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, offset])
        y = f(tf.constant(2), x)
    found = tape.gradient(y, [scale, x, offset])
    assert y.numpy() == 63
    assert [g.numpy() for g in found] == [61, 20, 12]


def test_second_derivatives(function):
    @function
    def power(x, n):
        return tf.ones_like(x) if n == 0 else x * power(x, n - 1)

    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = power(x, tf.constant(3))
        slope = tape.gradient(y, x)
    assert (slope.numpy(), outer.gradient(slope, x).numpy()) == (27, 18)


def test_gradients_that_would_be_wrong_are_refused():
    w = tf.Variable(2.0)

    @tf.function
    def counting(n):
        if n == 0:
            return 1.0
        w.assign_add(1.0)
        return w * counting(n - 1)

    @tf.function
    def pure(n, x):
        return x if n == 0 else w * pure(n - 1, x)

    with tf.GradientTape() as tape:
        y = counting(tf.constant(2))
    with pytest.raises(tf.errors.UnimplementedError, match="it has an effect"):
        tape.gradient(y, w)
    with tf.GradientTape() as tape:
        y = pure(tf.constant(2), 1.0)
    w.assign(7.0)
    with pytest.raises(tf.errors.UnimplementedError, match="has changed since the call"):
        tape.gradient(y, w)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = pure(tf.constant(3), 1.0)
        slope = tape.gradient(y, w)
    assert slope.numpy() == 3 * 7**2
    with pytest.raises(tf.errors.UnimplementedError, match="no second derivative"):
        outer.gradient(slope, w)


# Limits and refusals.


def test_a_limit_at_run_time(function, monkeypatch):
    monkeypatch.setattr(recursive_call, "LIMIT", 40)

    @function
    def depth(n):
        return n if n == 0 else depth(n - 1) + 1

    limit = sys.getrecursionlimit()
    assert depth(tf.constant(40)).numpy() == 40
    with pytest.raises(tf.errors.ResourceExhaustedError, match="`depth` calls itself more than 40") as caught:
        depth(tf.constant(-1))
    assert len(str(caught.value)) < 800
    assert sys.getrecursionlimit() == limit


def test_an_error_of_the_innermost_call():
    @tf.function
    def halves(n):
        if n == 0:
            return 0
        if n < 0:
            raise ValueError("negative")
        return halves(n - 2) + 1

    assert halves(tf.constant(4)).numpy() == 2
    with pytest.raises(ValueError, match="negative"):
        halves(tf.constant(3))


def refused(f, *args, match, line):
    with pytest.raises(StagingError, match=match) as caught:
        f(*args)
    said = caught.value.diagnostic
    assert (said.code, said.where.line) == ("AGC280", f.python_function.__code__.co_firstlineno + line)


def test_refusals_name_the_recursive_call():
    @tf.function
    def endless(n):
        return endless(n + 1)

    @tf.function
    def array(n):
        if n == 0:
            return tf.TensorArray(tf.int32, 1)
        return array(n - 1)

    refused(endless, tf.constant(1), match="each of its branches calls it again", line=2)
    refused(array, tf.constant(1), match="a recursive call returns tensors", line=4)


def test_tensors_of_a_surrounding_trace_are_refused():
    @tf.function
    def outer(x):
        @tf.function
        def inner(n):
            return x if n == 0 else inner(n - 1) * x

        return inner(tf.constant(2))

    refused(outer, tf.constant(1), match="pass them as arguments", line=4)


def test_native_code_refuses_it_with_the_reason():
    @tf.function(jit_compile=True)
    def fact(n):
        return 1 if n <= 1 else n * fact(n - 1)

    with pytest.raises(CompilationError, match="cannot be compiled to native code"):
        fact(tf.constant(3))
