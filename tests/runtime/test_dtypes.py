"""Dtypes: what is known of them, floats narrower than NumPy's, and those that exist by name only.

The values of bfloat16 were computed by TensorFlow 2.21.
"""

import pickle
import subprocess
import sys

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import COMPLETE
from agc.runtime.ir.parser import parse
from support.each_case import each_case

b = tf.constant([1.5, 2, -3], tf.bfloat16)
c = tf.constant([0.1, 0.2, 0.3], tf.bfloat16)

BFLOAT16 = {
    "sum of two": (lambda b, c: b + c, [1.6015625, 2.203125, -2.703125]),
    "product and quotient": (lambda b, c: b * c - b / c, [-14.875, -9.625, 9.125]),
    "beside a number": (lambda b, c: 2 * b + 1, [4.0, 5.0, -5.0]),
    "exp": (lambda b, c: tf.exp(b), [4.46875, 7.375, 0.0498046875]),
    "mean": (lambda b, c: tf.reduce_mean(b), 0.1669921875),
    "matmul": (lambda b, c: tf.matmul(b[None], c[:, None]), [[-0.3515625]]),
    "einsum": (lambda b, c: tf.einsum("i,i->", b, c), -0.3515625),
    "concat": (lambda b, c: tf.concat([b, c], 0)[2:4], [-3.0, 0.10009765625]),
    "sort": (lambda b, c: tf.sort(b), [-3.0, 1.5, 2.0]),
    "rounding of a cast": (lambda b, c: tf.cast([300.7], tf.bfloat16), [300.0]),
    "linspace": (lambda b, c: tf.linspace(b[0], b[1], 3), [1.5, 1.75, 2.0]),
}


@each_case("name", BFLOAT16)
@each_case("executor", [None, *COMPLETE])
def test_bfloat16_computes_as_in_tensorflow(name, executor):
    function, expected = BFLOAT16[name]
    if executor is not None:
        function = tf.function(function, experimental_executor=executor)
    result = function(b, c)
    assert result.dtype is tf.bfloat16
    assert result.numpy().astype(np.float64).tolist() == expected


def test_casts_from_bfloat16_are_exact():
    assert tf.cast(b, tf.int32).numpy().tolist() == [1, 2, -3]
    assert tf.bitcast(b, tf.int16).numpy().tolist() == [16320, 16384, -16320]
    assert (b > c).numpy().tolist() == [True, True, False]
    assert tf.argmax(b).numpy() == 1


def test_a_loop_a_variable_and_a_tensor_array_keep_bfloat16():
    variable = tf.Variable(b)

    @tf.function
    def total(xs):
        rows = tf.TensorArray(tf.bfloat16, 0, dynamic_size=True)
        result = tf.zeros([], tf.bfloat16)
        for x in xs:
            result += x if x > 0 else -x
            rows = rows.write(rows.size(), x)
        variable.assign_add(xs)
        return result, rows.stack()

    result, rows = total(b)
    assert (result.dtype, rows.dtype, variable.dtype) == (tf.bfloat16,) * 3
    assert float(result) == 6.5
    assert rows.numpy().tolist() == b.numpy().tolist()
    assert variable.numpy().tolist() == [3.0, 4.0, -6.0]


def test_a_graph_with_bfloat16_reads_back_from_its_text():
    graph = tf.function(lambda x: tf.cast(x, tf.bfloat16) * b).get_concrete_function(tf.constant([1.0])).graph
    assert str(parse(str(graph))) == str(graph)


def test_bfloat16_is_not_promoted():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"bfloat16 tensor but is a float32 tensor"):
        b + tf.constant(1.0)


def test_ml_dtypes_arrays_are_recognized_without_import():
    program = (
        "import ml_dtypes, numpy as np, agc.runtime as tf\n"
        "print(tf.constant(np.array([1.5], ml_dtypes.bfloat16)).dtype)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "<dtype: 'bfloat16'>\n"


def test_without_ml_dtypes_the_error_names_the_package(monkeypatch):
    fresh = tf.dtypes.NarrowFloat("bfloat16")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match=r"pip install 'agc-autograph\[bfloat16\]'"):
        tf.zeros([2], fresh)


