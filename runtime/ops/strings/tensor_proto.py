"""Conversions between tensors and the bytes of TensorFlow's TensorProto message."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core.export import export
from ...ir.value_types import TensorType
from ...storage.tensor_protos import NUMBERS, parsed, serialized
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype

Array = Any

SERIALIZABLE = frozenset(dtype for dtype in (*dtypes.ALL, *dtypes.NARROW_FLOATS) if dtype.name in NUMBERS)
"""The dtypes of tensors that can be serialized."""


@export("io.serialize_tensor")
@op
def serialize_tensor(tensor: Input, name: Name = None) -> TensorType:
    """Serialize a tensor to a string with its dtype, shape and elements.

    >>> parse_tensor(serialize_tensor([1, 2]), dtypes.int32).numpy().tolist()
    [1, 2]
    """
    require_dtype(tensor, SERIALIZABLE, "serialize_tensor")
    return TensorType(dtypes.string, ())


@serialize_tensor.kernel
def _(tensor: Array) -> Array:
    array = np.asarray(tensor, object if isinstance(tensor, bytes) else None)
    return np.array(serialized(array), object)


@export("io.parse_tensor")
@op
def parse_tensor(serialized: Input, out_type: DType, name: Name = None) -> TensorType:
    """Parse a string of `serialize_tensor` to a tensor.

    Raises InvalidArgumentError if the string is no such message, or if its dtype differs.

    >>> parse_tensor(serialize_tensor("a"), dtypes.string).numpy()
    b'a'
    """
    require_dtype(serialized, STRINGS, "parse_tensor")
    if serialized.shape not in ((), None):
        raise ValueError(f"Expected `serialized` to be a scalar, got shape: {serialized.shape}")
    shape = None if serialized.value is None else np.shape(parsed_message(serialized.value, out_type))
    return TensorType(out_type, shape)


parse_tensor.kernel(lambda serialized, out_type: parsed_message(serialized, out_type))


def parsed_message(message: Any, dtype: dtypes.DType) -> Array:
    """Return the array of a message of this dtype; InvalidArgumentError for another dtype or an invalid message."""
    text: bytes = np.asarray(message, object).item()
    try:
        array = parsed(text)
    except ValueError as error:
        shown = base64.b64encode(text[:64]).decode()
        raise errors.InvalidArgumentError(
            f"Could not parse `serialized` as TensorProto, base64: {shown} ({error})"
        ) from None
    if dtypes.of_array(array) is not dtype:
        raise errors.InvalidArgumentError(
            f"Type mismatch between parsed tensor ({dtypes.of_array(array).name}) and dtype ({dtype.name})"
        )
    return array
