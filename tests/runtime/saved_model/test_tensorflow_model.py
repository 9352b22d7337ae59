"""Saved models of TensorFlow: results, gradients, training and tracing of what is loaded, and refusals."""

import shutil
from pathlib import Path

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.formats.tensorflow.saved_model_messages import SavedModel
from tensorflow_formats.reading.check import check_model

MODELS = Path(__file__).parents[3] / "fixtures" / "tensorflow_files" / "models"


@pytest.mark.parametrize("folder", sorted(MODELS.iterdir()), ids=lambda path: path.name)
def test_models_of_tensorflow_give_its_results(folder):
    assert check_model(folder) == []


@pytest.fixture
def flow():
    return tf.saved_model.load(MODELS / "control_flow")


@pytest.mark.parametrize(
    "options",
    [{}, {"experimental_executor": "interpret"}, {"jit_compile": True}, {"reduce_retracing": True}],
    ids=str,
)
def test_loaded_functions_are_traced_inside_of_others(options, flow):
    @tf.function(**options)
    def longest(numbers):
        return tf.reduce_max(flow.collatz(numbers) + 1)

    assert int(longest(tf.constant([1, 7, 6]))) == 17


def test_loaded_functions_are_differentiated_and_trained():
    model = tf.saved_model.load(MODELS / "nested")
    x, y = tf.constant(np.eye(3, dtype="float32")), tf.constant([[1.0, 0.0]] * 3)
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model.features(x) - y))
        variables = tape.watched_variables()
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.1 * gradient)
        losses.append(float(loss))
    assert len(variables) == 4
    assert losses[-1] < 0.5 * losses[0]


def test_objects_have_their_children():
    model = tf.saved_model.load(MODELS / "nested")
    assert [type(layer).__name__ for layer in model.layers] == ["CallableObject"] * 2
    dense, scale = model.heads["second"]
    assert isinstance(model.heads["second"], tuple)
    assert float(scale) == 2.0
    assert dense.w.shape == (2, 3)
    assert sorted(model.signatures) == ["heads", "serving_default"]
    assert model.signatures["heads"].structured_input_signature[1] == {
        "rows": tf.TensorSpec([None, 3], tf.float32, "rows")
    }
    assert len(model.variables) == 9


def test_graphs_are_chosen_by_shapes_and_python_values():
    model = tf.saved_model.load(MODELS / "variables")
    assert float(model.add(tf.zeros([3]), twice=True)["total"]) == 0.5
    assert len(model.add.concrete_functions) == 3
    with pytest.raises(ValueError, match="Could not find matching concrete function to call"):
        model.add(tf.zeros([4]))
    assert list(model.add.__signature__.parameters) == ["x", "twice"]


def test_a_model_is_saved_again_and_loaded(tmp_path):
    model = tf.saved_model.load(MODELS / "nested")
    x = tf.constant([[1.0, 2.0, 3.0]])
    tf.saved_model.save(model, tmp_path)
    again = tf.saved_model.load(tmp_path)
    assert again.features(x).numpy().tolist() == model.features(x).numpy().tolist()


class Written(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        self.parts = [tf.Variable(1), {"half": tf.Variable(2.5, dtype=tf.float64)}]
        rows = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        self.table = tf.lookup.StaticHashTable(rows, -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.int32)])
    def run(self, x, n):
        y = x @ self.w
        sums = tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n):
            y = y / 2.0 if tf.reduce_sum(y) > 10.0 else tf.exp(y[:, ::-1]) + tf.gather(y, [0])
            sums = sums.write(i, tf.reduce_sum(y))
        return {"y": y, "more": (sums.stack(), self.table.lookup(tf.constant(["b", "x"])))}


def test_models_in_the_format_of_tensorflow_are_read_again(tmp_path):
    model = Written()
    options = tf.saved_model.SaveOptions(experimental_format="tensorflow")
    tf.saved_model.save(model, tmp_path, options=options)
    again = tf.saved_model.load(tmp_path)
    arguments = tf.constant([[1.0, 2.0], [0.5, -1.0]]), tf.constant(3)
    found, expected = again.run(*arguments), model.run(*arguments)
    tf.nest.map_structure(lambda one, other: np.testing.assert_array_equal(one, other), found, expected)
    assert float(again.parts[1]["half"]) == 2.5


def test_assets_are_files_of_the_model():
    model = tf.saved_model.load(MODELS / "vocabulary")
    assert bytes(model.file.asset_path.numpy()).decode().startswith(str(MODELS / "vocabulary" / "assets"))
    assert int(model.table.size()) == 3


def test_a_folder_with_a_model_of_tensorflow_contains_one():
    assert tf.saved_model.contains_saved_model(MODELS / "session")


def test_tags_choose_the_graph():
    assert tf.saved_model.load(MODELS / "session", tags=["serve"]).signatures.keys() == {"serving_default"}
    with pytest.raises(
        ValueError, match=r"`tags`: \['train'\]\. .* has graphs with the tags \[\['serve'\]\]"
    ):
        tf.saved_model.load(MODELS / "session", tags=["train"])


