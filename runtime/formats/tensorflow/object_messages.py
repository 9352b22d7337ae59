"""The messages of objects in TensorFlow's checkpoints and saved models: who owns which variable and function.

nodes { children { node_id: 1 local_name: "w" } }      the model has an attribute `w`,
nodes { variable { dtype: DT_FLOAT … } }               which is a variable
"""

from __future__ import annotations

from ...storage.messages import Field, Message
from .graph_messages import TYPE, TensorShapeProto, VersionDef
from .structure_messages import StructuredValue

GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The key of the `TrackableObjectGraph` in a checkpoint."""


class ObjectReference(Message):
    """An attribute or item of an object: its name, and the position of its node."""

    FIELDS = {"node_id": Field(1, "int32"), "local_name": Field(2, "string")}


class SlotVariableReference(Message):
    """A variable that an optimizer keeps for another one."""

    FIELDS = {
        "original_variable_node_id": Field(1, "int32"),
        "slot_name": Field(2, "string"),
        "slot_variable_node_id": Field(3, "int32"),
    }


class SerializedTensor(Message):
    """A tensor of an object, and its key in the checkpoint."""

    FIELDS = {
        "name": Field(1, "string"),
        "full_name": Field(2, "string"),
        "checkpoint_key": Field(3, "string"),
    }


class RegisteredSaver(Message):
    """The name of a class that saves an object in its own way."""

    FIELDS = {"name": Field(1, "string"), "object_name": Field(2, "string")}


class BoolValue(Message):
    """A bool that may be missing."""

    FIELDS = {"value": Field(1, "bool")}


class TrackableObject(Message):
    """An object of a checkpoint."""

    FIELDS = {
        "children": Field(1, ObjectReference, many=True),
        "attributes": Field(2, SerializedTensor, many=True),
        "slot_variables": Field(3, SlotVariableReference, many=True),
        "registered_saver": Field(4, RegisteredSaver),
        "has_checkpoint_values": Field(5, BoolValue),
    }


class TrackableObjectGraph(Message):
    """The objects of a checkpoint; the first is the one that was saved."""

    FIELDS = {"nodes": Field(1, TrackableObject, many=True)}


class SavedUserObject(Message):
    """An object of a class of Python."""

    FIELDS = {
        "identifier": Field(1, "string"),
        "version": Field(2, VersionDef),
        "metadata": Field(3, "string"),
    }


class SavedAsset(Message):
    """A file of a saved model: its position in `asset_file_def`."""

    FIELDS = {"asset_file_def_index": Field(1, "int32")}


class FunctionSpec(Message):
    """The parameters of a Python function."""

    FIELDS = {
        "fullargspec": Field(1, StructuredValue),
        "is_method": Field(2, "bool"),
        "input_signature": Field(5, StructuredValue),
        "jit_compile": Field(6, "int32"),
    }


class SavedFunction(Message):
    """A `tf.function`: the names of its concrete functions."""

    FIELDS = {
        "concrete_functions": Field(1, "string", many=True),
        "function_spec": Field(2, FunctionSpec),
    }


class SavedVariable(Message):
    """A variable."""

    FIELDS = {
        "dtype": TYPE,
        "shape": Field(2, TensorShapeProto),
        "trainable": Field(3, "bool"),
        "synchronization": Field(4, "int32"),
        "aggregation": Field(5, "int32"),
        "name": Field(6, "string"),
        "device": Field(7, "string"),
    }


class SavedBareConcreteFunction(Message):
    """A concrete function that belongs to no `tf.function`, such as a signature."""

    FIELDS = {
        "concrete_function_name": Field(1, "string"),
        "argument_keywords": Field(2, "string", many=True),
        "allowed_positional_arguments": Field(3, "int64"),
        "function_spec": Field(4, FunctionSpec),
    }


class SavedConstant(Message):
    """A tensor: the name of the node of the graph that holds it."""

    FIELDS = {"operation": Field(1, "string")}


class SavedResource(Message):
    """A resource that functions of the model create and initialize, such as a lookup table."""

    FIELDS = {"device": Field(1, "string")}


class CapturedTensor(Message):
    """A tensor of a function, which other functions capture."""

    FIELDS = {"name": Field(1, "string"), "concrete_function": Field(2, "string")}


class SaveableObject(Message):
    """The positions of the functions that save and restore an object."""

    FIELDS = {"save_function": Field(2, "int32"), "restore_function": Field(3, "int32")}


_KINDS = {
    "user_object": Field(4, SavedUserObject),
    "asset": Field(5, SavedAsset),
    "function": Field(6, SavedFunction),
    "variable": Field(7, SavedVariable),
    "bare_concrete_function": Field(8, SavedBareConcreteFunction),
    "constant": Field(9, SavedConstant),
    "resource": Field(10, SavedResource),
    "captured_tensor": Field(12, CapturedTensor),
}


class SavedObject(Message):
    """An object of a saved model."""

    ONEOF = "kind"
    MEMBERS = frozenset(_KINDS)
    FIELDS = {
        "children": Field(1, ObjectReference, many=True),
        "slot_variables": Field(3, SlotVariableReference, many=True),
        **_KINDS,
        "saveable_objects": Field(11, SaveableObject, keyed=True),
        "registered_name": Field(13, "string"),
        "dependencies": Field(15, ObjectReference, many=True),
        "registered_saver": Field(16, "string"),
    }


class SavedConcreteFunction(Message):
    """A function of the graph: the positions of what it captures, and its arguments and results as nests."""

    FIELDS = {
        "bound_inputs": Field(2, "int32", many=True),
        "canonicalized_input_signature": Field(3, StructuredValue),
        "output_signature": Field(4, StructuredValue),
    }


class SavedObjectGraph(Message):
    """The objects of a saved model, and the functions of its graph by name."""

    FIELDS = {
        "nodes": Field(1, SavedObject, many=True),
        "concrete_functions": Field(2, SavedConcreteFunction, keyed=True),
    }
