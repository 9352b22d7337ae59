"""Nests of arguments and results as messages of TensorFlow's saved models; `structure_values` reads them.

(TensorSpec([], int32), {"b": 1.5})      ==>      tuple_value { values { tensor_spec_value { … } } … }
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...composite import registered_types
from ...composite.extension_type import ExtensionTypeSpec
from ...core.shapes import TensorShape
from ...core.tensor_spec import TensorSpec
from ...core.type_spec import TypeSpec
from ...ir.value_types import TensorType
from ...storage.tensor_protos import serialized
from .attribute_values import TYPE_NUMBERS, encode_shape
from .structure_messages import StructuredValue, TypeSpecProto
from .structure_values import COMPOSITES, EXTENSION

_COMPOSITE_NUMBERS = {kind: number for number, kind in COMPOSITES.items()}


class CannotDescribeError(ValueError):
    """Raised for an argument or result that a saved model of TensorFlow cannot describe."""


class TensorLeaf(NamedTuple):
    """A tensor in a structure: its type, the number of the input or output of the graph, and its name."""

    spec: Any
    number: int
    name: str

    def named(self, name: str) -> TensorLeaf:
        return self._replace(name=name)


class CompositeLeaf:
    """A composite value in a structure, such as a ragged tensor: its spec and its tensors."""

    def __init__(self, spec: TypeSpec, parts: Sequence[TensorLeaf]) -> None:
        self.spec, self.parts = spec, parts


def encoded(value: Any, leaves: list[TensorLeaf] | None = None) -> StructuredValue:
    """Return a nest of plain values and leaves as a message; its leaves are added to `leaves`, in their order.

    Raises CannotDescribeError for other values.

    >>> print(encoded((1, None)), end="")
    tuple_value {
      values {
        int64_value: 1
      }
      values {
        none_value {
        }
      }
    }
    """
    message = StructuredValue()
    _encode(message, value, [] if leaves is None else leaves)
    return message


def _encode(message: StructuredValue, value: Any, leaves: list[TensorLeaf]) -> None:
    if isinstance(value, TensorLeaf):
        leaves.append(value)
        _encode_spec(message.tensor_spec_value, value.spec, value.name)
    elif isinstance(value, CompositeLeaf):
        leaves += value.parts
        _encode_composite(message.type_spec_value, value.spec)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        _encode_fields(message, type(value).__name__, dict(zip(value._fields, value, strict=True)), leaves)
    elif isinstance(value, (list, tuple)):
        items = message.list_value if isinstance(value, list) else message.tuple_value
        items.SetInParent()
        for item in value:
            _encode(items.values.add(), item, leaves)
    elif isinstance(value, Mapping):
        message.dict_value.SetInParent()
        for key in sorted(value):
            if not isinstance(key, str):
                raise CannotDescribeError(f"the key {key!r} of a dict is not a string")
            _encode(message.dict_value.fields[key], value[key], leaves)
    else:
        _encode_leaf(message, value)


def _encode_fields(
    message: StructuredValue, name: str, fields: Mapping[str, Any], leaves: list[TensorLeaf]
) -> None:
    """Set the content to a named tuple."""
    message.named_tuple_value.name = name
    for key, item in fields.items():
        pair = message.named_tuple_value.values.add(key=key)
        _encode(pair.value, item, leaves)
        pair.value.SetInParent()


def _encode_composite(message: TypeSpecProto, spec: TypeSpec) -> None:
    kind = type(spec)
    name = registered_types.name_in_files(kind)
    if name is None and isinstance(spec, ExtensionTypeSpec):
        raise CannotDescribeError(
            f"{kind.__name__} has no name in files: set `__name__` in the class of its values"
        )
    if name is None and kind not in _COMPOSITE_NUMBERS:
        raise CannotDescribeError(f"TensorFlow has no {kind.__name__}: pass its tensors instead")
    message.type_spec_class = EXTENSION if name else _COMPOSITE_NUMBERS[kind]
    message.type_spec_class_name = name or kind.__name__
    message.num_flat_components = len(spec.flatten())
    message.type_state.MergeFrom(encoded(spec._serialize()))


def _encode_leaf(message: StructuredValue, value: Any) -> None:
    if value is None:
        message.none_value.SetInParent()
    elif isinstance(value, (bool, np.bool_)):
        message.bool_value = bool(value)
    elif isinstance(value, (int, np.integer)) and -(1 << 63) <= value < 1 << 63:
        message.int64_value = int(value)
    elif isinstance(value, (float, np.floating)):
        message.float64_value = float(value)
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, dtypes.DType):
        message.tensor_dtype_value = TYPE_NUMBERS[value.name]
    elif isinstance(value, TensorShape):
        encode_shape(message.tensor_shape_value, value.sizes)
    elif isinstance(value, TensorSpec):
        _encode_spec(message.tensor_spec_value, value.spec, value.name or "")
    elif isinstance(value, TypeSpec):
        _encode_composite(message.type_spec_value, value)
    elif isinstance(value, np.ndarray):
        message.numpy_value = serialized(value)
    else:
        raise CannotDescribeError(f"the argument {value!r} is a Python object")


def _encode_spec(message: Any, spec: TensorType, name: str) -> None:
    message.name = name
    message.dtype = TYPE_NUMBERS[spec.dtype.name]
    encode_shape(message.shape, spec.shape)


def argument_specification(parameters: Sequence[inspect.Parameter]) -> StructuredValue:
    """Return the parameters of a function in the form of Python's `inspect.FullArgSpec`."""
    kinds = inspect.Parameter
    plain = [each for each in parameters if each.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    named = [each for each in parameters if each.kind is kinds.KEYWORD_ONLY]
    found = {
        "args": [each.name for each in plain],
        "varargs": next((each.name for each in parameters if each.kind is kinds.VAR_POSITIONAL), None),
        "varkw": next((each.name for each in parameters if each.kind is kinds.VAR_KEYWORD), None),
        "defaults": _plain(tuple(each.default for each in plain if each.default is not kinds.empty)),
        "kwonlyargs": [each.name for each in named],
        "kwonlydefaults": _plain(
            {each.name: each.default for each in named if each.default is not kinds.empty}
        ),
        "annotations": {},
    }
    message = StructuredValue()
    _encode_fields(message, "FullArgSpec", found, [])
    return message


def _plain(defaults: Any) -> Any:
    """Return default values; None if there are none, or if one of them is a Python object."""
    try:
        encoded(defaults)
    except CannotDescribeError:
        return None
    return defaults or None
