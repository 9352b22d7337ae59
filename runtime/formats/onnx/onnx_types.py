"""The dtypes of ONNX, and arrays and declarations of values as its messages.

float32[?, 3]     ==>     ValueInfoProto { elem_type: FLOAT  shape { dim {} dim { dim_value: 3 } } }
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ..missing import library

onnx: Any = library("onnx", "onnx", "the format ONNX")
T, helper = onnx.TensorProto, onnx.helper

DTYPES = {
    "float32": T.FLOAT, "float64": T.DOUBLE, "float16": T.FLOAT16, "bfloat16": T.BFLOAT16, "bool": T.BOOL,
    "int8": T.INT8, "int16": T.INT16, "int32": T.INT32, "int64": T.INT64, "string": T.STRING,
    "uint8": T.UINT8, "uint16": T.UINT16, "uint32": T.UINT32, "uint64": T.UINT64,
}  # fmt: skip

END = np.iinfo(np.int64).max
"""The end of a slice up to the last element."""


class InexpressibleError(Exception):
    """Error of a rule that cannot express an operation; the message is the reason."""


def tensor_of(name: str, array: Any, dtype: dtypes.DType) -> Any:
    """Return an array as a TensorProto. InexpressibleError for a dtype that ONNX lacks, and bytes that are no text."""
    if dtype.name not in DTYPES:
        raise InexpressibleError(f"ONNX has no {dtype.name} numbers that its operators compute with")
    if dtype.kind == "S":
        texts = [text if isinstance(text, bytes) else str(text).encode() for text in np.ravel(array).tolist()]
        if not all(map(_is_text, texts)):
            raise InexpressibleError("its strings are bytes that are not UTF-8")
        return helper.make_tensor(name, T.STRING, np.shape(array), texts)
    content = np.ascontiguousarray(array)
    return helper.make_tensor(name, DTYPES[dtype.name], np.shape(array), content.tobytes(), raw=True)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def value_info(name: str, dtype: dtypes.DType, shape: Any) -> Any:
    """Return the declaration of a value; unknown sizes may be None or names."""
    return helper.make_tensor_value_info(name, DTYPES[dtype.name], shape)
