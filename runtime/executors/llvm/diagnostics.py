"""Diagnostics of the compiler: why operations cannot be compiled, with the locations in user code.

error[AGC220]: `f` cannot be compiled to native code, as jit_compile=True demands
  --> train.py:12, in f: print has effects outside of the graph
  --> train.py:14, in f: unique: the shape of its result, int32[?], depends on values
fix: leave these operations out of the function, or use jit_compile=None, which compiles only what it can

An unexpected error in the compiler is reported as an internal fault:

error[AGC221]: agc failed to compile `f` to native code: AssertionError: no axis 3 in (2,)
  --> train.py:12, in f: multiply
This is a bug in agc, not in the program.
fix: run the function with jit_compile=False; report this message and print(f.get_concrete_function(...).graph)
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

from ...errors import InternalError, InvalidArgumentError
from ...functionalize.errors import CannotCompileError
from ...ir.graph import Graph, Operation

CODE = "AGC220"
FAULT = "AGC221"

_DEMAND = "to native code, as jit_compile=True demands"


class CompilationError(InvalidArgumentError):
    """Error for a function with `jit_compile=True` that cannot be compiled.

    `reasons` has one text for each obstacle; `demand` says by which compiler, and who demands it.
    """

    def __init__(self, name: str, reasons: Iterable[str], fix: str, demand: str = _DEMAND) -> None:
        self.reasons = list(reasons)
        lines = "".join(f"\n  --> {reason}" for reason in self.reasons)
        super().__init__(f"error[{CODE}]: `{name}` cannot be compiled {demand}{lines}\nfix: {fix}")


class BrokenRuleError(Exception):
    """An unexpected error in the lowering of an operation; `__cause__` is the original error."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        super().__init__()


class CompilerFaultError(InternalError):
    """Error for an unexpected failure of the compiler on a graph; `__cause__` is the original error."""

    def __init__(self, name: str, fault: Exception, how: str = "to native code") -> None:
        cause, location = fault, ""
        if isinstance(fault, BrokenRuleError):
            assert isinstance(fault.__cause__, Exception)
            cause = fault.__cause__
            origin = fault.operation.origin
            location = f"\n  --> {f'{origin}: ' if origin else ''}{fault.operation.type}"
        text = str(cause).strip().partition("\n")[0]
        super().__init__(
            f"error[{FAULT}]: agc failed to compile `{name}` {how}: {type(cause).__name__}: {text}{location}\n"
            "This is a bug in agc, not in the program.\n"
            "fix: run the function with jit_compile=False; report this message and "
            f"print({name}.get_concrete_function(...).graph)"
        )


class FaultBoundary:
    """Context manager that converts unexpected errors of a compiler to `CompilerFaultError`."""

    def __init__(self, graph: Graph, how: str = "to native code") -> None:
        self._graph, self._how = graph, how

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, (CannotCompileError, CompilationError)):
            raise CompilerFaultError(self._graph.name, error, self._how) from error.__cause__ or error


def tell(fault: CompilerFaultError | str) -> None:
    """Log a warning that the plan runs a graph that was selected for automatic compilation."""
    import logging  # importing logging takes longer than a call

    logging.getLogger("agc").warning("%s\nThe function runs without native code.", fault)


def tell_of_difference(graph: Graph, difference: str) -> None:
    """Log a warning that native code gave other results than the plan."""
    origin = next((each.origin for each in graph.operations if each.origin), None)
    location = f"\n  --> {origin}" if origin else ""
    tell(
        f"error[{FAULT}]: native code of `{graph.name}` gave other results than the plan did: {difference}{location}\n"
        "This is a bug in agc, not in the program."
    )
