"""Loading of objects with variables and functions from files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import dtypes
from ..core.module import Module
from ..core.tensor import EagerTensor
from ..core.variable import Variable
from ..core.variable_enums import VariableAggregation, VariableSynchronization
from ..errors import DataLossError, NotFoundError, UnavailableError
from ..storage.corruption import reading
from . import file_format
from .asset import Asset
from .function_serialization import RestoredFunction, restored_function
from .signatures import LoadedSignature

_TRIES = 100
_DEEPEST, _MOST_VALUES = 100, 1_000_000  # limits of nested lists and dicts


class RestoredObject(Module):
    """A loaded object, with its children and functions as attributes."""

    def __init__(self, class_name: str) -> None:
        super().__init__()
        self._class_name = class_name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of a {self._class_name}>"


class CallableObject(RestoredObject):
    """A loaded object that was callable."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Return the object that `save` saved.

    Args:
        export_dir: the folder.
        tags: accepted.
        options: `LoadOptions`.

    Returns an object with the same children and functions under the same names, and `signatures`, a dict of
    functions from named tensors to named tensors. Its variables can be trained, its functions called, and it can be
    saved again.

    Raises FileNotFoundError when there is no model, DataLossError when it is damaged or was saved by a newer version.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> folder, module = tempfile.mkdtemp(), tf.Module()
    >>> module.weight = tf.Variable([1.0, 2.0])
    >>> tf.saved_model.save(module, folder)
    >>> tf.saved_model.load(folder).weight.numpy().tolist()
    [1.0, 2.0]
    """
    for _ in range(_TRIES):
        reader = file_format.Reader(Path(export_dir))
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
    """Return whether a folder has a saved model."""
    return (Path(export_dir) / file_format.INDEX).is_file()


class _Loader:
    def __init__(self, reader: file_format.Reader) -> None:
        self.reader = reader
        self.values = reader.variables()
        self.nodes: list[dict[str, Any]] = list(reader.content["nodes"])
        self._sizes: dict[int, tuple[int, int]] = {}
        for number in range(len(self.nodes)):
            self.measured(number, 0)
        self.objects = [self.made(node) for node in self.nodes]
        for node, target in zip(self.nodes, self.objects, strict=True):
            if isinstance(target, Asset):  # an asset stores its file's current path
                self.objects[node["children"]["asset_path"]] = target._path
        for node, target in zip(self.nodes, self.objects, strict=True):
            self.connect(node, target)

    def root(self) -> Any:
        root = self.objects[0]
        root.signatures = {
            name: LoadedSignature(self.function(data).concrete_functions[0])
            for name, data in self.reader.content["signatures"].items()
        }
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
            if value.dtype != dtypes.as_dtype(dtype).numpy:
                raise ValueError(f"{node['key']} is {value.dtype}, not {dtype}")
            synchronization, aggregation = (
                (None, None)
                if not policy
                else (VariableSynchronization[policy[0]], VariableAggregation[policy[1]])
            )
            return Variable(
                EagerTensor(value), trainable, name=name, shape=shape, synchronization=synchronization,
                aggregation=aggregation,
            )  # fmt: skip
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

    def measured(self, number: int, depth: int) -> tuple[int, int]:
        """Return how many values nested lists and dicts hold, and how deeply they are nested.

        Raises ValueError above the limits, as for a list that contains itself, whose traversal would never end.
        """
        node = self.nodes[number]
        if node["kind"] not in ("list", "dict"):
            return 1, 0
        if number not in self._sizes:
            if depth > _DEEPEST:
                raise ValueError(
                    f"lists and dicts are nested more than {_DEEPEST} deep, or contain themselves"
                )
            inner = [self.measured(child, depth + 1) for child in node["children"].values()]
            size, height = (
                1 + sum(count for count, _ in inner),
                1 + max((deep for _, deep in inner), default=0),
            )
            if size > _MOST_VALUES or height > _DEEPEST:
                raise ValueError(f"lists and dicts hold {size} values, {height} deep")
            self._sizes[number] = size, height
        return self._sizes[number]

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
