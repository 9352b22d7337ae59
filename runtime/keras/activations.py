"""Activations: functions of tensors, by Keras's names.

>>> get("relu")([-1.0, 2.0]).numpy().tolist(), get(None)(3)
([0.0, 2.0], 3)
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from ..core.missing_names import explain as _explain
from . import notes
from .registry import Room


def linear(x: Any) -> Any:
    """`x` itself."""
    return x


def relu(x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """`x` above `threshold`, and at most `max_value`; below it `negative_slope * (x - threshold)`."""
    x = tf.convert_to_tensor(x)
    if negative_slope == 0.0 and threshold == 0.0:
        return tf.nn.relu(x) if max_value is None else tf.clip_by_value(x, 0, max_value)
    kept = tf.where(x > threshold, x, tf.zeros_like(x))
    if max_value is not None:
        kept = tf.minimum(kept, max_value)
    return kept - negative_slope * tf.nn.relu(threshold - x) if negative_slope else kept


def relu6(x: Any) -> Any:
    """`x` between 0 and 6."""
    return tf.nn.relu6(x)


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """`x` where it is positive, `negative_slope * x` elsewhere."""
    return tf.nn.leaky_relu(x, alpha=negative_slope)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""
    x = tf.convert_to_tensor(x)
    return tf.nn.elu(x) if alpha == 1.0 else _bent(x, alpha * tf.math.expm1(tf.minimum(x, 0)))


def celu(x: Any, alpha: float = 1.0) -> Any:
    """`x` where it is positive, `alpha * (exp(x / alpha) - 1)` elsewhere."""
    x = tf.convert_to_tensor(x)
    return _bent(x, alpha * tf.math.expm1(tf.minimum(x, 0) / alpha))


def selu(x: Any) -> Any:
    """The scaled `elu` that keeps mean 0 and variance 1 from layer to layer (Klambauer et al., 2017)."""
    x = tf.convert_to_tensor(x)
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def _bent(x: Any, below: Any) -> Any:
    return tf.where(x > 0, x, below)


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    x = tf.convert_to_tensor(x)
    result = tf.sigmoid(x)
    notes.logits[result] = x
    return result


def hard_sigmoid(x: Any) -> Any:
    """0 below -3, 1 above 3, a straight line between."""
    x = tf.convert_to_tensor(x)
    return relu6(x + 3.0) / 6.0


def log_sigmoid(x: Any) -> Any:
    """The logarithm of the sigmoid."""
    return tf.math.log_sigmoid(x)


def softmax(x: Any, axis: int = -1) -> Any:
    """`exp(x)` divided by its sum along `axis`."""
    x = tf.convert_to_tensor(x)
    if x.shape.rank is not None and x.shape.rank < 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D or less. Received input: {x}")
    result = tf.nn.softmax(x, axis=axis)
    notes.logits[result] = x
    return result


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of the softmax."""
    return tf.nn.log_softmax(x, axis=axis)


def softplus(x: Any) -> Any:
    """`log(exp(x) + 1)`."""
    return tf.nn.softplus(x)


def softsign(x: Any) -> Any:
    """`x / (|x| + 1)`."""
    x = tf.convert_to_tensor(x)
    return x / (tf.abs(x) + 1)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return tf.tanh(x)


def silu(x: Any) -> Any:
    """`x * sigmoid(x)`, also called swish."""
    return tf.nn.silu(x)


def hard_silu(x: Any) -> Any:
    """`x * hard_sigmoid(x)`, also called hard swish."""
    x = tf.convert_to_tensor(x)
    return x * hard_sigmoid(x)


def gelu(x: Any, approximate: bool = False) -> Any:
    """`x` times the probability that a normal number is smaller than `x`."""
    return tf.nn.gelu(x, approximate=approximate)


def exponential(x: Any) -> Any:
    """`exp(x)`."""
    return tf.exp(x)


def mish(x: Any) -> Any:
    """`x * tanh(softplus(x))`."""
    x = tf.convert_to_tensor(x)
    return x * tf.tanh(tf.nn.softplus(x))


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along `axis`, times the sigmoid of the second half."""
    value, gate = tf.split(x, 2, axis=axis)
    return value * tf.sigmoid(gate)


def tanh_shrink(x: Any) -> Any:
    """`x - tanh(x)`."""
    x = tf.convert_to_tensor(x)
    return x - tf.tanh(x)


def hard_tanh(x: Any) -> Any:
    """`x` between -1 and 1."""
    return tf.clip_by_value(x, -1.0, 1.0)


def hard_shrink(x: Any, threshold: float = 0.5) -> Any:
    """`x` where it is further than `threshold` from 0, 0 elsewhere."""
    x = tf.convert_to_tensor(x)
    return tf.where(tf.abs(x) > threshold, x, tf.zeros_like(x))


def soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    """`x`, closer to 0 by `threshold`; 0 where it is closer already."""
    x = tf.convert_to_tensor(x)
    return tf.sign(x) * tf.nn.relu(tf.abs(x) - threshold)


def threshold(x: Any, threshold: float, default_value: float) -> Any:
    """`x` where it is above `threshold`, `default_value` elsewhere."""
    x = tf.convert_to_tensor(x)
    return tf.where(x > threshold, x, tf.zeros_like(x) + default_value)


def squareplus(x: Any, b: float = 4) -> Any:
    """`(x + sqrt(x² + b)) / 2`."""
    x = tf.convert_to_tensor(x)
    return (x + tf.sqrt(tf.square(x) + b)) / 2


def sparse_plus(x: Any) -> Any:
    """0 below -1, `x` above 1, `(x + 1)² / 4` between."""
    x = tf.convert_to_tensor(x)
    return tf.where(x <= -1, tf.zeros_like(x), tf.where(x < 1, (x + 1) ** 2 / 4, x))


def sparse_sigmoid(x: Any) -> Any:
    """0 below -1, 1 above 1, a straight line between."""
    x = tf.convert_to_tensor(x)
    return tf.clip_by_value(0.5 * (x + 1), 0.0, 1.0)


swish, hard_swish = silu, hard_silu

_ALL = (
    linear, relu, relu6, leaky_relu, elu, celu, selu, sigmoid, hard_sigmoid, log_sigmoid, softmax, log_softmax,
    softplus, softsign, tanh, silu, hard_silu, gelu, exponential, mish, glu, tanh_shrink, hard_tanh, hard_shrink,
    soft_shrink, threshold, squareplus, sparse_plus, sparse_sigmoid,
)  # fmt: skip

_room = Room(
    "activation function",
    "keras.activations",
    functions={f.__name__: f for f in _ALL} | {"swish": silu, "hard_swish": hard_silu},
)


def get(identifier: Any) -> Any:
    """The activation that a name, a config or a callable stands for; None is `linear`."""
    return linear if identifier is None else _room.get(identifier)


serialize, deserialize = _room.serialize, _room.deserialize

__all__ = [
    "celu", "deserialize", "elu", "exponential", "gelu", "get", "glu", "hard_shrink", "hard_sigmoid", "hard_silu",
    "hard_swish", "hard_tanh", "leaky_relu", "linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6", "selu",
    "serialize", "sigmoid", "silu", "soft_shrink", "softmax", "softplus", "softsign", "sparse_plus", "sparse_sigmoid",
    "squareplus", "swish", "tanh", "tanh_shrink", "threshold",
]  # fmt: skip

_explain(__name__)
