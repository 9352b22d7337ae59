"""`agc.runtime.onnx.load`: models of agc and PyTorch as functions, and files that are refused."""

from pathlib import Path

import agc.runtime as tf
import numpy as np
import onnx
import pytest
from agc.runtime.formats.onnx.model import encode
from onnx import TensorProto, helper
from support import programs
from support.onnx_models import differences_after_a_round_trip, loaded, results, results_of

FIXTURES = Path(__file__).parents[5] / "fixtures" / "onnx"
F = TensorProto.FLOAT


def model_of(nodes, folder, inputs=(("x", F, [2, 3]),), outputs=("y",), constants=(), opset=17):
    """Load a model of some nodes."""
    return loaded(content_of(nodes, inputs, outputs, constants, opset), folder)


def content_of(nodes, inputs, outputs, constants, opset):
    given = [helper.make_tensor_value_info(*each) for each in inputs]
    shown = [helper.make_empty_tensor_value_info(name) for name in outputs]
    initial = [onnx.numpy_helper.from_array(value, name) for name, value in constants]
    graph = helper.make_graph(nodes, "g", given, shown, initial)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return model.SerializeToString()


@pytest.mark.parametrize("name", ["cnn", "lstm", "attn"])
def test_a_model_of_pytorch_gives_its_results(name):
    recorded = np.load(FIXTURES / f"torch_{name}.npz")
    inputs = [recorded[key] for key in recorded.files if key.startswith("arr")]
    expected = [recorded[key] for key in recorded.files if key.startswith("out")]
    found = results_of(tf.onnx.load(FIXTURES / f"torch_{name}.onnx"), inputs)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def test_a_loaded_model_has_unknown_sizes_names_and_metadata():
    model = tf.onnx.load(FIXTURES / "torch_cnn.onnx")
    assert [(spec.name, spec.shape.as_list()) for spec in model.input_specs] == [("x0", [None, 1, 8, 8])]
    assert model(x0=np.zeros((5, 1, 8, 8), np.float32)).shape == (5, 3)
    assert repr(model).startswith("<OnnxModel main_graph(x0: float32[?, 1, 8, 8]) ->")
    with pytest.raises(TypeError, match="the model takes x0: x0 is missing"):
        model()


@pytest.mark.parametrize("name", ["collatz", "dynamic_rnn", "gaussian_elimination", "sieve", "viterbi"])
def test_programs_with_control_flow_come_back(name, tmp_path):
    program = programs.load(name)
    exported = tf.export.resolve(program.entry, program.tensor_arguments(0, tf.constant))
    assert differences_after_a_round_trip(exported, exported.examples, tmp_path) == []


def test_a_loaded_model_is_traced_and_differentiated(tmp_path):
    def steps(x, n):
        for _ in tf.range(n):
            x = tf.tanh(x * 1.5) if tf.reduce_sum(x) > 0.0 else x + 1.0
        return tf.reduce_sum(x**3)

    specs = [tf.TensorSpec([3]), tf.TensorSpec([], tf.int32)]
    model = loaded(encode(tf.export.resolve(steps, specs)), tmp_path)
    x, n = tf.constant([0.5, -0.2, 0.1]), tf.constant(3)

    def gradient(function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, n)
        return tape.gradient(y, x)

    expected = gradient(tf.function(steps))
    np.testing.assert_allclose(gradient(model), expected, rtol=1e-5)
    np.testing.assert_allclose(tf.function(gradient)(model), expected, rtol=1e-5)
    np.testing.assert_allclose(tf.function(lambda x: model(x, n))(x), steps(x, n), rtol=1e-6)


def test_a_trainable_model_has_variables():
    model = tf.onnx.load(FIXTURES / "torch_cnn.onnx", trainable=True)
    x = np.random.default_rng(0).random((4, 1, 8, 8), np.float32)

    @tf.function
    def loss():
        return -tf.reduce_mean(tf.math.log(model(x)[:, 0]))

    before = loss()
    for _ in range(3):
        with tf.GradientTape() as tape:
            value = loss()
        for variable, change in zip(model.variables, tape.gradient(value, model.variables), strict=True):
            if change is not None:
                variable.assign_sub(0.1 * change)
    assert loss() < before


