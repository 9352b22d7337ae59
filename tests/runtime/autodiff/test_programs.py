"""The programs under fixtures/programs that take fractions: their gradients are right, by tapes of all kinds.

The tape around the eager program, which Python's own control flow runs, is held against central differences, and the
others against it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support import programs

TAKES_FRACTIONS = [
    name for name in programs.NAMES if any(str(d).startswith("float") for d in programs.load(name).dtypes)
]
GIVES_NONE = {"annealing"}
"""Those that give whole numbers only, which have no gradients."""

CHOOSE = {"bisection": 3, "pagerank": 2}
"""Programs with loops that end by an argument, which only decides: its place. It is not moved, nor are the others by so
much that they would decide otherwise. `bisection` is an affine function of the ends of the interval between its
decisions; of the coefficients nothing but the decisions depends.
"""

WIDTHS = {"bisection": 1e-6, "pagerank": 3e-4}
"""How far arguments are moved, if that is not 0.001."""

DOUBLE = {"bisection"}
"""Programs that are moved so little that they need float64."""

ONE_SIDED = {"pagerank"}
"""Programs at a kink: a page with one link has as many as the maximum that it is compared with, where the gradient is
that of more. A page without links stays so, for with any it jumps to another formula.
"""


def is_fraction(x: Any) -> bool:
    return bool(tf.is_tensor(x) and x.dtype.is_floating)


def total(f: Callable[..., Any], args: Any) -> Any:
    """The sum of all results that are fractions, with weights; 0 without any."""
    return sum(weighted(y) for y in tf.nest.flatten(f(*args)) if is_fraction(y))


def weighted(y: Any) -> Any:
    flat = tf.reshape(y, [-1])
    return tf.reduce_sum(flat * (1.0 + tf.cast(tf.range(tf.size(flat)), y.dtype) / 4.0))


def sloped(f: Callable[..., Any]) -> Callable[..., Any]:
    """What the arguments that are fractions get from the sum of all results that are."""

    def derivatives(*args: Any) -> Any:
        sources = [x for x in args if is_fraction(x)]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = total(f, args)
        return tape.gradient(y, sources, unconnected_gradients="zero")

    return derivatives


def directions_of(name: str, args: Any) -> list[Any]:
    """Where each argument that is a fraction is moved to."""
    found = []
    for place, x in enumerate(args):
        if is_fraction(x):
            way = np.random.RandomState(5 + place).uniform(0.5, 1.0, x.shape)
            found.append(way * (place != CHOOSE.get(name)))
    if name == "pagerank":
        found[0] *= np.sum(args[0].numpy(), axis=1, keepdims=True) > 0
    return found


def along(name: str, f: Callable[..., Any], args: Any, directions: list[Any]) -> float:
    """The change of the sum along a direction, by central differences, or by those on one side."""
    width = WIDTHS.get(name, 1e-3)

    def at(step: float) -> float:
        rest = iter(directions)
        return float(
            total(f, [x + tf.cast(step * next(rest), x.dtype) if is_fraction(x) else x for x in args])
        )

    if name in ONE_SIDED:
        return (4 * at(width) - 3 * at(0.0) - at(2 * width)) / (2 * width)
    return (at(width) - at(-width)) / (2 * width)


def arguments_of(program: programs.Program, index: int) -> list[Any]:
    args = program.tensor_arguments(index, tf.constant)
    if program.name in DOUBLE:
        return [tf.cast(x, tf.float64) if is_fraction(x) else x for x in args]
    return args


@pytest.mark.parametrize("name", TAKES_FRACTIONS)
def test_gradients_of_programs(name: str) -> None:
    program = programs.load(name)
    ways = [
        tf.function(sloped(program.entry)),
        tf.function(sloped(program.entry), experimental_executor="interpret"),
        sloped(tf.function(program.entry)),
    ]
    for index in range(min(len(program.inputs), 2)):
        args = arguments_of(program, index)
        try:
            has_gradients = tf.is_tensor(total(program.entry, args))
        except (AssertionError, ValueError, IndexError, tf.errors.OpError):
            continue  # inputs that the program refuses
        assert has_gradients is (name not in GIVES_NONE)
        if not has_gradients:
            continue
        expected = sloped(program.entry)(*args)
        directions = directions_of(name, args)
        product = sum(float(np.sum(g.numpy() * d)) for g, d in zip(expected, directions, strict=True))
        np.testing.assert_allclose(
            product, along(name, program.entry, args, directions), rtol=2e-2, atol=2e-3
        )
        for way in ways:
            for one, other in zip(way(*args), expected, strict=True):
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-3, atol=1e-5)


def test_values_used_only_in_conditions_have_no_gradient() -> None:
    coefficients, low, high, width = sloped(programs.load("bisection").entry)(
        tf.constant([1.0, 0.0, -2.0]), tf.constant(0.0), tf.constant(2.0), tf.constant(1e-3)
    )
    assert not np.any(coefficients.numpy()) and float(width) == 0.0
    assert float(low) + float(high) == 1.0
