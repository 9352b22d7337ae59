"""Sparse embedding lookups: table rows for lists of ids of different lengths, combined per list.

>>> from ..ops.arrays.creation import constant
>>> ids = SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 0, 1], [2, 2])
>>> embedding_lookup_sparse(constant([[1., 2.], [3., 4.]]), ids, None, "sum").numpy().tolist()
[[4.0, 6.0], [3.0, 4.0]]
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..math import divide_no_nan, segment_sum
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import ones_like, zeros_like
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.where_ops import where
from ..ops.framework.op import Name
from ..ops.math.cast import cast
from ..ops.math.elementwise import sqrt
from ..ops.nn.embedding_lookup import embedding_lookup
from ..ops.reduce.reductions import reduce_prod
from ..sparse import SparseTensor, fill_empty_rows, retain
from ..sparse import reshape as sparse_reshape


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: Name = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Combine for each row of `sp_ids` the weighted rows of `params` with these ids.

    Args:
        params: as for `embedding_lookup`.
        sp_ids: a SparseTensor of integers [rows, …], in order; the last row with an id is the last of the result.
        sp_weights: a SparseTensor with the same coordinates, or None for ones.
        combiner: "sum", "mean" (divided by the sum of weights; when None), "sqrtn" (by the root of their squares).
        allow_fast_lookup: accepted for compatibility.

    >>> from ..ops.arrays.creation import constant
    >>> ids = SparseTensor([[0, 0], [0, 1]], [1, 0], [1, 2])
    >>> embedding_lookup_sparse(constant([[1., 2.], [3., 4.]]), ids, None).numpy().tolist()
    [[2.0, 3.0]]
    """
    how = "mean" if combiner is None else combiner
    if how not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    owners = sp_ids.indices[:, 0]
    rows = embedding_lookup(params, sp_ids.values, max_norm)
    weights = (
        ones_like(sp_ids.values, rows.dtype) if sp_weights is None else cast(sp_weights.values, rows.dtype)
    )
    for _ in range((rows.shape.rank or 2) - 1):
        weights = expand_dims(weights, -1)
    total = segment_sum(rows * weights, owners, name=name)
    if how == "sum":
        return total
    if how == "mean":
        return divide_no_nan(total, segment_sum(weights, owners))  # type: ignore[no-any-return]
    return divide_no_nan(total, sqrt(segment_sum(weights * weights, owners)))  # type: ignore[no-any-return]


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: Name = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Call `embedding_lookup_sparse` without negative ids, and without nonpositive weights (except for "sum").

    Empty rows give the row `default_id`, or zeros. All axes of `sparse_ids` but the last one are kept.

    >>> from ..ops.arrays.creation import constant
    >>> ids = SparseTensor([[0, 0], [1, 0]], [1, -1], [3, 1])
    >>> safe_embedding_lookup_sparse(constant([[1.], [3.]]), ids).numpy().tolist()
    [[3.0], [0.0], [0.0]]
    """
    whole = cast(sparse_ids.dense_shape, dtypes.int64)
    outer, flat = whole[:-1], concat([[reduce_prod(whole[:-1])], whole[-1:]], 0)
    ids = sparse_reshape(sparse_ids, flat)
    kept = ids.values >= 0
    if sparse_weights is not None:
        weights = sparse_reshape(sparse_weights, flat)
        if combiner != "sum":
            kept = kept & (weights.values > 0)
        weights, _ = fill_empty_rows(
            retain(weights, kept), ones_like(convert_to_tensor(0), weights.values.dtype)
        )
    else:
        weights = None
    ids, empty = fill_empty_rows(retain(ids, kept), cast(default_id or 0, ids.values.dtype))
    found = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        for _ in range((found.shape.rank or 2) - 1):
            empty = expand_dims(empty, -1)
        found = where(empty, zeros_like(found), found)
    return reshape(found, concat([cast(outer, dtypes.int32), shape_of(found)[1:]], 0), name)  # type: ignore[no-any-return]
