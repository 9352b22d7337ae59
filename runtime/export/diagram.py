"""A graph as boxes and arrows, for programs that draw: what the formats `dot` and `mermaid` share.

graph f(x) -> y                       box `x`, box `multiply x, 2.0`, box `y`
    y = multiply x, 2.0       ⇒       arrow from the first to the second: `x: float32[3]`

An operation with regions is a frame around its own box and a frame for each region.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..ir.graph import Graph, Operand, Operation, Value
from ..ir.literal_printer import show_constant
from ..ir.structured import region_labels

_SHOWN = 8
"""The most operands that the text of a box names."""


class Box(NamedTuple):
    """An input, an operation or an output; `kind` is that word."""

    name: str
    text: str
    kind: str


class Arrow(NamedTuple):
    begin: str
    end: str
    text: str


class Group(NamedTuple):
    """A group of boxes and frames."""

    name: str
    text: str
    parts: list[Box | Group]


class Diagram:
    """The boxes of a graph in frames, and the arrows between them."""

    def __init__(self, graph: Graph, title: str) -> None:
        self.arrows: list[Arrow] = []
        self._makers: dict[int, str] = {}  # value → the box that makes it
        self._count = 0
        self.root = self._frame(graph, title)

    def _name(self) -> str:
        self._count += 1
        return f"n{self._count}"

    def _frame(self, graph: Graph, title: str) -> Group:
        frame = Group(self._name(), title, [])
        frame.parts.extend(
            self._box(f"{value.name}: {value.spec}", "input", (), (value,)) for value in graph.inputs
        )
        for operation in graph.operations:
            frame.parts.append(self._operation(operation))
        frame.parts.extend(self._box(_shown(operand), "output", (operand,), ()) for operand in graph.outputs)
        return frame

    def _operation(self, operation: Operation) -> Box | Group:
        operands = [_shown(operand) for operand in operation.inputs[:_SHOWN]]
        rest = ["…"] if len(operation.inputs) > _SHOWN else []
        box = self._box(
            f"{operation.type} {', '.join(operands + rest)}", "operation", operation.inputs, operation.outputs
        )
        if not operation.regions:
            return box
        results = ", ".join(value.name for value in operation.outputs)
        outer = Group(self._name(), f"{results} = {operation.type}" if results else operation.type, [box])
        labels = region_labels(operation.type, len(operation.regions))
        outer.parts.extend(map(self._frame, operation.regions, labels))
        return outer

    def _box(self, text: str, kind: str, operands: tuple[Operand, ...], results: tuple[Value, ...]) -> Box:
        box = Box(self._name(), text, kind)
        for operand in dict.fromkeys(operand for operand in operands if isinstance(operand, Value)):
            label = f"{operand.name}: {operand.spec}" if kind == "operation" else ""
            self.arrows.append(Arrow(self._makers[id(operand)], box.name, label))
        self._makers |= {id(value): box.name for value in results}
        return box


def _shown(operand: Operand) -> str:
    if isinstance(operand, Value):
        return operand.name
    return show_constant(operand.value) or f"{operand.spec}"


def depth_first(frame: Group, depth: int = 0) -> Iterator[tuple[int, Box | Group | None]]:
    """Yield the parts of a frame with their depth: a frame, its parts, and None at its end."""
    yield depth, frame
    for part in frame.parts:
        if isinstance(part, Group):
            yield from depth_first(part, depth + 1)
        else:
            yield depth + 1, part
    yield depth, None
