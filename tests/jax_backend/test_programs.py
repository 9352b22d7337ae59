"""Programs compiled with `agc.jax.jit` give what Python gives."""

import functools

import agc.jax
import jax
import numpy as np
import pytest
from jax_backend.programs import PROGRAMS

CASES = [
    pytest.param(function, arguments, id=f"{function.__name__}-{number}")
    for function, calls in PROGRAMS
    for number, arguments in enumerate(calls)
]
compiled = functools.cache(agc.jax.jit)


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_the_compiled_program_gives_what_python_gives(function, arguments):
    expected = function(*arguments)
    found = compiled(function)(*map(jax.numpy.asarray, arguments))
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
