"""Reading of a checkpoint's values without the objects that were saved."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from .. import dtypes
from ..core.export import export
from ..errors import NotFoundError
from . import checkpoint_format
from .checkpoint_state import latest_checkpoint


@export("train.CheckpointReader")
class CheckpointReader:
    """The values of a checkpoint of this library or of TensorFlow, by key; `tf.train.load_checkpoint` creates a reader.

    >>> import tempfile
    >>> from .checkpoint import Checkpoint, Variable
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Checkpoint(w=Variable([1.0, 2.0])).write(f"{folder}/weights")
    ...     reader = load_checkpoint(path)
    >>> reader.get_variable_to_shape_map()
    {'w/.ATTRIBUTES/VARIABLE_VALUE': [2]}
    """

    def __init__(self, prefix: str) -> None:
        contents = checkpoint_format.read(prefix)
        self._values, self._specs = contents.values, contents.specs()

    def get_tensor(self, tensor_str: str) -> Any:
        """Return the value with a key, as a NumPy array. NotFoundError when there is none."""
        if tensor_str not in self._values:
            raise NotFoundError(f"Key {tensor_str} not found in checkpoint; it has {', '.join(self._values)}")
        value = self._values[tensor_str]
        return value.copy() if value.ndim else value[()]

    def has_tensor(self, tensor_str: str) -> bool:
        """Return whether the checkpoint has a value with this key."""
        return tensor_str in self._values

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes of the values by their keys."""
        return {key: list(shape) for key, (_, shape) in self._specs.items()}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """Return the dtypes of the values by their keys."""
        return {key: dtype for key, (dtype, _) in self._specs.items()}


@export("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """Return a reader of a checkpoint, or of the latest one in a folder.

    Raises ValueError when a folder has none, NotFoundError when there is no such file.

    >>> import agc.runtime as tf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reader = load_checkpoint(tf.train.Checkpoint(v=tf.Variable(7)).write(folder + "/c"))
    ...     sorted(reader.get_variable_to_shape_map())
    ['v/.ATTRIBUTES/VARIABLE_VALUE']
    """
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        path = latest
    return CheckpointReader(path)


@export("train.load_variable")
def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> Any:
    """Return one value of a checkpoint, as a NumPy array. A name may end in ":0", like a variable's name.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> path = tf.train.Checkpoint(w=tf.Variable([1.0, 2.0])).save(f"{tempfile.mkdtemp()}/ckpt")
    >>> tf.train.load_variable(path, "w/.ATTRIBUTES/VARIABLE_VALUE").tolist()
    [1.0, 2.0]
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


@export("train.list_variables")
def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """Return the keys and shapes of the values of a checkpoint, in the order of the keys.

    >>> import agc.runtime as tf
    >>> import tempfile
    >>> path = tf.train.Checkpoint(w=tf.Variable([1.0, 2.0])).save(f"{tempfile.mkdtemp()}/ckpt")
    >>> [key for key, _ in tf.train.list_variables(path) if key.startswith("w")]
    ['w/.ATTRIBUTES/VARIABLE_VALUE']
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


@export("train.checkpoints_iterator")
def checkpoints_iterator(
    checkpoint_dir: str | os.PathLike[str],
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yield new checkpoints of a folder as they appear, each once.

    Args:
        checkpoint_dir: the folder to watch.
        min_interval_secs: the minimum time between two of them.
        timeout: how long to wait for the next, in seconds; None for no limit.
        timeout_fn: called after the timeout; the iteration ends when it returns True, or is not given.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list(checkpoints_iterator(folder, timeout=0))
    []
    """
    seen = None
    while True:
        started = time.monotonic()
        while (found := latest_checkpoint(checkpoint_dir)) in (None, seen):
            if timeout is not None and time.monotonic() - started >= timeout:
                break
            time.sleep(0.01)
        if found is None or found == seen:
            if timeout_fn is None or timeout_fn():
                return
            continue
        seen = found
        yield found
        time.sleep(max(0.0, min_interval_secs - (time.monotonic() - started)))
