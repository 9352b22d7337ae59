"""The format `dot`: a picture for Graphviz, with a cluster for each branch and each part of a loop."""

from __future__ import annotations

import json

from ..formats.program import Program
from .diagram import Diagram, Group, depth_first

_SHAPES = {"input": "oval", "operation": "box", "output": "oval"}


def encode(program: Program) -> bytes:
    diagram = Diagram(program.graph, program.name)
    lines = ["digraph {", "  node [fontname=monospace fontsize=10]", "  edge [fontname=monospace fontsize=8]"]
    for depth, part in depth_first(diagram.root):
        indent = "  " * (depth + 1)
        if part is None:
            lines.append(f"{indent}}}")
        elif isinstance(part, Group):
            lines += [f"{indent}subgraph cluster_{part.name} {{", f"{indent}  label={_quoted(part.text)}"]
        else:
            lines.append(f"{indent}{part.name} [shape={_SHAPES[part.kind]} label={_quoted(part.text)}]")
    lines += [f"  {arrow.begin} -> {arrow.end} [label={_quoted(arrow.text)}]" for arrow in diagram.arrows]
    return "\n".join([*lines, "}", ""]).encode()


def _quoted(text: str) -> str:
    """Return a string of DOT, where a quote and a backslash follow a backslash, as in JSON.

    >>> _quoted('say "yes"').count("\\\\")
    2
    """
    return json.dumps(text, ensure_ascii=False)
