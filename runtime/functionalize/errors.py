"""Errors of graphs that a compiler cannot take, with the operations that are the reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..ir.graph import Graph, Operation


class Reason(NamedTuple):
    """The reason why an operation cannot be compiled."""

    operation: Operation
    text: str

    def __str__(self) -> str:
        place = f"{self.operation.origin}: " if self.operation.origin else ""
        return f"{place}{self.operation.type}: {self.text}"


class CannotCompileError(Exception):
    """Error for a graph with operations that a compiler cannot take."""

    def __init__(self, reasons: Iterable[Reason | str]) -> None:
        self.reasons = list(dict.fromkeys(map(str, reasons)))
        super().__init__("; ".join(self.reasons))


class NeverRunsError(CannotCompileError):
    """Error for input shapes that an operation rejects: the graph fails when it reaches this operation."""

    def __init__(self, reason: Reason) -> None:
        super().__init__([reason])
        self.operation = reason.operation

    def checked(self, graph: Graph) -> CannotCompileError:
        """Return this error if the graph always reaches the operation; else one that refuses the graph."""
        return self if self.operation in graph.operations else CannotCompileError(self.reasons)
