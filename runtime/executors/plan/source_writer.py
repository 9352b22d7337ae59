"""Emit lines of generated source, names of values, and operands as text."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Constant, Graph, Operand, Value
from . import identifiers
from .source_module import Location, PlanSource, Scope
from .unboxing import UnboxedScalars


class Lines:
    """The lines of one function of a module."""

    def __init__(self, module: PlanSource, graph: Graph) -> None:
        self.module = module
        self.names = identifiers.Identifiers()
        self.numbers = UnboxedScalars(graph)

    def fresh(self, value: Value) -> str:
        return self.names.unique(identifiers.local(value.name))

    def line(self, depth: int, text: str, location: Location | None = None) -> None:
        self.module.lines.append("    " * depth + text)
        if location is not None:
            self.module.locations[len(self.module.lines)] = location

    def delete(self, dead: Sequence[str], depth: int) -> None:
        if dead:
            self.line(depth, f"del {', '.join(dead)}")

    def text(self, operand: Operand, scope: Scope) -> str:
        """Return an operand as kernels take it."""
        if isinstance(operand, Constant):
            return self.module.constant(operand.value)
        return (
            self.module.as_scalar(operand.dtype, scope[operand])
            if operand in self.numbers
            else scope[operand]
        )

    def number(self, operand: Operand, scope: Scope) -> str:
        """Return an operand as a Python number."""
        if isinstance(operand, Constant):
            return self.module.number(operand.value)
        return (
            scope[operand]
            if operand in self.numbers
            else self.module.as_number(operand.dtype, scope[operand])
        )

    def either(self, operand: Operand, scope: Scope) -> str:
        """Return an operand in the representation that it has."""
        return self.text(operand, scope) if isinstance(operand, Constant) else scope[operand]

    def like(self, value: Value, operand: Operand, scope: Scope) -> str:
        """Return an operand in the representation of `value`."""
        return self.number(operand, scope) if value in self.numbers else self.text(operand, scope)


def tuple_of(texts: Sequence[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
