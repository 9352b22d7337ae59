"""Run one graph in several replicas: as an XLA program of several devices, or by a plan in a thread for each.

y0, y1 = run_in_replicas x0, v0, x1, v1 [part=<f>]     the replica 0 computes y0 from x0, and assigns v0

The graph was traced once. Its collective operations communicate between the replicas.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..functionalize.errors import CannotCompileError, NeverRunsError
from ..ir.graph import Graph
from ..ir.traits import LOCATES_ERRORS
from ..ir.value_types import AnySpec, TensorType
from ..kernels.collectives import SingleProcess, active
from ..kernels.replica_threads import run_in_threads
from ..ops.framework.attribute_parsers import Object
from ..ops.framework.op import Tensors, op
from .runners import Runner

Row = Sequence[Any]
"""The inputs or the results of one replica."""


@op(name="run_in_replicas", stateful=True, traits=LOCATES_ERRORS)
def RUN_IN_REPLICAS(inputs: Tensors, part: Object) -> tuple[AnySpec, ...]:
    """Run a graph in several replicas; the results of the first replica come first."""
    return tuple(output.spec for _ in range(part.count) for output in part.graph.outputs)


@RUN_IN_REPLICAS.kernel
def _(inputs: Sequence[Any], part: ReplicatedGraph) -> Sequence[Any]:
    return [np.asarray(x)[()] for row in part.run(inputs) for x in row]


class ReplicatedGraph:
    """A graph that several replicas run, on devices of JAX: all of them, or the part in this process."""

    def __init__(self, graph: Graph, devices: Sequence[Any], spans_processes: bool) -> None:
        self.graph = graph
        self.count = len(devices)
        self._devices: Sequence[Any] | None = devices
        self._spans_processes = spans_processes
        self._xla: Any = None
        self._plan: Runner | None = None
        self._dtypes = [
            value.spec.dtype.numpy_dtype if isinstance(value.spec, TensorType) else None
            for value in graph.inputs
        ]

    def run(self, operands: Sequence[Any]) -> list[Row]:
        """Return the results of the replicas for the inputs of all. Variables are assigned when all have succeeded."""
        size = len(self.graph.inputs)
        rows = [
            [
                x if dtype is None else np.asarray(x, dtype)
                for x, dtype in zip(operands[first : first + size], self._dtypes, strict=True)
            ]
            for first in range(0, self.count * size, size or 1)
        ] or [[]] * self.count
        return self._run_by_xla(rows) or self._run_by_plan(rows)

    def _run_by_xla(self, rows: Sequence[Row]) -> list[Row] | None:
        """Return the results of the devices; None if the plan must run these inputs."""
        if self._devices is None:
            return None
        if self._xla is None:
            from .xla.spmd_function import replicated  # imports JAX

            self._xla = replicated(self.graph, self._devices, self._spans_processes)
        try:
            return self._xla.run_rows(rows)  # type: ignore[no-any-return]
        except NeverRunsError:
            return None
        except CannotCompileError as refusal:
            self._devices = None
            reasons = "; ".join(map(str, refusal.reasons))
            warnings.warn(
                f"{self.graph.name} runs in threads of the CPU, since XLA cannot run it on {self.count} devices: "
                f"{reasons}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None

    def _run_by_plan(self, rows: Sequence[Row]) -> list[Row]:
        if self._plan is None:
            from .llvm.native_calls import planned  # rarely needed

            self._plan = planned(self.graph).run
        plan = self._plan
        calls = [lambda row=row: plan(row) for row in rows]
        return run_in_threads(calls, active.engine if self._spans_processes else SingleProcess())


def has_replicas(graph: Graph) -> bool:
    """Return whether the graph runs another one in several replicas."""
    return any(operation.op is RUN_IN_REPLICAS for operation in graph.walk())
