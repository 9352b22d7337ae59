"""The message StructuredValue: nests, shapes, dtypes and specs of arguments in TensorFlow's saved models.

(TensorSpec([], int32), {"b": 1.5})      ⇄      tuple_value { values { tensor_spec_value { … } } … }
"""

from __future__ import annotations

from ...storage.messages import Field, Message
from .graph_messages import TYPE, TensorShapeProto


class NoneValue(Message):
    """None."""


class TensorSpecProto(Message):
    """A `TensorSpec`."""

    FIELDS = {
        "name": Field(1, "string"),
        "shape": Field(2, TensorShapeProto),
        "dtype": TYPE._replace(number=3),
    }


class BoundedTensorSpecProto(Message):
    """A `TensorSpec` with limits of the elements."""

    FIELDS = {
        **TensorSpecProto.FIELDS,
        "minimum": Field(4, "bytes"),
        "maximum": Field(5, "bytes"),
    }


class StructuredValue(Message):
    """A nest of values, or a leaf of one."""

    ONEOF = "kind"


class TypeSpecProto(Message):
    """A `TypeSpec` of a composite value: its class, and its content as a nest."""

    FIELDS = {
        "type_spec_class": Field(1, "int32"),
        "type_state": Field(2, StructuredValue),
        "type_spec_class_name": Field(3, "string"),
        "num_flat_components": Field(4, "int32"),
    }


class StructuredValues(Message):
    """The items of a list or a tuple."""

    FIELDS = {"values": Field(1, StructuredValue, many=True)}


class DictValue(Message):
    """A dict with strings as keys."""

    FIELDS = {"fields": Field(1, StructuredValue, keyed=True)}


class PairValue(Message):
    """A field of a named tuple."""

    FIELDS = {"key": Field(1, "string"), "value": Field(2, StructuredValue)}


class NamedTupleValue(Message):
    """A named tuple with the name of its class."""

    FIELDS = {"name": Field(1, "string"), "values": Field(2, PairValue, many=True)}


StructuredValue.declare(
    {
        "none_value": Field(1, NoneValue),
        "float64_value": Field(11, "double"),
        "int64_value": Field(12, "sint64"),
        "string_value": Field(13, "string"),
        "bool_value": Field(14, "bool"),
        "tensor_shape_value": Field(31, TensorShapeProto),
        "tensor_dtype_value": TYPE._replace(number=32),
        "tensor_spec_value": Field(33, TensorSpecProto),
        "type_spec_value": Field(34, TypeSpecProto),
        "bounded_tensor_spec_value": Field(35, BoundedTensorSpecProto),
        "list_value": Field(51, StructuredValues),
        "tuple_value": Field(52, StructuredValues),
        "dict_value": Field(53, DictValue),
        "named_tuple_value": Field(54, NamedTupleValue),
        "tensor_value": Field(55, "bytes"),
        "numpy_value": Field(56, "bytes"),
    }
)
