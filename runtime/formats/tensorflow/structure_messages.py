"""The message StructuredValue: nests, shapes, dtypes and specs of arguments in TensorFlow's saved models.

(TensorSpec([], int32), {"b": 1.5})      ⇄      tuple_value { values { tensor_spec_value { … } } … }
"""

from __future__ import annotations

from ...storage.messages import Message
from . import graph_messages  # noqa: F401  (messages that fields hold)


class StructuredValue(Message):
    """A nest of values, or a leaf of one."""

    FIELDS = """
        message NoneValue {}
        message TensorSpecProto { string name = 1; TensorShapeProto shape = 2; DataType dtype = 3; }
        message BoundedTensorSpecProto {
            string name = 1; TensorShapeProto shape = 2; DataType dtype = 3; bytes minimum = 4;
            bytes maximum = 5;
        }
        message StructuredValues { repeated StructuredValue values = 1; }  // the items of a list or a tuple
        message DictValue { map<string, StructuredValue> fields = 1; }
        message PairValue { string key = 1; StructuredValue value = 2; }  // a field of a named tuple
        message NamedTupleValue { string name = 1; repeated PairValue values = 2; }
        oneof kind {
            NoneValue none_value = 1; double float64_value = 11; sint64 int64_value = 12;
            string string_value = 13; bool bool_value = 14; TensorShapeProto tensor_shape_value = 31;
            DataType tensor_dtype_value = 32; TensorSpecProto tensor_spec_value = 33;
            TypeSpecProto type_spec_value = 34; BoundedTensorSpecProto bounded_tensor_spec_value = 35;
            StructuredValues list_value = 51; StructuredValues tuple_value = 52; DictValue dict_value = 53;
            NamedTupleValue named_tuple_value = 54; bytes tensor_value = 55; bytes numpy_value = 56;
        }
    """


class TypeSpecProto(Message):
    """A `TypeSpec` of a composite value: its class, and its content as a nest."""

    FIELDS = """
        int32 type_spec_class = 1; StructuredValue type_state = 2; string type_spec_class_name = 3;
        int32 num_flat_components = 4;
    """
