"""Detection of TensorFlow's file formats, which are not supported, so that such files are not reported as damaged.

x.index                 begins a block table that ends with this number         a checkpoint (TensorBundle)
folder/saved_model.pb                                                          a SavedModel
folder/dataset_spec.pb                                                         output of `Dataset.save`
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import UnimplementedError

_END_OF_TABLE = bytes.fromhex("57fb808b247547db")
_FILES = {"saved_model.pb": "a SavedModel", "dataset_spec.pb": "a saved dataset"}


def refuse_table(path: Path, content: bytes) -> None:
    """Raise UnimplementedError if `content`, of the file `path`, is the index of a TensorFlow checkpoint."""
    if content.endswith(_END_OF_TABLE):
        raise UnimplementedError(
            f"{path} belongs to a checkpoint of TensorFlow (a TensorBundle), which agc does not read yet. Let "
            "TensorFlow write the values to a file that both read: np.savez(path, **{name: "
            "tf.train.load_variable(prefix, name) for name, _ in tf.train.list_variables(prefix)})"
        )


def refuse_folder(folder: Path) -> None:
    """Raise UnimplementedError if TensorFlow saved a model or a dataset in `folder`."""
    for name, kind in _FILES.items():
        if os.path.isfile(folder / name):
            raise UnimplementedError(
                f"{folder} is {kind} of TensorFlow, with the file {name}, which agc does not read yet"
            )
