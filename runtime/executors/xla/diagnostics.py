"""Diagnostics of the XLA executor: why a graph cannot be an XLA program, with the locations in user code.

error[AGC220]: `f` cannot be compiled by XLA, as jit_compile="xla" demands
  --> train.py:14, in f: unique: the shape of its result, int32[?], depends on values
fix: leave these operations out of the function, or use jit_compile=None, which compiles only what it can
"""

from __future__ import annotations

from types import TracebackType

from ...functionalize.errors import CannotCompileError
from ...ir.graph import Graph
from ..llvm.diagnostics import CompilationError, CompilerFaultError

_DEMAND = 'by XLA, as jit_compile="xla" demands'


def refused(graph: Graph, refusal: CannotCompileError) -> CompilationError:
    """Return the error for a graph that must be an XLA program, but cannot be."""
    fix = (
        "leave these operations out of the function, or use jit_compile=None, which compiles only what it can"
    )
    return CompilationError(graph.name, refusal.reasons, fix, _DEMAND)


class FaultBoundary:
    """Context manager that converts unexpected errors of rules and of JAX to `CompilerFaultError`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, (CannotCompileError, CompilationError)):
            cause = error.__cause__ or error
            raise CompilerFaultError(self._graph.name, error, "by XLA") from cause
