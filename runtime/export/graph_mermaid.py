"""The format `mermaid`: a flowchart for Markdown pages, with a subgraph for each branch and each part of a loop."""

from __future__ import annotations

from ..formats.program import Program
from .diagram import Diagram, Group, depth_first

_SHAPES = {"input": "([{}])", "operation": "[{}]", "output": "([{}])"}


def encode(program: Program) -> bytes:
    diagram = Diagram(program.graph, program.name)
    lines = ["flowchart TD"]
    for depth, part in depth_first(diagram.root):
        indent = "  " * (depth + 1)
        if part is None:
            lines.append(f"{indent}end")
        elif isinstance(part, Group):
            lines.append(f"{indent}subgraph {part.name}[{_quoted(part.text)}]")
        else:
            lines.append(f"{indent}{part.name}{_SHAPES[part.kind].format(_quoted(part.text))}")
    for arrow in diagram.arrows:
        label = f"|{_quoted(arrow.text)}|" if arrow.text else ""
        lines.append(f"  {arrow.begin} -->{label} {arrow.end}")
    return "\n".join([*lines, ""]).encode()


def _quoted(text: str) -> str:
    """Return a label; Mermaid reads HTML and its own codes in it, so letters that have a meaning there are codes.

    >>> _quoted('a < "b"')
    '"a #60; #34;b#34;"'
    """
    special = {letter: f"#{ord(letter)};" for letter in '"#<>&`\n'}
    return '"' + "".join(special.get(letter, letter) for letter in text) + '"'