def test_defaults_of_inputs_may_be_left_out(tmp_path):
    variable = tf.Variable([1.0, 2.0], name="state")
    program = tf.export.resolve(lambda x: variable.assign_add(x), [tf.TensorSpec([2])])
    model = loaded(encode(program), tmp_path)
    first, state = model(tf.constant([1.0, 1.0]))
    assert first.numpy().tolist() == state.numpy().tolist() == [2.0, 3.0]
    assert model([1.0, 1.0], state=state)[1].numpy().tolist() == [3.0, 4.0]


def normal(x):
    return (x - x.mean(1)[:, None]) / np.sqrt(x.var(1)[:, None] + 1e-5)


CASES = {
    "Gemm": ({"alpha": 2.0, "transB": 1}, [("w", (4, 3)), ("b", (4,))], lambda x, w, b: 2 * x @ w.T + b),
    "LayerNormalization": ({}, [("s", (3,))], lambda x, s: normal(x) * s),
    "Clip": ({}, [("low", ()), ("high", ())], lambda x, low, high: np.minimum(np.maximum(x, low), high)),
    "LpNormalization": ({"p": 1}, [], lambda x: x / np.abs(x).sum(1, keepdims=True)),
    "Hardmax": ({}, [], lambda x: (x == x.max(1, keepdims=True)).astype("f")),
    "ReduceL1": ({"axes": [1], "keepdims": 0}, [], lambda x: np.abs(x).sum(1)),
    "Selu": ({}, [], lambda x: np.where(x > 0, x, 1.6732632 * np.expm1(x)) * 1.0507010),
    "MeanVarianceNormalization": ({"axes": [1]}, [], lambda x: (x - x.mean(1)[:, None]) / x.std(1)[:, None]),
    "Flatten": ({"axis": 0}, [], lambda x: x.reshape(1, -1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_operator_that_only_other_exporters_write(name, tmp_path):
    attrs, extra, expected = CASES[name]
    random = np.random.default_rng(1)
    constants = [(key, random.standard_normal(shape).astype("f")) for key, shape in extra]
    node = helper.make_node(name, ["x", *[key for key, _ in extra]], ["y"], **attrs)
    x = random.standard_normal((2, 3)).astype("f")
    (found,) = results_of(model_of([node], tmp_path, constants=constants), [x])
    np.testing.assert_allclose(found, expected(x, *[value for _, value in constants]), rtol=2e-5, atol=1e-6)


IMAGE, MATRIX = (1, 2, 7, 6), (2, 3)
GRID = np.float32([[[[-2.5, -1.5], [-1.0, -0.9], [-0.1, 0.03]], [[0.5, 0.31], [0.97, 1.0], [1.6, 3.3]]]])
OTHERS = [
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 3], "pads": [1, 0, 1, 1], "ceil_mode": 1}, IMAGE),
    ("MaxPool", {"kernel_shape": [2, 2], "strides": [1, 2], "auto_pad": "SAME_LOWER"}, IMAGE),
    ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, IMAGE),
    ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 0, 1, 1], "count_include_pad": 1}, IMAGE),
    ("LpPool", {"kernel_shape": [2, 2], "p": 3}, IMAGE),
    ("GlobalAveragePool", {}, IMAGE),
    ("GlobalMaxPool", {}, IMAGE),
    ("ConvTranspose", {"strides": [2, 2], "output_shape": [14, 12]}, IMAGE, (2, 3, 3, 3)),
    ("BatchNormalization", {}, IMAGE, (2,), (2,), (2,), (2,)),
    ("InstanceNormalization", {}, IMAGE, (2,), (2,)),
    ("Det", {}, (3, 4, 4)),
    ("EyeLike", {}, MATRIX),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}, MATRIX),
    ("Gelu", {"approximate": "tanh"}, MATRIX),
    ("Resize", {"mode": "cubic"}, (1, 1, 4, 5), (0,), np.float32([1, 1, 2, 1.5])),
    ("OneHot", {}, np.array([0, 2, -1]), np.array(3), np.float32([0.5, 2.0])),
    ("Pad", {"mode": "edge"}, MATRIX, np.int64([2, 0, 1, 3])),
    ("Pad", {"mode": "wrap"}, MATRIX, np.int64([0, 2, 1, 3])),
    ("DFT", {}, (2, 5, 1)),
    ("DFT", {"inverse": 1}, (2, 5, 2), np.array(4), np.array(-2)),
    ("DFT", {"onesided": 1}, (3, 5, 2, 1), np.array(8), np.array(1)),
    ("STFT", {}, (2, 20, 1), np.array(4), np.float32([0.0, 0.5, 1.0, 0.5, 0.25])),
    ("STFT", {"onesided": 0}, (2, 20, 1), np.array(3), None, np.array(6)),
    ("STFT", {"onesided": 0}, (2, 20, 2), np.array(3), np.float32([0.0, 0.5, 1.0, 0.5])),
    ("NonMaxSuppression", {}, (2, 9, 4), (2, 3, 9), np.array(4), np.float32(0.2), np.float32(0.3)),
    ("NonMaxSuppression", {"center_point_box": 1}, (1, 9, 4), (1, 2, 9), np.array(2**40), np.float32(0.2)),
    ("NonMaxSuppression", {}, (1, 9, 4), (1, 2, 9)),
    *[
        ("GridSample", {"mode": mode, "padding_mode": padding, "align_corners": aligned}, IMAGE, GRID)
        for mode in ("linear", "nearest", "cubic")
        for padding, aligned in (("zeros", 0), ("border", 1), ("reflection", 0))
    ],
    ("GridSample", {"padding_mode": "reflection", "align_corners": 1}, (1, 2, 3, 4, 5), (1, 2, 2, 2, 3)),
    ("DequantizeLinear", {}, np.uint8([1, 200]), np.float32([0.5]), np.uint8([3])),
    ("DequantizeLinear", {"axis": 0}, np.int8([[1, -90], [7, 0]]), np.float32([0.5, 2.0]), np.int8([3, 0])),
    (
        "QLinearMatMul",
        {},
        np.uint8([[1, 200], [90, 7]]),
        np.float32(0.1),
        np.uint8(9),
        np.uint8([[3, 1], [250, 7]]),
        np.float32(0.2),
        np.uint8(120),
        np.float32(0.5),
        np.uint8(30),
    ),
    (
        "QLinearConv",
        {"pads": [1, 0]},
        np.uint8([[[1, 90, 200]]]),
        np.float32(0.1),
        np.uint8(9),
        np.int8([[[3, -100]], [[9, 50]]]),
        np.float32([0.2, 0.02]),
        np.int8([0, 0]),
        np.float32(0.5),
        np.uint8(30),
        np.int32([400, -500]),
    ),
    ("ConvInteger", {}, np.uint8([[[1, 9, 200]]]), np.uint8([[[3, 250]]]), np.uint8(3)),
    ("MatMulInteger", {}, np.uint8([[1, 200]]), np.uint8([[3, 1], [250, 7]]), np.uint8(3), np.uint8([7, 1])),
]


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case[0])
def test_operators_give_the_results_of_onnx_runtime(case, tmp_path):
    name, attrs, *given = case
    random = np.random.default_rng(1)
    x, *more = [random.random(a).astype("f") if isinstance(a, tuple) else a for a in given]
    names = ["" if a is None else f"c{i}" for i, a in enumerate(more)]
    constants = [(name, np.asarray(a)) for name, a in zip(names, more, strict=True) if name]
    x = np.asarray(x)
    node = helper.make_node(name, ["x", *names], ["y"], **attrs)
    inputs = [("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)]
    content = content_of([node], inputs, ("y",), constants, 21)
    content = onnx.shape_inference.infer_shapes(content).SerializeToString()
    (found,) = results_of(loaded(content, tmp_path), [x])
    np.testing.assert_allclose(found, results(content, [x])["y"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("axes", "noop", "expected"),
    [
        ([1], 0, [[6.0], [15.0]]),
        ([-2], 0, [[5.0, 7.0, 9.0]]),
        ([0, -1], 0, [[21.0]]),
        ([], 0, [[21.0]]),
        ([], 1, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ],
)
def test_axes_of_a_sum_may_be_computed(axes, noop, expected, tmp_path):
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], noop_with_empty_axes=noop)
    model = model_of([node], tmp_path, [("x", F, [2, 3]), ("axes", TensorProto.INT64, ["n"])])
    found = model([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.array(axes, np.int64))
    assert found.numpy().tolist() == expected


def test_counts_that_are_too_large_take_no_time_and_no_memory(tmp_path):
    huge = 2**31 - 1
    x = np.random.default_rng(0).random((1, 3, 1, 2), np.float32)
    shapes = [("x", F, [1, 3, 1, 2])]
    found = model_of([helper.make_node("LRN", ["x"], ["y"], size=huge, alpha=2.0)], tmp_path, shapes)(x)
    np.testing.assert_allclose(found, x / (1 + 2 / huge * (x**2).sum(1, keepdims=True)) ** 0.75, rtol=1e-6)
    body = helper.make_graph([], "b", [helper.make_empty_tensor_value_info("a")], [])
    scan = helper.make_node("Scan", ["x"], ["y"], num_scan_inputs=huge, body=body)
    with pytest.raises(ValueError, match=f"Scan cannot be computed: {huge} of 1 operands are scanned"):
        model_of([scan], tmp_path, shapes)(x)


@pytest.mark.parametrize("p", [1, 2])
def test_a_vector_of_zeros_is_normalized_to_zeros(p, tmp_path):
    node = helper.make_node("LpNormalization", ["x"], ["y"], p=p)
    assert model_of([node], tmp_path, [("x", F, [1, 2])])([[0.0, 0.0]]).numpy().tolist() == [[0.0, 0.0]]


UNKNOWN = {
    "Compress": ({"axis": 2}, ([True, False],)),
    "GatherElements": ({"axis": -3}, ([[0]],)), "Gelu": ({"approximate": "x"}, ()),
    "LayerNormalization": ({"axis": 5}, ([1.0, 1.0],)), "LpNormalization": ({"p": 3}, ()),
    "Pad": ({}, ([1, 1], 0.0, [4])), "RMSNormalization": ({"axis": -5}, ([1.0, 1.0],)),
    "ScatterElements": ({"axis": 3}, ([[0]], [[1.0]])), "Slice": ({}, ([0], [1], [2])), "TopK": ({"axis": 2}, ([1],)),
    "Unsqueeze": ({}, ([7],)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_axes_and_modes_that_an_operator_has_not_are_refused(name, tmp_path):
    """Axes do not wrap around, and no other mode takes the place of an unknown one."""
    attrs, constants = UNKNOWN[name]
    types = {float: np.float32, int: np.int64, bool: np.bool_}
    arrays = [np.array(each, types[type(np.ravel(each)[0].item())]) for each in constants]
    named = [(f"c{i}", array) for i, array in enumerate(arrays)]
    node = helper.make_node(name, ["x", *[each for each, _ in named]], ["y"], **attrs)
    model = model_of([node], tmp_path, [("x", F, [2, 2])], constants=named)
    with pytest.raises(ValueError, match=f"the node {name} cannot be computed: (axis|mode|approximate|p) "):
        model([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("norm", "expected"),
    [("MAX", [3 / 4, -1.0]), ("L1", [3 / 7, -4 / 7]), ("L2", [3 / 5, -4 / 5])],
)
def test_rows_are_normalized_and_rows_of_zeros_remain(norm, expected, tmp_path):
    node = helper.make_node("Normalizer", ["x"], ["y"], domain="ai.onnx.ml", norm=norm)
    model = model_of([node], tmp_path, [("x", F, [3, 2])])
    tiny = 1e-18 if norm == "L2" else 1e-32  # squares of smaller numbers are zero
    found = model([[3.0, -4.0], [0.0, 0.0], [3 * tiny, -4 * tiny]])
    np.testing.assert_allclose(found, [expected, [0.0, 0.0], expected], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "expected", "slopes"),
    [
        ("Elu", [100.0, -1.0], [1.0, 0.0]),
        ("Celu", [100.0, -1.0], [1.0, 0.0]),
        ("Selu", [105.0701, -1.7580994], [1.050701, 0.0]),
        ("ThresholdedRelu", [100.0, 0.0], [1.0, 0.0]),
        ("Shrink", [100.0, -np.inf], [1.0, 1.0]),
    ],
)
def test_activations_of_large_numbers_have_finite_gradients(name, expected, slopes, tmp_path):
    model = model_of([helper.make_node(name, ["x"], ["y"])], tmp_path, [("x", F, [2])])
    x = tf.constant([100.0, -np.inf])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model(x)
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, x), slopes, rtol=1e-6)


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        (
            {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
            [1, 1, 2, 2, 3, 3],
        ),
        ({"mode": "linear"}, [1, 1.25, 1.75, 2.25, 2.75, 3]),
        ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, [1, 1.4, 1.8, 2.2, 2.6, 3]),
    ],
)
def test_images_are_resized(attrs, expected, tmp_path):
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **attrs)
    scales = [("scales", np.float32([1, 2]))]
    model = model_of([node], tmp_path, [("x", F, [1, 3])], constants=scales)
    np.testing.assert_allclose(model([[1.0, 2.0, 3.0]])[0], expected, rtol=1e-6)


