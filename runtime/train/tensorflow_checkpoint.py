"""TensorFlow's checkpoints: bundles of tensors, one of which is the object graph.

    _CHECKPOINTABLE_OBJECT_GRAPH      the objects: their children, and the keys of their values
    m/w/.ATTRIBUTES/VARIABLE_VALUE    the value of the variable `w` of `m`

Checkpoints of TensorFlow 1 have no object graph; the keys of their values are the names of variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes
from ..core.tracked_object import Trackable
from ..formats.tensorflow import bundle
from ..formats.tensorflow.object_messages import GRAPH_KEY, TrackableObject, TrackableObjectGraph
from ..formats.tensorflow.table import MAGIC
from ..storage import regular_files
from ..storage.corruption import reading
from .object_graph import VALUE, ObjectGraph, ObjectNode

_VARIABLE = "VARIABLE_VALUE"
_TABLE = "table"
_COLUMNS = ("table-keys", "table-values")
"""The variables of a lookup table, an object with the attribute "table"."""


def is_bundle(index: Path) -> bool:
    """Return whether the index of a checkpoint is TensorFlow's. NotFoundError when there is no such file."""
    return regular_files.read(index).endswith(MAGIC)


class BundleValues(Mapping[str, Any]):
    """The values of a bundle by key; each is read when it is needed."""

    def __init__(self, reader: bundle.BundleReader) -> None:
        self._reader = reader

    def __getitem__(self, key: str) -> Any:
        return self._reader.read(key)

    def __contains__(self, key: object) -> bool:
        return key in self._reader.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._reader.entries)

    def __len__(self) -> int:
        return len(self._reader.entries)

    def specs(self) -> dict[str, tuple[dtypes.DType, tuple[int, ...]]]:
        """Return the dtypes and shapes by key, without reading values."""
        return {key: (self._reader.dtype(key), entry.shape) for key, entry in self._reader.entries.items()}


def read(prefix: str, folder: Path | None = None) -> tuple[list[ObjectNode], BundleValues]:
    """Return the objects of a checkpoint, none if it has names of variables only, and its values by key.

    No link leads out of `folder`, as for a `BundleReader`. Raises NotFoundError when there is no checkpoint,
    DataLossError when it is damaged.
    """
    values = BundleValues(bundle.BundleReader(prefix, folder))
    if GRAPH_KEY not in values:
        return [], values
    message = values[GRAPH_KEY]
    with reading(bundle.index_path(prefix)):
        if message.dtype != np.dtype(object) or message.ndim:
            raise ValueError("its object graph is not a string")
        nodes = list(TrackableObjectGraph.FromString(message[()]).nodes)
        if not nodes:
            raise ValueError("it names no objects")
        found = [_node(node, len(nodes), values) for node in nodes]
        for number, node in enumerate(nodes):
            _add_columns(number, node, found, values)
    return found, values


def _node(node: TrackableObject, count: int, values: BundleValues) -> ObjectNode:
    children = {child.local_name: child.node_id for child in node.children}
    if not all(0 <= number < count for number in children.values()):
        raise ValueError(f"the children {children} are not among {count} objects")
    keys = [each.checkpoint_key for each in node.attributes if each.name == _VARIABLE]
    if keys and keys[0] not in values:
        raise ValueError(f"there is no value for the key {keys[0]!r}")
    return ObjectNode(children, keys[0] if keys else None)


def _add_columns(number: int, node: TrackableObject, nodes: list[ObjectNode], values: BundleValues) -> None:
    """Add nodes for the keys and values of a lookup table, which are variables here."""
    for attribute in node.attributes:
        for column in _COLUMNS:
            key = attribute.checkpoint_key + column.removeprefix(_TABLE)
            if attribute.name == _TABLE and key in values:
                nodes[number].children[column] = len(nodes)
                nodes.append(ObjectNode({}, key))


def contents(graph: ObjectGraph) -> dict[str, Any]:
    """Return the tensors of a checkpoint that TensorFlow restores: objects, and the values of their variables."""
    held = {
        child
        for node, target in zip(graph.nodes, graph.objects, strict=True)
        for name, child in node.children.items()
        if _is_held(target, name)
    }
    positions = {number: at for at, number in enumerate(n for n in range(len(graph.nodes)) if n not in held)}
    message = TrackableObjectGraph()
    values: dict[str, Any] = {}
    for number in positions:
        node, written = graph.nodes[number], message.nodes.add(has_checkpoint_values={"value": True})
        names: dict[str, Any] = {}
        for name, child in node.children.items():
            if child in positions:
                written.children.add(node_id=positions[child], local_name=name)
            else:
                names[name] = graph.objects[child]
        if node.key is not None:
            names[_VARIABLE] = graph.objects[number]
        base = graph.paths[number] + VALUE.removesuffix(_VARIABLE)
        values |= {base + name: variable._array for name, variable in names.items()}
        for name in dict.fromkeys(_TABLE if name in _COLUMNS else name for name in names):
            full = names[name].name.removesuffix(":0") if name == _VARIABLE else ""
            written.attributes.add(name=name, full_name=full, checkpoint_key=base + name)
    values[GRAPH_KEY] = np.array(message.SerializeToString(), object)
    return values


def _is_held(target: Any, name: str) -> bool:
    """Return whether a child is a variable in which a table keeps its values; TensorFlow has no node for it."""
    return name in _COLUMNS and isinstance(target, Trackable)
