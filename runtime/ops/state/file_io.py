"""Operations that read and write whole files, each time the graph runs."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from ... import dtypes
from ...core.export import export
from ...ir.value_types import TensorType
from ...storage import gfile
from ..framework.op import Input, Name, op
from ..framework.op_families import STRINGS, require_dtype
from ..strings.map_bytes import filled

Array = Any


def _check_scalar(operand: Any, what: str) -> None:
    require_dtype(operand, STRINGS, what)
    if operand.shape not in ((), None):
        raise ValueError(f"Input {what} tensor must be scalar, but had shape: {operand.shape}")


def _text(scalar: Any) -> str:
    path: bytes = np.asarray(scalar, object).item()
    return os.fsdecode(path)


@export("io.read_file")
@op(stateful=True)
def read_file(filename: Input, name: Name = None) -> TensorType:
    """Read the contents of a file; NotFoundError if it does not exist.

    >>> read_file("/no/such/file")
    Traceback (most recent call last):
    agc.runtime.errors.NotFoundError: /no/such/file; No such file or directory [op read_file]
    """
    _check_scalar(filename, "filename")
    return TensorType(dtypes.string, ())


@read_file.kernel
def _(filename: Array) -> Array:
    with gfile.GFile(_text(filename), "rb") as file:
        return np.array(file.read(), object)


@op(stateful=True)
def write_file(filename: Input, contents: Input, name: Name = None) -> tuple[()]:
    """Write `contents` to a file, replacing an existing one; missing directories are created.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "new", "notes.txt")
    >>> _ = write_file(path, "hello")
    >>> read_file(path).numpy()
    b'hello'
    """
    _check_scalar(filename, "filename")
    _check_scalar(contents, "contents")
    return ()


@write_file.kernel
def _(filename: Array, contents: Array) -> tuple[()]:
    path = _text(filename)
    if os.path.dirname(path):
        gfile.makedirs(os.path.dirname(path))
    with gfile.GFile(path, "wb") as file:
        file.write(np.asarray(contents, object).item())
    return ()


@export("io.matching_files")
@op(stateful=True)
def matching_files(pattern: Input, name: Name = None) -> TensorType:
    """Return the sorted names of files that match a pattern or one of several, with wildcards `*` and `?`.

    >>> matching_files("/no/such/*").numpy().tolist()
    []
    """
    require_dtype(pattern, STRINGS, "matching_files")
    return TensorType(dtypes.string, (None,))


@matching_files.kernel
def _(pattern: Array) -> Array:
    patterns = np.asarray(pattern, object).ravel().tolist()
    found = sorted(name for each in patterns for name in glob.glob(each))
    return filled(found, (len(found),))
