"""`tf.sparse.cross` and `cross_hashed`: feature crosses as sparse tensors; see `ragged.feature_cross`."""

from __future__ import annotations

from typing import Any

from ..core import late_binding
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.strings.strings import join
from .tensor import SparseTensor


@export("sparse.cross")
def cross(inputs: Any, name: str | None = None, separator: str | None = None) -> SparseTensor:
    """Return the combinations of values in the same row of sparse or dense matrices, joined by `separator` (`_X_`).

    Raises TypeError for inputs that are no tensors.

    >>> from agc.runtime import constant
    >>> cross([constant([["a"]]), constant([["x", "y"]])], separator="-").values.numpy().tolist()
    [b'a-x', b'a-y']
    """
    between = "_X_" if separator is None else separator
    ragged = late_binding.ragged_feature_cross
    columns = list(map(ragged.rows_of_texts, _checked(inputs)))
    return ragged.crossed(columns, lambda picked: join(picked, between)).to_sparse()  # type: ignore[no-any-return]


@export("sparse.cross_hashed")
def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return the hashes of the combinations of strings or integers in the same row of matrices, as int64.

    Args:
        num_buckets: the hashes are below this number; 0 for all of int64.
        hash_key: the first value of the hash function.

    Raises TypeError for inputs that are no tensors, or tensors of other dtypes.

    >>> from agc.runtime import constant
    >>> cross_hashed([constant([["a", "b"]]), constant([[7]])], num_buckets=100).values.numpy().tolist()
    [56, 76]
    """
    ragged = late_binding.ragged_feature_cross
    columns = list(map(ragged.rows_of_matrix, _checked(inputs)))
    return ragged.crossed(columns, ragged.hashing(num_buckets, hash_key)).to_sparse()  # type: ignore[no-any-return]


def _checked(inputs: Any) -> Any:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise TypeError("Inputs must be a list")
    if not all(isinstance(one, (SparseTensor, Tensor)) for one in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    return inputs
