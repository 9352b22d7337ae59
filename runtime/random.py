"""The namespace `tf.random`: random numbers, the same as TensorFlow's for the same seeds."""

from __future__ import annotations

from .ops.random import categorical, normal, shuffle, truncated_normal, uniform
from .seeds import set_seed

__all__ = ["set_seed", "uniform", "normal", "truncated_normal", "shuffle", "categorical"]
