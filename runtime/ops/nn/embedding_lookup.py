"""Look up rows of embedding tables by index.

>>> from ..arrays.creation import constant
>>> embedding_lookup(constant([[1., 2.], [3., 4.]]), [1, 0]).numpy().tolist()
[[3.0, 4.0], [1.0, 2.0]]
"""

from __future__ import annotations

from typing import Any

from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.concat_split import concat
from ..arrays.creation import ones_like
from ..arrays.gather_ops import gather
from ..arrays.where_ops import where
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Name
from ..math.arithmetic import maximum
from ..math.cast import cast
from ..math.elementwise import sqrt, square
from ..reduce.reductions import reduce_sum


@export("nn.embedding_lookup")
@cached_dispatch
@dispatching_composites("embedding_lookup")
def embedding_lookup(
    params: TensorLike | list[TensorLike], ids: TensorLike, max_norm: float | None = None, name: Name = None
) -> Tensor:
    """Return the rows `ids` of `params`.

    Args:
        params: a tensor, or a list of tensors that are partitions along the first axis; all of one size, or
            the first ones larger by one.
        ids: integers.
        max_norm: longer rows are scaled down to this Euclidean norm.

    >>> from ..arrays.creation import constant
    >>> table = constant([[3., 4.], [0., 1.]])
    >>> embedding_lookup(table, [0, 1], max_norm=1.0).numpy().round(1).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 1.0]]
    """
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    tensors = [convert_to_tensor(part) for part in parts]
    _check_parts(tensors)
    table = tensors[0] if len(tensors) == 1 else concat(tensors, 0)
    ids = convert_to_tensor(ids)
    rows = gather(table, ids, name=name)
    return rows if max_norm is None else _clipped(rows, max_norm, ids.shape.rank)


def _check_parts(parts: list[Tensor]) -> None:
    """Check that the partitions are of even size, so that the total size determines a row's partition."""
    sizes = [part.shape[0] if part.shape.rank else None for part in parts]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes) or len(parts) == 1:
        return
    least, extras = divmod(sum(known), len(known))
    if known != [least + (i < extras) for i in range(len(known))]:
        raise ValueError(
            f"embedding_lookup: parts of {known} rows do not divide {sum(known)} rows evenly; "
            "concatenate them with tf.concat"
        )


def _clipped(rows: Tensor, max_norm: Any, outer: int | None) -> Tensor:
    rank = rows.shape.rank
    if rank is None or outer is None:
        raise ValueError("embedding_lookup: with `max_norm`, the ranks of `params` and `ids` must be known")
    total = reduce_sum(square(rows), list(range(outer, rank)), True)
    length = sqrt(where(total > 0, total, ones_like(total)))
    limit = cast(max_norm, rows.dtype)
    return rows * limit / maximum(where(total > 0, length, total), limit)  # type: ignore[no-any-return]
