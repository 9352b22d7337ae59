"""Operations on the bits of integers.

>>> bitwise_and(12, 10).numpy().tolist(), left_shift(1, [0, 1, 2]).numpy().tolist()
(8, [1, 2, 4])
"""

from __future__ import annotations

import operator

import numpy as np

from ..framework import intervals
from ..framework.op_families import INTEGERS, Array, binary, unary
from ..framework.traits import COMMUTATIVE, ELEMENTWISE, INLINE_SCALAR


def _within(x: Array, y: Array) -> Array:
    """Return the shift distances `y`, clipped to the range from 0 to the bit width of `x` minus 1."""
    kind = x.dtype.type
    return np.minimum(np.maximum(y, kind(0)), kind(x.dtype.itemsize * 8 - 1))


def _left_shift(x: Array, y: Array) -> Array:
    return np.left_shift(x, _within(x, y))


def _right_shift(x: Array, y: Array) -> Array:
    return np.right_shift(x, _within(x, y))


bitwise_and = binary(
    "bitwise_and",
    operator.and_,
    INTEGERS,
    "The bits that both have.",
    "12, 10",
    "8",
    expression="{0} & {1}",
    traits=COMMUTATIVE | INLINE_SCALAR,
    ufunc=np.bitwise_and,
    scalar={"iu": "{0} & {1}"},
    interval=intervals.bitwise_and,
    export=("bitwise.bitwise_and",),
)
bitwise_or = binary(
    "bitwise_or",
    operator.or_,
    INTEGERS,
    "The bits that at least one has.",
    "12, 10",
    "14",
    expression="{0} | {1}",
    traits=COMMUTATIVE | INLINE_SCALAR,
    ufunc=np.bitwise_or,
    scalar={"iu": "{0} | {1}"},
    interval=intervals.bitwise_or,
    export=("bitwise.bitwise_or",),
)
bitwise_xor = binary(
    "bitwise_xor",
    operator.xor,
    INTEGERS,
    "The bits that exactly one has.",
    "12, 10",
    "6",
    expression="{0} ^ {1}",
    traits=COMMUTATIVE | INLINE_SCALAR,
    ufunc=np.bitwise_xor,
    scalar={"iu": "{0} ^ {1}"},
    interval=intervals.bitwise_or,
    export=("bitwise.bitwise_xor",),
)
invert = unary(
    "invert",
    operator.invert,
    INTEGERS,
    "The bits that `x` has not.",
    "[0, 5]",
    "[-1, -6]",
    expression="~{0}",
    ufunc=np.invert,
    scalar={"i": "~{0}", "u": "{0} ^ {most}"},
    export=("bitwise.invert",),
)
left_shift = binary(
    "left_shift",
    _left_shift,
    INTEGERS,
    "The bits moved up, zeros following.",
    "3, [1, 2]",
    "[6, 12]",
    traits=ELEMENTWISE,
    scalar={"iu": "{0} << {places}"},
    interval=intervals.left_shift,
    export=("bitwise.left_shift",),
)
right_shift = binary(
    "right_shift",
    _right_shift,
    INTEGERS,
    "The bits moved down; the sign stays.",
    "[12, -12], 2",
    "[3, -3]",
    traits=ELEMENTWISE | INLINE_SCALAR,
    scalar={"iu": "{0} >> {places}"},
    interval=intervals.right_shift,
    export=("bitwise.right_shift",),
)
