"""Updates follow the gradients that they need, and every operation still follows its operands."""

from __future__ import annotations

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.parser import parse
from agc.runtime.optimize import schedule_updates
from hypothesis import given
from support.matrix_graphs import inputs, matrix_graphs
from support.verifier import verify

STEP = """\
graph step(x: float32[4, 4], v: float32[4, 4], w: float32[4, 4]) -> float32[4, 4], float32[4, 4], float32[]
  g = matmul x, w                               : float32[4, 4]
  decayed = multiply 0.9, v                     : float32[4, 4]
  y = exp g                                     : float32[4, 4]
  h = matmul y, v                               : float32[4, 4]
  loss = reduce_sum h                           : float32[]
  change = multiply 0.1, g                      : float32[4, 4]
  w.1 = subtract w, change                      : float32[4, 4]
  v.1 = add decayed, h                          : float32[4, 4]
  return v.1, w.1, loss
"""


def test_updates_follow_their_last_operand() -> None:
    order = [operation.outputs[0].name for operation in schedule_updates.run(parse(STEP)).operations]
    assert order == ["g", "change", "w.1", "y", "h", "decayed", "v.1", "loss"]


SHARED = """\
graph step(x: float32[4, 4], t: float32[4, 4]) -> float32[4, 4], float32[4, 4]
  rate = exp t                                  : float32[4, 4]
  g = matmul x, x                               : float32[4, 4]
  u = multiply rate, g                          : float32[4, 4]
  h = matmul g, x                               : float32[4, 4]
  v = multiply rate, h                          : float32[4, 4]
  return u, v
"""


def test_an_update_waits_for_all_operands_although_others_are_shared() -> None:
    order = [operation.outputs[0].name for operation in schedule_updates.run(parse(SHARED)).operations]
    assert order == ["g", "rate", "u", "h", "v"]


def test_a_graph_in_this_order_stays_the_same() -> None:
    graph = schedule_updates.run(parse(STEP))
    assert schedule_updates.run(graph) is graph


@given(matrix_graphs())
def test_random_graphs_compute_the_same(graph: Graph) -> None:
    found = interpret(verify(schedule_updates.run(graph)), inputs())
    for one, other in zip(found, interpret(graph, inputs()), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("count", [2_000])
def test_long_chains_of_updates_are_ordered_without_recursion(count: int) -> None:
    @tf.function(autograph=False)
    def chain(x: tf.Tensor) -> tf.Tensor:
        for _ in range(count):
            x = x + 1.0
        return x

    graph = chain.get_concrete_function(tf.TensorSpec([2])).graph
    assert len(schedule_updates.run(graph).operations) == count
