"""Graphs of TensorFlow as functions of tensors: order, names of results, and damaged graphs."""

import inspect

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.formats.tensorflow import graph_import, signatures
from agc.runtime.formats.tensorflow.graph_messages import FunctionDef, GraphDef, NodeDef
from agc.runtime.formats.tensorflow.import_graph_def import import_graph_def
from agc.runtime.formats.tensorflow.node_programs import node_program
from agc.runtime.storage.tensor_protos import serialized


def node(name, op, *inputs, **attributes):
    made = NodeDef(name=name, op=op, input=list(inputs))
    for key, (kind, value) in attributes.items():
        setattr(made.attr[key], kind, value)
    return made


def constant(name, value):
    made = node(name, "Const")
    made.attr["value"].tensor = serialized(np.asarray(value))
    return made


FLOAT, INT = ("type", 1), ("type", 3)
X = tf.constant([[4.0, 1.0], [2.0, 3.0]])


def test_nodes_run_in_the_order_of_their_inputs_and_others_do_not_run():
    graph = GraphDef(node=[
        node("y", "AddV2", "double", "x", "^check", T=FLOAT),
        node("fails", "Placeholder"), node("check", "NoOp"),
        node("double", "Mul", "x", "two", T=FLOAT), node("x", "Placeholder"), constant("two", np.float32(2)),
    ])  # fmt: skip
    (y,) = import_graph_def(graph, {"x:0": X}, ["y"])
    assert y.numpy().tolist() == (X * 3).numpy().tolist()
    steps = [step.node.name for step in node_program(graph.node, ["x"], ["y:0"]).steps]
    assert steps == ["two", "double", "check", "y"]
    with pytest.raises(tf.errors.FailedPreconditionError, match="a value for the placeholder 'x'"):
        import_graph_def(graph, {}, ["y"])


def test_results_are_named_by_their_numbers():
    graph = GraphDef(node=[
        node("parts", "Split", "axis", "x", num_split=("i", 2), T=FLOAT), constant("axis", np.int32(1)),
        node("x", "Placeholder"), node("best", "TopKV2", "parts:1", "one", T=FLOAT), constant("one", np.int32(1)),
    ])  # fmt: skip
    values, places = import_graph_def(graph, {"x": X}, ["best", "best:1"])
    assert values.numpy().tolist() == [[1.0], [3.0]]
    assert places.numpy().tolist() == [[0], [0]]


def test_squeeze_removes_only_its_axes():
    """Its attribute is `squeeze_dims`, but the argument of `tf.raw_ops.Squeeze` is `axis`."""
    squeeze = node("y", "Squeeze", "x", T=FLOAT)
    squeeze.attr["squeeze_dims"].list.i.append(1)
    graph = GraphDef(node=[node("x", "Placeholder"), squeeze])
    assert import_graph_def(graph, {"x": tf.zeros([2, 1, 1])}, ["y"])[0].shape == (2, 1)
    graph.node[1].ClearField("attr")
    assert import_graph_def(graph, {"x": tf.zeros([2, 1, 1])}, ["y"])[0].shape == (2,)


def test_no_attribute_of_an_operation_is_left_out():
    """Only the dtypes and numbers of inputs are no arguments: they follow from the inputs."""
    lost = []
    for op in filter(graph_import.has_raw, signatures._lines()):
        found = signatures.signature(op)
        given = {part for each in found.inputs for part in (each.kind, each.number)}
        taken = inspect.signature(getattr(tf.raw_ops, op)).parameters
        names = {graph_import._ARGUMENTS.get(name, name) for name in found.attributes.keys() - given}
        if op not in graph_import.RULES:
            lost += [f"{op}: {name}" for name in names - taken.keys()]
    assert lost == []


def test_imported_graphs_are_traced_and_differentiated():
    graph = GraphDef(node=[node("y", "Square", "x", T=FLOAT), node("x", "Placeholder")])
    function = tf.function(lambda x: import_graph_def(graph, {"x": x}, ["y"])[0])
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = function(X)
    assert tape.gradient(y, X).numpy().tolist() == (2 * X).numpy().tolist()


