"""The programs under fixtures/programs that take fractions: their gradients, by tapes of all kinds, are the same.

The tape around the eager program, which Python's own control flow runs, is what the others are held against.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import programs
import pytest

TAKES_FRACTIONS = [
    name for name in programs.NAMES if any(str(d).startswith("float") for d in programs.load(name).dtypes)
]


def sloped(f: Callable[..., Any]) -> Callable[..., Any]:
    """What the arguments that are fractions get from the sum of all results that are."""

    def derivatives(*args: Any) -> Any:
        sources = [x for x in args if tf.is_tensor(x) and x.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            results = tf.nest.flatten(f(*args))
            total = [tf.reduce_sum(y) for y in results if tf.is_tensor(y) and y.dtype.is_floating]
        return tape.gradient(total, sources, unconnected_gradients="zero")

    return derivatives


@pytest.mark.parametrize("name", TAKES_FRACTIONS)
def test_gradients_of_programs_agree(name: str) -> None:
    program = programs.load(name)
    for index in range(min(len(program.inputs), 2)):
        args = program.tensor_arguments(index, tf.constant)
        try:
            expected = sloped(program.entry)(*args)
        except (AssertionError, ValueError, IndexError, tf.errors.OpError):
            continue  # inputs that the program refuses
        ways = [
            tf.function(sloped(program.entry)),
            tf.function(sloped(program.entry), experimental_executor="interpret"),
            sloped(tf.function(program.entry)),
        ]
        for way in ways:
            for one, other in zip(way(*args), expected, strict=True):
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-3, atol=1e-5)
