"""Detection of TensorFlow's file formats, which are not supported, so that such files are not reported as damaged.

folder/dataset_spec.pb       output of `Dataset.save`
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import UnimplementedError

_FILES = {"dataset_spec.pb": "a saved dataset"}


def refuse_folder(folder: Path) -> None:
    """Raise UnimplementedError if TensorFlow saved a model or a dataset in `folder`."""
    for name, kind in _FILES.items():
        if os.path.isfile(folder / name):
            raise UnimplementedError(
                f"{folder} is {kind} of TensorFlow, with the file {name}, which agc does not read yet"
            )
