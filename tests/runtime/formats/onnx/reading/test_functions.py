"""Functions that a model defines, and sequences of tensors: ONNX Runtime gives the same; damaged ones are refused."""

import os

import agc.runtime as tf
import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper
from support.onnx_models import loaded, results, results_of

F = TensorProto.FLOAT
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
X = np.float32([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]])


def node(op, inputs, outputs, domain="", **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), domain=domain, **attrs)


def referring(made, name, attribute, kind):
    """Let an attribute of a node be that of the function's call."""
    made.attribute.append(AttributeProto(name=name, ref_attr_name=attribute, type=kind))
    return made


def function(name, inputs, outputs, nodes, attributes=(), defaults=()):
    return helper.make_function(
        "own", name, inputs.split(), outputs.split(), nodes, OPSETS, list(attributes), list(defaults)
    )


def branch(made):
    return helper.make_graph([made], "branch", [], [helper.make_tensor_value_info("b", F, [2, 3])])


LEAKY = function(
    "Leaky", "a", "b",
    [referring(node("LeakyRelu", "a", "c"), "alpha", "slope", AttributeProto.FLOAT), node("Twice", "c", "b", "own")],
    ["slope"],
)  # fmt: skip
TWICE = function("Twice", "a", "b", [node("Add", "a a", "b")])
SCALED = function(
    "Scaled", "a low", "b c",
    [
        referring(node("Constant", "", "by"), "value_float", "by", AttributeProto.FLOAT),
        node("Mul", "a by", "b"),
        node("Clip", "b low", "c"),
    ],
    defaults=[helper.make_attribute("by", 10.0)],
)  # fmt: skip


def model(nodes, functions=(), inputs=(("x", F, [2, 3]),), outputs=(("y", F, ["m", "n"]),)):
    given = [helper.make_tensor_value_info(*each) for each in inputs]
    shown = [helper.make_tensor_value_info(*each) for each in outputs]
    graph = helper.make_graph(list(nodes), "g", given, shown)
    made = helper.make_model(graph, opset_imports=OPSETS, functions=list(functions), ir_version=10)
    return made.SerializeToString()


CALLS = {
    "an attribute of the call": [node("Leaky", "x", "y", "own", slope=0.5)],
    "an attribute and an operand that the call leaves out": [node("Scaled", "x", "y z", "own")],
    "an attribute with a default": [node("Scaled", "x", "y z", "own", by=2.0)],
    "calls in a branch": [
        node("ReduceSum", "x", "s", keepdims=0),
        node("Greater", "s s", "p"),
        node(
            "If", "p", "y",
            then_branch=branch(node("Twice", "x", "b", "own")),
            else_branch=branch(node("Leaky", "x", "b", "own", slope=-1.0)),
        ),
    ],
    "a function with the name of an operator": [node("Relu", "x", "y", "own")],
    "sequences": [
        node("Constant", "", "one", value_int=1),
        node("SplitToSequence", "x", "rows", axis=1, keepdims=0),
        node("SequenceAt", "rows one", "second"),
        node("SequenceInsert", "rows second one", "longer"),
        node("SequenceErase", "longer", "shorter"),
        node("SequenceLength", "shorter", "count"),
        node("Cast", "count", "size", to=F),
        node("ConcatFromSequence", "shorter", "joined", axis=-1, new_axis=1),
        node("Mul", "joined size", "y"),
    ],
    "a sequence of parts": [
        node("Constant", "", "two", value_int=2),
        node("SplitToSequence", "x two", "parts", axis=1),
        node("SequenceConstruct", "x x", "others"),
        node("SequenceEmpty", "", "none"),
        node("SequenceInsert", "none x", "some"),
        node("Constant", "", "last", value_int=-1),
        node("SequenceAt", "parts last", "part"),
        node("SequenceAt", "some last", "again"),
        node("Add", "part again", "y"),
    ],
}  # fmt: skip
FUNCTIONS = [LEAKY, TWICE, SCALED, function("Relu", "a", "b", [node("Sigmoid", "a", "b")])]


