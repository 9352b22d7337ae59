"""Operations on the bits of integers.

>>> bitwise_and(12, 10).numpy().tolist(), left_shift(1, [0, 1, 2]).numpy().tolist()
(8, [1, 2, 4])
"""

from __future__ import annotations

import operator

import numpy as np

from ..framework.op_families import INTEGERS, Array, binary, unary


def _within(x: Array, y: Array) -> Array:
    """Return the shift distances `y`, clipped to the range from 0 to the bit width of `x` minus 1."""
    kind = x.dtype.type
    return np.minimum(np.maximum(y, kind(0)), kind(x.dtype.itemsize * 8 - 1))


def _left_shift(x: Array, y: Array) -> Array:
    return np.left_shift(x, _within(x, y))


def _right_shift(x: Array, y: Array) -> Array:
    return np.right_shift(x, _within(x, y))


bitwise_and = binary(
    "bitwise_and", operator.and_, INTEGERS, "The bits that both have.", "12, 10", "8", expression="{0} & {1}"
)
bitwise_or = binary(
    "bitwise_or",
    operator.or_,
    INTEGERS,
    "The bits that at least one has.",
    "12, 10",
    "14",
    expression="{0} | {1}",
)
bitwise_xor = binary(
    "bitwise_xor",
    operator.xor,
    INTEGERS,
    "The bits that exactly one has.",
    "12, 10",
    "6",
    expression="{0} ^ {1}",
)
invert = unary(
    "invert", operator.invert, INTEGERS, "The bits that `x` has not.", "[0, 5]", "[-1, -6]", expression="~{0}"
)
left_shift = binary(
    "left_shift", _left_shift, INTEGERS, "The bits moved up, zeros following.", "3, [1, 2]", "[6, 12]"
)
right_shift = binary(
    "right_shift", _right_shift, INTEGERS, "The bits moved down; the sign stays.", "[12, -12], 2", "[3, -3]"
)