def test_float8_is_cast_and_moved():
    eight = tf.dtypes.experimental.float8_e5m2
    x = tf.cast([1.1, 3.0], eight)
    assert x.dtype is eight
    assert tf.cast(x[::-1], tf.float32).numpy().tolist() == [3.0, 1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not take float8_e5m2"):
        tf.exp(x)


@pytest.mark.parametrize("dtype", [tf.qint8, tf.quint16, tf.resource])
def test_there_are_no_tensors_of_quantized_dtypes_and_handles(dtype):
    with pytest.raises(TypeError, match=f"no tensors of dtype {dtype.name}"):
        tf.constant([1], dtype)


def test_a_number_is_no_dataset():
    with pytest.raises(TypeError, match="variant"):
        tf.constant(1, tf.variant)


@pytest.mark.parametrize(
    ("dtype", "limits", "size", "enum"),
    [
        (tf.float32, (0, 1), 4, 1),
        (tf.bool, (0, True), 1, 10),
        (tf.uint8, (0, 255), 1, 4),
        (tf.int64, (0, 2**63 - 1), 8, 9),
    ],
)
def test_facts_of_dtypes(dtype, limits, size, enum):
    assert (dtype.limits, dtype.size, dtype.as_datatype_enum) == (limits, size, enum)


def test_limits_of_floats_are_numpy_numbers():
    assert repr(tf.float32.max) == "np.float32(3.4028235e+38)"
    assert float(tf.bfloat16.max) == 3.3895313892515355e38
    with pytest.raises(TypeError, match="complex64 has no minimum"):
        _ = tf.complex64.min
    with pytest.raises(ValueError, match="not for float16"):
        _ = tf.float16.limits


def test_the_namespace_has_the_conversions():
    assert tf.dtypes.cast([1.5], tf.dtypes.int32).numpy().tolist() == [1]
    assert tf.dtypes.complex(1.0, 2.0).numpy() == 1 + 2j
    assert tf.dtypes.bool is tf.bool
    assert tf.complex128.real_dtype is tf.float64


def test_dtypes_survive_pickling():
    assert pickle.loads(pickle.dumps(tf.bfloat16)) is tf.bfloat16
    copy = pickle.loads(pickle.dumps(b))
    assert copy.dtype is tf.bfloat16
    assert copy.numpy().tolist() == b.numpy().tolist()


@pytest.mark.parametrize("dtype", [">i4", ">f8", ">c8", ">u2", "<f4"])
def test_arrays_of_either_byte_order_become_native(dtype):
    array = np.array([1, 2, 300], dtype)
    double = tf.function(lambda x: x + x)
    for tensor in (tf.constant(array) * 2, tf.Variable(array) * 2, double(array), double(array)):
        assert tensor.dtype.name == np.dtype(dtype).name
        assert tensor.numpy().dtype.isnative
        assert tensor.numpy().tolist() == [2, 4, 600]
    assert tf.as_dtype(np.dtype(dtype)) is tf.as_dtype(np.dtype(dtype).name)


ONE, TWO = np.int64(1), np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (ONE, "int64"), ([ONE], "int32"), ([ONE, 2**40], "int64"), ([np.int8(1), np.uint64(2)], "int32"),
        ([[np.array([1, 2])], [np.array([3, 4])]], "int32"), ([np.uint32(2**31)], "int64"), ([1, 2**63], "uint64"),
        (np.float32(1), "float32"), ([np.float32(1), 2.5], "float32"), ([np.float16(1), np.float64(2)], "float16"),
        ([np.float64(1), 2], "float64"), ([2, np.float64(1)], "float32"), ([0.5, np.float64(1)], "float32"),
        ([ONE, 0.5], "float32"), ([TWO, TWO], "float64"), ((TWO.astype(np.float32), TWO), "float32"),
        ([np.bool_(True)], "bool"), ([[]], "float32"), ([np.complex64(1)], "complex128"),
        ([np.bytes_(b"a"), np.str_("b")], "string"),
    ],
)  # fmt: skip
def test_lists_of_numpy_numbers_are_lists(value, dtype):
    """As in TensorFlow: integers are int32 if they fit, and floats what the list begins with."""
    assert tf.constant(value).dtype.name == dtype
    assert tf.constant(value).numpy().tolist() == np.asarray(value).tolist() or dtype in ("uint64", "string")
    assert tf.reshape(value, [-1]).dtype.name == dtype


