"""Gradients that the user gives, in eager code, in graphs and around calls of functions, to second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.ir.parser import parse
from support.verifier import verify

V = tf.Variable(2.0)
X = tf.constant(1.5)


def slope(f: Callable[[Any], Any], of: Any = None) -> Callable[[Any], Any]:
    def derivative(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x if of is None else of)

    return derivative


def everywhere(f: Callable[[Any], Any], of: Any = None) -> list[Any]:
    """The derivative inside and outside of functions."""
    found = [
        slope(f, of)(X),
        tf.function(slope(f, of))(X),
        tf.function(slope(tf.function(f), of))(X),
        slope(tf.function(f), of)(X),
    ]
    return [None if d is None else d.numpy() for d in found]


@tf.custom_gradient
def log1pexp(x: Any) -> Any:
    e = tf.exp(x)
    return tf.math.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


def test_the_given_gradient_is_used() -> None:
    assert everywhere(log1pexp) == pytest.approx([0.8175745] * 4)


def test_a_custom_gradient_can_be_differentiated() -> None:
    assert everywhere(slope(log1pexp)) == pytest.approx([0.14914645] * 4)


def test_no_nan_where_the_plain_function_has_one() -> None:
    x = tf.constant(100.0)
    assert slope(log1pexp)(x).numpy() == 1.0


def test_a_clipped_gradient() -> None:
    @tf.custom_gradient
    def clipped(x: Any, norm: float) -> Any:
        return tf.identity(x), lambda dy: [tf.clip_by_value(dy, -norm, norm), None]

    assert everywhere(lambda x: clipped(x, 0.5) * 4.0) == [0.5] * 4


def test_custom_gradients_can_be_nested() -> None:
    @tf.custom_gradient
    def tripled(x: Any) -> Any:
        return log1pexp(x) * 3.0, lambda dy: dy * log1pexp(x)

    assert everywhere(tripled) == pytest.approx([1.7014133] * 4)
    assert everywhere(slope(tripled)) == pytest.approx([0.8175745] * 4)


def test_variables_have_gradients_of_their_own() -> None:
    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        def grad(dy: Any, variables: Any) -> Any:
            return dy * 10.0, [dy * x for _ in variables]

        return x * V, grad

    assert everywhere(scaled) == [10.0] * 4
    assert everywhere(scaled, of=V) == [1.5] * 4


def test_a_gradient_that_does_not_take_variables_is_refused() -> None:
    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        return x * V, lambda dy: dy

    with pytest.raises(TypeError, match="must accept a keyword argument `variables`"):
        scaled(X)


def test_a_wrong_number_of_gradients_is_refused() -> None:
    @tf.custom_gradient
    def added(x: Any, y: Any) -> Any:
        return x + y, lambda dy: dy

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = added(X, X)
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1"):
        tape.gradient(y, X)


def test_a_function_without_a_gradient_function_is_refused() -> None:
    def doubled(x: tf.Tensor) -> Any:
        return x * 2

    for run in (tf.custom_gradient(doubled), tf.function(tf.custom_gradient(doubled))):
        for x in (tf.constant(1.0), tf.constant([1.0, 2.0])):
            with pytest.raises(TypeError, match="doubled must return a pair"):
                run(x)


def test_the_object_of_a_method_has_no_gradient() -> None:
    class Layer:
        @tf.custom_gradient
        def scaled(self, x: Any, factor: float) -> Any:
            return x * factor, lambda dy: dy * 7.0

    layer = Layer()
    assert everywhere(lambda x: layer.scaled(x, 3.0)) == [7.0] * 4


def test_several_results() -> None:
    @tf.custom_gradient
    def both(x: Any, y: Any) -> Any:
        return (x * y, x + y), lambda dp, ds: (dp * 2.0, ds * 3.0)

    def f(x: Any) -> Any:
        product, total = both(x, x * 10.0)
        return product + total * 5.0

    assert everywhere(f) == [2.0 + 150.0] * 4


def test_recompute_grad() -> None:
    f = tf.recompute_grad(lambda x: tf.sin(x) * tf.exp(x) * V)
    plain = everywhere(lambda x: tf.sin(x) * tf.exp(x) * V)
    assert everywhere(f) == pytest.approx(plain)
    assert everywhere(f, of=V) == pytest.approx(everywhere(lambda x: tf.sin(x) * tf.exp(x) * V, of=V))
    assert everywhere(slope(f)) == pytest.approx(everywhere(slope(lambda x: tf.sin(x) * tf.exp(x) * V)))


def test_a_recomputed_function_has_no_gradient_for_what_it_captures() -> None:
    """As in TensorFlow, and so also if the captured tensor is the argument, too."""

    def f(x: Any) -> Any:
        tripled = x * 3.0
        return tf.recompute_grad(lambda y: tripled + y * y)(tripled)

    assert everywhere(f) == [2.0 * 3.0 * float(X) * 3.0] * 4


def test_recomputed_values_are_not_saved() -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        return tf.sin(tf.sin(x))

    with tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.recompute_grad(f)(X)
    assert len(tape._records or []) == 1
    tape.gradient(y, X)
    assert len(calls) == 2


def test_grad_pass_through() -> None:
    f = tf.grad_pass_through(lambda x: tf.round(x) * V)
    assert everywhere(f) == [1.0] * 4
    assert everywhere(f, of=V) == [None] * 4


@tf.custom_gradient
def exponential(x: Any) -> Any:
    """The gradient function calls the function itself."""
    return tf.exp(x), lambda dy: dy * exponential(x)


def test_a_gradient_function_calls_its_function() -> None:
    """A graph contains the gradients of three orders; eager code has all."""
    assert everywhere(slope(slope(exponential))) == pytest.approx([4.481689] * 4)
    fourth = slope(slope(slope(slope(exponential))))
    assert fourth(X).numpy() == pytest.approx(4.481689)
    for traced in (tf.function(fourth), slope(slope(slope(slope(tf.function(exponential)))))):
        with pytest.raises(LookupError, match="up to order 3, and this one of `exponential` is of order 4"):
            traced(X)


def test_recomputed_functions_contain_others() -> None:
    """Each recomputes what is inside of it, in the same derivative."""

    def f(x: Any) -> Any:
        return tf.sin(x) * x

    deep = f
    for _ in range(5):
        deep = tf.recompute_grad(deep)
    assert everywhere(deep) == pytest.approx([slope(f)(X).numpy()] * 4)


def test_functions_call_each_other_in_their_gradients() -> None:
    @tf.custom_gradient
    def sine(x: Any) -> Any:
        return tf.sin(x), lambda dy: dy * cosine(x)

    @tf.custom_gradient
    def cosine(x: Any) -> Any:
        return tf.cos(x), lambda dy: -dy * sine(x)

    assert everywhere(slope(slope(sine))) == pytest.approx([-0.0707372] * 4)


def test_a_gradient_function_that_raises_does_so_when_something_differentiates() -> None:
    @tf.custom_gradient
    def hard(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            raise NotImplementedError("no gradient of hard")

        return tf.round(x), grad

    assert tf.function(hard)(X).numpy() == 2.0
    for inside in (slope(hard), tf.function(slope(hard))):
        with pytest.raises(NotImplementedError, match="no gradient of hard"):
            inside(X)
    with pytest.raises(
        LookupError, match=r"`hard` raises NotImplementedError: no gradient of hard \(.*py:\d+, in grad\)"
    ):
        slope(tf.function(hard))(X)


def test_graphs_with_custom_gradients_are_texts_like_others() -> None:
    graph = tf.function(slope(slope(log1pexp))).get_concrete_function(X).graph
    verify(graph)
    assert str(parse(str(graph))) == str(graph)


def test_custom_gradients_in_loops_and_branches() -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in tf.range(3):
            if y > 0.0:
                y = log1pexp(y) * x
        return y

    def plain(x: Any) -> Any:
        y = x
        for _ in range(3):
            y = tf.math.log(1 + tf.exp(y)) * x
        return y

    assert everywhere(f) == pytest.approx([slope(plain)(X).numpy()] * 4)
