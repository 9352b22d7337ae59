"""Loading of objects with variables and functions from files."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import isfile  # false, without an error, for names that no file can have
from pathlib import Path
from typing import Any

from .. import dtypes
from ..core.tensor import EagerTensor
from ..core.variable import Variable
from ..core.variable_enums import VariableAggregation, VariableSynchronization
from ..errors import DataLossError, NotFoundError, UnavailableError
from ..storage.corruption import reading
from . import file_format
from .asset import Asset
from .function_serialization import RestoredFunction, restored_function
from .restored_object import CallableObject, RestoredObject, check_nesting
from .signatures import LoadedSignature, LoadedSignatures
from .tags import SERVING, chosen
from .tensorflow_files import FILE as TENSORFLOW_FILE
from .tensorflow_model import load_tensorflow_model

_TRIES = 100


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Return the object that `save` saved, or TensorFlow.

    Args:
        export_dir: the folder.
        tags: the tags of one of several graphs of a model of TensorFlow; a model of agc has one graph, with the tag
            "serve".
        options: `LoadOptions`.

    Returns an object with the same children and functions under the same names, and `signatures`, a dict of
    functions from named tensors to named tensors. Its variables can be trained, its functions called, and it can be
    saved again.

    Raises FileNotFoundError when there is no model, DataLossError when it is damaged or was saved by a newer version,
    UnimplementedError for a model of TensorFlow with operations that are not supported; it lists all of them. Raises
    UnavailableError if another process replaces the model while it is read, again and again, and ValueError for tags
    that no graph of the model has.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> folder, module = tempfile.mkdtemp(), tf.Module()
    >>> module.weight = tf.Variable([1.0, 2.0])
    >>> tf.saved_model.save(module, folder)
    >>> tf.saved_model.load(folder).weight.numpy().tolist()
    [1.0, 2.0]
    """
    folder = Path(export_dir)
    if isfile(folder / TENSORFLOW_FILE) and not isfile(folder / file_format.INDEX):
        return load_tensorflow_model(folder, tags)
    for _ in range(_TRIES):
        reader = file_format.Reader(folder)
        chosen(tags, [frozenset([SERVING])], folder)
        try:
            with reading(reader.index):
                loader = _Loader(reader)
                root = loader.root()
                if getattr(options, "experimental_load_function_aliases", False):
                    root.function_aliases = loader.aliases()
                return root
        except (NotFoundError, DataLossError):
            if not reader.is_replaced():
                raise
    raise UnavailableError(f"the saved model {str(export_dir)!r} is replaced repeatedly while it is read")


def contains_saved_model(export_dir: Any) -> bool:
    """Return whether a folder has a saved model, of this library or of TensorFlow.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.saved_model.contains_saved_model(folder)
    False
    >>> tf.saved_model.save(tf.Module(), folder)
    >>> tf.saved_model.contains_saved_model(folder)
    True
    """
    return any(isfile(Path(export_dir) / name) for name in (file_format.INDEX, TENSORFLOW_FILE))


class _Loader:
    def __init__(self, reader: file_format.Reader) -> None:
        self.reader = reader
        self.values = reader.variables()
        self.nodes: list[dict[str, Any]] = list(reader.content["nodes"])
        nested = (number for number, node in enumerate(self.nodes) if node["kind"] in ("list", "dict"))
        check_nesting({number: list(self.nodes[number]["children"].values()) for number in nested})
        self.objects = [self.made(node) for node in self.nodes]
        for node, target in zip(self.nodes, self.objects, strict=True):
            if isinstance(target, Asset):  # an asset stores its file's current path
                self.objects[node["children"]["asset_path"]] = target.variable
        for node, target in zip(self.nodes, self.objects, strict=True):
            self.connect(node, target)

    def root(self) -> Any:
        root = self.objects[0]
        root.signatures = LoadedSignatures(
            (name, LoadedSignature(self.function(data).concrete_functions[0]))
            for name, data in self.reader.content["signatures"].items()
        )
        return root

    def aliases(self) -> dict[str, RestoredFunction]:
        """Return the functions that `SaveOptions(function_aliases=…)` named."""
        return {name: self.function(data) for name, data in self.reader.content.get("aliases", {}).items()}

    def made(self, node: Mapping[str, Any]) -> Any:
        """Return an object without its children."""
        kind = node["kind"]
        if kind == "variable":
            name, trainable, dtype, shape, *policy = node["variable"]
            value = self.values[node["key"]]
            if value.dtype != dtypes.as_dtype(dtype).numpy_dtype:
                raise ValueError(f"{node['key']} is {value.dtype}, not {dtype}")
            options: dict[str, Any] = {}
            if policy:
                options["synchronization"] = VariableSynchronization[policy[0]]
                options["aggregation"] = VariableAggregation[policy[1]]
            return Variable(EagerTensor(value), trainable, name=name, shape=shape, **options)
        if kind == "asset":
            asset = Asset(self.reader.asset(node["asset"]))
            asset.lock = self.reader.lock  # keeps the file when another model is saved to the folder
            return asset
        if kind == "list":
            return []
        if kind == "dict":
            return {}
        callable_ = "__call__" in node["functions"]
        return (CallableObject if callable_ else RestoredObject)(node["class"])

    def connect(self, node: Mapping[str, Any], target: Any) -> None:
        if isinstance(target, (Variable, Asset)):
            return
        children = {name: self.objects[number] for name, number in node["children"].items()}
        if isinstance(target, list):
            target += [children[name] for name in sorted(children, key=int)]
        elif isinstance(target, dict):
            target.update(children)
        else:
            vars(target).update(children)
            for name, data in node["functions"].items():
                vars(target)[name] = self.function(data)

    def function(self, data: Mapping[str, Any]) -> RestoredFunction:
        return restored_function(data, self.reader.graph, self.variable)

    def variable(self, number: int) -> Variable:
        found = self.objects[number]
        if isinstance(found, Variable):
            return found
        raise ValueError(f"the object {number} is not a variable")
