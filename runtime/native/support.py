"""What cannot be compiled, and why: one reason for each operation, with the line of the user's program.

error[AGC220]: `f` cannot be compiled to native code, as jit_compile=True demands
  --> train.py:12, in f: print has effects outside of the graph
  --> train.py:14, in f: unique: the shape of its result, int32[?], depends on values
fix: leave these operations out of the function, or take jit_compile=None, which compiles where it can
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import InvalidArgumentError
from ..ir.graph import Operation

CODE = "AGC220"


class Reason(NamedTuple):
    """Why an operation stands in the way."""

    operation: Operation
    text: str

    def __str__(self) -> str:
        place = f"{self.operation.origin}: " if self.operation.origin else ""
        return f"{place}{self.operation.type}: {self.text}"


class CannotCompileError(Exception):
    """A graph has operations that native code does not have."""

    def __init__(self, reasons: Iterable[Reason | str]) -> None:
        self.reasons = list(dict.fromkeys(map(str, reasons)))
        super().__init__("; ".join(self.reasons))


class NeverRunsError(CannotCompileError):
    """The shapes of the inputs do not fit the graph: where it comes to that operation, it fails."""


class CompilationError(InvalidArgumentError):
    """`jit_compile=True` demands what cannot be done. `reasons` says what stands in the way, one text for each."""

    def __init__(self, name: str, reasons: Iterable[str], fix: str) -> None:
        self.reasons = list(reasons)
        lines = "".join(f"\n  --> {reason}" for reason in self.reasons)
        super().__init__(
            f"error[{CODE}]: `{name}` cannot be compiled to native code, as jit_compile=True demands{lines}\nfix: {fix}"
        )
