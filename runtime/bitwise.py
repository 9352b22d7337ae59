"""The module `tf.bitwise`: bitwise operations on integers, with TensorFlow's names."""

from __future__ import annotations

from .core.missing_names import explain as _explain
from .ops.math.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift

__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
]  # fmt: skip

_explain(__name__)
