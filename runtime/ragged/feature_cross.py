"""Feature crosses: in every row, each combination of one value from each input.

[[a, b], [c]]  and  [[x], [y]]    ==>    [[a_X_x, b_X_x], [c_X_y]], or hashes of these pairs
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import range as counted
from ..ops.math.cast import cast
from ..ops.math.comparison import equal
from ..ops.ragged.row_splits import rowids_of_splits, splits_of_lengths
from ..ops.strings.feature_hash import HASH_KEY, hash_features
from ..ops.strings.strings import as_string, join
from ..sparse.checks import expect
from ..sparse.tensor import SparseTensor
from .conversion import from_tensor
from .row_partition import RowPartition
from .tensor import RaggedTensor


@export("ragged.cross")
def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Return the combinations of values in the same row of ragged, sparse or dense matrices, joined by `_X_`.

    Raises ValueError for an input that is no matrix, InvalidArgumentError for different numbers of rows.

    >>> from agc.runtime import constant, ragged
    >>> cross([ragged.constant([["a", "b"], []]), constant([["x"], ["y"]])])
    <tf.RaggedTensor [[b'a_X_x', b'b_X_x'], []]>
    """
    return crossed([rows_of_texts(one) for one in _checked(inputs)], lambda picked: join(picked, "_X_"))


@export("ragged.cross_hashed")
def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """Return the hashes of the combinations of strings or integers in the same row of matrices, as int64.

    Args:
        num_buckets: the hashes are below this number; 0 for all of int64.
        hash_key: the first value of the hash function.

    Raises as `cross` does, and TypeError for values of another dtype.

    >>> from agc.runtime import constant, ragged
    >>> cross_hashed([ragged.constant([["a", "b"], []]), constant([[7], [8]])], num_buckets=100)
    <tf.RaggedTensor [[56, 76], []]>
    """
    return crossed([rows_of_matrix(one) for one in _checked(inputs)], hashing(num_buckets, hash_key))


def _checked(inputs: Any) -> Any:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise TypeError("Unexpected `inputs`: a list of ragged, sparse or dense tensors is needed")
    return inputs


def hashing(num_buckets: int, hash_key: int | None) -> Callable[[list[Tensor]], Tensor]:
    """Return the function that hashes combinations."""
    return lambda picked: hash_features(picked, num_buckets, HASH_KEY if hash_key is None else hash_key)


def crossed(columns: Sequence[RaggedTensor], combine: Callable[[list[Tensor]], Tensor]) -> RaggedTensor:
    """Return the combinations, which `combine` makes of one value from each column; the last column varies fastest."""
    counts = [cast(column.row_lengths(), dtypes.int64) for column in columns]
    for column in columns[1:]:
        sizes = [columns[0].nrows(dtypes.int64), column.nrows(dtypes.int64)]
        expect(equal(*sizes), "inputs must have the same number of rows:", sizes)
    total = counts[0]
    for count in counts[1:]:
        total = total * count
    splits = splits_of_lengths(total)
    row = rowids_of_splits(splits)
    number = counted(splits[-1]) - gather(splits, row)
    picked: list[Any] = []
    for column, count in zip(reversed(columns), reversed(counts), strict=True):
        size = gather(count, row)
        start = gather(cast(column.row_starts(), dtypes.int64), row)
        picked.append(gather(column.flat_values, start + number % size))
        number = number // size
    return RaggedTensor(combine(picked[::-1]), RowPartition(splits), internal=True)


def rows_of_texts(value: Any) -> RaggedTensor:
    """Return a matrix as rows of strings."""
    rows = rows_of_matrix(value)
    return rows.with_flat_values(_texts(rows.flat_values))


def rows_of_matrix(value: Any) -> RaggedTensor:
    """Return a dense, sparse or ragged matrix as rows. Raises ValueError for another rank."""
    if isinstance(value, SparseTensor):
        ids, count = value.indices[:, 0], value.dense_shape[0]
        rows = RowPartition.from_value_rowids(ids, count)
        return RaggedTensor(value.values, rows, internal=True)
    tensor = value if isinstance(value, RaggedTensor) else convert_to_tensor(value)
    if tensor.shape.rank != 2:
        raise ValueError(f"tf.ragged.cross only supports inputs with rank=2, not of shape {tensor.shape}")
    return tensor if isinstance(tensor, RaggedTensor) else from_tensor(tensor, None, None, 1, dtypes.int64)


def _texts(values: Tensor) -> Tensor:
    return values if values.dtype is dtypes.string else as_string(values)
