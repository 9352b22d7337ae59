"""`make_tensor_proto` and `make_ndarray`: bytes as TensorFlow writes them, and all dtypes there and back."""

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case


@each_case(
    "dtype", ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
              "uint64", "bool", "complex64", "complex128"],
)  # fmt: skip
@each_case("values", [np.zeros((0, 2)), 1, [[1, 0], [1, 1]]])
def test_numbers_there_and_back(dtype, values):
    array = np.asarray(values).astype(dtype)
    again = tf.make_ndarray(tf.make_tensor_proto(array))
    assert again.dtype == array.dtype and again.shape == array.shape and (again == array).all()


def test_bytes():
    made = tf.make_tensor_proto([1.0, 2.0])
    assert made.SerializeToString().hex() == "0801120412020802220800" + "00803f00000040"
    assert tf.make_tensor_proto(5).SerializeToString().hex() == "080312003a0105"
    assert tf.make_tensor_proto(["a", "b"]).string_val == [b"a", b"b"]
    assert tf.make_tensor_proto(-1, tf.int8).SerializeToString().endswith(b"\x01")
    assert tf.make_ndarray(tf.make_tensor_proto(-1, tf.int8)) == -1
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2], shape=[2, 2])).tolist() == [[1, 2], [2, 2]]
    assert tf.io.parse_tensor(made.SerializeToString(), tf.float32).numpy().tolist() == [1, 2]
    assert tf.make_ndarray(tf.make_tensor_proto([1j, 2])).tolist() == [1j, 2]


def test_refusals():
    with pytest.raises(ValueError, match="Too many elements"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.make_tensor_proto([1, 2], shape=[2, 2], verify_shape=True)
    with pytest.raises(TypeError):
        tf.make_tensor_proto("a", dtype=tf.int32)


def test_the_text_names_the_dtype_as_tensorflow_does():
    texts = {
        dtype: str(tf.make_tensor_proto([1], dtype)).splitlines()[0]
        for dtype in ("float16", "int64", "complex64")
    }
    assert texts == {
        "float16": "dtype: DT_HALF",
        "int64": "dtype: DT_INT64",
        "complex64": "dtype: DT_COMPLEX64",
    }


def test_complex_elements_are_fields():
    message = tf.make_tensor_proto([1j, 2], tf.complex64)
    assert list(message.scomplex_val) == [0, 1, 2, 0]
    assert tf.make_ndarray(message).tolist() == [1j, 2]
