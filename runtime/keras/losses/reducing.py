"""From a loss for each sample to one number: ranks that fit, weights, masks, and the mean or sum.

>>> reduced(tf.constant([1.0, 3.0]), [1.0, 0.0], None, "sum_over_batch_size").numpy()
np.float32(0.5)
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .. import notes

REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)


def tensor_of(value: Any, dtype: Any) -> Any:
    """`value` as a tensor of `dtype`. What is known of it as a mask or logits stays known."""
    tensor = tf.convert_to_tensor(value)
    if tensor.dtype == dtype:
        return tensor
    cast = tf.cast(tensor, dtype)
    for kind in (notes.masks, notes.logits):
        remark = kind.get(tensor)
        if remark is not None:
            kind[cast] = remark
    return cast


def tensors_of(value: Any, dtype: Any) -> Any:
    """`value`, or each part of it where it is a nest of tensors or arrays, as tensors of `dtype`."""
    if any(hasattr(leaf, "shape") for leaf in tf.nest.flatten(value)):
        return tf.nest.map_structure(lambda leaf: tensor_of(leaf, dtype), value)
    return tensor_of(value, dtype)


def same_rank(one: Any, other: Any) -> tuple[Any, Any]:
    """Two tensors whose ranks differ by a last dimension of 1 get the same rank."""
    rank, other_rank = one.shape.rank, other.shape.rank
    if rank is None or other_rank is None or rank == other_rank:
        return one, other
    if rank == other_rank + 1 and one.shape[-1] == 1:
        return (one, tf.expand_dims(other, -1)) if other_rank == 1 else (tf.squeeze(one, [-1]), other)
    if other_rank == rank + 1 and other.shape[-1] == 1:
        return (tf.expand_dims(one, -1), other) if rank == 1 else (one, tf.squeeze(other, [-1]))
    return one, other


def masked_weight(sample_weight: Any, mask: Any, dtype: Any, reduction: str | None) -> Any:
    """The weight that also counts a mask. For a mean, what is left weighs as much as the whole would have."""
    if mask is None:
        return sample_weight
    weight = tf.cast(mask, dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        total = tf.cast(tf.size(weight), dtype)
        weight *= tf.math.divide_no_nan(total, tf.reduce_sum(weight))
    if sample_weight is None:
        return weight
    weight, sample_weight = same_rank(weight, tf.cast(sample_weight, dtype))
    return weight * sample_weight


def reduced(values: Any, sample_weight: Any, mask: Any, reduction: str | None) -> Any:
    """The values, weighted and reduced as `Loss` says."""
    values = tf.convert_to_tensor(values)
    weight = masked_weight(sample_weight, mask, values.dtype, reduction)
    if weight is not None:
        values, weight = same_rank(values, tf.cast(weight, values.dtype))
        values *= weight
    if reduction in (None, "none") or values.shape in ((), (0,)):
        return values
    total = tf.reduce_sum(values)
    if reduction == "sum":
        return total
    if reduction == "mean_with_sample_weight" and weight is not None:
        return tf.math.divide_no_nan(total, tf.reduce_sum(tf.broadcast_to(weight, tf.shape(values))))
    return tf.math.divide_no_nan(total, tf.cast(tf.size(values), values.dtype))
