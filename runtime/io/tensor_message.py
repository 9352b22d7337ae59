"""The message `TensorProto` as an object: `tf.make_tensor_proto` and `tf.make_ndarray`.

[1.0, 2.0]      ⇄      dtype: DT_FLOAT   tensor_shape { dim { size: 2 } }   tensor_content: …
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..formats.tensorflow import graph_messages  # noqa: F401  (messages that fields hold)
from ..storage.messages import Message
from ..storage.tensor_protos import NUMBERS, parsed

_FIELD_OF = {
    "float32": "float_val", "float64": "double_val", "string": "string_val", "complex64": "scomplex_val",
    "int64": "int64_val", "bool": "bool_val", "complex128": "dcomplex_val", "float16": "half_val",
    "bfloat16": "half_val", "uint32": "uint32_val", "uint64": "uint64_val",
}  # fmt: skip
"""The fields of elements that are stored one by one; `int_val` for other dtypes."""


class TensorProto(Message):
    """A tensor as a message."""

    FIELDS = """
        DataType dtype = 1; TensorShapeProto tensor_shape = 2; bytes tensor_content = 4;
        repeated float float_val = 5; repeated double double_val = 6; repeated int32 int_val = 7;
        repeated bytes string_val = 8; repeated float scomplex_val = 9; repeated int64 int64_val = 10;
        repeated bool bool_val = 11; repeated double dcomplex_val = 12; repeated int32 half_val = 13;
        repeated uint32 uint32_val = 16; repeated uint64 uint64_val = 17;
    """


@export("make_tensor_proto")
def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Sequence[int] | None = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """Return a message with the elements of `values`, which `tf.make_ndarray` and TensorFlow's tools read.

    Args:
        values: a number, a list, an array or a tensor.
        dtype: the dtype of the message, by default that of `values`.
        shape: the shape of the message; the last element is repeated if `values` has fewer elements.
        verify_shape: whether `values` must have that shape.
        allow_broadcast: accepted for compatibility.

    Raises TypeError for values of another dtype or shape, ValueError for too many elements.

    >>> make_ndarray(make_tensor_proto([1, 2], shape=[3])).tolist()
    [1, 2, 2]
    """
    tensor = convert_to_tensor(values, dtype)
    array: Any = np.asarray(tensor.numpy(), object if tensor.dtype is dtypes.string else None)
    dims = list(array.shape) if shape is None else [int(size) for size in shape]
    if verify_shape and dims != list(array.shape):
        raise TypeError(f"Expected Tensor's shape: {tuple(dims)}, but got {array.shape}.")
    count, kind = math.prod(dims), tensor.dtype
    if array.size > count:
        raise ValueError(f"Too many elements provided. Takes at most {count}, but got {array.size}.")
    made = TensorProto(dtype=NUMBERS[kind.name])
    made.tensor_shape.SetInParent()
    for size in dims:
        made.tensor_shape.dim.add(size=size)
    is_narrow = kind.is_floating and kind.size == 1
    in_fields = kind in (dtypes.string, dtypes.bool_, dtypes.uint16) or kind.is_complex
    if not in_fields and (array.size == count > 1 or is_narrow):
        made._assign("tensor_content", array.astype(array.dtype.newbyteorder("<")).tobytes())
    else:
        made._assign(_FIELD_OF.get(kind.name, "int_val"), _elements(array, kind))
    return made


def _elements(array: Any, kind: dtypes.DType) -> list[Any]:
    flat = array.ravel()
    if kind.is_complex:
        flat = np.stack([flat.real, flat.imag], -1).ravel()
    elif kind.is_floating and kind.size == 2:
        flat = flat.view(np.uint16)
    found: list[Any] = flat.astype(np.uint8).tolist() if kind is dtypes.bool_ else flat.tolist()
    return found


@export("make_ndarray")
def make_ndarray(tensor: Any) -> Any:
    """Return the NumPy array of a `TensorProto`, such as of a summary; strings as an array of objects.

    Raises ValueError for an invalid message.

    >>> make_ndarray(make_tensor_proto(["a", "b"])).tolist()
    [b'a', b'b']
    """
    return parsed(tensor.SerializeToString())
