"""The format `json`: the graph in the form of `Graph.as_graph_def`, which `resolve` reads again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..executors import interpret
from ..formats.program import Array, Program
from ..ir.graph_def import GraphDef
from ..ir.json_format import as_text, serialize


def encode(program: Program) -> bytes:
    return f"{as_text(serialize(program.graph))}\n".encode()


def run(path: Path, program: Program, arrays: Sequence[Array]) -> list[Array]:
    """Return the outputs that the graph in the file computes; for a program without variables."""
    return list(interpret(GraphDef.FromString(path.read_bytes()).graph, list(arrays)))
