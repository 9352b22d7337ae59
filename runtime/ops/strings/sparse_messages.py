"""Sparse tensors as strings: each is three TensorProto messages, of its indices, its values and its dense shape.

A matrix with a row of messages for each item is a minibatch of sparse tensors; see `tf.io.serialize_many_sparse`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ... import dtypes
from ...ir.value_types import TensorType
from ...storage.tensor_protos import serialized
from ..framework.attribute_parsers import DType
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import STRINGS, require_dtype
from ..framework.static_values import integers
from .tensor_proto import SERIALIZABLE, parsed_message

Array = Any


@op
def serialize_sparse_rows(indices: Ints, values: Input, dense_shape: Ints, name: Name = None) -> TensorType:
    """Return three messages for each item along the first axis of a sparse tensor with sorted indices.

    >>> serialize_sparse_rows([[0, 3]], [5], [2, 4]).shape
    TensorShape([2, 3])
    """
    require_dtype(values, SERIALIZABLE, "serialize_sparse_rows")
    for operand, rank in ((indices, 2), (values, 1), (dense_shape, 1)):
        if operand.shape is not None and len(operand.shape) != rank:
            raise ValueError(
                f"serialize_sparse_rows: a part of shape {operand.shape} should have the rank {rank}"
            )
    sizes = integers(dense_shape)
    if sizes is not None and None not in (indices.shape, values.shape, *sizes):
        _check_parts(indices.shape, values.shape, sizes)
    return TensorType(dtypes.string, (sizes[0] if sizes else None, 3))


@serialize_sparse_rows.kernel
def _(indices: Array, values: Array, dense_shape: Array) -> Array:
    indices, dense_shape = (np.asarray(each, np.int64) for each in (indices, dense_shape))
    _check_parts(indices.shape, values.shape, dense_shape.tolist())
    count = int(dense_shape[0])
    bounds = np.searchsorted(indices[:, 0], np.arange(count + 1)).tolist()
    found = np.empty((count, 3), object)
    found[:, 2] = serialized(dense_shape[1:])
    for number, (start, stop) in enumerate(itertools.pairwise(bounds)):
        found[number, 0] = serialized(indices[start:stop, 1:])
        found[number, 1] = serialized(values[start:stop])
    return found


def _check_parts(indices: Any, values: Any, sizes: Any) -> None:
    """Raise ValueError unless these shapes of `indices` and `values` fit the sizes of a sparse tensor."""
    if len(sizes) < 2:
        raise ValueError(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sizes)}")
    if min(sizes) < 0:
        raise ValueError(f"dense_shape has a negative size: {list(sizes)}")
    if len(values) != 1 or len(indices) != 2 or indices[1] not in (len(sizes), None):
        raise ValueError(
            f"indices of shape {indices} and values of shape {values} do not fit a dense_shape of {sizes}"
        )
    if None not in (indices[0], values[0]) and indices[0] != values[0]:
        raise ValueError(f"{indices[0]} rows of indices do not fit {values[0]} values")


@op
def parse_sparse_rows(
    serialized_sparse: Input, dtype: DType, rank: int | None = None, name: Name = None
) -> tuple[TensorType, TensorType, TensorType]:
    """Return the indices, values and dense shape of a minibatch of sparse tensors; see `deserialize_many_sparse`.

    >>> indices, values, dense_shape = parse_sparse_rows(serialize_sparse_rows([[0, 3]], [5], [2, 4]), dtypes.int32)
    >>> indices.numpy().tolist(), values.numpy().tolist(), dense_shape.numpy().tolist()
    ([[0, 3]], [5], [2, 4])
    """
    require_dtype(serialized_sparse, STRINGS, "deserialize_many_sparse")
    shape = serialized_sparse.shape
    if shape is not None and (len(shape) != 2 or shape[1] not in (3, None)):
        raise ValueError(
            f"Serialized sparse should have a row of 3 strings for each tensor, but has shape {shape}"
        )
    return (
        TensorType(dtypes.int64, (None, rank)),
        TensorType(dtype, (None,)),
        TensorType(dtypes.int64, (rank,)),
    )


@parse_sparse_rows.kernel
def _(serialized_sparse: Array, dtype: dtypes.DType, rank: int | None) -> list[Array]:
    if serialized_sparse.ndim != 2 or 0 in serialized_sparse.shape or serialized_sparse.shape[1] != 3:
        raise ValueError(
            "Serialized sparse should have at least 1 row of 3 strings, but has shape "
            f"{serialized_sparse.shape}"
        )
    items = [_parsed(number, row, dtype) for number, row in enumerate(serialized_sparse)]
    ranks = {len(sizes) for _, _, sizes in items}
    if len(ranks) > 1 or (rank is not None and ranks != {rank - 1}):
        wanted = "" if rank is None else f", rank={rank}"
        raise ValueError(f"Inconsistent ranks of the serialized sparse tensors: {sorted(ranks)}{wanted}")
    numbers = np.repeat(np.arange(len(items), dtype=np.int64), [len(values) for _, values, _ in items])
    return [
        np.column_stack([numbers, np.concatenate([indices for indices, _, _ in items])]),
        np.concatenate([values for _, values, _ in items]),
        np.concatenate([[len(items)], np.max([sizes for _, _, sizes in items], axis=0)]).astype(np.int64),
    ]


def _parsed(number: int, row: Array, dtype: dtypes.DType) -> tuple[Array, Array, Array]:
    """Return the indices, values and dense shape of one item; ValueError unless they fit each other."""
    indices, sizes = parsed_message(row[0], dtypes.int64), parsed_message(row[2], dtypes.int64)
    values = parsed_message(row[1], dtype)
    if sizes.ndim != 1 or values.ndim != 1 or indices.shape != (len(values), len(sizes)):
        raise ValueError(
            f"SparseTensor[{number}] is invalid: indices of shape {indices.shape}, values of shape {values.shape}, "
            f"dense_shape of shape {sizes.shape}"
        )
    if ((indices < 0) | (indices >= sizes)).any():
        raise ValueError(f"SparseTensor[{number}] has indices outside of its dense shape {sizes.tolist()}")
    return indices, values, sizes
