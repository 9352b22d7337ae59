"""The messages of the file `saved_model.pb`: SavedModel, MetaGraphDef, SignatureDef.

SavedModel → MetaGraphDef → graph_def, signature_def["serving_default"], object_graph_def
"""

from __future__ import annotations

from ...storage.messages import Field, Message
from .graph_messages import TYPE, GraphDef, TensorShapeProto
from .object_messages import SavedObjectGraph
from .structure_messages import TypeSpecProto


class CooSparse(Message):
    """The names of the three tensors of a sparse one."""

    FIELDS = {
        "values_tensor_name": Field(1, "string"),
        "indices_tensor_name": Field(2, "string"),
        "dense_shape_tensor_name": Field(3, "string"),
    }


class TensorInfo(Message):
    """An input or output of a signature: the name of its tensor in the graph, dtype and shape."""

    ONEOF = "encoding"
    MEMBERS = frozenset({"name", "coo_sparse", "composite_tensor"})


class CompositeTensorInfo(Message):
    """A composite value of a signature: its spec and its tensors."""

    FIELDS = {"type_spec": Field(1, TypeSpecProto), "components": Field(2, TensorInfo, many=True)}


TensorInfo.declare(
    {
        "name": Field(1, "string"),
        "dtype": TYPE._replace(number=2),
        "tensor_shape": Field(3, TensorShapeProto),
        "coo_sparse": Field(4, CooSparse),
        "composite_tensor": Field(5, CompositeTensorInfo),
    }
)


class SignatureDef(Message):
    """A signature: inputs and outputs by name."""

    FIELDS = {
        "inputs": Field(1, TensorInfo, keyed=True),
        "outputs": Field(2, TensorInfo, keyed=True),
        "method_name": Field(3, "string"),
    }


class AssetFileDef(Message):
    """A file of the folder `assets`, and the tensor of the graph that gets its path."""

    FIELDS = {"tensor_info": Field(1, TensorInfo), "filename": Field(2, "string")}


class CollectionNodes(Message):
    """The names of nodes."""

    FIELDS = {"value": Field(1, "string", many=True)}


class CollectionBytes(Message):
    """Serialized messages."""

    FIELDS = {"value": Field(1, "bytes", many=True)}


class CollectionDef(Message):
    """A collection of a graph, such as its variables."""

    ONEOF = "kind"
    FIELDS = {"node_list": Field(1, CollectionNodes), "bytes_list": Field(2, CollectionBytes)}


class SaverDef(Message):
    """The names of the tensors and operations that save and restore the variables."""

    FIELDS = {
        "filename_tensor_name": Field(1, "string"),
        "save_tensor_name": Field(2, "string"),
        "restore_op_name": Field(3, "string"),
        "max_to_keep": Field(4, "int32"),
        "sharded": Field(5, "bool"),
        "keep_checkpoint_every_n_hours": Field(6, "float"),
        "version": Field(7, "int32"),
    }


class MetaInfoDef(Message):
    """The version of the writer and the tags of a graph."""

    FIELDS = {
        "meta_graph_version": Field(1, "string"),
        "tags": Field(4, "string", many=True),
        "tensorflow_version": Field(5, "string"),
        "tensorflow_git_version": Field(6, "string"),
        "stripped_default_attrs": Field(7, "bool"),
        "function_aliases": Field(8, "string", keyed=True),
    }


class MetaGraphDef(Message):
    """A graph with its signatures and objects."""

    FIELDS = {
        "meta_info_def": Field(1, MetaInfoDef),
        "graph_def": Field(2, GraphDef),
        "saver_def": Field(3, SaverDef),
        "collection_def": Field(4, CollectionDef, keyed=True),
        "signature_def": Field(5, SignatureDef, keyed=True),
        "asset_file_def": Field(6, AssetFileDef, many=True),
        "object_graph_def": Field(7, SavedObjectGraph),
    }


class SavedModel(Message):
    """A saved model: one graph for each set of tags."""

    FIELDS = {
        "saved_model_schema_version": Field(1, "int64"),
        "meta_graphs": Field(2, MetaGraphDef, many=True),
    }
