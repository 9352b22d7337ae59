"""Operations of a kind differ in operands, the contents of regions and names only."""

from __future__ import annotations

import agc.runtime as tf
from agc.runtime.ir.graph import Graph
from agc.runtime.ir.operation_kinds import OperationKinds, in_order, kinds_of, typical_operations
from agc.runtime.ir.parser import parse

STEPS = """\
graph steps(x: float32[4, 4], w: float32[4, 4], y: float32[2, 4]) -> float32[4, 4], float32[2, 4]
  a = matmul x, w                               : float32[4, 4]
  b = tanh a                                    : float32[4, 4]
  c = matmul b, b                               : float32[4, 4]
  d = add c, 1.0                                : float32[4, 4]
  e = matmul y, w                               : float32[2, 4]
  f = matmul x, w [transpose_b=True]            : float32[4, 4]
  g = add d, f                                  : float32[4, 4]
  return g, e
"""


def test_kinds_depend_on_types_of_results_and_attributes() -> None:
    kinds = OperationKinds(parse(STEPS))
    assert kinds.numbers == [0, 1, 0, 2, 3, 4, 2]
    assert [first.outputs[0].name for first in kinds.first] == ["a", "b", "d", "e", "f"]
    assert kinds.constant == [3]


def test_a_graph_keeps_its_kinds_once_it_is_complete() -> None:
    graph = parse(STEPS)
    assert kinds_of(graph) is kinds_of(graph)
    growing = tf.Graph()
    with growing.as_default():
        tf.constant(1.0) + 2.0
        before = len(kinds_of(growing).numbers)
        tf.constant(1.0) * 3.0
    assert len(kinds_of(growing).numbers) > before


def test_typical_operations_have_all_types_also_those_in_regions() -> None:
    @tf.function(autograph=False)
    def narrow_inside(x: tf.Tensor) -> tf.Tensor:
        return tf.cond(x > 0, lambda: tf.cast(tf.cast(x, tf.bfloat16), tf.float32), lambda: x)

    def types(graph: Graph) -> set[object]:
        return {value.spec.dtype for each in typical_operations(graph) for value in each.outputs}

    graph = narrow_inside.get_concrete_function(tf.TensorSpec([])).graph
    assert types(graph) == {tf.bool, tf.float32, tf.bfloat16}


def test_a_graph_in_another_order_keeps_its_kinds() -> None:
    graph = parse(STEPS)
    a, b, c, d, e, f, g = graph.operations
    order = (e, a, f, b, c, d, g)
    kinds_of(graph)
    moved = in_order(graph, order)
    assert moved.kinds.numbers == [3, 0, 4, 1, 0, 2, 2]
    assert moved.kinds.constant == [5]
    assert moved.live_operations() == order == moved.operations


def test_kinds_that_are_not_known_are_found_in_the_new_order() -> None:
    graph = parse(STEPS)
    assert kinds_of(in_order(graph, graph.operations[::-1])).numbers == [0, 1, 2, 0, 3, 4, 3]