def changed(name, folder, change):
    """Copy a model, change its message, and return its folder."""
    shutil.copytree(MODELS / name, folder / name)
    path = folder / name / "saved_model.pb"
    message = SavedModel.FromString(path.read_bytes())
    change(message.meta_graphs[0])
    path.write_bytes(message.SerializeToString())
    return folder / name


def functions(graph, name):
    return [each for each in graph.graph_def.library.function if name in each.signature.name]


def test_all_operations_that_are_not_supported_are_listed(tmp_path):
    def change(graph):
        (function,) = functions(graph, "grow")
        for number, op in enumerate(["EagerPyFunc", "NoSuchOperation", "EagerPyFunc"]):
            function.node_def.add(name=f"new{number}", op=op)
            function.control_ret[f"new{number}"] = f"new{number}"

    folder = changed("control_flow", tmp_path, change)
    with pytest.raises(tf.errors.UnimplementedError) as caught:
        tf.saved_model.load(folder)
    first, *lines = str(caught.value).splitlines()
    assert first == f"{folder / 'saved_model.pb'}: it has operations that agc does not support:"
    assert [line.partition(":")[0] for line in lines] == ["  2 x EagerPyFunc", "  1 x NoSuchOperation"]


def test_a_function_that_calls_itself_is_refused(tmp_path):
    def change(graph):
        for function in functions(graph, "collatz"):
            for node in function.node_def:
                for attribute in node.attr.values():
                    if attribute.WhichOneof("value") == "func":
                        attribute.func.name = function.signature.name

    with pytest.raises(tf.errors.DataLossError, match="calls itself, or calls are nested too deeply"):
        tf.saved_model.load(changed("control_flow", tmp_path, change))


def test_loading_runs_nothing_but_the_filling_of_tables(tmp_path):
    def change(graph):
        for function in functions(graph, "initializer"):
            for node in function.node_def:
                if "Table" in node.op:
                    node.op = "WriteFile"

    with pytest.raises(
        tf.errors.UnimplementedError, match="a table of the model is filled by the operation WriteFile"
    ):
        tf.saved_model.load(changed("vocabulary", tmp_path, change))


def test_an_asset_outside_of_the_folder_is_refused(tmp_path):
    def change(graph):
        graph.asset_file_def[0].filename = "../../secret"

    with pytest.raises(tf.errors.DataLossError, match="that is not its own"):
        tf.saved_model.load(changed("vocabulary", tmp_path, change))


def test_a_missing_value_of_a_variable_is_named(tmp_path):
    folder = changed("variables", tmp_path, lambda graph: None)
    shutil.rmtree(folder / "variables")
    with pytest.raises(tf.errors.DataLossError, match="has no value for the variable 'total'"):
        tf.saved_model.load(folder)


def with_slot(graph):
    """Add a slot of an optimizer for the variable `total`, as models of Keras 2 have them."""
    nodes = graph.object_graph_def.nodes
    number = len(nodes)
    total = next(i for i, node in enumerate(nodes) if node.variable.name == "total")
    nodes.add().variable.name = "Adam/total/m"
    nodes[0].slot_variables.add(original_variable_node_id=total, slot_name="m", slot_variable_node_id=number)
    return total, number


def test_the_slots_of_an_optimizer_are_left_out(tmp_path):
    expected = tf.saved_model.load(MODELS / "variables")
    model = tf.saved_model.load(changed("variables", tmp_path, with_slot))
    assert model.total.numpy() == expected.total.numpy()
    assert sorted(model.signatures) == sorted(expected.signatures)


def test_a_function_that_reads_a_slot_is_refused(tmp_path):
    def change(graph):
        total, number = with_slot(graph)
        for function in graph.object_graph_def.concrete_functions.values():
            function.bound_inputs[:] = [number if each == total else each for each in function.bound_inputs]

    model = tf.saved_model.load(changed("variables", tmp_path, change))
    with pytest.raises(
        tf.errors.DataLossError, match="has no value for the slot 'Adam/total/m' of an optimizer"
    ):
        model.add(tf.constant(1.0))


def test_a_gradient_that_was_not_saved_is_an_error(tmp_path):
    def change(graph):
        graph.graph_def.library.ClearField("registered_gradients")

    model = tf.saved_model.load(changed("gradients", tmp_path, change))
    x = tf.constant([1.0, 2.0])
    assert model.clipped(x).numpy().tolist() == [2.0, 4.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model.clipped(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has a gradient that Python code defined"):
        tape.gradient(y, x)


@pytest.mark.parametrize("name", ["variables", "session"])
def test_variables_are_inside_of_the_folder(name, tmp_path):
    shutil.copytree(MODELS / name, tmp_path / "model")
    shutil.move(tmp_path / "model" / "variables", tmp_path / "elsewhere")
    (tmp_path / "model" / "variables").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(tf.errors.DataLossError, match="links out of a folder are not followed"):
        tf.saved_model.load(tmp_path / "model")
