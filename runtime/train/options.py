"""TensorFlow's options of saving and restoring; they have no effect on one machine."""

from __future__ import annotations

from typing import Any

from ..core.export import export


@export("train.CheckpointOptions")
class CheckpointOptions:
    """Options for several machines (devices, callbacks, asynchronous writes); accepted, without effect."""

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Any = None,
        enable_async: bool = False,
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.enable_async = enable_async or experimental_enable_async_checkpoint
        self.experimental_write_callbacks = experimental_write_callbacks
