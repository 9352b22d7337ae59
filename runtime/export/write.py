"""Write a program in a format. A file appears completely or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..formats.program import Program
from ..storage.atomic_files import write_files
from .formats import format_of
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

    Returns the program that was written. Raises ValueError for an unknown format, and `CannotExportError`, which
    lists all reasons, for a program that the format cannot express.
    """
    row = format_of(to, path)
    program = (
        source if isinstance(source, Program) else resolve(source, input_signature, dynamic_axes=dynamic_axes)
    )
    content = row.encode(program, **options)
    write_files(Path(path), {"": content} if isinstance(content, bytes) else content)
    return program