def test_a_dataset_keeps_the_dtype_of_arrays_in_a_list():
    """Of arrays only, again as in TensorFlow."""
    arrays, numbers = [np.array([1, 2])] * 2, [ONE, ONE]
    for given, dtype in (
        (arrays, "int64"),
        ([arrays], "int64"),
        (numbers, "int32"),
        ([numbers, arrays[0]], "int32"),
    ):
        assert tf.data.Dataset.from_tensor_slices(given).element_spec.dtype.name == dtype


def test_integers_that_share_no_dtype_of_numpy_stay_integers():
    assert tf.constant([1, 2**63]).numpy().tolist() == [1, 2**63]
    assert tf.constant([1, 2**64 - 1], tf.uint64).numpy().tolist() == [1, 2**64 - 1]
    assert tf.constant([np.uint64(2), np.int64(-1)]).numpy().tolist() == [2, -1]
    with pytest.raises(ValueError, match="does not fit any integer dtype"):
        tf.constant([-1, 2**63])


@pytest.mark.parametrize("value", [1e39, -1e39, [1.0, 3.5e38], [[2.0], [1e300]]])
def test_a_float_too_large_for_the_inferred_dtype(value):
    """It is refused, where its dtype is said it is infinite, and in a graph it is as in TensorFlow."""
    for call in (tf.constant, tf.Variable, lambda x: tf.cast(x, tf.float64)):
        with pytest.raises(ValueError, match="too large for float32, the dtype of floats"):
            call(value)
    assert tf.constant(value, tf.float64).numpy().tolist() == value
    for infinite in (tf.constant(value, tf.float32), tf.function(lambda: tf.constant(value))()):
        assert np.isinf(infinite.numpy()).tolist() == (np.abs(value) > 3.41e38).tolist()


def test_the_largest_and_the_infinite_float_are_none_too_large():
    for value in (3.4028235e38, float("inf"), [1.0, -float("inf")]):
        assert tf.constant(value).dtype is tf.float32
    assert np.isinf((tf.constant(1.0) * 1e39).numpy()) and np.isinf(tf.constant(1e5, tf.float16).numpy())


def test_integers_too_large_for_int64_may_be_floats():
    assert tf.constant(10**39, tf.float64).numpy() == 1e39
    assert tf.constant([10**39, 1], tf.float64).numpy().tolist() == [1e39, 1.0]
    assert np.isinf(tf.constant(10**39, tf.float32).numpy())
    for value in (10**39, [1, 10**39]):
        with pytest.raises(ValueError, match="does not fit any integer dtype"):
            tf.constant(value)
    with pytest.raises(ValueError, match="does not fit any dtype"):
        tf.constant(10**400, tf.float64)


def test_texts_of_numpy_become_plain_bytes():
    for value in ([np.bytes_(b"a")], np.array([b"a"]), np.array(["a"])):
        assert {*map(type, tf.constant(value).numpy())} == {bytes}


def test_numbers_of_dtypes():
    assert [tf.as_dtype(dtype.as_datatype_enum) for dtype in (tf.float32, tf.bool)] == [tf.float32, tf.bool]
    with pytest.raises(TypeError, match="Cannot convert 0 to a dtype"):
        tf.as_dtype(0)


def test_the_name_float_is_float32_as_the_type_float_is():
    assert tf.as_dtype("float") is tf.as_dtype(float) is tf.float32
    assert tf.zeros(2, "float").dtype is tf.float32


def test_dtypes_have_no_attribute_by_which_programs_recognize_eager_tensors():
    assert not hasattr(tf.float32, "numpy")
