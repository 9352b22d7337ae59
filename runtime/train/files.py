"""A checkpoint on the disk: an index, and the values in a file beside it.

    ckpt-1.index                  what there is: the object graph, the name and the checksum of the other file
    ckpt-1.data-00000-of-00001    the values, as safetensors

The index is written last, and in one step: before that the checkpoint is the old one, or none.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import DataLossError, NotFoundError
from ..storage import safetensors, sealed
from ..storage.safetensors import Array
from .object_graph import Node

KIND, VERSION = "checkpoint", 1
DATA = ".data-00000-of-00001"


class Contents(NamedTuple):
    """What a checkpoint holds: the nodes of its object graph, and the values by their keys."""

    nodes: list[Node]
    values: dict[str, Array]


def index_of(prefix: str) -> Path:
    return Path(f"{prefix}.index")


def exists(prefix: str) -> bool:
    """Whether there is a checkpoint with this prefix, as `Checkpoint.save` returned it."""
    return index_of(prefix).is_file()


def write(prefix: str, nodes: list[Node], values: Mapping[str, Array]) -> None:
    """Write a checkpoint; one that has the same prefix is replaced at the end."""
    index = index_of(prefix)
    old = _data_name(index) if index.exists() else None
    data = Path(prefix + DATA)
    if data.exists():  # of the checkpoint to be replaced, which stays whole until then
        data = data.with_name(f"{index.stem}-{uuid.uuid4().hex[:8]}{DATA}")
    checksum = safetensors.write(data, values)
    content = {
        "data": {"file": data.name, "sha256": checksum},
        "nodes": [node._asdict() for node in nodes],
        "values": {key: [array.dtype.name, list(array.shape)] for key, array in values.items()},
    }
    sealed.write(index, KIND, VERSION, content)
    if old is not None and old != data.name:
        index.with_name(old).unlink(missing_ok=True)


def _data_name(index: Path) -> str | None:
    """The data file of a checkpoint that is to be replaced, if it can be told."""
    try:
        return str(sealed.read(index, KIND, VERSION)["data"]["file"])
    except (DataLossError, NotFoundError):
        return None


def read(prefix: str) -> Contents:
    """What the checkpoint holds.

    Raises NotFoundError when there is none, DataLossError when it is damaged or of a newer version.
    """
    index = index_of(prefix)
    if not index.exists():
        raise NotFoundError(f"there is no checkpoint {prefix!r}: no file {index}")
    content = sealed.read(index, KIND, VERSION)
    try:
        data = index.with_name(_plain_name(content["data"]["file"]))
        checksum = content["data"]["sha256"]
        nodes = [Node(dict(node["children"]), node["key"]) for node in content["nodes"]]
        keys = set(content["values"])
    except (KeyError, TypeError, ValueError) as error:
        raise DataLossError(f"{index} is no index of a checkpoint: {error!r}") from None
    values = safetensors.read(data, checksum)
    if values.keys() != keys:
        raise DataLossError(f"{data} does not hold the values that {index} names")
    return Contents(nodes, values)


def _plain_name(name: Any) -> str:
    """The name of a file in the same folder. ValueError for what leads elsewhere."""
    if not isinstance(name, str) or Path(name).name != name:
        raise ValueError(f"{name!r} is no name of a file")
    return name


def remove(prefix: str) -> None:
    """Delete a checkpoint: first the index, then what it names."""
    index = index_of(prefix)
    data = _data_name(index) if index.exists() else None
    index.unlink(missing_ok=True)
    if data is not None:
        index.with_name(data).unlink(missing_ok=True)