def test_numbers_are_quantized_and_back(tmp_path):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    constants = [("s", np.float32(0.5)), ("z", np.uint8(10))]
    model = model_of(nodes, tmp_path, [("x", F, [4])], ("q", "y"), constants)
    quantized, back = model([-9.0, 0.25, 0.75, 1000.0])
    assert quantized.numpy().tolist() == [0, 10, 12, 255]
    assert back.numpy().tolist() == [-5.0, 0.0, 1.0, 122.5]


def test_numbers_are_quantized_by_their_own_range(tmp_path):
    """ONNX defines the operator by a function of others."""
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])
    model = model_of([node], tmp_path, [("x", F, [3])], ("y", "scale", "zero"))
    quantized, scale, zero = model([-1.0, 0.0, 4.1])
    assert (quantized.numpy().tolist(), zero.numpy()) == ([0, 50, 255], 50)
    np.testing.assert_allclose(scale, 5.1 / 255, rtol=1e-6)


@pytest.mark.parametrize(("periodic", "expected"), [(1, [0.0, 0.5, 1.0, 0.5]), (0, [0.0, 0.75, 0.75, 0.0])])
def test_a_window_is_a_function_of_the_standard(periodic, expected, tmp_path):
    node = helper.make_node("HannWindow", ["x"], ["y"], periodic=periodic)
    model = model_of([node], tmp_path, [("x", TensorProto.INT64, [])])
    np.testing.assert_allclose(model(4), expected, atol=1e-6)


