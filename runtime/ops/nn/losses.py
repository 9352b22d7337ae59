"""Loss functions.

>>> sparse_softmax_cross_entropy_with_logits([1], [[0., 0.]]).numpy().round(4).tolist()
[0.6930999755859375]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import FRESH_RESULT
from ...ir.value_types import TensorType
from ...kernels.orders import take_along_last
from ...kernels.rows import are_within
from ..arrays.creation import ones_like, zeros_like
from ..arrays.ranges import one_hot
from ..arrays.reshape import broadcast_to, expand_dims, transpose
from ..arrays.shape_ops import shape as shape_of
from ..arrays.where_ops import where
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Name, Same, op
from ..framework.op_families import FLOATS, Array, require_dtype
from ..math.arithmetic import add, maximum, minimum, multiply
from ..math.cast import cast
from ..math.elementwise import exp, log, log1p, square
from ..reduce.reductions import reduce_sum
from ..reduce.short_axis_kernels import sum_of
from .activations import log_softmax, softmax, with_top_at_zero

_INDICES = frozenset({dtypes.int32, dtypes.int64})


@export("nn.softmax_cross_entropy_with_logits")
@cached_dispatch
def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1, name: Name = None
) -> Tensor:
    """Return `-sum(labels * log_softmax(logits))` along `axis`: one number for each distribution.

    Args:
        labels: the target probabilities; cast to the dtype of `logits`.
        logits: unnormalized log-probabilities, float.

    >>> softmax_cross_entropy_with_logits([[0., 1.]], [[1., 1.]]).numpy().round(4).tolist()
    [0.6930999755859375]
    """
    logits = convert_to_tensor(logits)
    labels, logits = _of_one_shape(cast(labels, logits.dtype), logits)
    if axis == -1:
        return softmax_cross_entropy(labels, logits, name)  # type: ignore[no-any-return]
    rank = logits.shape.rank
    if rank is None:
        raise ValueError(
            "softmax_cross_entropy_with_logits: with an `axis` the rank of `logits` must be known"
        )
    dim = shapes.normal_axis(axis, rank)
    order = [*range(dim), *range(dim + 1, rank), dim]
    return softmax_cross_entropy(transpose(labels, order), transpose(logits, order), name)  # type: ignore[no-any-return]


def _of_one_shape(labels: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast both tensors to one shape."""
    if labels.shape.is_compatible_with(logits.shape):
        return labels, logits
    try:
        both = shapes.broadcast(labels.shape.sizes, logits.shape.sizes)
    except ValueError:  # the operation raises the error of the mode: eager or graph
        return labels, logits
    if not shapes.is_static(both):
        return labels + zeros_like(logits), logits + zeros_like(labels)
    return broadcast_to(labels, both), broadcast_to(logits, both)


@op(traits=FRESH_RESULT)
def softmax_cross_entropy(labels: Same, logits: Same, name: Name = None) -> TensorType:
    """Return `-sum(labels * log_softmax(logits))` along the last axis.

    >>> softmax_cross_entropy([0., 1.], [1000., 0.]).numpy().tolist()
    1000.0
    """
    require_dtype(logits, FLOATS, "softmax_cross_entropy_with_logits")
    both = shapes.merge(labels.shape, logits.shape)
    if both == ():
        raise ValueError("softmax_cross_entropy_with_logits: logits and labels must have at least one axis")
    return TensorType(logits.dtype, both[:-1] if both else None)


@softmax_cross_entropy.kernel
def _(labels: Array, logits: Array) -> Array:
    if not logits.ndim or labels.shape != logits.shape:
        raise errors.InvalidArgumentError(
            "softmax_cross_entropy_with_logits: labels and logits must have the same shape, with an axis at "
            f"least: {list(labels.shape)} and {list(logits.shape)}"
        )
    wide = logits.astype(np.float32) if logits.itemsize < 4 else logits
    shifted = with_top_at_zero(wide, -1)
    logarithm = np.log(sum_of(np.exp(shifted), -1, True))
    return sum_of(labels * (logarithm - shifted), -1, False).astype(labels.dtype, copy=False)


@softmax_cross_entropy.gradient
def _(dy: Any, y: Any, labels: Any, logits: Any) -> Any:
    each = expand_dims(dy, -1)
    return multiply(each, -log_softmax(logits)), multiply(each, softmax(logits) - labels)


@export("nn.sparse_softmax_cross_entropy_with_logits")
@cached_dispatch
def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, name: Name = None
) -> Tensor:
    """Return `-log_softmax(logits)[label]` for each label: exactly one class is correct.

    Args:
        labels: int32 or int64, [d_0, …, d_r], each in [0, classes).
        logits: float, [d_0, …, d_r, classes].

    >>> sparse_softmax_cross_entropy_with_logits([0, 1], [[0., 1000.], [0., 1000.]]).numpy().tolist()
    [1000.0, 0.0]
    """
    labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
    _check_labels(labels, logits)
    return sparse_softmax_cross_entropy(labels, logits, name)  # type: ignore[no-any-return]


