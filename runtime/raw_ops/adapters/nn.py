"""Adapters of raw operations of neural networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agc.runtime as tf


def pads(padding: Any, explicit: Sequence[int]) -> Any:
    """Return the padding by name, or as a list of pairs."""
    name = padding.decode() if isinstance(padding, bytes) else padding
    return [list(explicit[i : i + 2]) for i in range(0, len(explicit), 2)] if name == "EXPLICIT" else name


def inner(dilations: Sequence[int], data_format: str) -> list[int]:
    """Return the entries of height and width."""
    return list(dilations[2:4] if data_format.startswith("NC") else dilations[1:3])


def _other_axes(x: Any, data_format: str) -> tuple[list[int], list[int]]:
    """Return all axes but that of channels, and the shape in which a vector of channels broadcasts."""
    rank = x.shape.rank
    channel = 1 if data_format.startswith("NC") else rank - 1
    return [i for i in range(rank) if i != channel], [-1 if i == channel else 1 for i in range(rank)]


def bias_add_grad(out_backprop: Any, data_format: str) -> Any:
    """Return the sums over all axes but that of channels."""
    x = tf.convert_to_tensor(out_backprop)
    return tf.reduce_sum(x, _other_axes(x, data_format)[0])


def cross_entropy(features: Any, labels: Any) -> tuple[Any, Any]:
    """Return the losses, and their gradient with respect to `features`."""
    loss = tf.nn.softmax_cross_entropy_with_logits(labels, features)
    return loss, tf.nn.softmax(features) - labels


def sparse_cross_entropy(features: Any, labels: Any) -> tuple[Any, Any]:
    """Return the losses of labels that are numbers, and their gradient with respect to `features`."""
    features = tf.convert_to_tensor(features)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, features)
    return loss, tf.nn.softmax(features) - tf.one_hot(labels, tf.shape(features)[1], dtype=features.dtype)


def fused_batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, epsilon: float, factor: float, data_format: str,
    is_training: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Return normalized values, and twice the mean and variance: of the batch, and for the gradient.

    In training, the first variance has Bessel's correction, and both are averaged with the given ones by `factor`.
    """
    x = tf.convert_to_tensor(x)
    axes, broad = _other_axes(x, data_format)
    values = tf.cast(x, tf.float32)
    if not is_training:
        y = _normalized(values, mean, variance, scale, offset, epsilon, broad)
        return tf.cast(y, x.dtype), mean, variance, mean, variance, tf.zeros([0], tf.float32)
    own_mean, own_variance = tf.nn.moments(values, axes)
    y = _normalized_by_own(values, own_mean, own_variance, scale, offset, epsilon, data_format)
    count = tf.cast(tf.size(x) / tf.size(own_mean), tf.float32)
    running = own_mean, own_variance * (count / tf.maximum(count - 1, 1))
    if factor != 1:
        running = tuple(
            factor * new + (1 - factor) * old for new, old in zip(running, (mean, variance), strict=True)
        )
    return tf.cast(y, x.dtype), *running, own_mean, own_variance, tf.zeros([0], tf.float32)


def _normalized(x: Any, mean: Any, variance: Any, scale: Any, offset: Any, epsilon: float, shape: Any) -> Any:
    mean, variance, scale, offset = (tf.reshape(part, shape) for part in (mean, variance, scale, offset))
    return (x - mean) * (tf.math.rsqrt(variance + epsilon) * scale) + offset


def _normalized_by_own(
    x: Any, mean: Any, variance: Any, scale: Any, offset: Any, epsilon: float, data_format: str
) -> Any:
    """Return `x` normalized by its own mean and variance, with a gradient of `x` that counts them in.

    It needs two sums over all elements. The gradients of the moments would need a third pass over `x`.
    """

    @tf.custom_gradient
    def normalized(x: Any, scale: Any, offset: Any) -> Any:
        def gradients(dy: Any) -> Any:
            return fused_batch_norm_grad(dy, x, scale, mean, variance, epsilon, data_format, True)[:3]

        return _normalized(
            x, mean, variance, scale, offset, epsilon, _other_axes(x, data_format)[1]
        ), gradients

    return normalized(x, tf.convert_to_tensor(scale), tf.convert_to_tensor(offset))


def fused_batch_norm_grad(
    dy: Any, x: Any, scale: Any, mean: Any, variance: Any, epsilon: float, data_format: str, is_training: bool
) -> tuple[Any, ...]:
    """Return the gradients of `fused_batch_norm` with respect to `x`, `scale` and `offset`, and two empty tensors."""
    x = tf.convert_to_tensor(x)
    axes, broad = _other_axes(x, data_format)
    dy, values = tf.cast(dy, tf.float32), tf.cast(x, tf.float32)
    inverse = tf.math.rsqrt(tf.reshape(variance, broad) + epsilon)
    centered = values - tf.reshape(mean, broad)
    d_offset, product = tf.reduce_sum(dy, axes), tf.reduce_sum(dy * centered, axes)
    d_scale = product * tf.reshape(inverse, [-1])
    if is_training:
        count = tf.cast(tf.size(x) / tf.maximum(tf.size(d_offset), 1), tf.float32)
        slope = inverse * inverse * tf.reshape(product / count, broad)
        dy = dy - tf.reshape(d_offset / count, broad) - centered * slope
    dx = tf.cast(dy * inverse * tf.reshape(scale, broad), x.dtype)
    return dx, d_scale, d_offset, tf.zeros([]), tf.zeros([])


def ctc_greedy(inputs: Any, sequence_length: Any, merge_repeated: bool, blank_index: int) -> tuple[Any, ...]:
    """Return the decoded labels as lists of the parts of sparse tensors, and the scores."""
    blank = None if blank_index == -1 else blank_index
    decoded, scores = tf.nn.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank)
    return tf.cast(decoded[0].indices, tf.int64), decoded[0].values, decoded[0].dense_shape, scores


def isotonic(input: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the nearest decreasing rows, and the number of the segment of each element."""
    found = tf.nn.isotonic_regression(input)
    return tf.cast(found[0], dtype), found[1]
