"""The files of a saved model of TensorFlow, and errors that name them.

folder/saved_model.pb      folder/variables/variables.index …      folder/assets/words.txt
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import DataLossError, OpError, UnimplementedError
from ..storage import regular_files
from ..storage.corruption import reading

FILE = "saved_model.pb"


def asset_path(folder: Path, name: str) -> Path:
    """Return the path of an asset. Raises NotFoundError if there is none, DataLossError for a path outside."""
    with regular_files.open_inside(folder, f"assets/{name}"):
        return folder / "assets" / name


@contextlib.contextmanager
def importing(path: Path) -> Iterator[None]:
    """Turn errors of a graph that cannot be traced into errors that name its file."""
    try:
        with reading(path):
            yield
    except UnimplementedError as error:
        raise UnimplementedError(f"{path}: {error.message}") from None
    except OpError as error:
        if isinstance(error, DataLossError) or path.name in str(error):
            raise
        raise DataLossError(f"{path} is damaged: {error}") from error
    except NotImplementedError as error:
        raise UnimplementedError(f"{path}: {error}") from error
