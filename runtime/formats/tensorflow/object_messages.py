"""The messages of objects in TensorFlow's checkpoints and saved models: who owns which variable and function.

nodes { children { node_id: 1 local_name: "w" } }      the model has an attribute `w`,
nodes { variable { dtype: DT_FLOAT … } }               which is a variable
"""

from __future__ import annotations

from ...storage.messages import Message
from . import graph_messages, structure_messages  # noqa: F401  (messages that fields hold)

GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The key of the `TrackableObjectGraph` in a checkpoint."""


class ObjectReference(Message):
    """An attribute or item of an object: its name, and the position of its node."""

    FIELDS = "int32 node_id = 1; string local_name = 2;"


class SlotVariableReference(Message):
    """A variable that an optimizer keeps for another one."""

    FIELDS = "int32 original_variable_node_id = 1; string slot_name = 2; int32 slot_variable_node_id = 3;"


class SerializedTensor(Message):
    """A tensor of an object, and its key in the checkpoint."""

    FIELDS = "string name = 1; string full_name = 2; string checkpoint_key = 3;"


class RegisteredSaver(Message):
    """The name of a class that saves an object in its own way."""

    FIELDS = "string name = 1; string object_name = 2;"


class BoolValue(Message):
    """A bool that may be missing."""

    FIELDS = "bool value = 1;"


class TrackableObject(Message):
    """An object of a checkpoint."""

    FIELDS = """
        repeated ObjectReference children = 1; repeated SerializedTensor attributes = 2;
        repeated SlotVariableReference slot_variables = 3; RegisteredSaver registered_saver = 4;
        BoolValue has_checkpoint_values = 5;
    """


class TrackableObjectGraph(Message):
    """The objects of a checkpoint; the first is the one that was saved."""

    FIELDS = "repeated TrackableObject nodes = 1;"


class SavedUserObject(Message):
    """An object of a class of Python."""

    FIELDS = "string identifier = 1; VersionDef version = 2; string metadata = 3;"


class SavedAsset(Message):
    """A file of a saved model: its position in `asset_file_def`."""

    FIELDS = "int32 asset_file_def_index = 1;"


class FunctionSpec(Message):
    """The parameters of a Python function."""

    FIELDS = """
        StructuredValue fullargspec = 1; bool is_method = 2; StructuredValue input_signature = 5;
        int32 jit_compile = 6;
    """


class SavedFunction(Message):
    """A `tf.function`: the names of its concrete functions."""

    FIELDS = "repeated string concrete_functions = 1; FunctionSpec function_spec = 2;"


class SavedVariable(Message):
    """A variable."""

    FIELDS = """
        DataType dtype = 1; TensorShapeProto shape = 2; bool trainable = 3; int32 synchronization = 4;
        int32 aggregation = 5; string name = 6; string device = 7;
    """


class SavedBareConcreteFunction(Message):
    """A concrete function that belongs to no `tf.function`, such as a signature."""

    FIELDS = """
        string concrete_function_name = 1; repeated string argument_keywords = 2;
        int64 allowed_positional_arguments = 3; FunctionSpec function_spec = 4;
    """


class SavedConstant(Message):
    """A tensor: the name of the node of the graph that holds it."""

    FIELDS = "string operation = 1;"


class SavedResource(Message):
    """A resource that functions of the model create and initialize, such as a lookup table."""

    FIELDS = "string device = 1;"


class CapturedTensor(Message):
    """A tensor of a function, which other functions capture."""

    FIELDS = "string name = 1; string concrete_function = 2;"


class SaveableObject(Message):
    """The positions of the functions that save and restore an object."""

    FIELDS = "int32 save_function = 2; int32 restore_function = 3;"


class SavedObject(Message):
    """An object of a saved model."""

    FIELDS = """
        repeated ObjectReference children = 1; repeated SlotVariableReference slot_variables = 3;
        oneof kind {
            SavedUserObject user_object = 4; SavedAsset asset = 5; SavedFunction function = 6;
            SavedVariable variable = 7; SavedBareConcreteFunction bare_concrete_function = 8;
            SavedConstant constant = 9; SavedResource resource = 10; CapturedTensor captured_tensor = 12;
        }
        map<string, SaveableObject> saveable_objects = 11; string registered_name = 13;
        repeated ObjectReference dependencies = 15; string registered_saver = 16;
    """


class SavedConcreteFunction(Message):
    """A function of the graph: the positions of what it captures, and its arguments and results as nests."""

    FIELDS = """
        repeated int32 bound_inputs = 2; StructuredValue canonicalized_input_signature = 3;
        StructuredValue output_signature = 4;
    """


class SavedObjectGraph(Message):
    """The objects of a saved model, and the functions of its graph by name."""

    FIELDS = "repeated SavedObject nodes = 1; map<string, SavedConcreteFunction> concrete_functions = 2;"
