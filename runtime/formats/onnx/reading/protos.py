"""The messages of a model file: parsed, with every size checked against the data that are there.

External data are read from files inside the folder of the model only.
"""

from __future__ import annotations

import bisect
import math
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from .... import dtypes
from ....errors import DataLossError
from ....storage import regular_files
from ....storage.corruption import element_count
from ..onnx_types import DTYPES, T, onnx

Array = Any

BY_NUMBER = {number: dtypes.as_dtype(name) for name, number in DTYPES.items()}
_EXTERNAL = 1
_TRUTH = bytes([0] + [1] * 255)  # native code relies on bytes of 0 and 1
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


class TensorReader:
    """Reads the tensors of a model, each once: the calls of a function share its constants.

    External data are in files of `folder`. Parts of a file may be shared, but do not overlap: a small model could
    take much memory otherwise.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arrays: dict[int, tuple[Any, Array]] = {}
        self._parts: dict[str, list[tuple[int, int, bool, bytes]]] = {}

    def array(self, tensor: Any) -> Array:
        """Return the array of a TensorProto; the same one for the same object."""
        if id(tensor) not in self._arrays:
            self._arrays[id(tensor)] = tensor, self._read(tensor)  # which keeps the object, and so its id
        return self._arrays[id(tensor)][1]

    def _read(self, tensor: Any) -> Array:
        dtype = dtype_of(tensor.data_type)
        shape = tuple(tensor.dims)
        count = element_count(shape)
        if tensor.data_location == _EXTERNAL:
            return _from_bytes(self._external(tensor, count * dtype.size, dtype.is_bool), dtype, shape)
        if dtype.kind == "S":
            return _strings(tensor, shape, count)
        if tensor.HasField("raw_data"):
            content = tensor.raw_data
            return _from_bytes(content.translate(_TRUTH) if dtype.is_bool else content, dtype, shape)
        return _from_fields(tensor, dtype, shape, count)

    def _external(self, tensor: Any, size: int, is_bool: bool) -> bytes:
        """Return the bytes of external data."""
        entries = {each.key: each.value for each in tensor.external_data}
        if "location" not in entries:
            raise ValueError(f"the tensor {tensor.name!r} is in a file that the model does not name")
        start, length = int(entries.get("offset", 0)), int(entries.get("length", size))
        if start < 0 or length != size:
            raise ValueError(f"the tensor {tensor.name!r} has {length} bytes at {start}, not {size}")
        if not size:
            return b""
        parts = self._parts.setdefault(entries["location"], [])
        place = bisect.bisect_left(parts, start, key=itemgetter(0))
        if place < len(parts) and parts[place][:3] == (start, start + size, is_bool):
            return parts[place][3]
        before, after = parts[place - 1 : place], parts[place : place + 1]
        if (place and before[0][1] > start) or (after and after[0][0] < start + size):
            raise ValueError(f"the tensor {tensor.name!r} overlaps another one in {entries['location']!r}")
        content = _part(self._folder, entries["location"], start, size, tensor.name)
        content = content.translate(_TRUTH) if is_bool else content
        parts.insert(place, (start, start + size, is_bool, content))
        return content


def _part(folder: Path, name: str, start: int, size: int, tensor: str) -> bytes:
    """Return a part of a file of external data."""
    with regular_files.open_inside(folder, name) as stream:
        if start + size > stream.seek(0, 2):
            raise ValueError(f"the tensor {tensor!r} ends after the file {name!r}")
        stream.seek(start)
        return stream.read(size)


def _from_fields(tensor: Any, dtype: dtypes.DType, shape: tuple[int, ...], count: int) -> Array:
    """Return the elements that are stored one by one, in the field of the dtype."""
    given = getattr(tensor, _FIELDS.get(dtype.name, "int32_data"))
    if len(given) != count:
        raise ValueError(f"the tensor {tensor.name!r} has {len(given)} of {count} elements")
    if dtype.name in ("float16", "bfloat16"):
        bits = np.array(given, np.uint32).astype(np.uint16)
        return bits.view(dtype.numpy_dtype).reshape(shape)
    return np.array(given).astype(dtype.numpy_dtype).reshape(shape)


def _strings(tensor: Any, shape: tuple[int, ...], count: int) -> Array:
    if len(tensor.string_data) != count:
        raise ValueError(f"the tensor {tensor.name!r} has {len(tensor.string_data)} of {count} strings")
    found = np.empty(count, object)
    found[:] = list(tensor.string_data)
    return found.reshape(shape)


def _from_bytes(content: bytes, dtype: dtypes.DType, shape: tuple[int, ...]) -> Array:
    if len(content) != math.prod(shape) * dtype.size:
        raise ValueError(f"a tensor {dtype.name}{list(shape)} has {len(content)} bytes")
    return np.frombuffer(content, dtype.numpy_dtype).reshape(shape)
