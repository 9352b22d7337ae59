"""Set operations on the rows of tensors.

>>> union([[1, 2]], [[2, 3]]).values.numpy().tolist()
[1, 2, 3]

The sets are along the last axis of tensors of rank 2 or more. Results are sparse tensors with the elements of each
set in ascending order.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.creation import fill
from ..ops.arrays.reshape import reshape
from ..ops.arrays.set_ops import combined_sets, set_sizes
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.sparse_indices import checked_coordinates
from ..ops.arrays.where_ops import where
from .tensor import SparseTensor

_DTYPES = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string,
)  # fmt: skip


@export("sets.difference")
def difference(
    a: TensorLike | SparseTensor,
    b: TensorLike | SparseTensor,
    aminusb: bool = True,
    validate_indices: bool = True,
) -> SparseTensor:
    """Return the elements of each set of `a` that are not in that of `b`; the reverse if not `aminusb`.

    Args:
        a, b: tensors or sparse tensors of integers or strings, of one dtype, at least rank 2, and one shape but for
            the last axis.
        validate_indices: whether to check that the coordinates of sparse tensors are in order and inside of the shape.

    Raises TypeError for other dtypes or two of them, InvalidArgumentError for other shapes and wrong coordinates.

    >>> difference([[1, 2, 3]], [[2, 5, 5]]).values.numpy().tolist()
    [1, 3]
    """
    return _combined(a, b, "a-b" if aminusb else "b-a", validate_indices)


@export("sets.intersection")
def intersection(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor, validate_indices: bool = True
) -> SparseTensor:
    """Return the elements that each set of `a` has in common with that of `b`; arguments as of `difference`.

    >>> intersection([[1, 2, 2]], [[2, 5, 2]]).values.numpy().tolist()
    [2]
    """
    return _combined(a, b, "intersection", validate_indices)


@export("sets.union")
def union(
    a: TensorLike | SparseTensor, b: TensorLike | SparseTensor, validate_indices: bool = True
) -> SparseTensor:
    """Return the elements of each set of `a` and of that of `b`; arguments as of `difference`.

    >>> union([["x"]], [["b"]]).values.numpy().tolist()
    [b'b', b'x']
    """
    return _combined(a, b, "union", validate_indices)


@export("sets.size")
def size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """Return the number of different elements of each set of a sparse tensor.

    >>> size(SparseTensor([[0, 0], [0, 1]], [5, 5], [2, 3])).numpy().tolist()
    [1, 0]
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    _check_dtype(a)
    return set_sizes(_checked(a, validate_indices), a.values, a.dense_shape)  # type: ignore[no-any-return]


def _combined(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    one, other = (x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in (a, b))
    _check_dtype(one)
    if one.dtype != other.dtype:
        raise TypeError(f"Types don't match, {one.dtype} vs {other.dtype}.")
    parts = [*_parts(one, validate_indices), *_parts(other, validate_indices)]
    return SparseTensor(*combined_sets(*parts, operation=operation))


def _check_dtype(a: Any) -> None:
    if a.dtype not in _DTYPES:
        raise TypeError(
            f"'a' has invalid dtype `{a.dtype.name}`: sets are of {', '.join(d.name for d in _DTYPES)}"
        )


def _parts(x: Any, validate_indices: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return coordinates, elements and shape."""
    if isinstance(x, SparseTensor):
        return _checked(x, validate_indices), x.values, x.dense_shape
    coordinates = where(fill(shape_of(x), True))
    return coordinates, reshape(x, [-1]), shape_of(x, dtypes.int64)


def _checked(x: SparseTensor, validate_indices: bool) -> Tensor:
    return checked_coordinates(x.indices, x.dense_shape) if validate_indices else x.indices