def _check_labels(labels: Tensor, logits: Tensor) -> None:
    one, other = labels.shape, logits.shape
    if other.rank == 0:
        raise ValueError("`logits` cannot be a scalar. Received logits of shape ()")
    if one.rank is not None and other.rank is not None and one.rank != other.rank - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. "
            f"Received: labels.shape={one} of rank {one.rank} and logits.shape={other} of rank {other.rank}"
        )
    if other.rank is not None and not one.is_compatible_with(other[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. "
            f"Received: labels.shape={one} and logits.shape={other}"
        )


@op(traits=FRESH_RESULT)
def sparse_softmax_cross_entropy(labels: Input, logits: Input, name: Name = None) -> TensorType:
    """Return `-log_softmax(logits)[label]` for each label.

    >>> sparse_softmax_cross_entropy(1, [1000., 0.]).numpy().tolist()
    1000.0
    """
    require_dtype(labels, _INDICES, "sparse_softmax_cross_entropy_with_logits, `labels`")
    require_dtype(logits, FLOATS, "sparse_softmax_cross_entropy_with_logits")
    if logits.shape is None:
        return TensorType(logits.dtype, labels.shape)
    if not logits.shape:
        raise ValueError("sparse_softmax_cross_entropy_with_logits: `logits` cannot be a scalar")
    if not shapes.compatible(labels.shape, logits.shape[:-1]):
        raise ValueError(_unlike(labels.shape, logits.shape))
    return TensorType(logits.dtype, shapes.merge(labels.shape, logits.shape[:-1]))


def _unlike(labels: Sequence[int | None], logits: Sequence[int | None]) -> str:
    return (
        "labels and logits must have the same dimensions except for the last one: "
        f"{list(labels)} and {list(logits)}"
    )


@sparse_softmax_cross_entropy.kernel
def _(labels: Array, logits: Array) -> Array:
    if logits.ndim == 0 or labels.shape != logits.shape[:-1]:
        raise errors.InvalidArgumentError(_unlike(labels.shape, logits.shape))
    size = logits.shape[-1]
    if not are_within(labels, size):
        wrong = labels[(labels < 0) | (labels >= size)]
        raise errors.InvalidArgumentError(
            f"Received a label value of {wrong.flat[0]} which is outside the valid range of [0, {size})."
        )
    wide = logits.astype(np.float32) if logits.itemsize < 4 else logits
    shifted = with_top_at_zero(wide, -1)
    chosen = take_along_last(shifted, labels[..., np.newaxis])[..., 0]
    return (np.log(sum_of(np.exp(shifted), -1, False)) - chosen).astype(logits.dtype, copy=False)


@sparse_softmax_cross_entropy.gradient
def _(dy: Any, y: Any, labels: Any, logits: Any) -> Any:
    chosen = one_hot(labels, shape_of(logits)[-1], dtype=logits.dtype)
    return None, multiply(expand_dims(dy, -1), softmax(logits) - chosen)


@export("nn.sigmoid_cross_entropy_with_logits")
@cached_dispatch
@dispatching_composites("sigmoid_cross_entropy_with_logits", element_operands=2)
def sigmoid_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: Name = None) -> Tensor:
    """Return `-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))`, for each element.

    It is computed as `max(x, 0) - x * labels + log(1 + exp(-|x|))`, which cannot overflow.

    >>> sigmoid_cross_entropy_with_logits([1., 0.], [-100., 0.]).numpy().round(4).tolist()
    [100.0, 0.6930999755859375]
    """
    labels, logits = _pair(labels, logits)
    above = maximum(logits, 0.0)  # of two equal operands, the gradient goes to the first
    negative_magnitude = minimum(-logits, logits)
    return add(above - logits * labels, log1p(exp(negative_magnitude)), name)  # type: ignore[no-any-return]


@export("nn.weighted_cross_entropy_with_logits")
@cached_dispatch
def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: Name = None
) -> Tensor:
    """Compute `sigmoid_cross_entropy_with_logits` with the term of `labels` multiplied by `pos_weight`.

    >>> weighted_cross_entropy_with_logits([1., 0.], [-100., 100.], 3.).numpy().tolist()
    [300.0, 100.0]
    """
    labels, logits = _pair(labels, logits)
    weight = 1 + (pos_weight - 1) * labels
    tail = log1p(exp(minimum(-logits, logits))) + maximum(0.0, -logits)
    return (1 - labels) * logits + weight * tail  # type: ignore[no-any-return]


def _pair(labels: Any, logits: Any, what: str = "`logits` and `labels`") -> tuple[Any, Any]:
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels, None if isinstance(labels, Tensor) else logits.dtype)
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"{what} must have the same shape, received ({logits.shape} vs {labels.shape}).")
    return labels, logits


@export("nn.log_poisson_loss")
@cached_dispatch
def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: Name = None
) -> Tensor:
    """Return `exp(log_input) - log_input * targets`: the loss of a Poisson distribution, without constant terms.

    Args:
        compute_full_loss: whether to add Stirling's approximation of `log(targets!)`, for targets above 1.

    >>> log_poisson_loss([2.], [0.]).numpy().tolist()
    [1.0]
    """
    targets, log_input = _pair(targets, log_input, "`log_input` and `targets`")
    result: Any = exp(log_input) - log_input * targets
    if not compute_full_loss:
        return result  # type: ignore[no-any-return]
    stirling = targets * log(targets) - targets + 0.5 * log(2 * np.pi * targets)
    small = (targets >= zeros_like(targets)) & (targets <= ones_like(targets))
    return result + where(small, zeros_like(targets), stirling)  # type: ignore[no-any-return]


@export("nn.l2_loss")
@cached_dispatch
def l2_loss(t: TensorLike, name: Name = None) -> Tensor:
    """Return `sum(t ** 2) / 2`.

    >>> l2_loss([3., 4.]).numpy().tolist()
    12.5
    """
    t = convert_to_tensor(t)
    require_dtype(t, FLOATS, "l2_loss")
    return multiply(reduce_sum(square(t)), 0.5, name)  # type: ignore[no-any-return]
