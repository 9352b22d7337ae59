"""One public function for each format: `write` with the options of that format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formats.program import Program
from .source import Axes
from .write import write

Signature = Sequence[Any] | Mapping[str, Any]


def text(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as text; see `write`."""
    return write(source, path, input_signature, to="text")


def json(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as JSON; see `write`."""
    return write(source, path, input_signature, to="json")


def onnx(
    source: Any,
    path: Any,
    input_signature: Signature = (),
    *,
    dynamic_axes: Axes | None = None,
    opset: int = 22,
    allow_random: bool = False,
) -> Program:
    """Write a function as an ONNX model (extra `[onnx]`).

    Args:
        source, path, input_signature, dynamic_axes: see `write`.
        opset: the version of the operators, from 20 to 28.
        allow_random: write random operations as ONNX' generators, whose numbers differ from those of agc.

    Variables that the function assigns are inputs `NAME` with the current value as the default, and outputs
    `NAME_next`. Raises `CannotExportError` with all operations that ONNX cannot express.
    """
    options = {"opset": opset, "allow_random": allow_random}
    return write(source, path, input_signature, to="onnx", dynamic_axes=dynamic_axes, **options)
