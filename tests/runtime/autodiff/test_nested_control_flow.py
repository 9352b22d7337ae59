"""Gradients through loops and branches in each other are those that differences of values give.

A nest is a tuple such as ("while", "for", "if"). With `AGC_FUZZ` in the environment the test goes through all nests
of up to four levels, in every executor, with tapes inside and outside.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import CompilationError

HEADS = {
    "for": "for {v} in tf.range(n):",
    "while": "while {v} < n:",
    "if": "if tf.reduce_sum(x) * {sign} > 0.3:",
    "items": "for {v} in tf.linspace(x[0] * 0.1, x[1], n):",
}
"""The first line of each kind of block."""

Nest = tuple[str, ...]


def text_of(nest: Nest) -> str:
    """Write a function with these blocks in each other; each computes something before and after the next."""
    lines = ["def f(x, n):"]
    for level, kind in enumerate(nest):
        indent, v = "    " * (level + 1), f"v{level}"
        if kind == "while":
            lines.append(f"{indent}{v} = 0")
        lines.append(indent + HEADS[kind].format(v=v, sign=(-1) ** level))
        if kind == "while":
            lines.append(f"{indent}    {v} += 1")
        lines.append(f"{indent}    x = x + 0.1 * tf.sin(x * {level + 2}.0)")
        if kind == "items":
            lines.append(f"{indent}    x = x * tf.cos({v})")
    lines.append("    " * (len(nest) + 1) + "x = tf.sin(x) * 1.1 + 0.1 * x * x")
    for level in reversed(range(len(nest))):
        indent = "    " * (level + 1)
        lines.append(f"{indent}    x = x - 0.05 * x * x")
        if nest[level] == "if":
            lines += [f"{indent}else:", f"{indent}    x = tf.tanh(x) * 0.9 - 0.2"]
    return "\n".join([*lines, "    return tf.reduce_sum(x * tf.constant([1.0, -0.7], tf.float64))", ""])


def written(nest: Nest, folder: Path) -> Any:
    """The function of a nest, in a file of its own."""
    path = folder / "nest.py"
    path.write_text(text_of(nest))
    names: dict[str, Any] = {"tf": tf}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["f"]


Way = Callable[[Any, Any], Any]


def outside(f: Way, compiled: Callable[[Way], Way]) -> tuple[Way, Way]:
    """The first and second derivatives; tapes are around calls of the function."""
    called = compiled(f)
    first = derived(called)
    return first, derived(lambda x, n: weighted(first(x, n)))


def inside(f: Way, compiled: Callable[[Way], Way]) -> tuple[Way, Way]:
    """The function itself has the tapes."""
    first = derived(f)
    return compiled(first), compiled(derived(lambda x, n: weighted(first(x, n))))


def between(f: Way, compiled: Callable[[Way], Way]) -> tuple[Way, Way]:
    """The function has one tape, and another one is around its calls."""
    first = compiled(derived(f))
    return first, derived(lambda x, n: weighted(first(x, n)))


def derived(f: Way) -> Way:
    def gradient(x: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, n)
        return tape.gradient(y, x)

    return gradient


def weighted(gradient: Any) -> Any:
    return tf.reduce_sum(gradient * tf.constant([0.6, 1.3], tf.float64))


def differences(f: Callable[[Any], Any], x: Any) -> Any:
    """The derivatives of a function, by its values on both sides."""
    steps = np.eye(len(x)) * 1e-6
    return np.array([(float(f(x + step)) - float(f(x - step))) / 2e-6 for step in steps])


PLACES = {"outside": outside, "inside": inside, "between": between}
EXECUTORS: dict[str, dict[str, Any]] = {
    "plan": {"jit_compile": False},
    "native": {"jit_compile": True},
    "interpret": {"experimental_executor": "interpret"},
}


def nests(depth: int) -> Iterator[Nest]:
    return itertools.product(HEADS, repeat=depth)


REFUSALS = (
    "lists of lists of lists are not compiled",
    "array_one_list: there is no native code for it",
    "the shape of its elements, float64[?], is not known",
)
FEW = [("while", "for", "items"), ("for", "if")]
IS_LONG = bool(os.environ.get("AGC_FUZZ"))
CASES = [nest for depth in range(1, 5) for nest in nests(depth)] if IS_LONG else FEW


@pytest.mark.parametrize("nest", CASES, ids="-".join)
def test_derivatives_agree_with_finite_differences(nest: Nest, tmp_path: Path) -> None:
    f = written(nest, tmp_path)
    x, n = np.array([0.4, 0.7]), tf.constant(2)
    by_plan = tf.function(f, jit_compile=False), tf.function(derived(f), jit_compile=False)
    first = differences(lambda x: by_plan[0](tf.constant(x), n), x)
    second = differences(lambda x: weighted(by_plan[1](tf.constant(x), n)), x)
    for executor, place in itertools.product(EXECUTORS, PLACES) if IS_LONG else [("native", "outside")]:
        slope, curve = PLACES[place](f, lambda f, how=executor: tf.function(f, **EXECUTORS[how]))  # type: ignore[misc]
        try:
            np.testing.assert_allclose(
                slope(tf.constant(x), n), first, 1e-6, 1e-8, err_msg=f"{executor} {place}"
            )
            np.testing.assert_allclose(
                curve(tf.constant(x), n), second, 1e-5, 1e-7, err_msg=f"{executor} {place}"
            )
        except CompilationError as refusal:  # what a tape inside saves is part of what is to be compiled
            assert place != "outside" and any(reason in str(refusal) for reason in REFUSALS)


def nested_squares(depth: int, x: Any) -> Any:
    """Return `x` squared once, within `depth` loops of one iteration."""
    if not depth:
        return x * x
    return tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, nested_squares(depth - 1, x)), (0, x))[1]


def test_gradients_of_nested_loops_grow_with_the_square_of_the_depth() -> None:
    @tf.function(autograph=False)
    def gradient(depth: int, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = nested_squares(depth, x)
        return tape.gradient(y, x)

    x = tf.constant(1.5)
    ten, twenty = (
        sum(1 for _ in gradient.get_concrete_function(depth, x).graph.walk()) for depth in (10, 20)
    )
    assert twenty < 4 * ten
    assert gradient(10, x) == 3.0
