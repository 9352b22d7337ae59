"""Gradients that are zero in most rows: `IndexedSlices`, which is what the gradient of `gather` is.

    y = gather x, indices           dx = IndexedSlices(dy, indices, shape of x)

Slices of one thing are added up by putting them one behind the other. They stay slices through what hands values on
as they are (a variable that is read, `identity`), and out of the functions that they come from; everything else gets
the dense tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..indexed_slices import IndexedSlices
from ..ops.casting import cast
from ..ops.extents import shape as shape_of
from ..ops.joining import join
from ..ops.selecting import put_back, take
from ..ops.shaping import reshape

HANDING_ON = frozenset({"identity", "read_variable"})
"""Operations whose gradient may be given slices."""

PARTS = 3
"""Tensors that slices consist of."""


@take.gradient
def _(dy: Any, y: Any, params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    shape = shape_of(params)
    if axis != 0 or batch_dims != 0:
        return put_back(dy, indices, shape, axis, batch_dims), None
    rows = [-1, *params.shape.dims[1:]] if params.shape.rank and None not in params.shape.dims[1:] else None
    values = reshape(dy, join([[-1], shape[1:]], 0) if rows is None else rows)
    return IndexedSlices(values, reshape(indices, [-1]), shape), None


def dense(grad: Any) -> Any:
    """A gradient as one tensor; lists of TensorArrays, and None, as they are."""
    if not isinstance(grad, IndexedSlices):
        return grad
    return put_back(grad.values, grad.indices, grad.dense_shape, 0, 0)


def joined(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    """The sum of slices of one thing."""
    kinds = {one.indices.dtype for one in slices}
    places = [one.indices if len(kinds) == 1 else cast(one.indices, "int64") for one in slices]
    return IndexedSlices(join([one.values for one in slices], 0), join(places, 0), slices[0].dense_shape)


def taken_apart(grad: Any) -> list[Any]:
    """The tensors of a gradient; none of None."""
    if isinstance(grad, IndexedSlices):
        return [grad.values, grad.indices, grad.dense_shape]
    return [] if grad is None else [grad]


def put_together(parts: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Gradients again, of so many tensors each."""
    rest = iter(parts)
    grads = []
    for size in sizes:
        found = [next(rest) for _ in range(size)]
        grads.append(IndexedSlices(*found) if size == PARTS else found[0] if found else None)
    return grads
