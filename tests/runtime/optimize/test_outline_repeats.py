"""Repeated parts of a graph become calls of one function, wherever their call can replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.parser import parse
from agc.runtime.optimize import optimize, outline_repeats
from hypothesis import given, settings
from support.matrix_graphs import inputs, matrix_graphs, repeated
from support.selection import at_most
from support.verifier import verify

MATRIX = tf.TensorSpec([4, 4])


@pytest.fixture(autouse=True)
def short_parts_are_worth_a_call(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(outline_repeats, "WORTH", 4)
    monkeypatch.setattr(outline_repeats, "_SHORTEST", 2)
    monkeypatch.setattr(outline_repeats, "_FUSED", 8)
    yield


LAYERS = """\
graph layers(x: float32[4, 4], t: float32[4], u: float32[4], v: float32[4], w: float32[4]) -> float32[4, 4]
  a = matmul x, x                               : float32[4, 4]
  b = add a, t                                  : float32[4, 4]
  c = matmul b, x                               : float32[4, 4]
  d = add c, u                                  : float32[4, 4]
  e = matmul d, x                               : float32[4, 4]
  f = add e, v                                  : float32[4, 4]
  g = matmul f, x                               : float32[4, 4]
  h = add g, w                                  : float32[4, 4]
  return h
"""

OUTLINED = """\
graph layers(x: float32[4, 4], t: float32[4], u: float32[4], v: float32[4], w: float32[4]) -> float32[4, 4]
  a = matmul x, x                               : float32[4, 4]
  b = add a, t                                  : float32[4, 4]
  d = call @repeated b, x, u                    : float32[4, 4]
  f = call @repeated d, x, v                    : float32[4, 4]
  g = matmul f, x                               : float32[4, 4]
  h = add g, w                                  : float32[4, 4]
  return h

graph repeated(b: float32[4, 4], x: float32[4, 4], u: float32[4]) -> float32[4, 4]
  c = matmul b, x                               : float32[4, 4]
  d = add c, u                                  : float32[4, 4]
  return d
"""


def calls(function: Callable[..., Any], *specs: Any) -> list[int]:
    """Return the number of operations of the function of each call that replaces a part."""
    found = outline_repeats.run(optimize(tf.function(function).get_concrete_function(*specs).graph))
    verify(found)
    return [len(each.regions[0].operations) for each in found.operations if each.type == "call"]


def test_equal_layers_become_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first product reads one value twice, so the first layer is another one; the last layer stays."""
    monkeypatch.setattr(outline_repeats, "WORTH", 2)
    assert str(outline_repeats.run(parse(LAYERS))) == OUTLINED.rstrip()


def test_the_function_returns_what_is_used_after_it() -> None:
    def residual(x: Any) -> Any:
        inner = []
        for _ in range(8):
            inner.append(tf.tanh(x @ x))
            x += inner[-1]
        return x, sum(inner)

    graph = optimize(tf.function(residual).get_concrete_function(MATRIX).graph)
    function = next(each.regions[0] for each in outline_repeats.run(graph).operations if each.type == "call")
    assert len(function.outputs) == 2


def test_few_repetitions_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline_repeats, "WORTH", 256)
    graph = parse(LAYERS)
    assert outline_repeats.run(graph) is graph


@pytest.mark.parametrize("part", [2, 3, 5])
def test_layers_that_differ_stay(part: int) -> None:
    """Attributes, small constants and types belong to the operations."""

    def transposed(x: Any, w: Any) -> Any:
        for i in range(9):
            x = tf.tanh(tf.matmul(x, w, transpose_b=i % part == 0))
        return x

    def powers(x: Any, w: Any) -> Any:
        for i in range(9):
            x = tf.tanh(tf.pow(x, float(i + 2)) @ w)
        return x

    def sizes(x: Any, w: Any) -> Any:
        for i in range(1, 9):
            x = tf.tanh(x @ w)
            x = tf.concat([x, x[:i]], 0)
        return x

    assert calls(powers, MATRIX, MATRIX) == calls(sizes, MATRIX, MATRIX) == []
    assert all(size % (2 * part) == 0 for size in calls(transposed, MATRIX, MATRIX))


def test_parts_with_operands_of_other_types_have_functions_of_their_own() -> None:
    """The operations of both kinds of layers have equal results: a row and a matrix are added to a matrix."""

    def layers(x: Any, row: Any, matrix: Any) -> Any:
        for i in range(18):
            x = tf.tanh(x @ x + (row if i % 2 else matrix))
        return x

    graph = optimize(tf.function(layers).get_concrete_function(MATRIX, tf.TensorSpec([4]), MATRIX).graph)
    found = verify(outline_repeats.run(graph))
    functions = {each.regions[0] for each in found.operations if each.type == "call"}
    assert {tuple(value.shape for value in each.inputs[1:]) for each in functions} == {((4,),), ((4, 4),)}


def test_loop_nests_stay_long() -> None:
    """Parts of elementwise operations, which one loop nest computes, are as long as such nests mostly are."""

    def waves(x: Any) -> Any:
        for _ in range(9):
            x = tf.sin(x) * 0.5
        return x

    assert calls(waves, MATRIX) == [8, 8]


def test_updates_in_place_stay() -> None:
    def updates(x: Any) -> Any:
        for i in range(9):
            x = tf.tensor_scatter_nd_update(x, [[i % 4]], x[:1] + 1.0)
        return x

    assert calls(updates, MATRIX) == []


def test_effects_and_regions_stay() -> None:
    def prints(x: Any) -> Any:
        for _ in range(9):
            x = tf.tanh(x @ x)
            tf.print(x[0, 0])
        return x

    def loops(x: Any) -> Any:
        for _ in range(9):
            x = tf.while_loop(lambda y: tf.reduce_sum(y) < 1.0, lambda y: (y @ y + 0.5,), (x,))[0]
        return x

    def sized(x: Any) -> Any:
        for _ in range(9):
            x = tf.tanh(x @ x)
        return x

    assert calls(prints, MATRIX) == calls(loops, MATRIX) == calls(sized, tf.TensorSpec([None, None])) == []


def test_large_constants_are_operands_unless_all_parts_have_the_same() -> None:
    matrices = np.random.default_rng(0).standard_normal((9, 10, 10)).astype(np.float32)

    def shared(x: Any) -> Any:
        w = tf.constant(matrices[0])
        for _ in range(9):
            x = tf.tanh(x @ w)
        return x

    def own(x: Any) -> Any:
        for matrix in matrices:
            x = tf.tanh(x @ tf.constant(matrix))
        return x

    for function, operands in ((shared, 1), (own, 2)):
        graph = optimize(tf.function(function).get_concrete_function(tf.TensorSpec([10, 10])).graph)
        found = outline_repeats.run(graph)
        assert {len(each.inputs) for each in found.operations if each.type == "call"} == {operands}
        x = np.eye(10, dtype=np.float32)
        np.testing.assert_array_equal(interpret(found, [x]), interpret(graph, [x]))


@given(matrix_graphs())
@settings(max_examples=at_most(30, 100))
def test_random_repetitions_compute_the_same(part: Graph) -> None:
    graph = repeated(part, 6)
    found = interpret(verify(outline_repeats.run(graph)), inputs())
    for one, other in zip(found, interpret(graph, inputs()), strict=True):
        np.testing.assert_array_equal(one, other)
