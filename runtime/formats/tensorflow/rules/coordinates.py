"""Sparse tensors and sets: the coordinates of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import writes
from .shapes import cast, sliced
from .sorting import descending


def _sparse(to: Body, operands: Sequence[NodeResult]) -> list[NodeResult]:
    """Return sparse tensors, each as coordinates, values and shape, with coordinates of int64."""
    return [each if number % 3 == 1 else cast(to, each, "int64") for number, each in enumerate(operands)]


@writes("combined_sets")
def _(to: Body, *operands: NodeResult, operation: str) -> Any:
    return to.SparseToSparseSetOperation(*_sparse(to, operands), set_operation=operation)


@writes("sequence_distances")
def _(to: Body, *operands: NodeResult, normalize: bool) -> Any:
    return to.EditDistance(*_sparse(to, operands), normalize=normalize)


@writes("set_sizes")
def _(to: Body, indices: NodeResult, values: NodeResult, shape: NodeResult) -> Any:
    return to.SetSize(*_sparse(to, (indices, values, shape)))


@writes("reshaped_coordinates")
def _(to: Body, indices: NodeResult, shape: NodeResult, new_shape: NodeResult) -> Any:
    found = to.SparseReshape(*[cast(to, each, "int64") for each in (indices, shape, new_shape)])
    return [cast(to, each, spec.dtype) for each, spec in zip(found, to.outputs, strict=True)]


def flat_coordinates(to: Body, indices: NodeResult, shape: NodeResult) -> Any:
    """Return the number that each element has in a dense tensor of this shape."""
    strides = to.Cumprod(cast(to, shape, indices.dtype), 0, exclusive=True, reverse=True)
    return to.Sum(to.Mul(indices, strides), [1])


@writes("checked_coordinates")
def _(to: Body, indices: NodeResult, dense_shape: NodeResult, in_order: bool) -> Any:
    shape = cast(to, dense_shape, indices.dtype)
    inside = to.LogicalAnd(to.GreaterEqual(indices, 0), to.Less(indices, shape))
    to.Assert(to.All(inside, [0, 1]), ["indices are out of bounds of the dense shape", indices, shape])
    if in_order:
        flat = flat_coordinates(to, indices, shape)
        rising = to.Less(sliced(to, flat, None, -1), sliced(to, flat, 1, None))
        to.Assert(to.All(rising, [0]), ["indices are out of order, or repeated", indices])
    return to.Identity(indices)


def order_of_rows(to: Body, indices: NodeResult) -> NodeResult:
    """Return the stable order that sorts rows of coordinates."""
    zeros = to.ZerosLike(to.ExpandDims(to.Sum(indices, [0]), 0))
    shape = to.AddV2(to.Max(to.ConcatV2([indices, zeros], 0), [0]), 1)
    return descending(to, to.Invert(flat_coordinates(to, indices, shape)))[1]


@writes("coordinate_order")
def _(to: Body, indices: NodeResult) -> Any:
    return cast(to, order_of_rows(to, indices), to.outputs[0].dtype)


@writes("distinct_coordinates")
def _(to: Body, indices: NodeResult) -> Any:
    """Sort the rows; then the distinct ones are in order, too."""
    order = order_of_rows(to, indices)
    rows, numbers = to.UniqueV2(to.GatherV2(indices, order, 0), [0], out_idx=to.outputs[1].dtype)
    return [rows, to.GatherV2(numbers, to.InvertPermutation(order), 0)]
