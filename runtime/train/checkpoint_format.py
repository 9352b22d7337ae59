"""The files of a checkpoint: an index, and a data file with the values.

    ckpt-1.index                  the object graph, the name and the checksum of the data file
    ckpt-1.data-00000-of-00001    the values, as safetensors

The index is written last, and in one step: before that the checkpoint is the old one, or none. While the plain data
file is in use, the index names data with a random number (`ckpt-1.3f2a….data-00000-of-00001`). Only one writer at a
time does that, and it removes leftovers of killed writers. A reader whose data disappear reads the new index. In
TensorFlow's format the other name is that of the first of two data files, the second of which does not exist.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import dtypes
from ..errors import DataLossError, NotFoundError, UnavailableError
from ..formats.tensorflow import bundle
from ..storage import checksummed_json, locks, regular_files, safetensors
from ..storage.atomic_files import drafted
from ..storage.corruption import reading
from ..storage.safetensors import Array
from . import tensorflow_checkpoint
from .object_graph import ObjectNode

KIND, VERSION = "checkpoint", 1
DATA = ".data-00000-of-00001"
_OTHER_DATA = ".data-00000-of-00002"
_TRIES = 100
_DRAFTS = re.compile(r"\.(.*(\.index|\.data-00000-of-0000[12])|checkpoint)\.[0-9a-f]{16}\.tmp", re.DOTALL)
"""The names of drafts, also of other prefixes: a killed program may never save under the same one again."""


class CheckpointContents(NamedTuple):
    """The content of a checkpoint: the nodes of its object graph, and the values by key.

    There are no nodes if the keys are the names of variables, in checkpoints of TensorFlow 1.
    """

    nodes: list[ObjectNode]
    values: Mapping[str, Array]

    def specs(self) -> dict[str, tuple[dtypes.DType, tuple[int, ...]]]:
        """Return the dtypes and shapes of the values by key."""
        if isinstance(self.values, tensorflow_checkpoint.BundleValues):
            return self.values.specs()
        return {key: (dtypes.of_array(value), value.shape) for key, value in self.values.items()}


def index_of(prefix: str) -> Path:
    return Path(f"{prefix}.index")


def exists(prefix: str) -> bool:
    """Return whether there is a checkpoint with this prefix, as `Checkpoint.save` returned it."""
    return os.path.exists(index_of(prefix))  # also False for an invalid file name


def time_of(prefix: str) -> float | None:
    """Return the time at which a checkpoint was written; None when there is none."""
    try:
        return index_of(prefix).stat().st_mtime
    except OSError:
        return None


def write(prefix: str, nodes: list[ObjectNode], values: Mapping[str, Array]) -> None:
    """Write a checkpoint; one with the same prefix is replaced at the end."""
    index = index_of(prefix)
    with drafted(Path(prefix + DATA)) as draft:
        checksum = safetensors.write_to(draft.stream, values)
        with locks.exclusive(index.parent) as lock:
            # The data of the replaced checkpoint stay complete until the index names others.
            data = _plain_data(index) if lock.is_real else _own_data(index)
            if data == _data_name(index):
                data = _own_data(index)
            draft.publish(index.with_name(data))
            content = {
                "data": {"file": data, "sha256": checksum},
                "nodes": [node._asdict() for node in nodes],
                "values": {key: [array.dtype.name, list(array.shape)] for key, array in values.items()},
            }
            old = _data_name(index)
            try:
                checksummed_json.write(index, KIND, VERSION, content)
            finally:
                _clean(index, lock, old)


def write_bundle(prefix: str, values: Mapping[str, Any]) -> None:
    """Write a checkpoint in TensorFlow's format, with the values of `tensorflow_checkpoint.contents`."""
    index = index_of(prefix)
    index.parent.mkdir(parents=True, exist_ok=True)
    with locks.exclusive(index.parent) as lock:
        old = _data_name(index)
        try:
            bundle.write_bundle(prefix, values, 2 if old == _plain_data(index) else 1)
        finally:
            _clean(index, lock, old)


def _plain_data(index: Path) -> str:
    return index.stem + DATA


def _own_data(index: Path) -> str:
    """Return a unique name for data."""
    return f"{index.stem}.{secrets.token_hex(8)}{DATA}"


