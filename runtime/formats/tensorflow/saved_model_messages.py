"""The messages of the file `saved_model.pb`: SavedModel, MetaGraphDef, SignatureDef.

SavedModel → MetaGraphDef → graph_def, signature_def["serving_default"], object_graph_def
"""

from __future__ import annotations

from ...storage.messages import Message
from . import graph_messages, object_messages, structure_messages  # noqa: F401  (messages that fields hold)


class TensorInfo(Message):
    """An input or output of a signature: the name of its tensor in the graph, dtype and shape."""

    FIELDS = """
        message CooSparse {
            string values_tensor_name = 1; string indices_tensor_name = 2;
            string dense_shape_tensor_name = 3;
        }
        message CompositeTensorInfo { TypeSpecProto type_spec = 1; repeated TensorInfo components = 2; }
        oneof encoding {
            string name = 1; CooSparse coo_sparse = 4; CompositeTensorInfo composite_tensor = 5;
        }
        DataType dtype = 2; TensorShapeProto tensor_shape = 3;
    """


class SignatureDef(Message):
    """A signature: inputs and outputs by name."""

    FIELDS = """
        map<string, TensorInfo> inputs = 1; map<string, TensorInfo> outputs = 2; string method_name = 3;
    """


class MetaGraphDef(Message):
    """A graph with its signatures and objects."""

    FIELDS = """
        message MetaInfoDef {
            string meta_graph_version = 1; repeated string tags = 4; string tensorflow_version = 5;
            string tensorflow_git_version = 6; bool stripped_default_attrs = 7;
            map<string, string> function_aliases = 8;
        }
        message SaverDef {  // the tensors and operations that save and restore the variables
            string filename_tensor_name = 1; string save_tensor_name = 2; string restore_op_name = 3;
            int32 max_to_keep = 4; bool sharded = 5; float keep_checkpoint_every_n_hours = 6;
            int32 version = 7;
        }
        message CollectionNodes { repeated string value = 1; }  // the names of nodes
        message CollectionBytes { repeated bytes value = 1; }  // serialized messages
        message CollectionDef {  // such as the graph's variables
            oneof kind {
                CollectionNodes node_list = 1; CollectionBytes bytes_list = 2;
            }
        }
        message AssetFileDef {  // a file of the folder `assets`; the tensor gets its path
            TensorInfo tensor_info = 1; string filename = 2;
        }
        MetaInfoDef meta_info_def = 1; GraphDef graph_def = 2; SaverDef saver_def = 3;
        map<string, CollectionDef> collection_def = 4; map<string, SignatureDef> signature_def = 5;
        repeated AssetFileDef asset_file_def = 6; SavedObjectGraph object_graph_def = 7;
    """


class SavedModel(Message):
    """A saved model: one graph for each set of tags."""

    FIELDS = "int64 saved_model_schema_version = 1; repeated MetaGraphDef meta_graphs = 2;"
