"""Algorithms give what Python gives: compiled, batched, differentiated, and as XLA programs of tensors.

Some of each in the suite; all with AGC_FUZZ.
"""

import os

import agc.jax
import agc.runtime as tf
import jax
import numpy as np
import pytest
from jax_backend.algorithms import ALGORITHMS, MIXED, SMOOTH


def cases(start, step, chosen=lambda function: True):
    if os.environ.get("AGC_FUZZ"):
        start, step = 0, 1
    found = [(function, calls) for function, calls in ALGORITHMS if chosen(function)]
    return [pytest.param(*each, id=each[0].__name__) for each in found[start::step]]


def expected(function, calls):
    """The results in Python, for copies of the arrays, which programs change in place."""
    return [function(*(x.copy() for x in arguments)) for arguments in calls]


def compare(found, wanted):
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("function", "calls"), cases(0, 3))
def test_compiled(function, calls):
    compiled = agc.jax.jit(function)
    for arguments, wanted in zip(calls, expected(function, calls), strict=True):
        compare(compiled(*map(jax.numpy.asarray, arguments)), wanted)


@pytest.mark.parametrize(("function", "calls"), cases(2, 5))
def test_batched(function, calls):
    columns = [jax.numpy.stack(column) for column in zip(*calls, strict=True)]
    batch = jax.jit(jax.vmap(agc.jax.autograph(function)))(*columns)
    for number, wanted in enumerate(expected(function, calls)):
        compare(jax.tree.map(lambda x, number=number: x[number], batch), wanted)


@pytest.mark.parametrize(("function", "calls"), cases(0, 2, lambda function: function in SMOOTH))
def test_gradients_are_those_of_finite_differences(function, calls):
    first, *others = (np.asarray(x, np.float64) for x in calls[0])
    wanted = np.zeros_like(first)
    for place in np.ndindex(first.shape):
        change = np.zeros_like(first)
        change[place] = 1e-6
        wanted[place] = (function(first + change, *others) - function(first - change, *others)) / 2e-6
    found = jax.jit(jax.grad(agc.jax.autograph(function)))(*map(jax.numpy.asarray, calls[0]))
    np.testing.assert_allclose(found, wanted, rtol=2e-2, atol=1e-3)


@pytest.mark.parametrize(("function", "calls"), cases(1, 6, lambda function: function not in MIXED))
def test_programs_of_tensors(function, calls):
    compiled = tf.function(function, jit_compile="xla")
    for arguments, wanted in zip(calls, expected(function, calls), strict=True):
        compare(tf.nest.map_structure(np.asarray, compiled(*map(tf.constant, arguments))), wanted)


@pytest.mark.parametrize(("function", "calls"), cases(0, 1, lambda function: function in MIXED))
def test_tensors_refuse_to_mix_integers_and_floats(function, calls):
    with pytest.raises(TypeError, match="int32"):
        tf.function(function, jit_compile="xla")(*map(tf.constant, calls[0]))