def test_a_known_condition_needs_only_its_own_branch(tmp_path):
    """AffineGrid is a function whose other branch splits the four sizes of an image into five."""
    node = helper.make_node("AffineGrid", ["x", "size"], ["y"], align_corners=1)
    sizes = [("size", np.int64([2, 1, 2, 3]))]
    model = model_of([node], tmp_path, [("x", F, [2, 2, 3])], constants=sizes, opset=20)
    grid = model([[[2.0, 0.0, 0.5], [0.0, 1.0, 0.0]]] * 2).numpy()
    assert grid.tolist() == [[[[2 * x + 0.5, y] for x in (-1.0, 0.0, 1.0)] for y in (-1.0, 1.0)]] * 2


def test_a_negative_size_of_an_input_is_unknown(tmp_path):
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], tmp_path, [("x", F, [-1, 2])])
    assert model.input_specs[0].shape.as_list() == [None, 2]
    assert model([[1.0, -1.0]]).numpy().tolist() == [[1.0, 0.0]]


def test_all_operators_that_are_not_supported_are_listed(tmp_path):
    nodes = [
        helper.make_node("RoiAlign", ["x", "x", "x"], ["a"]),
        helper.make_node("RoiAlign", ["a", "x", "x"], ["b"]),
        helper.make_node("Attention", ["b"], ["y"], domain="com.microsoft"),
    ]
    message = r"has operators that are not supported: RoiAlign \(2\), com.microsoft.Attention \(1\)"
    with pytest.raises(tf.errors.UnimplementedError, match=message):
        model_of(nodes, tmp_path)


