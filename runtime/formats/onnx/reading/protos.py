"""The messages of a model file: parsed, with every size checked against the data that are there.

External data are read from files inside the folder of the model only.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from .... import dtypes
from ....errors import DataLossError
from ....storage import regular_files
from ....storage.corruption import element_count
from ..onnx_types import DTYPES, T, onnx

BY_NUMBER = {number: dtypes.as_dtype(name) for name, number in DTYPES.items()}
_EXTERNAL = 1
_FIELDS = {
    "float32": "float_data", "float64": "double_data", "int64": "int64_data", "uint64": "uint64_data",
    "uint32": "uint64_data",
}  # fmt: skip


def read_model(path: Path) -> Any:
    """Return the ModelProto of a file. Raises DataLossError for a file that is none."""
    content = regular_files.read(path)
    try:
        model = onnx.ModelProto.FromString(content)
    except Exception as error:  # the class depends on the implementation of protobuf
        raise DataLossError(f"{path} is not an ONNX model: {error}") from None
    if not model.HasField("graph") or not model.opset_import:
        raise DataLossError(f"{path} is not an ONNX model: it has no graph, or no version of its operators")
    return model


def dtype_of(number: int) -> dtypes.DType:
    """Return the dtype for a number of ONNX. Raises ValueError for one that agc has not."""
    if number not in BY_NUMBER:
        names = {value: name for name, value in T.DataType.items()}
        raise ValueError(f"agc has no dtype for ONNX' {names.get(number, number)}")
    return BY_NUMBER[number]


def array_of(tensor: Any, folder: Path) -> np.ndarray[Any, Any]:
    """Return the array of a TensorProto; its data may be in a file of `folder`."""
    dtype = dtype_of(tensor.data_type)
    shape = tuple(tensor.dims)
    count = element_count(shape)
    if tensor.data_location == _EXTERNAL:
        return _from_bytes(_external(tensor, folder, count * dtype.size), dtype, shape)
    if dtype.kind == "S":
        return _strings(tensor, shape, count)
    if tensor.HasField("raw_data"):
        return _from_bytes(tensor.raw_data, dtype, shape)
    given = getattr(tensor, _FIELDS.get(dtype.name, "int32_data"))
    if len(given) != count:
        raise ValueError(f"the tensor {tensor.name!r} has {len(given)} of {count} elements")
    if dtype.name in ("float16", "bfloat16"):
        bits = np.array(given, np.uint32).astype(np.uint16)
        found: np.ndarray[Any, Any] = bits.view(dtype.numpy).reshape(shape)
        return found
    return np.array(given).astype(dtype.numpy).reshape(shape)


def _strings(tensor: Any, shape: tuple[int, ...], count: int) -> np.ndarray[Any, Any]:
    if len(tensor.string_data) != count:
        raise ValueError(f"the tensor {tensor.name!r} has {len(tensor.string_data)} of {count} strings")
    found = np.empty(count, object)
    found[:] = list(tensor.string_data)
    return found.reshape(shape)


def _from_bytes(content: bytes, dtype: dtypes.DType, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if len(content) != math.prod(shape) * dtype.size:
        raise ValueError(f"a tensor {dtype.name}{list(shape)} has {len(content)} bytes")
    found = np.frombuffer(content, dtype.numpy).reshape(shape)
    return (found != 0) if dtype.is_bool else found  # bytes other than 0 and 1 are no Booleans


def _external(tensor: Any, folder: Path, size: int) -> bytes:
    """Return the bytes of external data."""
    entries = {each.key: each.value for each in tensor.external_data}
    if "location" not in entries:
        raise ValueError(f"the tensor {tensor.name!r} is in a file that the model does not name")
    offset, length = int(entries.get("offset", 0)), int(entries.get("length", size))
    if offset < 0 or length != size:
        raise ValueError(f"the tensor {tensor.name!r} has {length} bytes at {offset}, not {size}")
    with regular_files.open_inside(folder, entries["location"]) as stream:
        end = stream.seek(0, 2)
        if offset + length > end:
            raise ValueError(f"the tensor {tensor.name!r} ends after the file {entries['location']!r}")
        stream.seek(offset)
        return stream.read(length)
