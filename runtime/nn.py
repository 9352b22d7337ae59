"""The module `tf.nn`: what neural networks are made of, by TensorFlow's names."""

from __future__ import annotations

from .ops.activations import bias_add, elu, gelu, leaky_relu, log_softmax, relu, relu6, silu, softmax, swish
from .ops.elementwise import sigmoid, softplus, tanh
from .ops.norms import l2_normalize
from .ops.ordering import top_k

__all__ = [
    "bias_add", "elu", "gelu", "l2_normalize", "leaky_relu", "log_softmax", "relu", "relu6",
    "sigmoid", "silu", "softmax", "softplus", "swish", "tanh", "top_k",
]  # fmt: skip