DAMAGED = {
    "a node that needs itself": ([node("a", "Neg", "b"), node("b", "Neg", "a")], "needs itself"),
    "an input that is missing": ([node("a", "Neg", "c")], "there is no node 'c'"),
    "an attribute of another kind": (
        [constant("a0", 1.0), node("a", "Sum", "a0", "a0", keep_dims=("i", 1))], "of the kind 'i', not 'bool'",
    ),
    "too few inputs": ([constant("a0", 1.0), node("a", "AddV2", "a0")], "'a' of AddV2 has 1 inputs"),
    "two nodes of one name": ([constant("a", 1.0), constant("a", 2.0)], "two nodes have the name 'a'"),
    "a result of a negative number": (
        [constant("a0", 1.0), node("a", "Neg", "a0:-1", T=FLOAT)], "a0:-1 ends with '-1', which is not the number",
    ),
    "a result beyond the last": (
        [constant("a0", 1.0), node("a", "Neg", f"a0:{10**20}", T=FLOAT)], "'a0' of Const has no result 10+: it has 1",
    ),
    "a result of a node without results": ([node("a", "NoOp")], "'a' of NoOp has no result 0: it has 0"),
    "a constant without a value": ([node("a", "Const")], "the constant 'a': .*dtype"),
    "a rule with too few inputs": ([node("a", "Identity", T=FLOAT)], "'a' of Identity has 0 inputs, not 1"),
    "a negative number of inputs": (
        [node("a", "AddN", "b", N=("i", -1), T=FLOAT), constant("b", 1.0)], "'a' of AddN has 1 inputs, not 0",
    ),
    "an input of another dtype": (
        [constant("b", 1.0), node("a", "Neg", "b", T=("type", 3))],
        "'x' of the node 'a' of Neg is a tensor of float64, but the graph says int32",
    ),
    "an input of a list of another dtype": (
        [constant("b", 1.0), node("a", "AddN", "b", "b", N=("i", 2), T=("type", 20))], "the graph says resource",
    ),
    "a type that does not exist": (
        [constant("b", 1.0), node("a", "Cast", "b", DstT=("type", 99))], "'DstT' of the node 'a' of Cast: .*99",
    ),
}  # fmt: skip


@pytest.mark.parametrize("nodes, message", DAMAGED.values(), ids=DAMAGED.keys())
def test_damaged_graphs_are_named(nodes, message):
    with pytest.raises((ValueError, tf.errors.DataLossError), match=message):
        import_graph_def(GraphDef(node=nodes), {}, ["a"])


@pytest.mark.parametrize("given, returned, what", [(3, 2, "'x'"), (2, 3, "'y'")])
def test_functions_with_tensors_of_other_dtypes_are_refused(given, returned, what):
    function = FunctionDef(
        signature={
            "name": "f",
            "input_arg": [{"name": "x", "type": given}],
            "output_arg": [{"name": "y", "type": returned}],
        },
        ret={"y": "x"},
    )
    graph = GraphDef(node=[constant("b", 1.0), node("a", "f", "b")], library={"function": [function]})
    with pytest.raises(ValueError, match=f"{what} of the function 'f' is a tensor of float64, .* says int32"):
        import_graph_def(graph, {}, ["a"])


def test_a_result_that_is_missing_and_loops_of_tensorflow_1_are_refused(tmp_path):
    graph = GraphDef(node=[node("a", "Enter", "x"), node("x", "Placeholder")])
    with pytest.raises(tf.errors.DataLossError, match="there is no node 'y:1'"):
        import_graph_def(graph, {}, ["y:1"])
    (tmp_path / "graph.pb").write_bytes(graph.SerializeToString())
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"graph\.pb: it has .*\n  1 x Enter: control flow"
    ):
        import_graph_def(tmp_path / "graph.pb", {}, ["a"])
    with pytest.raises(ValueError, match="needs the names of the results"):
        import_graph_def(graph)