@pytest.mark.parametrize("name", CALLS)
def test_models_give_the_results_of_onnx_runtime(name, tmp_path):
    content = model(CALLS[name], FUNCTIONS)
    (found,) = results_of(loaded(content, tmp_path), [X])
    np.testing.assert_allclose(found, results(content, [X])["y"], rtol=1e-6)


def test_functions_are_traced_and_differentiated(tmp_path):
    called = loaded(model(CALLS["an attribute of the call"], FUNCTIONS), tmp_path)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: called(x))(x)
    assert tape.gradient(y, x).numpy().tolist() == [[2.0, 1.0, 2.0], [2.0, 2.0, 1.0]]


DOUBLING = [
    function(f"F{i}", "a", "b", [node(f"F{i + 1}", "a", "t", "own"), node(f"F{i + 1}", "t", "b", "own")])
    for i in range(30)
]

DAMAGED = {
    "a function that calls itself": ([function("F0", "a", "b", [node("F0", "a", "b", "own")])], "50 deep"),
    "functions that call each other ever more often": (
        [*DOUBLING, function("F30", "a", "b", [node("Neg", "a", "b")])], "more than 1000000 nodes"
    ),
    "an operand that nothing defines": ([function("F0", "a", "b", [node("Neg", "x", "b")])], "which nothing defines"),
    "too many operands": ([function("F0", "", "b", [node("Constant", "", "b", value_float=1.0)])], "fewer operands"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_functions_are_refused(name, tmp_path):
    functions, message = DAMAGED[name]
    with pytest.raises(tf.errors.DataLossError, match=message):
        loaded(model([node("F0", "x", "y", "own")], functions), tmp_path)


def test_mutated_files_are_loaded_or_refused(tmp_path):
    random = np.random.default_rng(0)
    content = np.frombuffer(model(CALLS["calls in a branch"] + CALLS["sequences"][1:2], FUNCTIONS), np.uint8)
    outcomes = set()
    for _ in range(int(os.environ.get("AGC_FUZZ", 200))):
        mutated = content.copy()
        mutated[random.integers(len(content), size=2)] = random.integers(256, size=2)
        try:
            outcomes.add(type(loaded(mutated.tobytes(), tmp_path)).__name__)
        except tf.errors.OpError as error:
            outcomes.add(type(error).__name__)
    assert outcomes == {"OnnxModel", "DataLossError", "UnimplementedError"}


def test_operators_in_functions_are_listed(tmp_path):
    functions = [
        function("F0", "a", "b", [node("DeformConv", "a a a", "b"), node("Missing", "a", "c", "own")])
    ]
    with pytest.raises(tf.errors.UnimplementedError, match=r"DeformConv \(1\), own.Missing \(1\)"):
        loaded(model([node("F0", "x", "y", "own")], functions), tmp_path)


def test_positions_of_sequences_are_constants(tmp_path):
    nodes = [node("SplitToSequence", "x", "rows", axis=0), node("SequenceAt", "rows i", "y")]
    called = loaded(model(nodes, inputs=(("x", F, [2, 3]), ("i", TensorProto.INT64, []))), tmp_path)
    with pytest.raises(ValueError, match="the position in a sequence is computed when the model runs"):
        called(X, np.int64(1))


def test_sequences_are_lists_in_the_results(tmp_path):
    content = onnx.load_model_from_string(model([node("SplitToSequence", "x", "y", axis=0, keepdims=0)]))
    content.graph.output[0].CopyFrom(helper.make_tensor_sequence_value_info("y", F, [3]))
    rows = loaded(content.SerializeToString(), tmp_path)(X)
    expected = results(content.SerializeToString(), [X])["y"]
    assert [row.numpy().tolist() for row in rows] == [row.tolist() for row in expected]
