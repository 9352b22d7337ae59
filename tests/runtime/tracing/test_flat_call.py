"""A concrete function is called with the tensors of its trace only: its Python values need not be given again."""

from __future__ import annotations

from types import SimpleNamespace

import agc.runtime as tf
import pytest

X = tf.constant(10.0)


@pytest.fixture
def concrete():
    def f(model, x, power=2, *, shift=X):
        return model.weight * x**power + shift

    model = SimpleNamespace(weight=3.0)
    made = tf.function(f).get_concrete_function(model, X)
    made.kept = model  # the trace holds it weakly
    return made


@pytest.mark.parametrize("repetition", range(3))
def test_tensors_are_given_in_order_or_by_name(concrete, repetition):
    for _ in range(repetition + 1):
        assert concrete(X, tf.constant(1.0)).numpy() == 301.0
        assert concrete(X, shift=tf.constant(1.0)).numpy() == 301.0
        assert concrete(x=X, shift=tf.constant(1.0)).numpy() == 301.0


def test_a_full_call_goes_first(concrete):
    assert concrete(concrete.kept, X, 2, shift=tf.constant(1.0)).numpy() == 301.0


@pytest.mark.parametrize(
    "args, kwargs",
    [((X,), {}), ((X, 1.0), {}), ((X, X, X), {}), ((X,), {"y": X}), ((X, tf.constant(1)), {})],
    ids=["few", "number", "many", "name", "dtype"],
)
def test_other_calls_are_type_errors(concrete, args, kwargs):
    with pytest.raises(TypeError):
        concrete(*args, **kwargs)


def test_the_tensors_of_nested_arguments_are_inputs():
    def difference(pair, unused):
        return pair["a"] - pair["b"][0]

    concrete = tf.function(difference).get_concrete_function({"a": X, "b": [X]}, "unused")
    assert concrete(X, tf.constant(1.0)).numpy() == 9.0
    assert concrete(pair_a=X, pair_b_0=tf.constant(1.0)).numpy() == 9.0


def test_a_spec_names_its_input():
    spec = tf.TensorSpec([], name="left")
    concrete = tf.function(lambda a, b: a - b).get_concrete_function(spec, tf.TensorSpec([]))
    assert concrete(left=X, b=tf.constant(1.0)).numpy() == 9.0


def test_in_a_graph_and_below_a_tape(concrete):
    assert tf.function(lambda x: concrete(x, X))(X).numpy() == 310.0
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = concrete(X, tf.constant(0.0))
    assert tape.gradient(y, X).numpy() == 60.0


def test_a_method_without_its_instance():
    class Scale(tf.Module):
        @tf.function
        def __call__(self, factor, x):
            return factor * x

    concrete = Scale().__call__.get_concrete_function(3.0, X)
    assert concrete(X).numpy() == 30.0


def test_str_is_the_whole_signature(concrete):
    assert str(concrete).startswith("ConcreteFunction Input Parameters:\n  model (POSITIONAL_OR_KEYWORD): ")
    assert "  shift (KEYWORD_ONLY): TensorSpec(shape=(), dtype=tf.float32, name=" in str(concrete)
