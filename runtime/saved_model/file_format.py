"""The files of a saved model: one folder of readable formats.

    saved_model.json                             the objects, their functions, and the checksum of every other file
    model-3f2a…/variables.safetensors            the values of the variables
    model-3f2a…/functions/0-call.json            a graph
    model-3f2a…/assets/vocabulary.txt            a file that the model needs

Saving again writes another such folder, replaces saved_model.json in one step, and then deletes the old model's
files: a reader finds the old model or the new one. A writer holds the lock of the folder that it writes, and a
reader that of the folder that it reads. A folder that no index names and whose lock is free is a leftover.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import DataLossError, InvalidArgumentError, NotFoundError
from ..ir import json_format, json_reader
from ..storage import checksummed_json, locks, regular_files, safetensors
from ..storage.atomic_files import drafts_of, flush_folder, replacing
from ..storage.corruption import FAULTS, reading
from ..storage.safetensors import Array

KIND, VERSION = "saved model", 1
INDEX = "saved_model.json"
VARIABLES = "variables.safetensors"
_OWN = re.compile(r"model-[0-9a-f]{16}")
"""The folder names that `Writer` uses."""
_NUMBERED = re.compile(r"[0-9]{1,9}")
"""The folder names of earlier versions; other programs use such names, too."""
_INNER = ("functions", "assets")


class Writer:
    """A writer of a model's files; they become visible at `commit`."""

    def __init__(self, folder: Path) -> None:
        self._is_new = not folder.exists()
        self._folder = folder
        self._name = f"model-{secrets.token_hex(8)}"
        self._place = folder / self._name
        folder.mkdir(parents=True, exist_ok=True)
        with locks.exclusive(folder):
            self._place.mkdir()
            self._lock = locks.lock(self._place)
        self._checksums: dict[str, str] = {}
        self._functions = 0

    def variables(self, values: Mapping[str, Array]) -> None:
        self._checksums[VARIABLES] = safetensors.write(self._place / VARIABLES, values)

    def function(self, name: str, graph: Any) -> str:
        """Write a graph, and return the name of its file."""
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        file = f"functions/{self._functions}-{plain}.json"
        self._functions += 1
        self._write(file, json_format.as_text(graph).encode())
        return file

    def asset(self, path: Path) -> str:
        """Copy a file, and return its new name. Files with equal names get different ones."""
        name = path.name
        while f"assets/{name}" in self._checksums:
            name = f"_{name}"
        if path.is_symlink():
            raise InvalidArgumentError(
                f"the asset {str(path)!r} is a link, which a saved model does not follow: name the file itself, "
                f"Asset({os.path.realpath(path)!r})"
            )
        with regular_files.open_inside(path.parent, path.name) as stream:
            self._write(f"assets/{name}", stream.read())
        return f"assets/{name}"

    def _write(self, file: str, content: bytes) -> None:
        with replacing(self._place / file) as stream:
            stream.write(content)
        self._checksums[file] = hashlib.sha256(content).hexdigest()

    def commit(self, content: Mapping[str, Any]) -> None:
        """Make the written files the model of the folder, and delete the previous one."""
        document = {"folder": self._name, "files": self._checksums, **content}
        for inner in ("", *_INNER):
            if (self._place / inner).is_dir():
                flush_folder(self._place / inner)
        with locks.exclusive(self._folder) as lock:
            before = _present(self._folder)
            checksummed_json.write(self._folder / INDEX, KIND, VERSION, document)
            if before is not None:
                _remove(self._folder / before[0], before[1])
            if lock.is_real:
                _remove_leftovers(self._folder, self._name)
        self._close()

    def abandon(self) -> None:
        """Delete the written files, unless they are already the model of the folder."""
        present = _present(self._folder)
        self._close()
        if present is None or present[0] != self._name:
            _remove(self._place, list(self._checksums))
            if self._is_new:
                with contextlib.suppress(OSError):
                    self._folder.rmdir()

    def _close(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _present(folder: Path) -> tuple[str, list[str]] | None:
    """Return the folder and the files of the current model, limited to those that this library may have made."""
    try:
        content = checksummed_json.read(folder / INDEX, KIND, VERSION)
        name, files = content["folder"], list(content["files"])
    except (NotFoundError, DataLossError, KeyError, TypeError):
        return None
    name = name if isinstance(name, str) else ""
    return (name, files) if _OWN.fullmatch(name) or _NUMBERED.fullmatch(name) else None


def _remove_leftovers(folder: Path, present: str) -> None:
    """Delete leftovers of killed writers. The folder is locked, so its index does not change."""
    for entry in list(os.scandir(folder)):
        if entry.name != present and _OWN.fullmatch(entry.name):
            _remove(Path(entry.path))
    locks.remove_leftovers(folder, drafts_of(INDEX))


def _remove(path: Path, files: Iterable[str] | None = None) -> None:
    """Delete the `files` of a model (None: all that a writer makes), and folders that become empty.

    Other files in these folders and link targets stay. Nothing is deleted while another process reads or writes.
    """
    with contextlib.suppress(OSError):
        held = None if path.is_symlink() else locks.lock(path)
        if held is None:
            return
        with held:
            if held.is_real or files is not None:
                for inner in ("", *_INNER):
                    _remove_files(path, inner, files)
                path.rmdir()


def _remove_files(path: Path, inner: str, files: Iterable[str] | None) -> None:
    folder = path / inner
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in list(os.scandir(folder)):
        name = f"{inner}/{entry.name}" if inner else entry.name
        is_made = entry.is_file(follow_symlinks=False) and (inner or VARIABLES in entry.name)
        if is_made and (files is None or name in files):
            os.unlink(entry.path)
    if inner:
        with contextlib.suppress(OSError):  # not empty
            folder.rmdir()


class Reader:
    """A reader of a model's files, which verifies their checksums.

    Raises FileNotFoundError when the folder has no model, DataLossError for a damaged one or a newer version.
    """

    def __init__(self, folder: Path) -> None:
        if not os.path.isfile(folder / INDEX):
            raise FileNotFoundError(f"there is no saved model in {str(folder)!r}: no file {folder / INDEX}")
        self._folder = folder
        self.index = folder / INDEX
        self.content: dict[str, Any] = checksummed_json.read(self.index, KIND, VERSION)
        with reading(self.index):
            self._files: dict[str, str] = dict(self.content["files"])
            self._name = str(self.content["folder"])
        if not (_OWN.fullmatch(self._name) or _NUMBERED.fullmatch(self._name)):
            raise DataLossError(f"{self.index} names a folder {self._name!r} that no saved model has")
        self.lock: locks.Lock | None = None  # while it is held, no writer deletes the files
        with contextlib.suppress(OSError):
            self.lock = locks.lock(folder / self._name, shared=True, wait=1.0)

    def is_replaced(self) -> bool:
        """Return whether the model has been replaced by another since."""
        content: Any = checksummed_json.read(self.index, KIND, VERSION)
        return bool(content != self.content)

    def variables(self) -> dict[str, Array]:
        content = self._content(VARIABLES)
        return safetensors.arrays_of(content, self._folder / self._name / VARIABLES, None)

    def graph(self, file: str) -> Any:
        """Return the graph of a file."""
        content = self._content(file)
        try:
            return json_reader.deserialize(json.loads(content))
        except FAULTS as error:
            raise DataLossError(f"{self._folder / self._name / file} is not a graph: {error}") from error

    def asset(self, file: str) -> Path:
        """Return the path of an asset."""
        self._content(file)
        return self._folder / self._name / file

    def _content(self, file: str) -> bytes:
        if not isinstance(file, str) or file not in self._files:
            raise DataLossError(f"{self.index} names a file {file!r} that is not its own")
        with regular_files.open_inside(self._folder, f"{self._name}/{file}") as stream:
            content = stream.read()
        if hashlib.sha256(content).hexdigest() != self._files[file]:
            raise DataLossError(
                f"{self._folder / self._name / file} is damaged: its checksum does not match its content"
            )
        return content
