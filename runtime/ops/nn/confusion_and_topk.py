"""Confusion matrices, and approximate top-k.

>>> confusion_matrix([0, 1, 1], [0, 1, 0]).numpy().tolist()
[[1, 0], [1, 1]]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import dtypes
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.concat_split import stack
from ..arrays.reshape import squeeze, transpose
from ..arrays.scatter import scatter_nd
from ..arrays.sort import top_k
from ..framework.op import Name
from ..framework.op_families import FLOATS, require_dtype
from ..math.arithmetic import maximum
from ..math.cast import cast
from ..math.elementwise import negative
from ..reduce.reductions import reduce_max


@export("math.confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: Any = None,
    weights: TensorLike | None = None,
    dtype: Any = dtypes.int32,
    name: Name = None,
) -> Tensor:
    """Return the confusion matrix: rows are the classes in `labels`, columns those in `predictions`.

    Args:
        labels, predictions: vectors of class numbers; one of them may have another axis of size 1.
        num_classes: the number of rows and columns; by default the largest class number plus 1.
        weights: the weight of each pair, instead of 1.
        dtype: of the result.

    Raises InvalidArgumentError for negative numbers and those not below `num_classes`.

    >>> confusion_matrix([1, 2, 2], [2, 2, 2], num_classes=3, weights=[1, 5, 6]).numpy().tolist()
    [[0, 0, 0], [0, 0, 1], [0, 0, 11]]
    """
    kind = dtypes.as_dtype(dtype)
    rows, columns = _of_one_rank(convert_to_tensor(labels), convert_to_tensor(predictions))
    rows, columns = cast(rows, dtypes.int64), cast(columns, dtypes.int64)
    if num_classes is None:
        count = maximum(reduce_max(rows), reduce_max(columns)) + 1
    else:
        count = cast(num_classes, dtypes.int64)
    coordinates = stack([rows, columns], axis=-1)
    values = cast(rows * 0 + 1 if weights is None else weights, kind)
    return scatter_nd(coordinates, values, stack([count, count]), name)  # type: ignore[no-any-return]


def _of_one_rank(labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """Return both tensors, with the last axis removed from the one of higher rank."""
    one, other = labels.shape.rank, predictions.shape.rank
    if one is not None and other is not None:
        if one == other + 1:
            return squeeze(labels, [-1]), predictions
        if other == one + 1:
            return labels, squeeze(predictions, [-1])
    return labels, predictions


class ApproxTopK(NamedTuple):
    """The result of `approx_max_k` and `approx_min_k`."""

    values: Tensor
    indices: Tensor


@export("math.approx_max_k", "nn.approx_max_k")
def approx_max_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: Name = None,
) -> ApproxTopK:
    """Return the `k` largest elements along an axis and their indices, sorted.

    The result is exact: `recall_target`, `reduction_input_size_override` and `aggregate_to_topk` have no effect.

    >>> approx_max_k([1., 5., 3.], 2).indices.numpy().tolist()
    [1, 2]
    """
    return _top(convert_to_tensor(operand), k, reduction_dimension, True)


@export("math.approx_min_k", "nn.approx_min_k")
def approx_min_k(
    operand: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: Name = None,
) -> ApproxTopK:
    """Return the `k` smallest elements along an axis and their indices; see `approx_max_k`.

    >>> approx_min_k([[1., 5.], [3., 2.]], 1, reduction_dimension=0).values.numpy().tolist()
    [[1.0, 2.0]]
    """
    return _top(convert_to_tensor(operand), k, reduction_dimension, False)


@export("approx_top_k")
def approx_top_k(
    input: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: Name = None,
) -> ApproxTopK:
    """Compute `approx_max_k`, or `approx_min_k` if `is_max_k` is false.

    >>> approx_top_k([1., 5., 3.], 1).values.numpy().tolist()
    [5.0]
    """
    return _top(convert_to_tensor(input), k, reduction_dimension, is_max_k)


def _top(operand: Tensor, k: int, axis: int, largest: bool) -> ApproxTopK:
    require_dtype(operand, FLOATS, "approx_top_k")
    if axis != -1:
        rank = operand.shape.rank
        if rank is None:
            raise ValueError(f"approx_top_k needs an operand of known rank to reduce dimension {axis}")
        axis = shapes.normal_axis(axis, rank)
        order = [*(i for i in range(rank) if i != axis), axis]
        back = [*range(axis), rank - 1, *range(axis, rank - 1)]
        found = _top(transpose(operand, order), k, -1, largest)
        return ApproxTopK(transpose(found.values, back), transpose(found.indices, back))
    values, indices = top_k(operand if largest else negative(operand), k)
    return ApproxTopK(values if largest else negative(values), indices)
