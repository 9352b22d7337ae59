"""Evaluation functions: in_top_k and average losses.

>>> in_top_k([1, 0], [[1., 2.], [1., 2.]], 1).numpy().tolist()
[True, False]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import late_binding, shapes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ..arrays.reshape import expand_dims
from ..arrays.shape_ops import shape as shape_of
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import Array, require_dtype
from ..math.arithmetic import divide, divide_no_nan
from ..math.cast import cast
from ..reduce.reductions import reduce_sum


@export("math.in_top_k", "nn.in_top_k")
def in_top_k(targets: TensorLike, predictions: TensorLike, k: TensorLike, name: Name = None) -> Tensor:
    """Return for each row whether fewer than `k` predictions are larger than that of the target.

    Args:
        targets: int32 or int64, [batch]; the result is False for a number that is no class.
        predictions: float32 (arrays and lists become that), [batch, classes]; the result is False for a row that is
            not finite.
        k: a scalar.

    >>> in_top_k([1, 2], [[1., 2., 3.], [1., 2., 3.]], 2).numpy().tolist()
    [True, True]
    """
    if not is_tensor_like(predictions):
        predictions = convert_to_tensor(predictions, dtypes.float32)
    return in_top_k_op(targets, predictions, k, name)  # type: ignore[no-any-return]


@op(name="in_top_k")
def in_top_k_op(targets: Input, predictions: Input, k: Ints, name: Name = None) -> TensorType:
    """Compute `in_top_k`.

    >>> in_top_k_op([1], [[1., 2., 3.]], 1).numpy().tolist()
    [False]
    """
    require_dtype(targets, frozenset({dtypes.int32, dtypes.int64}), "in_top_k, `targets`")
    require_dtype(predictions, frozenset({dtypes.float32}), "in_top_k, `predictions`")
    for operand, rank, what in ((targets, 1, "targets"), (predictions, 2, "predictions"), (k, 0, "k")):
        if operand.shape is not None and len(operand.shape) != rank:
            raise ValueError(
                f"in_top_k: `{what}` must have rank {rank}, not the shape {shapes.show(operand.shape)}"
            )
    if targets.shape is not None and predictions.shape is not None:
        one, other = targets.shape[0], predictions.shape[0]
        if one != other and None not in (one, other):
            raise ValueError(f"First dimension of predictions {other} must match length of targets {one}")
    return TensorType(dtypes.bool_, targets.shape or (None,))


@in_top_k_op.kernel
def _(targets: Array, predictions: Array, k: Array) -> Array:
    if len(targets) != len(predictions):
        raise errors.InvalidArgumentError(
            f"First dimension of predictions {len(predictions)} must match length of targets {len(targets)}"
        )
    classes = predictions.shape[1]
    valid = (targets >= 0) & (targets < classes)
    if not classes:
        return np.zeros(len(targets), bool)
    own = np.take_along_axis(predictions, np.where(valid, targets, 0)[:, np.newaxis], 1)
    finite = np.all(np.isfinite(predictions), axis=1)
    return valid & finite & (np.sum(predictions > own, axis=1) < k)


@export("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """Return the weighted sum of losses, divided by the batch size of all replicas; 0 for an empty batch.

    Default of `global_batch_size`: the number of losses times the replicas of the strategy. Raises RuntimeError for the
    default in the scope of a strategy, outside of `Strategy.run`.

    >>> compute_average_loss([1., 2., 3.], sample_weight=[1., 0., 1.], global_batch_size=2).numpy().tolist()
    2.0
    """
    loss = convert_to_tensor(per_example_loss)
    if loss.shape.rank == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received per_example_loss={per_example_loss} with rank 0"
        )
    if global_batch_size is None:
        global_batch_size = shape_of(loss)[0] * late_binding.strategies.replicas_here("compute_average_loss")
    batch = convert_to_tensor(global_batch_size)
    if not batch.dtype.is_integer:
        raise TypeError(f"global_batch_size must be an integer. Received: {global_batch_size!r}")
    if sample_weight is not None:
        weights = cast(sample_weight, loss.dtype)
        while (weights.shape.rank or 0) < (loss.shape.rank or 0) and weights.shape.rank:
            weights = expand_dims(weights, -1)
        loss = loss * weights
    total = _fractional(reduce_sum(loss))
    return divide_no_nan(total, cast(batch, total.dtype))  # type: ignore[no-any-return]


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """Return the sum of regularization losses, divided by the number of replicas.

    Raises RuntimeError in the scope of a strategy, outside of `Strategy.run`.

    >>> scale_regularization_loss([1., 3.]).numpy().tolist()
    4.0
    """
    return _fractional(
        reduce_sum(regularization_loss), late_binding.strategies.replicas_here("scale_regularization_loss")
    )


def _fractional(total: Tensor, count: int = 1) -> Tensor:
    """Return the quotient; integers are converted to the floats that division yields."""
    return divide(total, cast(count, total.dtype))
