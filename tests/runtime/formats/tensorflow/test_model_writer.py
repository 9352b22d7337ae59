"""SavedModels as TensorFlow reads them: objects, functions with their captures, signatures, and the checkpoint."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.formats.tensorflow.bundle import BundleReader
from agc.runtime.formats.tensorflow.model_writer import INIT_OP
from agc.runtime.formats.tensorflow.object_messages import GRAPH_KEY, TrackableObjectGraph
from agc.runtime.formats.tensorflow.saved_model_messages import SavedModel


class Layer(tf.Module):
    def __init__(self, size):
        super().__init__()
        self.w = tf.Variable(tf.ones([size, size]), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def __call__(self, x):
        return x @ self.w


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Layer(2), Layer(2)]
        self.count = tf.Variable(7, trainable=False, name="count")

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def predict(self, x):
        self.count.assign_add(1)
        for layer in self.layers:
            x = layer(x)
        return {"y": x, "count": self.count.read_value()}

    @tf.function
    def scale(self, x, flag=True, *, factor=2.0):
        return (x * factor if flag else x), None


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    made = Model()
    made.scale(tf.ones([3]))
    made.scale(tf.ones([3]), False, factor=3.0)
    tf.export.saved_model(made, folder, signatures=made.predict)
    return folder


@pytest.fixture(scope="module")
def graph(model):
    (found,) = SavedModel.FromString((model / "saved_model.pb").read_bytes()).meta_graphs
    return found


def children(graph, *path):
    number = 0
    for name in path:
        number = {each.local_name: each.node_id for each in graph.object_graph_def.nodes[number].children}[
            name
        ]
    return graph.object_graph_def.nodes[number]


def test_objects_have_their_kinds(graph):
    assert children(graph).user_object.identifier == "_generic_user_object"
    assert children(graph, "layers").user_object.identifier == "trackable_list_wrapper"
    count = children(graph, "count").variable
    assert (count.name, count.dtype, count.trainable) == ("count", 3, False)
    assert [dim.size for dim in children(graph, "layers", "1", "w").variable.shape.dim] == [2, 2]


def test_functions_capture_the_variables_that_they_use(graph):
    (name,) = children(graph, "predict").function.concrete_functions
    saved = graph.object_graph_def.concrete_functions[name]
    captured = [graph.object_graph_def.nodes[number].variable.name for number in saved.bound_inputs]
    assert captured == ["count", "w", "w"]
    (function,) = [each for each in graph.graph_def.library.function if each.signature.name == name]
    assert [arg.name for arg in function.signature.input_arg] == ["x", "count", "w", "w_1"]
    assert function.signature.is_stateful and function.control_ret


def test_python_values_among_arguments_and_results_are_described(graph):
    saved = children(graph, "scale").function
    assert len(saved.concrete_functions) == 2
    arguments = graph.object_graph_def.concrete_functions[
        saved.concrete_functions[1]
    ].canonicalized_input_signature
    args, kwargs = arguments.tuple_value.values
    assert [value.WhichOneof("kind") for value in args.tuple_value.values] == [
        "tensor_spec_value",
        "bool_value",
    ]
    assert kwargs.dict_value.fields["factor"].float64_value == 3.0
    parameters = {pair.key: pair.value for pair in saved.function_spec.fullargspec.named_tuple_value.values}
    assert [value.string_value for value in parameters["args"].list_value.values] == ["x", "flag"]
    assert parameters["defaults"].tuple_value.values[0].bool_value is True
    assert parameters["kwonlydefaults"].dict_value.fields["factor"].float64_value == 2.0


def test_a_signature_is_a_call_in_the_graph(graph):
    signature = graph.signature_def["serving_default"]
    assert signature.inputs["x"].name == "serving_default_x:0"
    assert [dim.size for dim in signature.inputs["x"].tensor_shape.dim] == [-1, 2]
    assert {name: info.name for name, info in signature.outputs.items()} == {
        "count": "StatefulPartitionedCall:0",
        "y": "StatefulPartitionedCall:1",
    }
    nodes = {node.name: node for node in graph.graph_def.node}
    assert list(nodes["StatefulPartitionedCall"].input) == ["serving_default_x", "count", "w", "w_1"]
    assert graph.signature_def[INIT_OP].outputs[INIT_OP].name == "NoOp"


def test_the_graph_restores_each_variable(graph):
    nodes = {node.name: node for node in graph.graph_def.node}
    restore = nodes[graph.saver_def.restore_op_name]
    assigned = [nodes[name.removeprefix("^")] for name in restore.input]
    assert [node.op for node in assigned] == ["AssignVariableOp"] * 3
    assert {node.input[0] for node in assigned} == {"count", "w", "w_1"}


def test_the_checkpoint_has_values_and_objects(model):
    reader = BundleReader(str(model / "variables" / "variables"))
    assert reader.read("count/.ATTRIBUTES/VARIABLE_VALUE") == 7
    assert np.array_equal(reader.read("layers/1/w/.ATTRIBUTES/VARIABLE_VALUE"), np.ones([2, 2]))
    objects = TrackableObjectGraph.FromString(reader.read(GRAPH_KEY).item())
    keys = [attribute.checkpoint_key for node in objects.nodes for attribute in node.attributes]
    assert sorted(keys) == sorted(set(reader.entries) - {GRAPH_KEY})


def test_save_writes_the_format_that_its_options_name(tmp_path):
    options = tf.saved_model.SaveOptions(experimental_format="tensorflow")
    tf.saved_model.save(Model(), tmp_path, options=options)
    assert (tmp_path / "variables" / "variables.index").exists()
    with pytest.raises(ValueError, match="`experimental_format` must be 'agc' or 'tensorflow', not 'onnx'"):
        tf.saved_model.save(Model(), tmp_path, options=tf.saved_model.SaveOptions(experimental_format="onnx"))


def test_one_function_is_a_model_and_a_signature(tmp_path):
    v = tf.Variable(2.0, name="v")
    tf.export.saved_model(tf.function(lambda x: x * v), tmp_path, [tf.TensorSpec([None])])
    (graph,) = SavedModel.FromString((tmp_path / "saved_model.pb").read_bytes()).meta_graphs
    assert set(graph.signature_def) == {"serving_default", INIT_OP}
    names = {each.local_name for each in children(graph).children}
    assert {"v", "__call__", "signatures"} <= names
    assert "producer=agc" in graph.meta_info_def.meta_graph_version


def test_composite_arguments_and_results_are_described(tmp_path):
    class Composites(tf.Module):
        @tf.function(
            input_signature=[
                tf.RaggedTensorSpec([None, None]), tf.SparseTensorSpec([None, 3]), tf.IndexedSlicesSpec([None, 3])
            ]
        )  # fmt: skip
        def __call__(self, rows, sparse, slices):
            return {"rows": rows * 2.0, "sparse": sparse}, slices.values

    tf.export.saved_model(Composites(), tmp_path)
    (graph,) = SavedModel.FromString((tmp_path / "saved_model.pb").read_bytes()).meta_graphs
    (function,) = graph.object_graph_def.concrete_functions.values()
    found = function.canonicalized_input_signature.tuple_value.values[0].tuple_value.values
    assert [each.type_spec_value.type_spec_class_name for each in found] == [
        "RaggedTensorSpec", "SparseTensorSpec", "IndexedSlicesSpec"
    ]  # fmt: skip
    assert [each.type_spec_value.num_flat_components for each in found] == [2, 3, 2]
    rows, sparse = tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.sparse.from_dense([[0.0, 1.0, 2.0]])
    slices = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([4], tf.int64))
    named, values = tf.saved_model.load(tmp_path)(rows, sparse, slices)
    assert named["rows"].to_list() == [[2.0], [4.0, 6.0]]
    assert tf.sparse.to_dense(named["sparse"]).numpy().tolist() == [[0.0, 1.0, 2.0]]
    assert values.numpy().tolist() == [[1.0, 1.0, 1.0]]


def test_variables_that_no_object_leads_to_are_named(tmp_path):
    stray = tf.Variable(1.0, name="stray")
    module = tf.Module()
    module.f = tf.function(lambda x: x + stray, input_signature=[tf.TensorSpec([])])
    with pytest.raises(AssertionError, match="the variable 'stray:0' must be an attribute"):
        tf.export.saved_model(module, tmp_path)


def test_all_operations_that_cannot_be_written_are_listed(tmp_path):
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.numpy_function(lambda y: y, [x], tf.float32), input_signature=[tf.TensorSpec([])]
    )
    with pytest.raises(
        tf.export.CannotExportError, match="numpy_function: Python code cannot be part of a file"
    ):
        tf.export.saved_model(module, tmp_path)
    assert not (tmp_path / "saved_model.pb").exists()
