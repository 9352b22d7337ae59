"""`tf.io.serialize_sparse` and its relatives: sparse tensors as strings, alone and in minibatches.

>>> batch = SparseTensor([[0, 3], [1, 1]], [5, 6], [2, 4])
>>> deserialize_many_sparse(serialize_many_sparse(batch), dtypes.int32).indices.numpy().tolist()
[[0, 3], [1, 1]]
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.export import export
from ..core.tensor import Tensor
from ..errors import UnimplementedError
from ..ops.arrays.concat_split import stack
from ..ops.arrays.sparse_indices import checked_coordinates
from ..ops.strings.sparse_messages import parse_sparse_rows, serialize_sparse_rows
from ..ops.strings.tensor_proto import serialize_tensor
from .checks import sparse_only
from .tensor import SparseTensor


@export("io.serialize_sparse")
def serialize_sparse(sp_input: Any, out_type: Any = dtypes.string, name: str | None = None) -> Tensor:
    """Return a vector of 3 strings: the serialized indices, values and dense shape of a sparse tensor.

    Raises UnimplementedError for an `out_type` other than string.

    >>> import agc.runtime as tf
    >>> row = tf.io.serialize_sparse(tf.SparseTensor([[3]], [5], [4]))
    >>> row.shape, tf.io.parse_tensor(row[1], tf.int32).numpy().tolist()
    (TensorShape([3]), [5])
    """
    sparse = _checked(sp_input, out_type)
    parts = (sparse.indices, sparse.values, sparse.dense_shape)
    return stack([serialize_tensor(part) for part in parts], name=name)  # type: ignore[no-any-return]


@export("io.serialize_many_sparse")
def serialize_many_sparse(sp_input: Any, out_type: Any = dtypes.string, name: str | None = None) -> Tensor:
    """Return a row of 3 strings, as `serialize_sparse` does, for each item along the first axis of a sparse tensor.

    Raises InvalidArgumentError for a vector, and for indices that are not in order (see `tf.sparse.reorder`);
    UnimplementedError for an `out_type` other than string.

    >>> import agc.runtime as tf
    >>> tf.io.serialize_many_sparse(tf.SparseTensor([[0, 3], [1, 1]], [5, 6], [2, 4])).shape
    TensorShape([2, 3])
    """
    sparse = _checked(sp_input, out_type)
    indices = checked_coordinates(sparse.indices, sparse.dense_shape)
    return serialize_sparse_rows(indices, sparse.values, sparse.dense_shape, name=name)  # type: ignore[no-any-return]


@export("io.deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return the sparse tensor of the items that were serialized: the inverse of `serialize_many_sparse`.

    The result has a size for the items, and the largest one of all items for each other axis.

    Args:
        serialized_sparse: a matrix of strings, such as the `tf.stack` of results of `serialize_sparse`.
        dtype: the dtype of the values.
        rank: the rank of the result, if it is known.

    Raises InvalidArgumentError for other strings, another dtype or rank, and for no items.

    >>> import agc.runtime as tf
    >>> rows = [tf.io.serialize_sparse(tf.SparseTensor([[size - 1]], [size], [size])) for size in (2, 5)]
    >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(tf.stack(rows), tf.int32)).numpy().tolist()
    [[0, 2, 0, 0, 0], [0, 0, 0, 0, 5]]
    """
    return SparseTensor(*parse_sparse_rows(serialized_sparse, dtypes.as_dtype(dtype), rank, name=name))


def _checked(value: Any, out_type: Any) -> SparseTensor:
    if dtypes.as_dtype(out_type) is not dtypes.string:
        raise UnimplementedError(f"sparse tensors can be serialized as tf.string only, not as {out_type}")
    return sparse_only(value)
