"""The safetensors format: all dtypes there and back, the layout others read, and damage."""

import json
import struct

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import dtypes
from agc.runtime.storage import safetensors

ARRAYS = {
    "float32": np.array([[1.5, -2.0], [np.inf, 0.0]], np.float32),
    "scalar": np.array(3, np.int64),
    "empty": np.zeros((0, 3), np.float16),
    "flags": np.array([True, False]),
    "complex": np.array([1 + 2j, -3j], np.complex128),
    "texts": np.array([b"", "é".encode(), b"\x00\xff"], object),
    "text": np.array(b"one", object),
    "narrow": tf.constant([1.5, -2.0], tf.bfloat16).numpy(),
}


def same(one, other):
    if one.dtype.kind == "O":
        return one.shape == other.shape and one.tolist() == other.tolist()
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def test_every_dtype_round_trips_bitwise(tmp_path):
    path = tmp_path / "values"
    checksum = safetensors.write(path, ARRAYS)
    found = safetensors.read(path, checksum)
    assert list(found) == list(ARRAYS)
    assert all(same(found[name], array) for name, array in ARRAYS.items())


@pytest.mark.parametrize("dtype", safetensors.CODES, ids=lambda dtype: dtype.name)
def test_numbers_of_every_dtype(tmp_path, dtype):
    array = np.array([0, 1]).astype(dtype.numpy_dtype)
    safetensors.write(tmp_path / "values", {"x": array})
    assert same(safetensors.read(tmp_path / "values")["x"], array)


def test_the_layout_is_the_standard_one(tmp_path):
    path = tmp_path / "values"
    safetensors.write(path, {"w": np.array([[1, 2]], np.float32)})
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    assert json.loads(content[8 : 8 + length]) == {
        "w": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}
    }
    assert content[8 + length :] == np.array([1, 2], "<f4").tobytes()
    assert length % 8 == 0


def test_every_damage_is_detected(tmp_path):
    path = tmp_path / "values"
    checksum = safetensors.write(path, ARRAYS)
    content = path.read_bytes()
    for position in range(0, len(content), 7):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0x40]) + content[position + 1 :])
        with pytest.raises(tf.errors.DataLossError):
            safetensors.read(path, checksum)
        path.write_bytes(content[:position])
        with pytest.raises(tf.errors.DataLossError):
            safetensors.read(path)


@pytest.mark.parametrize(
    "header",
    [
        {"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 400]}},
        {"w": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}},
        {"w": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 4]}},
        {"w": {"dtype": "Q4", "shape": [1], "data_offsets": [0, 4]}},
        {"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}},
        {"w": 3},
        [],
    ],
    ids=str,
)
def test_inconsistent_headers_are_refused(tmp_path, header):
    text = json.dumps(header).encode()
    (tmp_path / "values").write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    with pytest.raises(tf.errors.DataLossError, match="damaged, or not a safetensors file"):
        safetensors.read(tmp_path / "values")


def test_a_header_longer_than_the_file_is_refused(tmp_path):
    (tmp_path / "values").write_bytes(struct.pack("<Q", 2**60) + b"{}")
    with pytest.raises(tf.errors.DataLossError, match="a header of"):
        safetensors.read(tmp_path / "values")


def test_all_dtypes_of_the_runtime_can_be_stored():
    stored = {*safetensors.CODES, dtypes.string, dtypes.complex64, dtypes.complex128}
    assert stored == {*dtypes.ALL, *dtypes.NARROW_FLOATS}
