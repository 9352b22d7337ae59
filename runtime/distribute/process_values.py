"""Values of replicas that run one program, in different processes or on different devices: each has its own tensor.

all_reduced(SUM, [a, b], 2)     ==>     one operation `all_reduce a, b`, which all replicas run together
"""

from __future__ import annotations

from typing import Any

from .. import nest
from ..composite.indexed_slices import IndexedSlices
from ..core.conversion import convert_to_tensor
from ..ops.arrays.creation import ones_like
from ..ops.collective import gathering
from ..ops.collective.reductions import all_reduce, broadcast_from
from ..ops.reduce.reductions import reduce_sum
from .reduce_op import ReduceOp


def all_reduced(reduce_op: ReduceOp, value: Any, count: int, bytes_per_pack: int = 0) -> Any:
    """Return a nest with the sum or mean of each tensor over `count` replicas. Slices of rows are gathered."""
    leaves = nest.flatten(value)
    dense = [position for position, leaf in enumerate(leaves) if not isinstance(leaf, IndexedSlices)]
    results = [
        _all_slices(reduce_op, leaf, count) if isinstance(leaf, IndexedSlices) else convert_to_tensor(leaf)
        for leaf in leaves
    ]
    if dense:
        totals = all_reduce([results[position] for position in dense], "sum", bytes_per_pack)
        for position, total in zip(dense, totals, strict=True):
            results[position] = total if reduce_op is ReduceOp.SUM else total / count
    return nest.pack_sequence_as(value, results)


def _all_slices(reduce_op: ReduceOp, slices: IndexedSlices, count: int) -> IndexedSlices:
    rows = slices.values / count if reduce_op is ReduceOp.MEAN else slices.values
    return IndexedSlices(
        gathering.all_gather(rows, 0), gathering.all_gather(slices.indices, 0), slices.dense_shape
    )


def reduced(reduce_op: ReduceOp, value: Any, axis: Any, count: int) -> Any:
    """Return a nest with the sum or mean over `count` replicas, and over an axis of each tensor unless it is None."""
    if axis is None:
        return all_reduced(reduce_op, value, count)
    return nest.map_structure(lambda x: reduced_along(reduce_op, x, axis, count), value)


def reduced_along(reduce_op: ReduceOp, value: Any, axis: Any, count: int) -> Any:
    """Return the sum or mean of a tensor along an axis and over the processes; a mean weighs all elements alike."""
    tensor = convert_to_tensor(value)
    if tensor.shape.rank == 0:
        return all_reduced(reduce_op, tensor, count)
    total = reduce_sum(tensor, axis)
    if reduce_op is ReduceOp.SUM:
        return all_reduced(ReduceOp.SUM, total, count)
    total, elements = all_reduced(ReduceOp.SUM, [total, reduce_sum(ones_like(tensor), axis)], count)
    return total / elements


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
