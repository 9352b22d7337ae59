"""The file `checkpoint` of a folder: the list of its checkpoints, and the latest one.

model_checkpoint_path: "ckpt-2"
all_model_checkpoint_paths: "ckpt-1"
all_model_checkpoint_paths: "ckpt-2"
last_preserved_timestamp: 1700000000.5
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import NamedTuple

from ..core.export import export
from ..errors import DataLossError
from ..storage import regular_files
from ..storage.atomic_files import replacing

NAME = "checkpoint"


class CheckpointState(NamedTuple):
    """The content of the file. Paths of checkpoints inside the folder are relative to it."""

    folder: str
    latest: str = ""
    all_paths: tuple[str, ...] = ()
    last_preserved: float | None = None
    name: str = NAME

    @classmethod
    def of(cls, folder: str, name: str | None = None) -> CheckpointState:
        """Return the state of a folder; an empty one without a file. DataLossError for a damaged file."""
        file = Path(folder, name or NAME)
        if not os.path.exists(file):
            return cls(folder, name=name or NAME)
        fields: dict[str, list[str]] = {}
        for line in regular_files.read(file).decode(errors="replace").splitlines():
            field, colon, value = line.partition(": ")
            if not colon:
                raise DataLossError(f"{file} is damaged, or not a list of checkpoints: {line!r}")
            fields.setdefault(field, []).append(value)
        if not fields:
            raise DataLossError(f"{file} is damaged: it is empty")
        try:
            latest = _path(fields.get("model_checkpoint_path", ['""'])[0])
            paths = tuple(map(_path, fields.get("all_model_checkpoint_paths", ())))
            preserved = fields.get("last_preserved_timestamp")
            return cls(folder, latest, paths, _time(preserved[0]) if preserved else None, name or NAME)
        except (ValueError, RecursionError) as error:
            raise DataLossError(f"{file} is damaged, or not a list of checkpoints: {error}") from None

    def with_latest(self, path: str) -> CheckpointState:
        """Return the state with `path` as the only and latest checkpoint."""
        relative = self._relative(path)
        return self._replace(latest=relative, all_paths=(relative,))

    def with_paths(self, paths: list[str], last_preserved: float | None) -> CheckpointState:
        """Return the state with these checkpoints, the last one the latest."""
        relative = tuple(map(self._relative, paths))
        return self._replace(
            latest=relative[-1] if relative else "", all_paths=relative, last_preserved=last_preserved
        )

    def _relative(self, path: str) -> str:
        folder, name = os.path.split(path)
        return name if os.path.abspath(folder) == os.path.abspath(self.folder) else os.path.abspath(path)

    def absolute(self, path: str) -> str:
        return path if os.path.isabs(path) else os.path.join(self.folder, path)

    def write(self) -> None:
        """Replace the file."""
        lines = [f"model_checkpoint_path: {json.dumps(self.latest)}"]
        lines += [f"all_model_checkpoint_paths: {json.dumps(path)}" for path in self.all_paths]
        if self.last_preserved is not None:
            lines.append(f"last_preserved_timestamp: {self.last_preserved!r}")
        with replacing(Path(self.folder, self.name)) as stream:
            stream.write(("\n".join(lines) + "\n").encode())


def _path(text: str) -> str:
    """Return a path read from the file."""
    path = json.loads(text)
    if not isinstance(path, str) or "\0" in path:
        raise ValueError(f"{text[:80]} is not a path")
    os.fsencode(path)
    return path


def _time(text: str) -> float:
    """Return a time stamp read from the file."""
    time = float(text)
    if not math.isfinite(time):
        raise ValueError(f"{text} is not a time")
    return time


@export("train.latest_checkpoint")
def latest_checkpoint(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> str | None:
    """Return the path of the latest checkpoint of a folder, for `Checkpoint.restore`; None when there is none.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.train.latest_checkpoint(folder) is None
    True
    >>> path = tf.train.Checkpoint(w=tf.Variable(1.0)).save(f"{folder}/ckpt")
    >>> tf.train.latest_checkpoint(folder) == path
    True
    """
    from .checkpoint_format import exists

    folder = os.fspath(checkpoint_dir)
    state = CheckpointState.of(folder, latest_filename)
    path = state.absolute(state.latest) if state.latest else ""
    return path if path and exists(path) else None


class ListedCheckpoints(NamedTuple):
    """The checkpoints of a folder: the path of the latest, those of all, the oldest first, and a time in seconds."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]
    last_preserved_timestamp: float


@export("train.get_checkpoint_state")
def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> ListedCheckpoints | None:
    """Return the paths of a folder's checkpoints; None when there is no list of them.

    Raises DataLossError for a damaged list.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(w=tf.Variable(1.0)).save(f"{folder}/ckpt")
    >>> get_checkpoint_state(folder).all_model_checkpoint_paths == [path]
    True
    """
    state = CheckpointState.of(os.fspath(checkpoint_dir), latest_filename)
    if not state.latest:
        return None
    paths = list(map(state.absolute, state.all_paths))
    return ListedCheckpoints(state.absolute(state.latest), paths, state.last_preserved or 0.0)
