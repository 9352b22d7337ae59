"""Diagnostics of the XLA executor: why a graph cannot be an XLA program, with the locations in user code.

error[AGC220]: `f` cannot be compiled by XLA, as jit_compile="xla" demands
  --> train.py:14, in f: unique: the shape of its result, int32[?], depends on values
fix: leave these operations out of the function, or use jit_compile=None, which compiles only what it can
"""

from __future__ import annotations

from ...functionalize.errors import CannotCompileError
from ...ir.graph import Graph
from ..llvm.diagnostics import CompilationError

_DEMAND = 'by XLA, as jit_compile="xla" demands'


def refused(graph: Graph, refusal: CannotCompileError) -> CompilationError:
    """Return the error for a graph that must be an XLA program, but cannot be."""
    fix = (
        "leave these operations out of the function, or use jit_compile=None, which compiles only what it can"
    )
    return CompilationError(graph.name, refusal.reasons, fix, _DEMAND)
