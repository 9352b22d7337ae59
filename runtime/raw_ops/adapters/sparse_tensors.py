"""Adapters of raw operations on the parts of sparse and ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import agc.runtime as tf


def sparse(value: Any) -> tuple[Any, Any, Any]:
    """Return the indices, values and shape of a sparse tensor."""
    return value.indices, value.values, value.dense_shape


def sparse_list(indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any]) -> list[Any]:
    """Return sparse tensors from their parts."""
    return [tf.SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]


def cwise(operation: Callable[[Any, Any], Any], indices: Any, values: Any, dense: Any) -> Any:
    """Return the values that an operation of a sparse tensor and a dense one has at the sparse places.

    The dense tensor is broadcast to the sparse one: its missing and single axes count as the index 0.
    """
    dense, indices = tf.convert_to_tensor(dense), tf.convert_to_tensor(indices)
    rank = dense.shape.rank
    if indices.shape.rank != 2 or indices.shape[1] < rank:
        raise tf.errors.InvalidArgumentError(
            message=f"{rank} axes of a dense tensor are not broadcast to indices of the shape {indices.shape}"
        )
    is_own = tf.cast(tf.shape(dense) != 1, tf.int64)
    places = indices[:, indices.shape[1] - rank :] * is_own
    return operation(values, tf.gather_nd(dense, places) if rank else dense)


def fill_rows(indices: Any, values: Any, dense_shape: Any, default: Any) -> tuple[Any, ...]:
    """Return the parts without empty rows, the flags of empty rows, and the new places of the old values."""
    filled, is_empty = tf.sparse.fill_empty_rows(tf.SparseTensor(indices, values, dense_shape), default)
    before = tf.cumsum(tf.cast(is_empty, tf.int64), exclusive=True)
    count = tf.shape(indices, tf.int64)[0]
    return filled.indices, filled.values, is_empty, tf.range(count) + tf.gather(before, indices[:, 0])


def sparse_reshape(indices: Any, shape: Any, new_shape: Any) -> tuple[Any, Any]:
    """Return the indices and the shape of a sparse tensor of another shape."""
    values = tf.zeros(tf.shape(indices)[:1])
    reshaped = tf.sparse.reshape(tf.SparseTensor(indices, values, shape), new_shape)
    return reshaped.indices, reshaped.dense_shape


def sparse_to_dense(indices: Any, shape: Any, values: Any, default: Any) -> Any:
    """Return a dense tensor with the values, or one value, at the indices, which may be scalars."""
    indices = tf.cast(indices, tf.int64)
    if indices.shape.rank == 0:
        indices = tf.reshape(indices, [1])
    if indices.shape.rank == 1:
        indices = tf.expand_dims(indices, 1)
    values = tf.broadcast_to(values, tf.shape(indices)[:1])
    return tf.tensor_scatter_nd_update(tf.fill(shape, tf.cast(default, values.dtype)), indices, values)


_SETS = {"intersection": "intersection", "union": "union", "a-b": "difference", "b-a": "difference"}


def set_operation(a: Any, b: Any, operation: str) -> tuple[Any, Any, Any]:
    """Return the parts of the sparse tensor of an operation on the sets in the last axis."""
    name = operation.decode() if isinstance(operation, bytes) else operation
    if name not in _SETS:
        raise ValueError(f"Invalid set_operation {name}: it is one of {', '.join(_SETS)}")
    if name in ("a-b", "b-a"):
        return sparse(tf.sets.difference(a, b, aminusb=name == "a-b"))
    return sparse(getattr(tf.sets, name)(a, b))


def nested(value: Any) -> tuple[Any, Any]:
    """Return the row splits of all ragged axes of a tensor, and its flat values."""
    return list(value.nested_row_splits), value.flat_values


def ragged_parts(value: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the row splits and the values of a ragged matrix; of a tensor's only row without axes."""
    if isinstance(value, tf.RaggedTensor):
        return tf.cast(value.row_splits, dtype), value.values
    return tf.stack([tf.zeros([], dtype), tf.size(value, dtype)]), value


def with_offsets(values: tuple[Any, Any], dtype: Any) -> tuple[Any, Any, Any]:
    """Return the row splits of two ragged matrices with equal ones, and the values of both."""
    characters, offsets = values
    return *ragged_parts(characters, dtype), ragged_parts(offsets, dtype)[1]


def split_parts(pieces: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the indices, the values and the shapes of sparse tensors."""
    parts = [sparse(piece) for piece in pieces]
    return [part[0] for part in parts], [part[1] for part in parts], [part[2] for part in parts]


def ngrams(
    data: Any,
    splits: Any,
    separator: Any,
    widths: Sequence[int],
    left: Any,
    right: Any,
    pad_width: int,
    keep: bool,
) -> tuple[Any, Any]:
    """Return the n-grams of the rows of a ragged matrix of strings, and their row splits."""
    rows = tf.RaggedTensor.from_row_splits(data, splits)
    pads = None if pad_width == 0 else (left, right)
    width = None if pad_width < 0 else pad_width or None
    made = tf.strings.ngrams(rows, tuple(widths), separator, pads, width, keep)
    return made.values, made.row_splits


def ragged_to_tensor(
    shape: Any, values: Any, default: Any, partitions: Sequence[Any], kinds: Sequence[str]
) -> Any:
    """Return the dense tensor of a ragged one that is given by its values and row partitions."""
    kinds = [kind.decode() if isinstance(kind, bytes) else kind for kind in kinds]
    tensor, count = values, None
    pairs = list(zip(kinds, partitions, strict=True))
    if pairs[0][0] == "FIRST_DIM_SIZE":
        count = pairs.pop(0)[1]
    for position, (kind, partition) in reversed(list(enumerate(pairs))):
        if kind == "ROW_SPLITS":
            tensor = tf.RaggedTensor.from_row_splits(tensor, partition)
        elif kind == "VALUE_ROWIDS":
            rows = count if position == 0 else None
            tensor = tf.RaggedTensor.from_value_rowids(tensor, partition, rows)
        else:
            raise tf.errors.UnimplementedError(None, None, f"the row partition {kind}: use ROW_SPLITS")
    wanted = tf.get_static_value(shape)
    sizes = None if wanted is None or wanted.ndim == 0 else [None if n < 0 else int(n) for n in wanted]
    return tensor.to_tensor(default, shape=sizes)
