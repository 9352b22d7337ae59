"""Options of saving and restoring checkpoints."""

from __future__ import annotations

from typing import Any

from ..core.export import export

TENSORFLOW = "tensorflow"
"""The format that TensorFlow reads and writes, a TensorBundle."""


@export("train.CheckpointOptions")
class CheckpointOptions:
    """Options of `Checkpoint.save`, `write`, `restore` and `read`.

    Args:
        experimental_format: "tensorflow" to write a checkpoint that TensorFlow restores; by default one in the format
            of this library, whose replacement is atomic. Both are read without an option.

    The others are TensorFlow's, for several machines; they are accepted, without effect.

    >>> import agc.runtime as tf, tempfile
    >>> checkpoint = tf.train.Checkpoint(w=tf.Variable([1.0, 2.0]))
    >>> options = CheckpointOptions(experimental_format="tensorflow")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = checkpoint.save(f"{folder}/ckpt", options)
    ...     tf.train.load_variable(path, "w/.ATTRIBUTES/VARIABLE_VALUE").tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Any = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
        experimental_format: str | None = None,
    ) -> None:
        if experimental_format not in (None, TENSORFLOW):
            raise ValueError(f"experimental_format is None or {TENSORFLOW!r}, not {experimental_format!r}")
        self.experimental_io_device = experimental_io_device
        self.enable_async = enable_async or experimental_enable_async_checkpoint
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback
        self.experimental_format = experimental_format
