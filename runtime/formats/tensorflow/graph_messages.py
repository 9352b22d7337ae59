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

from ...storage.messages import Message


class TensorShapeProto(Message):
    """The shape of a tensor, of which dimensions or the rank may be unknown."""

    FIELDS = """
        message ShapeDimension { int64 size = 1; string name = 2; }  // the size is -1 if it is unknown
        repeated ShapeDimension dim = 2; bool unknown_rank = 3;
    """


class AttrValue(Message):
    """The value of an attribute of a node or a function."""

    FIELDS = """
        message ListValue {  // the field of its type holds the items
            repeated bytes s = 2; repeated int64 i = 3; repeated float f = 4; repeated bool b = 5;
            repeated DataType type = 6; repeated TensorShapeProto shape = 7; repeated bytes tensor = 8;
            repeated NameAttrList func = 9;
        }
        message NameAttrList {  // a function, and attributes of its call
            string name = 1; map<string, AttrValue> attr = 2;
        }
        oneof value {
            ListValue list = 1; bytes s = 2; int64 i = 3; float f = 4; bool b = 5; DataType type = 6;
            TensorShapeProto shape = 7; bytes tensor = 8; string placeholder = 9; NameAttrList func = 10;
        }
    """


class NodeDef(Message):
    """A node: an operation with the names of its inputs, which end with the number or the name of a result."""

    FIELDS = """
        string name = 1; string op = 2; repeated string input = 3; string device = 4;
        map<string, AttrValue> attr = 5;
    """


class ArgDef(Message):
    """A parameter or a result in the signature of a function."""

    FIELDS = """
        message HandleData {  // the variable that a resource refers to
            DataType dtype = 1; TensorShapeProto shape = 2;
        }
        string name = 1; string description = 2; DataType type = 3; string type_attr = 4;
        string number_attr = 5; string type_list_attr = 6; repeated HandleData handle_data = 7;
        bool is_ref = 16;
    """


class OpDef(Message):
    """The signature of a function."""

    FIELDS = """
        string name = 1; repeated ArgDef input_arg = 2; repeated ArgDef output_arg = 3;
        bool is_stateful = 17; repeated string control_output = 20;
    """


class FunctionDef(Message):
    """A function: its nodes name results as `node:argument:number`, parameters by their names."""

    FIELDS = """
        OpDef signature = 1; repeated NodeDef node_def = 3; map<string, string> ret = 4;
        map<string, AttrValue> attr = 5; map<string, string> control_ret = 6;
    """


class FunctionDefLibrary(Message):
    """The functions of a graph."""

    FIELDS = """
        message GradientDef { string function_name = 1; string gradient_func = 2; }
        message RegisteredGradient {  // the gradient is defined by Python code
            string gradient_func = 1; string registered_op_type = 2;
        }
        repeated FunctionDef function = 1; repeated GradientDef gradient = 2;
        repeated RegisteredGradient registered_gradients = 3;
    """


class GraphDef(Message):
    """A graph: nodes in any order, and the functions that they call."""

    FIELDS = """
        message VersionDef {  // of the writer, and the oldest reader that it allows
            int32 producer = 1; int32 min_consumer = 2; repeated int32 bad_consumers = 3;
        }
        repeated NodeDef node = 1; FunctionDefLibrary library = 2; VersionDef versions = 4;
    """
