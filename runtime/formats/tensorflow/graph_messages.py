"""The messages of a graph in TensorFlow's formats: GraphDef, FunctionDef, NodeDef, AttrValue.

NodeDef(name="sum", op="AddV2", input=["x", "y"])      ⇄      b"\\n\\x03sum\\x12\\x05AddV2…"

The classes have the names, fields and numbers of TensorFlow's `.proto` files. A `TensorProto` is kept as bytes,
which `storage.tensor_protos` reads and writes.

>>> node = NodeDef(name="sum", op="AddV2", input=["x", "y"])
>>> node.attr["T"].type = 1
>>> NodeDef.FromString(node.SerializeToString()) == node
True
"""

from __future__ import annotations

from ...storage.messages import Field, Message
from ...storage.tensor_protos import TYPE_LABELS

TYPE = Field(1, "int32", labels=TYPE_LABELS)
TYPES = Field(6, "int32", many=True, labels=TYPE_LABELS)


class ShapeDimension(Message):
    """A dimension of a shape; its size is -1 if it is unknown."""

    FIELDS = {"size": Field(1, "int64"), "name": Field(2, "string")}


class TensorShapeProto(Message):
    """The shape of a tensor, of which dimensions or the rank may be unknown."""

    FIELDS = {"dim": Field(2, ShapeDimension, many=True), "unknown_rank": Field(3, "bool")}


class ListValue(Message):
    """An attribute that is a list; the field of its type holds the items."""


class AttrValue(Message):
    """The value of an attribute of a node or a function."""

    ONEOF = "value"


class NameAttrList(Message):
    """The name of a function, and attributes of its call."""

    FIELDS = {"name": Field(1, "string"), "attr": Field(2, AttrValue, keyed=True)}


ListValue.declare(
    {
        "s": Field(2, "bytes", many=True),
        "i": Field(3, "int64", many=True),
        "f": Field(4, "float", many=True),
        "b": Field(5, "bool", many=True),
        "type": TYPES,
        "shape": Field(7, TensorShapeProto, many=True),
        "tensor": Field(8, "bytes", many=True),
        "func": Field(9, NameAttrList, many=True),
    }
)
AttrValue.declare(
    {
        "list": Field(1, ListValue),
        "s": Field(2, "bytes"),
        "i": Field(3, "int64"),
        "f": Field(4, "float"),
        "b": Field(5, "bool"),
        "type": TYPE._replace(number=6),
        "shape": Field(7, TensorShapeProto),
        "tensor": Field(8, "bytes"),
        "placeholder": Field(9, "string"),
        "func": Field(10, NameAttrList),
    }
)


class NodeDef(Message):
    """A node: an operation with the names of its inputs, which end with the number or the name of a result."""

    FIELDS = {
        "name": Field(1, "string"),
        "op": Field(2, "string"),
        "input": Field(3, "string", many=True),
        "device": Field(4, "string"),
        "attr": Field(5, AttrValue, keyed=True),
    }


class HandleData(Message):
    """The dtype and shape of the variable that a resource refers to."""

    FIELDS = {"dtype": TYPE, "shape": Field(2, TensorShapeProto)}


class ArgDef(Message):
    """A parameter or a result in the signature of a function."""

    FIELDS = {
        "name": Field(1, "string"),
        "description": Field(2, "string"),
        "type": TYPE._replace(number=3),
        "type_attr": Field(4, "string"),
        "number_attr": Field(5, "string"),
        "type_list_attr": Field(6, "string"),
        "handle_data": Field(7, HandleData, many=True),
        "is_ref": Field(16, "bool"),
    }


class OpDef(Message):
    """The signature of a function."""

    FIELDS = {
        "name": Field(1, "string"),
        "input_arg": Field(2, ArgDef, many=True),
        "output_arg": Field(3, ArgDef, many=True),
        "is_stateful": Field(17, "bool"),
        "control_output": Field(20, "string", many=True),
    }


class FunctionDef(Message):
    """A function: its nodes name results as `node:argument:number`, parameters by their names."""

    FIELDS = {
        "signature": Field(1, OpDef),
        "node_def": Field(3, NodeDef, many=True),
        "ret": Field(4, "string", keyed=True),
        "attr": Field(5, AttrValue, keyed=True),
        "control_ret": Field(6, "string", keyed=True),
    }


class GradientDef(Message):
    """The name of a function with that of the function that computes its gradient."""

    FIELDS = {"function_name": Field(1, "string"), "gradient_func": Field(2, "string")}


class RegisteredGradient(Message):
    """The name of a function that computes a gradient which Python code defined, and the type of its operation."""

    FIELDS = {"gradient_func": Field(1, "string"), "registered_op_type": Field(2, "string")}


class FunctionDefLibrary(Message):
    """The functions of a graph."""

    FIELDS = {
        "function": Field(1, FunctionDef, many=True),
        "gradient": Field(2, GradientDef, many=True),
        "registered_gradients": Field(3, RegisteredGradient, many=True),
    }


class VersionDef(Message):
    """The version of the writer of a format, and the oldest reader that it allows."""

    FIELDS = {
        "producer": Field(1, "int32"),
        "min_consumer": Field(2, "int32"),
        "bad_consumers": Field(3, "int32", many=True),
    }


class GraphDef(Message):
    """A graph: nodes in any order, and the functions that they call."""

    FIELDS = {
        "node": Field(1, NodeDef, many=True),
        "library": Field(2, FunctionDefLibrary),
        "versions": Field(4, VersionDef),
    }
