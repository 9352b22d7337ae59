"""Values of replicas in different processes: each process has the tensor of its own replica.

all_reduced(SUM, [a, b])     ==>     one operation `all_reduce a, b`, which all processes run together
"""

from __future__ import annotations

from typing import Any

from .. import nest
from ..composite.indexed_slices import IndexedSlices
from ..core.conversion import convert_to_tensor
from ..kernels import collectives
from ..ops.arrays.creation import ones_like
from ..ops.collective import gathering
from ..ops.collective.reductions import all_reduce, broadcast_from
from ..ops.reduce.reductions import reduce_sum
from .reduce_op import ReduceOp


def all_reduced(reduce_op: ReduceOp, value: Any, bytes_per_pack: int = 0) -> Any:
    """Return a nest with the sum or mean of each tensor over the processes. Slices of rows are gathered."""
    leaves = nest.flatten(value)
    dense = [position for position, leaf in enumerate(leaves) if not isinstance(leaf, IndexedSlices)]
    results = [
        _all_slices(reduce_op, leaf) if isinstance(leaf, IndexedSlices) else convert_to_tensor(leaf)
        for leaf in leaves
    ]
    if dense:
        totals = all_reduce([results[position] for position in dense], "sum", bytes_per_pack)
        for position, total in zip(dense, totals, strict=True):
            results[position] = total if reduce_op is ReduceOp.SUM else total / collectives.active.engine.size
    return nest.pack_sequence_as(value, results)


def _all_slices(reduce_op: ReduceOp, slices: IndexedSlices) -> IndexedSlices:
    count = collectives.active.engine.size
    rows = slices.values / count if reduce_op is ReduceOp.MEAN else slices.values
    return IndexedSlices(
        gathering.all_gather(rows, 0), gathering.all_gather(slices.indices, 0), slices.dense_shape
    )


def reduced_along(reduce_op: ReduceOp, value: Any, axis: Any) -> Any:
    """Return the sum or mean of a tensor along an axis and over the processes; a mean weighs all elements alike."""
    tensor = convert_to_tensor(value)
    if tensor.shape.rank == 0:
        return all_reduced(reduce_op, tensor)
    total = reduce_sum(tensor, axis)
    if reduce_op is ReduceOp.SUM:
        return all_reduced(ReduceOp.SUM, total)
    total, count = all_reduced(ReduceOp.SUM, [total, reduce_sum(ones_like(tensor), axis)])
    return total / count


def all_gathered(value: Any, axis: int) -> Any:
    """Return a nest with the tensors of all processes joined along an axis."""
    return nest.map_structure(lambda tensor: gathering.all_gather(tensor, axis), value)


def broadcast(value: Any, root: int) -> Any:
    """Return a nest with the tensors of the process `root`, in all processes."""

    def copied(leaf: Any) -> Any:
        if isinstance(leaf, IndexedSlices):
            parts = broadcast_from(leaf.values, root), broadcast_from(leaf.indices, root)
            return IndexedSlices(*parts, leaf.dense_shape)
        return broadcast_from(leaf, root)

    return nest.map_structure(copied, value)
