"""The namespace `tf.random`: random numbers, the same as TensorFlow's for the same seeds."""

from __future__ import annotations

from .ops.random import categorical, normal, shuffle, truncated_normal, uniform
from .ops.stateless import stateless_normal, stateless_truncated_normal, stateless_uniform
from .seeds import set_seed

__all__ = [
    "set_seed", "uniform", "normal", "truncated_normal", "shuffle", "categorical",
    "stateless_uniform", "stateless_normal", "stateless_truncated_normal",
]  # fmt: skip
