"""XLA programs that several devices run together, each as a replica with inputs and results of its own.

x0, x1 on two devices     ==>     one global array [x0, x1], of which each device holds a row     ==>     shard_map

The devices are those of this process, or one of each process.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...functionalize.errors import CannotCompileError
from ...ir.clone import with_parts, with_regions
from ...ir.graph import Graph, Operation
from ...ops.collective.gathering import all_gather
from .compiler_options import options_for
from .library import AXIS, wide
from .region_trace import DeviceAxis
from .xla_program import XlaProgram

_PRINTS = "it prints, which programs of several devices do not"


class SpmdProgram(XlaProgram):
    """A program of all devices of a mesh, whose only axis is `AXIS`."""

    def __init__(self, mesh: Any, graph: Graph, assigned: Sequence[int], dropped: Sequence[int]) -> None:
        super().__init__(graph, assigned, dropped)
        self.axis = DeviceAxis(AXIS, mesh.size)
        rows = jax.sharding.PartitionSpec(AXIS)
        self._local = list(mesh.local_mesh.devices.flat)
        self._sharding = jax.sharding.NamedSharding(mesh, rows)
        self._jitted = jax.jit(
            jax.shard_map(self._of_row, mesh=mesh, in_specs=rows, out_specs=rows, check_vma=False),
            compiler_options=options_for(graph),
        )

    def _of_row(self, *arrays: Any) -> list[Any]:
        results = self.compute(*[array[0] for array in arrays])
        if self.can_fail:
            results[0] = jax.lax.pmax(jax.numpy.int32(results[0]), AXIS) > 0
        return [result[None] for result in results]

    def trace(self) -> None:
        """Let JAX trace the program. Raise `CannotCompileError` with the reasons if that is impossible."""
        size = self._sharding.mesh.size
        specs = [
            jax.ShapeDtypeStruct((size, *(value.shape or ())), value.dtype.numpy_dtype)
            for value in self.graph.inputs
        ]
        with wide():
            self._jitted.trace(*specs)
        if self.has_effects:
            raise CannotCompileError([_PRINTS])

    def run(self, rows: Sequence[Sequence[Any]]) -> list[list[Any]] | None:
        """Return the results of the replicas in this process for the inputs of each; None if a check has failed.

        It returns when all devices have finished: steps of several CPUs must not overlap.
        """
        kept = [[array for i, array in enumerate(row) if i not in self._dropped] for row in rows]
        with wide():
            results = self._jitted(*map(self._whole, zip(*kept, strict=True), self.graph.inputs))
            found = [self._parts(result) for result in jax.block_until_ready(results)]
        if not self.can_fail:
            return [list(row) for row in zip(*found, strict=True)] or [[] for _ in rows]
        if found[0][0]:
            return None
        return [list(row) for row in zip(*found[1:], strict=True)] or [[] for _ in rows]

    def _whole(self, parts: Sequence[Any], value: Any) -> Any:
        """Return the global array of one array for each local device."""
        dtype = value.dtype.numpy_dtype
        rows = [
            jax.device_put(np.asarray(part, dtype)[None], device)
            for part, device in zip(parts, self._local, strict=True)
        ]
        shape = (self._sharding.mesh.size, *rows[0].shape[1:])
        return jax.make_array_from_single_device_arrays(shape, self._sharding, rows)

    def _parts(self, result: Any) -> list[Any]:
        by_device = {shard.device: shard.data for shard in result.addressable_shards}
        return [np.asarray(by_device[device])[0] for device in self._local]

    @functools.cached_property
    def digest(self) -> int:
        """A number that is the same for equal programs."""
        return zlib.crc32(str(self.graph).encode())


def with_even_gathers(graph: Graph, count: int) -> Graph:
    """Return the graph for replicas whose inputs have the same shapes: gathered rows have a known number."""
    operations = tuple(_even(operation, count) for operation in graph.operations)
    return Graph(graph.name, graph.inputs, operations, graph.outputs)


def _even(operation: Operation, count: int) -> Operation:
    if operation.op is all_gather:
        return with_parts(operation, attrs={**operation.attrs, "even": count})
    return with_regions(operation, [with_even_gathers(region, count) for region in operation.regions])
