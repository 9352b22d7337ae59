"""Models of ONNX: exact numbers, lists in loops, unknown sizes, refusals with lines."""

import subprocess
import sys

import agc.runtime as tf
import numpy as np
import onnx
import pytest
from agc.runtime.export import CannotExportError
from agc.runtime.formats.onnx.model import encode
from support.onnx_models import OPSETS, disagreements, results

LOW32, LOW64 = np.iinfo(np.int32).min, np.iinfo(np.int64).min
NAN, INF = np.nan, np.inf
FLOATS = np.array([-INF, -2.5, -1.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, INF, NAN, 3e9, -3e9, 1e20])


def nodes(content):
    """Return the types of all nodes, those of subgraphs included."""
    found, pending = [], [onnx.load_from_string(content).graph]
    while pending:
        for node in pending.pop().node:
            found.append(node.op_type)
            pending += [each.g for each in node.attribute if each.HasField("g")]
    return found


def agrees(function, *arguments, **options):
    program = tf.export.resolve(function, arguments)
    return disagreements(program, program.examples, **options) == []


def test_constants_that_no_node_reads_are_left_out():
    """Axes and permutations become attributes; ONNX Runtime warned of each constant of theirs."""

    def compute(x):
        y = tf.reshape(tf.transpose(x, [1, 0, 2]), [3, 8])
        for _ in tf.range(tf.cast(x[0, 0, 0], tf.int32)):
            y = tf.squeeze(tf.reduce_sum(y * 0.5, 1, keepdims=True) + y[None], 0)
        return y

    x = np.ones((2, 3, 4), np.float32)
    assert agrees(compute, x)
    graph = onnx.load_from_string(encode(tf.export.resolve(compute, [x]))).graph
    read, pending = set(), [graph]
    while pending:
        inner = pending.pop()
        read |= {name for node in inner.node for name in node.input} | {value.name for value in inner.output}
        pending += [each.g for node in inner.node for each in node.attribute if each.HasField("g")]
    assert {each.name for each in graph.initializer} <= read


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
@pytest.mark.parametrize("opset", OPSETS)
def test_integers_wrap_around_and_are_divided_rounding_down(dtype, opset):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.min + 1, 0, 7, limits.max], dtype)[:, None]
    y = np.array([limits.max, 1, 2, 3, 5] + ([-1, -2, -3] if limits.min else []), dtype)

    def compute(x, y):
        found = [x + y, x - y, x * y, x // y, x % y, tf.truncatediv(x, y), tf.truncatemod(x, y)]
        return [*found, tf.maximum(x, y), tf.minimum(x, y), tf.bitwise.right_shift(x, y % 3), x < y]

    assert agrees(compute, x, y, opset=opset)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("sizes", [(2, 9), (None, None)])
def test_sums_and_products_of_integers_wrap_around(dtype, sizes):
    def compute(x):
        found = [
            tf.reduce_sum(x),
            tf.reduce_sum(x, 0),
            tf.reduce_prod(x),
            tf.reduce_prod(x, 1, keepdims=True),
        ]
        return [*found, tf.reduce_mean(x), tf.reduce_prod(x, 0)]

    x = np.full((2, 9), np.iinfo(dtype).max, dtype) - np.arange(9, dtype=dtype) * np.array(2, dtype)
    program = tf.export.resolve(compute, [tf.TensorSpec(sizes, dtype)])
    assert disagreements(program, [x]) == []


def test_large_unsigned_numbers_are_not_ordered():
    with pytest.raises(CannotExportError, match="no kernel of ReduceMax for uint64"):
        encode(tf.export.resolve(tf.reduce_max, [tf.TensorSpec([3], tf.uint64)]))


@pytest.mark.parametrize("sizes", [(0, 2), (None, 2)])
def test_scans_and_tests_of_nothing_are_those_of_agc(sizes):
    def compute(x):
        scans = [tf.math.cumprod(x, reverse=True), tf.math.cumulative_logsumexp(x, exclusive=True)]
        return [*scans, tf.reduce_any(x > 0.0, 0), tf.reduce_all(x > 0.0)]

    program = tf.export.resolve(compute, [tf.TensorSpec(sizes)])
    for rows in (0, 3) if sizes[0] is None else (0,):
        assert disagreements(program, [np.arange(2.0 * rows, dtype=np.float32).reshape(rows, 2)]) == []


def test_the_product_of_no_integers_is_one():
    program = tf.export.resolve(tf.reduce_prod, [tf.TensorSpec([None], tf.int32)])
    assert disagreements(program, [np.zeros(0, np.int32)]) == []


def test_powers_of_integers_are_exact():
    assert agrees(lambda x, y: (x**y, x**5), np.int64([3, -3, 2**40, 10, -1]), np.int64([39, 40, 2, 18, 63]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_functions_of_the_largest_and_smallest_numbers_are_exact(dtype):
    largest = float(np.finfo(dtype).max)
    x = np.array(
        [0.0, NAN, INF, -INF, largest, -largest, -1e-4, 0.3, -0.7, 1.0, 1.001, 9.9, 10.1, 12.5, -300], dtype
    )

    def compute(x):
        found = [tf.sinh(x), tf.cosh(x), tf.asinh(x), tf.acosh(x), tf.math.lgamma(x), tf.math.digamma(x)]
        return found if dtype == np.float64 else [*found, tf.atan2(x[:, None], x)]

    assert agrees(compute, x)


def test_shifts_by_more_bits_than_a_number_has_are_those_of_the_largest_shift():
    x, y = np.array([5, -5, LOW32], np.int32)[:, None], np.array([-1, 31, 32, 70], np.int32)
    assert agrees(lambda x, y: (tf.bitwise.left_shift(x, y), tf.bitwise.right_shift(x, y)), x, y)


def test_names_of_inputs_may_be_those_that_numbering_gives():
    assert agrees(lambda x, x_1, add: {"x": x + x_1 + add, "add": (x_1 + x) * 2.0, "x_1": x}, 1.0, 2.0, 3.0)


@pytest.mark.parametrize("sizes", [(0,), (None,)])
def test_the_mean_of_no_elements_is_not_a_number(sizes):
    program = tf.export.resolve(tf.reduce_mean, [tf.TensorSpec(sizes)])
    assert disagreements(program, [np.zeros(0, np.float32)]) == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_keep_nan_infinity_negative_zero_and_ties(dtype):
    x = FLOATS.astype(dtype)

    def compute(x, y):
        found = [tf.round(x), tf.floor(x), tf.math.rint(x), tf.sign(x), tf.abs(x), x // y, x % y]
        found += [
            tf.maximum(x, y),
            tf.minimum(x, y),
            tf.reduce_max(x),
            tf.reduce_min(y),
            tf.math.is_finite(x),
        ]
        return [*found, 1 / tf.maximum(x, -0.0), tf.nn.relu(x), tf.argmax(x), tf.math.divide_no_nan(x, y)]

    with np.errstate(all="ignore"):
        assert agrees(compute, x, x[::-1].copy())
    program = tf.export.resolve(lambda x: -x % 3.0, [dtype([0.0, 3.0])])
    (found,) = results(encode(program), program.examples).values()
    assert np.signbit(found).tolist() == np.signbit(program.run(program.examples)[0]).tolist()


@pytest.mark.parametrize("to", ["int8", "uint8", "int16", "int32", "int64", "uint32", "float64", "bool"])
def test_casts_of_numbers_out_of_range_are_those_of_agc(to):
    floats = np.float32([-1.9, 1.9, 300.7, -300.7, 70000.5, 3e9, -3e9])
    assert agrees(lambda x: tf.cast(x, to), floats)
    assert agrees(lambda x: tf.cast(x, to), np.int64([LOW64, LOW32, -1, 0, 255, 256, 2**40]))


def test_a_list_that_only_grows_is_a_scan_output():
    def squares(n, x):
        found = []
        for i in tf.range(n):
            found.append(x * tf.cast(i, tf.float32))
        return tf.stack(found)

    program = tf.export.resolve(squares, [tf.constant(3), np.float32([1, 2])])
    assert "SequenceInsert" not in nodes(encode(program))
    assert nodes(encode(program)).count("Loop") == 1
    loop = next(n for n in onnx.load_from_string(encode(program)).graph.node if n.op_type == "Loop")
    body = next(each.g for each in loop.attribute if each.name == "body")
    assert len(body.output) > len(body.input) - 1
    assert agrees(squares, tf.constant(3), np.float32([1, 2]))


def test_lists_and_tensor_arrays_in_loops():
    def compute(n, x):
        array = tf.TensorArray(tf.float32, n, clear_after_read=False)
        stack, total = [x], x
        for i in tf.range(n):
            array = array.write(n - 1 - i, x * tf.cast(i, tf.float32))
            if i % 2 == 0:
                stack.append(x + tf.cast(i, tf.float32))
            elif len(stack) > 1:
                total += stack.pop()
        grown = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(2, x)
        return array.stack(), array.read(1), total, len(stack), stack[-1], grown.stack(), array.size()

    assert agrees(compute, tf.constant(5), np.float32([1, 2]))


def test_control_flow_is_if_and_loop_with_branches_of_switch():
    def compute(x, n):
        y = tf.switch_case(n % 3, [lambda: x, lambda: -x, lambda: x * x])
        while tf.reduce_sum(y) < 100.0 and n < 50:
            y, n = (y * 2.0, n + 1) if n % 2 == 0 else (y + 3.0, n + 2)
            if y[0] > 90.0:
                break
        return y, n

    for n in (0, 1, 2):
        assert agrees(compute, np.float32([1, -2, 3]), tf.constant(n))


def test_unknown_sizes_are_computed_when_the_model_runs():
    def compute(x, n):
        rows, columns = tf.shape(x)[0], tf.shape(x)[1]
        flat = tf.reshape(x, [-1])
        found = [flat[1 : n + 1], x[-1], x[:, ::2], tf.zeros([columns, rows]) + tf.transpose(x), tf.range(n)]
        return [
            *found,
            tf.tile(x, [2, n]),
            tf.one_hot(tf.range(n), n + 1),
            tf.reduce_mean(x, 0),
            tf.boolean_mask(x, x > 2.0),
        ]

    spec = [tf.TensorSpec([None, None]), tf.TensorSpec([], tf.int32)]
    program = tf.export.resolve(compute, spec)
    for shape in ((2, 3), (4, 1), (1, 5)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        assert disagreements(program, [x, np.int32(3)]) == []


def test_gradients_are_written_as_well():
    def gradient(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            h, states = x[0], []
            for i in tf.range(tf.shape(x)[0]):
                h = tf.tanh(x[i] + tf.linalg.matvec(w, h))
                states.append(h)
            loss = tf.reduce_sum(tf.stack(states) ** 2)
        return loss, tape.gradient(loss, w)

    random = np.random.default_rng(0)
    assert agrees(gradient, random.random((4, 3)).astype("f"), random.random((3, 3)).astype("f"))


def test_strings_are_joined_compared_and_looked_up():
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
    )

    def compute(x):
        return tf.strings.join([x, "!"], "-"), x == "b", table.lookup(x), tf.strings.lower(x)

    assert agrees(compute, tf.constant(["a", "b", "C"]))


def test_everything_that_cannot_be_written_is_listed_with_its_line():
    def several(x):
        y = tf.signal.fft(tf.cast(x, tf.complex64))
        z = tf.linalg.svd(x[None], compute_uv=False)
        return tf.abs(y) + tf.math.bessel_i0(x), z

    with pytest.raises(CannotExportError, match="`several` cannot be written as ONNX") as caught:
        encode(tf.export.resolve(several, [tf.TensorSpec([4])]))
    reasons = "\n".join(caught.value.reasons)
    for name in ("svd: ONNX has no decompositions", "bessel_i0: ONNX has no special functions", "complex64"):
        assert name in reasons
    assert "test_model.py:" in reasons


def test_random_numbers_are_refused_unless_they_may_differ():
    program = tf.export.resolve(lambda n: tf.random.uniform([n], 2.0, 3.0), [tf.constant(1000)])
    with pytest.raises(CannotExportError, match="allow_random=True"):
        encode(program)
    (found,) = results(encode(program, allow_random=True), program.examples).values()
    assert found.shape == (1000,)
    assert found.min() >= 2.0
    assert found.max() < 3.0
    assert abs(found.mean() - 2.5) < 0.1


def test_effects_in_a_branch_without_results_are_left_out_with_a_warning():
    def checked(x):
        if x < 0:
            tf.print(x)
            raise ValueError("negative")
        return x * 2

    program = tf.export.resolve(checked, [tf.constant(3)])
    with pytest.warns(UserWarning, match=r"(?s)print: it is left out.*raise: it is left out"):
        encode(program)


def test_a_loop_that_only_asserts_is_left_out_with_a_warning():
    def checked(x, y):
        for _ in x:
            for row in x:
                assert y > 0 or row > 7
        return x[0] + y

    program = tf.export.resolve(checked, [tf.constant([1, 2, 3]), tf.constant(4)])
    with pytest.warns(UserWarning, match="assert: it is left out"):
        content = encode(program)
    (found,) = results(content, program.examples).values()
    assert found == 5


def test_python_calls_in_a_branch_without_results_are_refused():
    def logged(x):
        if x < 0:
            tf.py_function(print, [x], [])
        return x * 2

    program = tf.export.resolve(logged, [tf.constant(3)])
    with pytest.raises(tf.export.CannotExportError, match="py_function: it runs Python code"):
        encode(program)


def test_assertions_and_prints_are_left_out_with_a_warning():
    def checked(x):
        tf.debugging.assert_positive(x)
        tf.print(x)
        return x * 2

    program = tf.export.resolve(checked, [tf.constant([1, 2])])
    with pytest.warns(
        UserWarning, match=r"(?s)`checked` as ONNX differs.*assert: it is left out.*print: it is"
    ):
        content = encode(program)
    assert nodes(content).count("Mul") == 1


def test_the_model_names_inputs_axes_and_its_source():
    program = tf.export.resolve(
        lambda image: {"scores": image * 2.0},
        [tf.TensorSpec([None, 3])],
        dynamic_axes={"image": {0: "batch"}},
    )
    model = onnx.load_from_string(encode(program))
    (given,) = model.graph.input
    assert given.name == "image"
    assert [each.dim_param or each.dim_value for each in given.type.tensor_type.shape.dim] == ["batch", 3]
    assert [each.name for each in model.graph.output] == ["scores"]
    metadata = {each.key: each.value for each in model.metadata_props}
    assert metadata["source"].startswith("test_model.py:")
    assert (model.producer_name, model.opset_import[0].version) == ("agc", 22)


@pytest.mark.parametrize("opset", [19, 29])
def test_other_opsets_are_refused(opset):
    with pytest.raises(ValueError, match="opset must be between 20 and 28"):
        encode(tf.export.resolve(lambda x: x, [1.0]), opset=opset)


def test_a_function_without_results_is_refused():
    with pytest.raises(CannotExportError, match="it has no results"):
        encode(tf.export.resolve(lambda x: None, [tf.constant(1)]))


def test_the_library_is_imported_when_it_is_used():
    code = "import sys, agc.runtime as tf; tf.export.text; tf.export.FORMATS; print('onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_model_with_bfloat16_results_is_not_verified(tmp_path):
    path = tmp_path / "f.onnx"
    program = tf.export.onnx(tf.function(lambda x: tf.cast(x, tf.bfloat16)), path, [tf.constant([1.0])])
    with pytest.raises(RuntimeError, match="no bfloat16 arrays, as `output_0` is"):
        tf.export.verify(program, path)
