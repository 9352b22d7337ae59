"""`tf.sparse.cross`: the cross of features as a sparse tensor; see `ragged.crossing`."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .tensor import SparseTensor


def cross(inputs: Any, name: str | None = None, separator: str | None = None) -> SparseTensor:
    """The combinations of the values that sparse or dense matrices have in a row, joined by `separator` (`_X_`).

    Raises TypeError for other inputs than tensors.

    >>> from agc.runtime import constant
    >>> cross([constant([["a"]]), constant([["x", "y"]])], separator="-").values.numpy().tolist()
    [b'a-x', b'a-y']
    """
    from ..ragged.feature_cross import (  # here: ragged tensors are built on this package
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
