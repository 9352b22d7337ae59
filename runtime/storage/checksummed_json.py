"""JSON files with their own format, version and checksum.

    {"format": "agc checkpoint", "version": 1, "sha256": "9f86d0…",
     "content": {…}}

The checksum is that of the content as compact JSON with sorted keys, so the layout of the file does not matter.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ..errors import DataLossError
from . import regular_files
from .atomic_files import replacing
from .corruption import reading


def write(path: Path, kind: str, version: int, content: Any) -> None:
    """Write `content` as the file `path` of the format "agc <kind>"."""
    document = {"format": f"agc {kind}", "version": version, "sha256": _digest(content), "content": content}
    with replacing(path) as stream:
        stream.write(json.dumps(document, ensure_ascii=False, indent=1).encode())


def read(path: Path, kind: str, newest: int) -> Any:
    """Return the content of such a file.

    Raises NotFoundError when there is no file, DataLossError when it is damaged, of another format, or of a version
    newer than `newest`.
    """
    text = regular_files.read(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataLossError(f"{path} is damaged, or not a file of agc: {error}") from None
    if not isinstance(document, dict) or document.get("format") != f"agc {kind}" or "content" not in document:
        raise DataLossError(f"{path} is not a {kind} of agc")
    version = document.get("version")
    if type(version) is not int or version > newest:
        raise DataLossError(
            f"{path} has version {version!r} of its format; this agc reads versions up to {newest}: install a newer one"
        )
    with reading(path):
        digest = _digest(document["content"])
    if document.get("sha256") != digest:
        raise DataLossError(f"{path} is damaged: its checksum does not match its content")
    return document["content"]


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
