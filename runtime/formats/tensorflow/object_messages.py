"""The messages of objects in TensorFlow's checkpoints and saved models: who owns which variable and function.

nodes { children { node_id: 1 local_name: "w" } }      the model has an attribute `w`,
nodes { variable { dtype: DT_FLOAT … } }               which is a variable
"""

from __future__ import annotations

from ...storage.messages import Message
from . import graph_messages, structure_messages  # noqa: F401  (messages that fields hold)

GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The key of the `TrackableObjectGraph` in a checkpoint."""


class TrackableObject(Message):
    """An object of a checkpoint."""

    FIELDS = """
        message ObjectReference { int32 node_id = 1; string local_name = 2; }  // an attribute or item
        message SlotVariableReference {  // a variable that an optimizer keeps for another one
            int32 original_variable_node_id = 1; string slot_name = 2; int32 slot_variable_node_id = 3;
        }
        message SerializedTensor {  // its key is that in the checkpoint
            string name = 1; string full_name = 2; string checkpoint_key = 3;
        }
        message RegisteredSaver {  // a class that saves the object in its own way
            string name = 1; string object_name = 2;
        }
        message BoolValue { bool value = 1; }
        repeated ObjectReference children = 1; repeated SerializedTensor attributes = 2;
        repeated SlotVariableReference slot_variables = 3; RegisteredSaver registered_saver = 4;
        BoolValue has_checkpoint_values = 5;
    """


class TrackableObjectGraph(Message):
    """The objects of a checkpoint; the first is the one that was saved."""

    FIELDS = "repeated TrackableObject nodes = 1;"


class FunctionSpec(Message):
    """The parameters of a Python function."""

    FIELDS = """
        StructuredValue fullargspec = 1; bool is_method = 2; StructuredValue input_signature = 5;
        int32 jit_compile = 6;
    """


class SavedFunction(Message):
    """A `tf.function`: the names of its concrete functions."""

    FIELDS = "repeated string concrete_functions = 1; FunctionSpec function_spec = 2;"


class SavedObject(Message):
    """An object of a saved model."""

    FIELDS = """
        message SavedUserObject {  // of a class of Python
            string identifier = 1; VersionDef version = 2; string metadata = 3;
        }
        message SavedAsset {  // the position of its file in `asset_file_def`
            int32 asset_file_def_index = 1;
        }
        message SavedVariable {
            DataType dtype = 1; TensorShapeProto shape = 2; bool trainable = 3;
            int32 synchronization = 4; int32 aggregation = 5; string name = 6; string device = 7;
        }
        message SavedBareConcreteFunction {  // it belongs to no `tf.function`, such as a signature
            string concrete_function_name = 1; repeated string argument_keywords = 2;
            int64 allowed_positional_arguments = 3; FunctionSpec function_spec = 4;
        }
        message SavedConstant { string operation = 1; }  // the node of the graph that holds the tensor
        message SavedResource {  // functions of the model create it, such as a lookup table
            string device = 1;
        }
        message CapturedTensor {  // a tensor of a function, which other functions capture
            string name = 1; string concrete_function = 2;
        }
        message SaveableObject {  // the positions of the functions
            int32 save_function = 2; int32 restore_function = 3;
        }
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
