"""Graphs without variables: what the optimizer has done to the graph with variables need not be done again."""

from __future__ import annotations

import agc.runtime as tf
from agc.runtime.functionalize.variables import without_variables
from agc.runtime.ir.graph import Graph
from agc.runtime.optimize import optimize


def _optimized(function: object, *arguments: object) -> Graph:
    return optimize(tf.function(function, autograph=False).get_concrete_function(*arguments).graph)


def test_a_straight_graph_stays_optimized() -> None:
    v = tf.Variable(2.0)
    graph = _optimized(lambda x: v.assign_sub(0.1 * x), tf.constant(1.0))
    plain, assigned = without_variables(graph)
    assert [each.type for each in plain.operations] == ["multiply", "subtract"]
    assert len(assigned) == 1
    assert plain.optimized_with is graph.optimized_with is not None


def test_loops_and_branches_are_optimized_again_since_variables_become_their_state() -> None:
    v = tf.Variable(2.0)

    def changed(x: tf.Tensor) -> tf.Tensor:
        return tf.cond(x > 0.0, lambda: v.assign_add(x), lambda: x)

    graph = _optimized(changed, tf.constant(1.0))
    plain, _ = without_variables(graph)
    assert graph.optimized_with is not None
    assert plain.optimized_with is None
