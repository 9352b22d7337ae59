"""`Asset`: a file that a model needs, and that is saved with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..core.tensor import Tensor
from ..core.variable import Variable
from ..errors import NotFoundError


class Asset:
    """A file that is copied into saved models; keep it in an attribute of the module that needs it.

    Attributes: `asset_path`, a string tensor: the current path. A function reads it at each call, so a loaded
    function finds the copy.

    Raises NotFoundError when there is no such file. Saving raises InvalidArgumentError for a link.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "words.txt")
    ...     _ = path.write_text("a b")
    ...     Asset(path).asset_path.dtype
    tf.string
    """

    lock: Any = None  # the lock of the loaded saved model, which keeps the file from being deleted

    def __init__(self, path: Any) -> None:
        found = Path(os.fspath(path))
        if not found.is_file():
            raise NotFoundError(f"there is no file {str(found)!r} for an Asset")
        self.variable = Variable(str(found), trainable=False, name="asset_path")

    @property
    def asset_path(self) -> Tensor:
        """The path of the file, a scalar string."""
        return self.variable.value()

    def __children__(self) -> dict[str, Any]:
        return {"asset_path": self.variable}

    def __fspath__(self) -> str:
        return bytes(self.variable.numpy()).decode()
