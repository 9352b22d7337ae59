"""Graphs with collective operations as XLA programs that all processes run together.

process 0: run x0 ─► digest of the program ─┐ equal ─► one program of all devices
process 1: run x1 ─► digest of the program ─┘ else ──► the plan, in all processes

Processes have one program only if their shapes are equal, which the last batch of an epoch may not be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import errors
from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...ir.graph import Graph
from ...kernels.collectives import CollectiveEngine, active
from ...ops.state.compare_and_swap import exchange
from .diagnostics import refused
from .spmd_program import SpmdProgram, with_even_gathers
from .xla_function import XlaFunction, without_state
from .xla_program import XlaProgram

_REFUSED, _PLANNED = -1, -2


def agreed(engine: CollectiveEngine, graph: Graph, find: Callable[[], Any]) -> Any:
    """Return the program that `find` returns, if it is the same in all processes; None if all must run the plan.

    Raises the CannotCompileError of `find`, and FailedPreconditionError if another process has one.
    """
    program: Any = None
    refusal = None
    try:
        program = find()
    except NeverRunsError:
        pass  # the plan raises the error of the operation, in all processes
    except CannotCompileError as error:
        refusal = error
    state = program.digest if program is not None else _PLANNED if refusal is None else _REFUSED
    states = [int(row[0]) for row in engine.all_gather(np.array([state], np.int64))]
    if refusal is not None:
        raise refusal
    if _REFUSED in states:
        raise errors.FailedPreconditionError(
            f"worker {states.index(_REFUSED)} cannot compile {graph.name} by XLA; see its error"
        )
    return program if len(set(states)) == 1 else None


def changed_meanwhile(graph: Graph) -> errors.AbortedError:
    """Return the error for variables that have changed during a run, which other processes have finished."""
    return errors.AbortedError(
        f"another thread has changed a variable of {graph.name} during a step of several processes"
    )


class CollectiveXlaFunction(XlaFunction):
    """A graph with collective operations. In a program of one process it is an `XlaFunction`."""

    _size = 0  # the number of processes that the programs are for

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs for the values of the inputs; variables are assigned last."""
        engine = active.engine
        if self._size != engine.size:  # the first run, or the process has joined others since
            self._size, self._plain = engine.size, None
            self._programs.clear()
        if engine.size == 1:
            return super().run(arguments)
        if engine.mesh is None:
            return self.fail(arguments)
        with self._in_turn:
            results = self._run_together(engine, [*arguments, *self._streams])
        return self.fail(arguments) if results is None else results

    def _run_together(self, engine: CollectiveEngine, arguments: Sequence[Any]) -> Any:
        """Return the outputs, or None if all processes must run the plan."""
        arrays = self._arrays(arguments)

        def find() -> Any:
            if self._has_twins(arguments):
                return None
            return self._programs.get(self._key(arrays)) or self._program(arrays)

        try:
            program = agreed(engine, self.graph, find)
        except CannotCompileError as refusal:
            raise refused(self.graph, refusal) from None
        return None if program is None else self._assigned(program, arguments, arrays, engine)

    def _assigned(
        self, program: Any, arguments: Sequence[Any], arrays: Sequence[Any], engine: CollectiveEngine
    ) -> Any:
        found = engine.run(f"the program {self.graph.name}", lambda: program.run([arrays]))
        if found is None:
            return None
        (results,) = found
        count = len(self.graph.outputs)
        variables = [arguments[i] for i in program.assigned]
        if not exchange(variables, [arrays[i] for i in program.assigned], results[count:]):
            raise changed_meanwhile(self.graph)
        return results[:count]

    def _functional(self) -> tuple[Graph, list[int]]:
        return without_state(with_even_gathers(self._whole, active.engine.size))

    def _made(self, graph: Graph, assigned: Sequence[int], by_value: Sequence[int]) -> XlaProgram:
        mesh = active.engine.mesh
        if mesh is None:
            return super()._made(graph, assigned, by_value)
        return SpmdProgram(mesh, graph, assigned, by_value)


def compiled(graph: Graph) -> XlaFunction:
    """Return the function of a graph, which may have collective operations."""
    from ...ir.structured import communicates

    return CollectiveXlaFunction(graph) if communicates(graph) else XlaFunction(graph)
