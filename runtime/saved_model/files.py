"""A saved model on the disk: one folder, in which everything can be read.

    saved_model.json                  the objects, their functions, and the checksum of every other file
    1/variables.safetensors           the values of the variables
    1/functions/0-call.json           a graph
    1/assets/vocabulary.txt           a file that the model needs

Saving again writes a folder `2`, then replaces saved_model.json in one step, then deletes the folder `1`: whoever reads
finds the old model or the new one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import DataLossError, NotFoundError
from ..ir import serialise
from ..storage import safetensors, sealed
from ..storage.atomic import replacing
from ..storage.safetensors import Array

KIND, VERSION = "saved model", 1
INDEX = "saved_model.json"
VARIABLES = "variables.safetensors"


class Writer:
    """Writes the files of a model; nothing is visible before `commit`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        taken = (
            [int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()]
            if folder.is_dir()
            else []
        )
        self._name = str(max(taken, default=0) + 1)
        self._place = folder / self._name
        self._checksums: dict[str, str] = {}
        self._functions = 0

    def variables(self, values: Mapping[str, Array]) -> None:
        self._checksums[VARIABLES] = safetensors.write(self._place / VARIABLES, values)

    def function(self, name: str, graph: Any) -> str:
        """Write a graph; the name of its file."""
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        file = f"functions/{self._functions}-{plain}.json"
        self._functions += 1
        self._write(file, serialise.as_text(graph).encode())
        return file

    def asset(self, path: Path) -> str:
        """Copy a file; its name. Two files of one name get different ones."""
        name = path.name
        while f"assets/{name}" in self._checksums:
            name = f"_{name}"
        self._write(f"assets/{name}", path.read_bytes())
        return f"assets/{name}"

    def _write(self, file: str, content: bytes) -> None:
        with replacing(self._place / file) as stream:
            stream.write(content)
        self._checksums[file] = hashlib.sha256(content).hexdigest()

    def commit(self, content: Mapping[str, Any]) -> None:
        """Make what was written the model of the folder, and delete the one before."""
        document = {"folder": self._name, "files": self._checksums, **content}
        sealed.write(self._folder / INDEX, KIND, VERSION, document)
        for path in self._folder.glob("[0-9]*"):
            if path.name.isdigit() and path != self._place:
                shutil.rmtree(path)

    def abandon(self) -> None:
        """Delete what was written."""
        shutil.rmtree(self._place, ignore_errors=True)


class Reader:
    """Reads the files of a model, and holds them against their checksums.

    Raises FileNotFoundError when there is no model in the folder, DataLossError when it is damaged or too new.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / INDEX).is_file():
            raise FileNotFoundError(f"there is no saved model in {str(folder)!r}: no file {folder / INDEX}")
        self.content: dict[str, Any] = sealed.read(folder / INDEX, KIND, VERSION)
        try:
            self._files: dict[str, str] = dict(self.content["files"])
            self._place = folder / str(int(self.content["folder"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DataLossError(f"{folder / INDEX} is no index of a saved model: {error!r}") from None

    def variables(self) -> dict[str, Array]:
        return safetensors.read(self._place / VARIABLES, self._checksum(VARIABLES))

    def graph(self, file: str) -> Any:
        """The graph of a file."""
        content = self._content(file)
        try:
            return serialise.deserialise(json.loads(content))
        except ValueError as error:
            raise DataLossError(f"{self._place / file} is no graph: {error}") from error

    def asset(self, file: str) -> Path:
        """The path of a file that the model needs."""
        self._content(file)
        return self._place / file

    def _content(self, file: str) -> bytes:
        path = self._place / file
        try:
            content = path.read_bytes()
        except OSError:
            raise NotFoundError(f"the saved model lacks its file {path}") from None
        if hashlib.sha256(content).hexdigest() != self._checksum(file):
            raise DataLossError(f"{path} is damaged: its checksum is another one than when it was written")
        return content

    def _checksum(self, file: str) -> str:
        if file not in self._files or ".." in Path(file).parts or Path(file).is_absolute():
            raise DataLossError(f"the saved model names a file {file!r} that is not its own")
        return self._files[file]