def test_a_node_that_cannot_be_computed_is_named(tmp_path):
    node = helper.make_node("Resize", ["x", "", "x"], ["y"], name="up", mode="nearest")
    with pytest.raises(
        ValueError, match=r"the node Resize \(up\) cannot be computed: the factors are computed"
    ):
        model_of([node], tmp_path)(np.ones((2, 3), np.float32))


def test_undefined_operands_are_refused(tmp_path):
    with pytest.raises(tf.errors.DataLossError, match="takes 'z', which nothing defines"):
        model_of([helper.make_node("Add", ["x", "z"], ["y"])], tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x08", b"PK\x03\x04" * 10])
def test_other_files_are_refused(content, tmp_path):
    with pytest.raises(tf.errors.DataLossError, match=r"m\.onnx is not an ONNX model"):
        loaded(content, tmp_path)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"location": "../secret"}, "names a file"),
        ({"location": "/etc/passwd"}, "names a file"),
        ({"location": "data", "offset": "-4"}, "bytes at -4"),
        ({"location": "data", "offset": "8"}, "ends after the file"),
        ({"location": "data", "length": "4"}, "has 4 bytes at 0, not 8"),
        ({}, "does not name"),
    ],
)
def test_external_data_are_inside_of_the_folder_and_of_the_file(entries, message, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(8))
    (folder / "data").write_bytes(np.float32([1, 2]).tobytes())
    tensor = TensorProto(name="w", data_type=F, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", F, [2])],
        [tensor],
    )
    model = helper.make_model(graph)
    with pytest.raises(tf.errors.DataLossError, match=message):
        loaded(model.SerializeToString(), folder)
    del tensor.external_data[:]
    tensor.external_data.add(key="location", value="data")
    graph.initializer[0].CopyFrom(tensor)
    assert loaded(helper.make_model(graph).SerializeToString(), folder)().numpy().tolist() == [1.0, 2.0]


