"""Operations on the bits of integers.

>>> bitwise_and(12, 10).numpy().tolist(), left_shift(1, [0, 1, 2]).numpy().tolist()
(8, [1, 2, 4])
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.traits import COMMUTATIVE, ELEMENTWISE, INLINE_SCALAR
from ..framework import intervals
from ..framework.op import Op
from ..framework.op_families import INTEGERS, Array, binary, unary


def _within(x: Array, y: Array) -> Array:
    """Return the shift distances `y`, clipped to the range from 0 to the bit width of `x` minus 1."""
    kind = x.dtype.type
    return np.minimum(np.maximum(y, kind(0)), kind(x.dtype.itemsize * 8 - 1))


def _left_shift(x: Array, y: Array) -> Array:
    return np.left_shift(x, _within(x, y))


def _right_shift(x: Array, y: Array) -> Array:
    return np.right_shift(x, _within(x, y))


def _on_bits(
    name: str, compute: Callable[..., Any], symbol: str, manual: str, gives: str, interval: Callable[..., Any]
) -> Op:
    """Declare the operation on pairs of bits that Python writes as `symbol`."""
    expression = f"{{0}} {symbol} {{1}}"
    return binary(
        name,
        compute,
        INTEGERS,
        manual,
        "12, 10",
        gives,
        expression=expression,
        traits=COMMUTATIVE | INLINE_SCALAR,
        ufunc=getattr(np, name),
        scalar={"iu": expression},
        interval=interval,
        export=(f"bitwise.{name}",),
    )


bitwise_and = _on_bits(
    "bitwise_and", operator.and_, "&", "The bits that both have.", "8", intervals.bitwise_and
)
bitwise_or = _on_bits(
    "bitwise_or", operator.or_, "|", "The bits that at least one has.", "14", intervals.bitwise_or
)
bitwise_xor = _on_bits(
    "bitwise_xor", operator.xor, "^", "The bits that exactly one has.", "6", intervals.bitwise_or
)
invert = unary("invert", operator.invert, INTEGERS, "The bits that `x` has not.", "[0, 5]", "[-1, -6]",
               expression="~{0}", ufunc=np.invert, scalar={"i": "~{0}", "u": "{0} ^ {most}"},
               export=("bitwise.invert",))  # fmt: skip
left_shift = binary("left_shift", _left_shift, INTEGERS, "The bits moved up, zeros following.", "3, [1, 2]",
                    "[6, 12]", traits=ELEMENTWISE, scalar={"iu": "{0} << {places}"},
                    interval=intervals.left_shift, export=("bitwise.left_shift",))  # fmt: skip
right_shift = binary("right_shift", _right_shift, INTEGERS, "The bits moved down; the sign stays.",
                     "[12, -12], 2", "[3, -3]", traits=ELEMENTWISE | INLINE_SCALAR,
                     scalar={"iu": "{0} >> {places}"}, interval=intervals.right_shift,
                     export=("bitwise.right_shift",))  # fmt: skip
