"""Graphs that several devices run together, each as a replica with inputs of its own: those of one or all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...ir.graph import Graph
from ...kernels.collectives import SingleProcess, active
from ...ops.state.compare_and_swap import exchange
from .library import AXIS
from .spmd_function import agreed, changed_meanwhile
from .spmd_program import SpmdProgram, with_even_gathers
from .xla_function import XlaFunction, without_state
from .xla_program import XlaProgram

_TRIES = 3


class ReplicatedXlaFunction(XlaFunction):
    """A graph for the devices of a mesh, compiled for each combination of shapes, which all replicas share."""

    def __init__(self, graph: Graph, devices: Sequence[Any], spans_processes: bool = False) -> None:
        super().__init__(graph)
        self._spans_processes = spans_processes
        if spans_processes:
            devices = sorted(jax.devices(), key=lambda device: device.process_index)
        self._mesh = jax.sharding.Mesh(np.array(devices), (AXIS,))

    def run_rows(self, rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]] | None:
        """Return the results of the replicas; variables are assigned last.

        Return None if the plan must run: the replicas have different shapes, a check has failed, or other threads
        keep changing the variables.
        """
        for _ in range(_TRIES):
            given = [self._arrays(row) for row in rows]

            def find(given: list[list[Any]] = given) -> Any:
                return None if any(map(self._has_twins, rows)) else self._common_program(given)

            engine = active.engine if self._spans_processes else SingleProcess()
            program = agreed(engine, self.graph, find) if self._spans_processes else find()
            if program is None:
                return None
            results = engine.run(f"the program {self.graph.name}", lambda: program.run(given))  # noqa: B023
            if results is None:
                return None
            if self._assign(program, rows, given, results):
                count = len(self.graph.outputs)
                return [found[:count] for found in results]
            if self._spans_processes:
                raise changed_meanwhile(self.graph)
        return None

    def _common_program(self, given: Sequence[list[Any]]) -> Any:
        """Return the program for the inputs of all replicas; None if they have different shapes."""
        if len({tuple(map(np.shape, arrays)) for arrays in given}) > 1:
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
        return without_state(with_even_gathers(self._whole, self._mesh.size))

    def _made(self, graph: Graph, assigned: Sequence[int], by_value: Sequence[int]) -> XlaProgram:
        return SpmdProgram(self._mesh, graph, assigned, by_value)
