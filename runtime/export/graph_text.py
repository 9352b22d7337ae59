"""The format `text`: what `print(graph)` prints."""

from __future__ import annotations

from ..formats.program import Program


def encode(program: Program) -> bytes:
    return f"{program.graph}\n".encode()