def external(name, start, size, kind=F):
    tensor = TensorProto(name=name, data_type=kind, dims=[size], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "data", "offset": start, "length": size * (4 if kind == F else 1)}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def test_tensors_share_parts_of_external_data(tmp_path):
    """A file of a few bytes does not become many arrays."""
    (tmp_path / "data").write_bytes(np.float32([1, 2, 3]).tobytes() + b"\0\2\xff")
    parts = [
        external("a", 0, 2),
        external("b", 8, 1),
        external("c", 0, 2),
        external("d", 12, 3, TensorProto.BOOL),
    ]
    names = [tensor.name for tensor in parts]
    graph = helper.make_graph(
        [helper.make_node("Identity", [name], [f"{name}_"]) for name in names], "g", [],
        [helper.make_tensor_value_info(f"{name}_", F, None) for name in names], parts,
    )  # fmt: skip
    model = loaded(helper.make_model(graph).SerializeToString(), tmp_path)
    assert [each.numpy().tolist() for each in model()] == [[1, 2], [3], [1, 2], [False, True, True]]
    first, again = (model.weights[name]._array for name in "ac")
    assert np.shares_memory(first, again)
    for other in (external("e", 4, 2), external("e", 0, 1), external("e", 8, 4, TensorProto.BOOL)):
        changed = helper.make_model(graph)
        changed.graph.initializer.append(other)
        with pytest.raises(tf.errors.DataLossError, match="'e' overlaps another one in 'data'"):
            loaded(changed.SerializeToString(), tmp_path)


def test_calls_of_a_function_share_its_constants(tmp_path):
    constant = onnx.numpy_helper.from_array(np.float32([1, 2]), "k")
    nodes = [
        helper.make_node("Constant", [], ["k"], value=constant),
        helper.make_node("Add", ["a", "k"], ["b"]),
    ]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "F", ["a"], ["b"], nodes, opsets[:1], ["q"])
    calls = [helper.make_node("F", ["x"], [f"y{i}"], domain="own", q=i) for i in range(2)]
    graph = helper.make_graph(
        calls, "g", [helper.make_tensor_value_info("x", F, [2])],
        [helper.make_tensor_value_info("y1", F, [2])],
    )  # fmt: skip
    proto = helper.make_model(graph, functions=[function], opset_imports=opsets)
    model = loaded(proto.SerializeToString(), tmp_path)
    assert model([1.0, 1.0]).numpy().tolist() == [2.0, 3.0]
    first, second = (node.body.nodes[0].attrs["value"] for node in model._graph.nodes)
    assert first is second


@pytest.mark.parametrize(
    ("outputs", "result", "message"),
    [(["y", "z"], "z", "Relu has 1 results, not 2"), (["y", ""], "", "its result '' is not defined")],
)
def test_results_that_no_operator_has_are_refused(outputs, result, message, tmp_path):
    nodes = [helper.make_node("Relu", ["x"], outputs)]
    with pytest.raises((ValueError, tf.errors.DataLossError), match=message):
        model_of(nodes, tmp_path, outputs=[result])(np.zeros((2, 3), np.float32))


def test_a_tensor_with_too_few_data_is_refused(tmp_path):
    tensor = TensorProto(name="w", data_type=F, dims=[2**40], raw_data=b"\0" * 8)
    graph = helper.make_graph([], "g", [], [helper.make_tensor_value_info("w", F, [2])], [tensor])
    with pytest.raises(tf.errors.DataLossError, match="has 8 bytes"):
        loaded(helper.make_model(graph).SerializeToString(), tmp_path)
