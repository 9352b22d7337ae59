"""Write a program in a format. A file appears completely or not at all."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..formats.program import Program
from ..storage.atomic_files import write_files
from .formats import Format, format_of
from .source import Axes, resolve


def write(
    source: Any,
    path: Any,
    input_signature: Sequence[Any] | Mapping[str, Any] = (),
    *,
    to: str | None = None,
    dynamic_axes: Axes | None = None,
    **options: Any,
) -> Program:
    """Write a function in a format.

    Args:
        source: what `resolve` takes: a `tf.function`, another function, a graph, a saved model, or a `Program`.
        path: the file or folder. Its suffix selects the format if `to` is None.
        input_signature: `TensorSpec`s or example values, in a list or by the name of the argument.
        to: the name of the format; `FORMATS` lists them.
        dynamic_axes: names of unknown dimensions, as in `{"x": {0: "batch"}}`.
        options: options of the format.

    Returns the program that was written. Raises ValueError for an unknown format or option, and `CannotExportError`,
    which lists all reasons, for a program that the format cannot express.

    >>> import agc.runtime as tf, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write(tf.sin, folder + "/f.txt", [tf.TensorSpec([2])])
    ...     os.listdir(folder)
    ['f.txt']
    """
    row = format_of(to, path)
    _check_options(row, options)
    program = (
        source if isinstance(source, Program) else resolve(source, input_signature, dynamic_axes=dynamic_axes)
    )
    content = row.encode(program, **options)
    write_files(Path(path), {"": content} if isinstance(content, bytes) else content)
    return program


def _check_options(row: Format, options: Mapping[str, Any]) -> None:
    known = [name for name in inspect.signature(row.encode).parameters if name != "program"]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(
            f"the format {row.name} has no option {', '.join(map(repr, unknown))}; it has {', '.join(known) or 'none'}"
        )
