"""`agc.runtime.export`: what all formats share."""

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.formats.missing import library
from agc.runtime.functionalize.errors import Reason


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0, name="factor")

    @tf.function(input_signature=[tf.TensorSpec([None], name="x")])
    def __call__(self, x):
        return {"scaled": self.factor * x, "rest": [x, "text", x + 1.0]}


def ports(program):
    return [*map(str, program.inputs)], [port.name for port in program.outputs]


@pytest.mark.parametrize(
    "source",
    [
        lambda x: x * 2.0,
        tf.function(lambda x: x * 2.0),
        tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([None])),
        tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([None])).graph,
    ],
    ids=["function", "tf.function", "concrete", "graph"],
)
def test_every_kind_of_function_has_a_program(source):
    program = tf.export.resolve(source, [tf.TensorSpec([None])])
    assert ports(program) == (["x: float32[x_0]"], ["output_0"])
    (result,) = program.run([np.float32([1, 2])])
    assert result.tolist() == [2.0, 4.0]


def test_a_module_and_its_saved_model_have_the_same_program(tmp_path):
    module = Scale()
    program = tf.export.resolve(module)
    assert ports(program) == (["x: float32[x_0]"], ["scaled", "rest_0", "rest_1", "rest_2"])
    assert [(each.name, each.variable is module.factor) for each in program.variables] == [("factor", True)]
    tf.saved_model.save(module, tmp_path, signatures=tf.function(lambda x: module(x)["scaled"]).get_concrete_function(
        tf.TensorSpec([None], name="x")
    ))  # fmt: skip
    loaded = tf.export.resolve(tmp_path)
    assert ports(loaded) == (["x: float32[x_0]"], ["output_0"])
    assert loaded.run([np.float32([3])])[0].tolist() == [6.0]


def test_values_are_kept_as_examples_and_names_of_axes_as_given():
    program = tf.export.resolve(lambda x, y: x + y, [tf.constant([1.0]), tf.constant(2.0)])
    assert [value.tolist() for value in program.examples] == [[1.0], 2.0]
    spec = tf.TensorSpec([None, 3])
    program = tf.export.resolve(lambda x: x, {"x": spec}, dynamic_axes={"x": {0: "batch"}})
    assert str(program.inputs[0]) == "x: float32[batch, 3]"
    assert program.examples is None
    assert [value.shape for value in program.random_inputs()] == [(3, 3)]


def test_running_a_program_does_not_change_the_variables():
    variable = tf.Variable(1.0)
    program = tf.export.resolve(lambda x: variable.assign_add(x), [tf.constant(2.0)])
    assert [program.run(program.examples)[0].item() for _ in range(2)] == [3.0, 3.0]
    assert variable.numpy() == 1.0


def test_a_program_prints_its_inputs_and_outputs_without_the_values_of_variables():
    program = tf.export.resolve(Scale())
    assert repr(program) == (
        "<Program call(x: float32[x_0]) -> scaled: float32[?], rest_0: float32[?], rest_1: string[], "
        "rest_2: float32[?]>"
    )


def test_metadata_name_the_function_and_its_line():
    metadata = tf.export.resolve(Scale().__call__).metadata
    assert metadata["producer"] == "agc"
    assert metadata["function"] == "__call__"
    assert metadata["source"].startswith("test_export.py:")


def test_a_program_is_written_read_and_verified(tmp_path):
    path = tmp_path / "new" / "f.json"
    program = tf.export.json(lambda x: (x // 2, x > 1), path, [tf.constant([1, 2, 3])])
    found = tf.export.verify(program, path)
    assert [str(each) for each in found] == [
        "output_0: agrees, largest difference 0",
        "output_1: agrees, largest difference 0",
    ]
    again = tf.export.write(str(path), tmp_path / "f.txt")
    assert (tmp_path / "f.txt").read_text() == f"{again.graph}\n"
    assert [item.name for item in tmp_path.iterdir() if item.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("source", "signature", "error", "message"),
    [
        (3, (), TypeError, "a function, a graph or a saved model can be exported, not 3"),
        (Scale, (), TypeError, "can be exported, not <class '.*Scale'>"),
        (
            lambda: tf.TensorArray(tf.int32, 1),
            (),
            ValueError,
            "returns a TensorArray, or a list of unknown length",
        ),
        ("missing.json", (), FileNotFoundError, "missing.json"),
    ],
)
def test_other_sources_are_refused(source, signature, error, message):
    with pytest.raises(error, match=message):
        tf.export.resolve(source, signature)


def test_a_format_is_found_by_name_or_suffix():
    assert tf.export.format_of(None, "a/b.json").name == "json"
    assert tf.export.format_of("text", "b.json").name == "text"
    with pytest.raises(ValueError, match="no format has the suffix of 'b'"):
        tf.export.format_of(None, "b")
    with pytest.raises(ValueError, match="there is no format 'nothing'; the formats are text, json"):
        tf.export.format_of("nothing", "b")


def test_differences_are_found():
    from agc.runtime.export.verify import difference

    assert difference("y", np.int32([1, 2]), np.int32([1, 5])) == ("y", 3.0, False)
    assert difference("y", np.float32([np.nan, 1]), np.float32([np.nan, 1])).agrees
    assert not difference("y", np.float32([np.inf]), np.float32([1])).agrees
    assert not difference("y", np.float32([1]), np.float64([1])).agrees
    assert difference("y", np.array([b"a"], object), np.array([b"a"], object)).agrees


def test_a_refusal_lists_each_reason_with_its_line():
    concrete = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1))
    (add,) = concrete.graph.get_operations()
    error = tf.export.CannotExportError("ONNX", "f", [Reason(add, "no such operator")] * 2)
    assert "test_export.py:" in str(error)
    assert str(error).startswith("`f` cannot be written as ONNX:\n  ")
    assert len(error.reasons) == 1


def test_a_missing_library_names_its_extra():
    with pytest.raises(ImportError, match=r"pip install 'agc-autograph\[onnx\]'"):
        library("no_such_library", "onnx", "the format ONNX")
    with pytest.raises(ImportError, match=r"pip install no_such_library$"):
        library("no_such_library", None, "the verification")


@pytest.mark.parametrize(("to", "known"), [("json", "none"), ("onnx", ".*opset")])
def test_an_option_that_a_format_lacks_is_refused(to, known, tmp_path):
    with pytest.raises(ValueError, match=f"the format {to} has no option 'quality'; it has {known}"):
        tf.export.write(lambda x: x, tmp_path / "f", [tf.constant(1.0)], to=to, quality=1)