def _is_data(index: Path, name: str) -> bool:
    """Return whether data of the checkpoint may have this name."""
    pattern = rf"{re.escape(index.stem)}(\.[0-9a-f]{{16}})?{re.escape(DATA)}"
    return re.fullmatch(pattern, name) is not None or name == index.stem + _OTHER_DATA


def _clean(index: Path, lock: locks.Lock, old: str | None) -> None:
    """Delete data of this checkpoint that its index does not name, and leftover drafts of killed writers.

    Without a real lock others may be writing data now: then only `old`, which an index has named, is deleted.
    """
    present = _data_name(index)
    if present is None and index.exists():  # of a newer version, or damaged: its data are unknown
        return
    names = [entry.name for entry in os.scandir(index.parent)] if lock.is_real else [old or ""]
    for name in names:
        if name != present and _is_data(index, name) and not _belongs_to_other(index, name):
            index.with_name(name).unlink(missing_ok=True)
    if lock.is_real:
        locks.remove_leftovers(index.parent, _DRAFTS)


def _belongs_to_other(index: Path, data: str) -> bool:
    """Return whether the data belong to a checkpoint whose prefix has the form of `_own_data`."""
    return data != _plain_data(index) and index.with_name(data.removesuffix(DATA) + ".index").exists()


def _data_name(index: Path) -> str | None:
    """Return the data file of a checkpoint to be replaced, if it is known and one that this library may write."""
    try:
        if tensorflow_checkpoint.is_bundle(index):
            return bundle.BundleReader(str(index).removesuffix(".index")).data.name
        name = str(checksummed_json.read(index, KIND, VERSION)["data"]["file"])
    except (DataLossError, NotFoundError, KeyError, TypeError):
        return None
    return name if _is_data(index, name) else None


def read(prefix: str) -> CheckpointContents:
    """Return the content of a checkpoint, of this library or of TensorFlow.

    Raises NotFoundError when there is none, DataLossError when it is damaged or of a newer version.
    """
    index = index_of(prefix)
    if not os.path.exists(index):
        raise NotFoundError(f"there is no checkpoint {prefix!r}: no file {index}")
    if tensorflow_checkpoint.is_bundle(index):
        return CheckpointContents(*tensorflow_checkpoint.read(prefix))
    content = checksummed_json.read(index, KIND, VERSION)
    for _ in range(_TRIES):
        try:
            return _contents(index, content)
        except (NotFoundError, DataLossError):  # damaged, or replaced meanwhile
            before, content = content, checksummed_json.read(index, KIND, VERSION)
            if content == before:
                raise
    raise UnavailableError(f"{index} is replaced repeatedly while it is read")


def _contents(index: Path, content: Any) -> CheckpointContents:
    with reading(index):
        name = content["data"]["file"]
        if not regular_files.is_plain(name):
            raise ValueError(f"{name!r} is not a file name")
        checksum = str(content["data"]["sha256"])
        keys = set(content["values"])
        nodes = [_node(entry, len(content["nodes"]), keys) for entry in content["nodes"]]
        if not nodes:
            raise ValueError("it names no objects")
    with regular_files.open_inside(index.parent, name) as stream:
        values = safetensors.arrays_of(stream.read(), index.with_name(name), checksum)
    if values.keys() != keys:
        raise DataLossError(f"{index.with_name(name)} does not hold the values that {index} names")
    return CheckpointContents(nodes, values)


def _node(data: Any, count: int, keys: set[str]) -> ObjectNode:
    """Return one of `count` nodes. ValueError for children that are no nodes, and for a key without a value."""
    children, key = dict(data["children"]), data["key"]
    if not all(type(number) is int and 0 <= number < count for number in children.values()):
        raise ValueError(f"the children {children} are not among {count} objects")
    if key is not None and key not in keys:
        raise ValueError(f"there is no value for the key {key!r}")
    return ObjectNode(children, key)


def remove(prefix: str) -> None:
    """Delete a checkpoint: first the index, then its data."""
    index = index_of(prefix)
    if not index.exists():
        return
    with locks.exclusive(index.parent) as lock:
        data = _data_name(index)
        index.unlink(missing_ok=True)
        _clean(index, lock, data)
