"""The programs under fixtures/programs that take fractions: their gradients are right, by tapes of all kinds.

The tape around the eager program, which Python's own control flow runs, is held against central differences, and the
others against it.
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
GIVES_NONE = {"annealing"}
"""Those that give whole numbers only, which have no gradients."""

JUMP = {"bisection", "pagerank"}
"""Differences say nothing there: bisection chooses by its inputs, and a page with one link lies on a kink."""


def is_fraction(x: Any) -> bool:
    return bool(tf.is_tensor(x) and x.dtype.is_floating)


def total(f: Callable[..., Any], args: Any) -> Any:
    """The sum of all results that are fractions; 0 without any."""
    return sum(tf.reduce_sum(y) for y in tf.nest.flatten(f(*args)) if is_fraction(y))


def sloped(f: Callable[..., Any]) -> Callable[..., Any]:
    """What the arguments that are fractions get from the sum of all results that are."""

    def derivatives(*args: Any) -> Any:
        sources = [x for x in args if is_fraction(x)]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = total(f, args)
        return tape.gradient(y, sources, unconnected_gradients="zero")

    return derivatives


def along(f: Callable[..., Any], args: Any, directions: list[Any], width: float) -> float:
    """The change of the sum along a direction, by central differences."""
    ends = []
    for step in (width, -width):
        rest = iter(directions)
        moved = [x + tf.cast(step * next(rest), x.dtype) if is_fraction(x) else x for x in args]
        ends.append(float(total(f, moved)))
    return (ends[0] - ends[1]) / (2 * width)


@pytest.mark.parametrize("name", TAKES_FRACTIONS)
def test_gradients_of_programs(name: str) -> None:
    program = programs.load(name)
    ways = [
        tf.function(sloped(program.entry)),
        tf.function(sloped(program.entry), experimental_executor="interpret"),
        sloped(tf.function(program.entry)),
    ]
    for index in range(min(len(program.inputs), 2)):
        args = program.tensor_arguments(index, tf.constant)
        try:
            has_gradients = tf.is_tensor(total(program.entry, args))
        except (AssertionError, ValueError, IndexError, tf.errors.OpError):
            continue  # inputs that the program refuses
        assert has_gradients is (name not in GIVES_NONE)
        if not has_gradients:
            continue
        expected = sloped(program.entry)(*args)
        directions = [np.random.RandomState(5).uniform(0.5, 1.0, x.shape) for x in args if is_fraction(x)]
        product = sum(float(np.sum(g.numpy() * d)) for g, d in zip(expected, directions, strict=True))
        if name not in JUMP:
            change = along(program.entry, args, directions, 1e-3)
            np.testing.assert_allclose(product, change, rtol=2e-2, atol=2e-3)
        for way in ways:
            for one, other in zip(way(*args), expected, strict=True):
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-3, atol=1e-5)
