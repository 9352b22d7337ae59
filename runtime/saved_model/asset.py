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

    Attributes: `asset_path`, a string tensor: where the file is now. In a function it is read each time, so a loaded
    function finds the copy.

    Raises NotFoundError when there is no such file. Saving refuses a link with an InvalidArgumentError.
    """

    lock: Any = None  # of the saved model that the file belongs to, which keeps it from being deleted

    def __init__(self, path: Any) -> None:
        found = Path(os.fspath(path))
        if not found.is_file():
            raise NotFoundError(f"there is no file {str(found)!r} for an Asset")
        self._path = Variable(str(found), trainable=False, name="asset_path")

    @property
    def asset_path(self) -> Tensor:
        return self._path.value()

    def __children__(self) -> dict[str, Any]:
        return {"asset_path": self._path}

    def __fspath__(self) -> str:
        return bytes(self._path.numpy()).decode()
