"""The format `graphdef`: a frozen GraphDef of TensorFlow."""

from __future__ import annotations

from ..formats.program import Program
from ..formats.tensorflow.frozen_graph import graph_def


def encode(program: Program) -> bytes:
    return graph_def(program).SerializeToString()
