"""Native code of equal operations is emitted once and then copied, with the results of code that rules emit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import JitFunction, compile_graph
from agc.runtime.executors.llvm.codegen.code_copies import CopiedCode
from agc.runtime.executors.llvm.codegen.function_builder import Emitter
from agc.runtime.executors.llvm.codegen.lazy_values import ConstantArray
from agc.runtime.executors.llvm.codegen.structural_key import Description
from agc.runtime.optimize import outline_repeats

RANDOM = np.random.default_rng(3)
A, B, C = (RANDOM.standard_normal((64, 96)).astype(np.float32) for _ in range(3))
IMAGES = RANDOM.standard_normal((8, 24, 24, 32)).astype(np.float32)
FILTER = RANDOM.standard_normal((3, 3, 32, 32)).astype(np.float32)


def normalized(x: Any, axes: Any = 0) -> Any:
    """A nest that reads values in registers and rows in memory, and two reductions."""
    center = x - tf.reduce_mean(x, axes, keepdims=True)
    return center * tf.math.rsqrt(tf.reduce_mean(tf.square(center), axes, keepdims=True) + 0.1)


def sums(a: Any, b: Any, c: Any) -> Any:
    return [tf.reduce_sum(tf.exp(each) * a, axis) for each in (a, b, c) for axis in (0, 1)]


def layers(a: Any, b: Any, c: Any) -> Any:
    return normalized(normalized(normalized(a) @ tf.transpose(b)) @ c)


def in_a_loop(a: Any, b: Any, c: Any) -> Any:
    while tf.reduce_sum(a) > 0.0:
        a, b = normalized(b) - c, normalized(c) - 0.5
    return a, b, normalized(a), normalized(b)


def convolutions(x: Any, filter: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch((x, filter))
        y = x
        for stride in (1, 1, 1, 2, 2):
            y = tf.nn.relu(normalized(tf.nn.conv2d(y, filter, stride, "SAME"), (0, 1, 2)))
        total = tf.reduce_sum(y)
    return tape.gradient(total, (x, filter))


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The code that is copied in a test."""
    found: list[Any] = []
    copied = CopiedCode._copied

    def noted(emitter: CopiedCode, sample: Any, given: Any) -> None:
        found.append(sample)
        copied(emitter, sample, given)

    monkeypatch.setattr(CopiedCode, "_copied", noted)
    monkeypatch.setattr(outline_repeats, "run", lambda graph: graph)
    yield found


def size(graph: Any) -> int:
    """The number of instructions and labels of a graph's code."""
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    return unit.text().count("\n") - unit.text().count("\n!")


@pytest.mark.parametrize(
    ("program", "inputs", "least"),
    [
        (sums, (A, B, C), 2),
        (layers, (A, B, C), 1),
        (in_a_loop, (A, B, C), 2),
        (convolutions, (IMAGES, FILTER), 12),
    ],
)
def test_copies_compute_what_rules_would_emit(
    program: Callable[..., Any], inputs: Any, least: int, copies: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = tf.function(program).get_concrete_function(*map(tf.constant, inputs)).graph
    found, lines = JitFunction(graph).run(inputs), size(graph)
    assert len(copies) >= least
    monkeypatch.setattr(Emitter, "copies", False)
    assert size(graph) == lines
    for one, other in zip(found, JitFunction(graph).run(inputs), strict=True):
        np.testing.assert_array_equal(one, other)


#   a program whose two nests differ in what decides about their code
DIFFERENT: dict[str, Callable[..., Any]] = {
    "operation": lambda a, b, c: (tf.reduce_sum(a * b, 0), tf.reduce_sum(a + b, 0)),
    "constant": lambda a, b, c: (tf.reduce_sum(a * 0.5, 0), tf.reduce_sum(a * 0.75, 0)),
    "zero": lambda a, b, c: (tf.reduce_sum(a * 0.0 + b, 0), tf.reduce_sum(a * -0.0 + b, 0)),
    "attribute": lambda a, b, c: (tf.reduce_sum(a, 0), tf.reduce_sum(a, 1)),
    "kind": lambda a, b, c: (tf.reduce_sum(a, 0), tf.reduce_max(a, 0)),
    "shape": lambda a, b, c: (tf.reduce_sum(a[:, :95], 0), tf.reduce_sum(a[:, 1:90], 0)),
    "dtype": lambda a, b, c: (tf.reduce_sum(tf.exp(a), 0), tf.reduce_sum(tf.exp(tf.cast(a, tf.float64)), 0)),
    "same operand": lambda a, b, c: (tf.reduce_sum(a * b - c, 0), tf.reduce_sum(a * b - a, 0)),
    "order": lambda a, b, c: (tf.reduce_sum((a - b) * a, 0), tf.reduce_sum((a - b) * b, 0)),
}


@pytest.mark.parametrize("difference", DIFFERENT)
def test_code_that_differs_is_no_copy(difference: str, copies: list[Any]) -> None:
    function = tf.function(DIFFERENT[difference])
    graph = function.get_concrete_function(*map(tf.constant, (A, B, C))).graph
    found = JitFunction(graph).run([A, B, C])
    assert not copies
    for one, other in zip(found, function.python_function(*map(tf.constant, (A, B, C))), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)


def test_copies_fail_where_their_own_checks_fail(copies: list[Any]) -> None:
    """Code with checks has effects besides its instructions, so rules emit it."""

    def taken(a: Any, i: Any, j: Any) -> Any:
        return tf.reduce_sum(tf.gather(a, i) * 2.0, 0), tf.reduce_sum(tf.gather(a, j) * 2.0, 0)

    inputs = [A, np.array([1, 2]), np.array([3, 64])]
    graph = tf.function(taken).get_concrete_function(*map(tf.constant, inputs)).graph
    with pytest.raises(tf.errors.InvalidArgumentError, match="64"):
        JitFunction(graph).run(inputs)
    assert JitFunction(graph).run([A, np.array([1, 2]), np.array([3, 4])])


def test_integers_are_no_numbers_of_objects_that_occur_again() -> None:
    zeros = ConstantArray(np.zeros(3))
    one, other = (Description(cast(Emitter, None)).of((zeros, x)) for x in ((0, 0), (zeros, zeros)))
    assert one != other
