"""`tf.sparse.cross`: feature crosses as a sparse tensor; see `ragged.feature_cross`."""

from __future__ import annotations

from typing import Any

from ..core.export import export
from ..core.tensor import Tensor
from .tensor import SparseTensor


@export("sparse.cross")
def cross(inputs: Any, name: str | None = None, separator: str | None = None) -> SparseTensor:
    """Return the combinations of values in the same row of sparse or dense matrices, joined by `separator` (`_X_`).

    Raises TypeError for inputs that are no tensors.

    >>> from agc.runtime import constant
    >>> cross([constant([["a"]]), constant([["x", "y"]])], separator="-").values.numpy().tolist()
    [b'a-x', b'a-y']
    """
    from ..ragged.feature_cross import (  # imported here: ragged tensors depend on this package
        crossed,
        rows_of_matrix,
    )

    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise TypeError("Inputs must be a list")
    if not all(isinstance(one, (SparseTensor, Tensor)) for one in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    columns = [rows_of_matrix(one) for one in inputs]
    made: SparseTensor = crossed(columns, "_X_" if separator is None else separator).to_sparse()
    return made
