"""Graphs for one combination of shapes: what says all already stays what it is."""

import numpy as np
from agc import runtime as tf
from agc.runtime.functionalize.shapes import specialized
from agc.runtime.ir.graph import Constant


def graph_of(function, *specs):
    return tf.function(function).get_concrete_function(*specs).graph


def specs_of(graph):
    return [value.spec for value in graph.inputs]


def test_a_graph_of_known_shapes_is_unchanged():
    graph = graph_of(lambda x: tf.tanh(x * x) + 1.0, tf.TensorSpec([3]))
    assert specialized(graph, specs_of(graph)) is graph


def test_only_operations_on_unknown_shapes_are_rebuilt():
    graph = graph_of(
        lambda x, y: (tf.exp(x), tf.abs(y), tf.exp(x) * tf.reduce_sum(y)),
        tf.TensorSpec([3]),
        tf.TensorSpec([None]),
    )
    found = specialized(graph, [graph.inputs[0].spec, tf.TensorSpec([5]).spec])
    kept = {operation.type for operation in found.operations if operation in graph.operations}
    assert "exp" in kept and "abs" not in kept
    assert [value.spec.shape for value in found.outputs] == [(3,), (5,), (3,)]


def test_sizes_are_folded_even_in_a_graph_of_known_shapes():
    graph = graph_of(lambda x: x * tf.cast(tf.size(x), tf.float32), tf.TensorSpec([2, 3]))
    assert "size" not in {operation.type for operation in specialized(graph, specs_of(graph)).operations}


def test_a_constant_input_is_folded_into_its_uses():
    graph = graph_of(lambda n: (n + 1) * 2, tf.TensorSpec([], tf.int32))
    found = specialized(graph, [Constant(np.array(4, np.int32))])
    assert not found.operations
    assert int(found.outputs[0].value) == 10


def test_regions_are_rebuilt_for_their_own_inputs():
    def counted(x):
        total = x
        for _ in tf.range(3):
            total = total + x
        return total

    graph = graph_of(tf.autograph.to_graph(counted), tf.TensorSpec([2]))
    found = specialized(graph, specs_of(graph))
    assert [value.spec.shape for value in found.outputs] == [(2,)]


def test_operations_on_large_constants_are_unchanged():
    large = np.linspace(0, 1, 5000, dtype=np.float32)
    graph = graph_of(lambda x: x + tf.tanh(tf.constant(large)), tf.TensorSpec([5000]))
    assert "tanh" in {operation.type for operation in graph.operations}
    assert specialized(graph, specs_of(graph)) is graph


def test_readers_of_a_folded_constant_keep_their_results():
    def scaled(x):
        return tf.exp(tf.tanh(x * (1.0 / tf.cast(tf.size(x), tf.float32))))

    graph = graph_of(scaled, tf.TensorSpec([2, 3]))
    found = specialized(graph, specs_of(graph))
    changed = [each.type for each in found.operations if each not in graph.operations]
    assert changed == ["multiply"]
    assert "size" not in {each.type for each in found.operations}
    (reader,) = (each for each in graph.operations if each.type == "multiply")
    assert Constant not in map(type, reader.inputs)  # the graph itself is unchanged


def test_results_of_a_function_that_is_called_twice_are_distinct():
    inner = tf.function(lambda x: tf.exp(x * (1.0 / tf.cast(tf.size(x), tf.float32))))
    graph = graph_of(lambda x, y: inner(x) + inner(y), *[tf.TensorSpec([2, 3])] * 2)
    found = specialized(graph, specs_of(graph))
    results = [value for each in found.operations for value in each.outputs]
    assert len(results) == len(set(results))
