"""One public function for each format: `write` with the options of that format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..formats.program import Program
from .write import write

Signature = Sequence[Any] | Mapping[str, Any]


def text(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as text; see `write`."""
    return write(source, path, input_signature, to="text")


def json(source: Any, path: Any, input_signature: Signature = ()) -> Program:
    """Write the graph of a function as JSON; see `write`."""
    return write(source, path, input_signature, to="json")
