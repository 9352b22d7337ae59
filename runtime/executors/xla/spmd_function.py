"""Graphs that several devices run together, each as a replica with inputs of its own: those of one or all processes.

process 0: run x0 ─► digest of the program ─┐ equal ─► one program of all devices
process 1: run x1 ─► digest of the program ─┘ else ──► the plan, in all processes

Replicas have one program only if their shapes are equal, which the last batch of an epoch may not be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ... import errors
from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...ir.graph import Graph
from ...kernels.collectives import CollectiveEngine, SingleProcess, active
from ...ops.state.compare_and_swap import exchange
from .diagnostics import refused
from .library import AXIS
from .spmd_program import SpmdProgram, with_even_gathers
from .xla_function import XlaFunction, without_state
from .xla_program import XlaProgram

_REFUSED, _PLANNED = -1, -2
_TRIES = 3


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


class ReplicatedXlaFunction(XlaFunction):
    """A graph for the devices of a mesh, compiled for each combination of shapes, which all replicas share."""

    def __init__(self, graph: Graph, mesh: Any, spans_processes: bool = False) -> None:
        super().__init__(graph)
        self._mesh, self._spans_processes = mesh, spans_processes

    def run_rows(self, rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]] | None:
        """Return the results of the replicas in this process; variables are assigned last.

        Return None if the plan must run: the replicas have different shapes, a check has failed, or other threads
        keep changing the variables.
        """
        engine = active.engine if self._spans_processes else SingleProcess()
        for _ in range(_TRIES):
            given = [self._arrays(row) for row in rows]
            program = agreed(engine, self.graph, functools.partial(self._common_program, rows, given))
            if program is None:
                return None
            results = engine.run(f"the program {self.graph.name}", functools.partial(program.run, given))
            if results is None:
                return None
            if self._assign(program, rows, given, results):
                count = len(self.graph.outputs)
                return [found[:count] for found in results]
            if self._spans_processes:
                raise errors.AbortedError(
                    f"another thread has changed a variable of {self.graph.name} during a step of several processes"
                )
        return None

    def _common_program(self, rows: Sequence[Sequence[Any]], given: Sequence[list[Any]]) -> Any:
        """Return the program for the inputs of all replicas; None if they have different shapes."""
        if any(map(self._has_twins, rows)) or len({tuple(map(np.shape, arrays)) for arrays in given}) > 1:
            return None
        program = self._programs.get(self._key(given[0])) or self._program(given[0])
        is_common = len(set(map(self._key, given))) == 1  # integers on which shapes depend
        return program if is_common else None

    def _assign(self, program: Any, rows: Any, given: Any, results: Any) -> bool:
        count = len(self.graph.outputs)
        variables, before, after = [], [], []
        for row, arrays, found in zip(rows, given, results, strict=True):
            variables += [row[i] for i in program.assigned]
            before += [arrays[i] for i in program.assigned]
            after += found[count:]
        return exchange(variables, before, after)

    def _functional(self) -> tuple[Graph, list[int]]:
        return without_state(with_even_gathers(self._whole, self._mesh.size if self._mesh else 1))

    def _made(self, graph: Graph, assigned: Sequence[int], by_value: Sequence[int]) -> XlaProgram:
        if self._mesh is None:
            return super()._made(graph, assigned, by_value)
        return SpmdProgram(self._mesh, graph, assigned, by_value)


class CollectiveXlaFunction(ReplicatedXlaFunction):
    """A graph with collective operations. In a program of one process it is an `XlaFunction`."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, active.engine.mesh, spans_processes=True)

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs for the values of the inputs; variables are assigned last."""
        engine = active.engine
        if self._mesh is not engine.mesh:  # the process has joined others since
            self._mesh, self._plain = engine.mesh, None
            self._programs.clear()
        if engine.size == 1:
            return super().run(arguments)
        if engine.mesh is None:
            return self.fail(arguments)
        try:
            with self._in_turn:
                rows = self.run_rows([[*arguments, *self._streams]])
        except CannotCompileError as refusal:
            raise refused(self.graph, refusal) from None
        return self.fail(arguments) if rows is None else rows[0]


def replicated(graph: Graph, devices: Sequence[Any], spans_processes: bool) -> ReplicatedXlaFunction:
    """Return the function of a graph that these devices of JAX run, or one device of each process."""
    if spans_processes:
        devices = sorted(jax.devices(), key=lambda device: device.process_index)
    mesh = jax.sharding.Mesh(np.array(devices), (AXIS,))
    return ReplicatedXlaFunction(graph, mesh, spans_processes)


def compiled(graph: Graph) -> XlaFunction:
    """Return the function of a graph, which may have collective operations."""
    from ...ir.structured import communicates

    return CollectiveXlaFunction(graph) if communicates(graph) else XlaFunction(graph)
