"""The module `tf.bitwise`: bitwise operations on integers, with TensorFlow's names."""
# Namespace bitwise: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from .core.missing_names import explain as _explain
from .ops.math.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift

__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
]

_explain(__name__)
