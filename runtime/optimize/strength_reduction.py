"""Strength reduction: replace operations by cheaper ones with the same result to the last bit.

    a = pow x, 2.0                                  a = square x
    b = realdiv x, 4.0                              b = multiply x, 0.25
    c = floordiv n, 8                       ==>     c = right_shift n, 3
    d = floormod n, 8                               d = bitwise_and n, 7

Multiplying a float by the reciprocal of a power of two is exact. Shifting two's complement integers rounds
down, like `//`.
"""

from __future__ import annotations

import numpy as np

from ..ir.graph import Constant, Graph, Operation
from ..ir.op_def import OpDef
from ..ops.math.arithmetic import floordiv, floormod, multiply, pow, realdiv
from ..ops.math.bitwise import bitwise_and, right_shift
from ..ops.math.elementwise import square
from .options import OptimizerOptions
from .pattern_match import is_all
from .rewriter import Found, Rewriter, Rule, rewrite_all


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, RULES)


def _pow(operation: Operation, walk: Rewriter) -> Found:
    base, exponent = operation.inputs
    if base.dtype.kind not in "if" or not isinstance(exponent, Constant) or exponent.shape != ():
        return None
    return (walk.add(square, [base]),) if is_all(exponent, 2) else None


def _realdiv(operation: Operation, walk: Rewriter) -> Found:
    x, divisor = operation.inputs
    if not isinstance(divisor, Constant) or divisor.value.dtype.kind != "f" or not divisor.value.size:
        return None
    array = divisor.value
    with np.errstate(all="ignore"):
        fraction, _ = np.frexp(array)
        inverse = np.asarray(1 / array, array.dtype)
        smallest = np.finfo(array.dtype).smallest_normal  # subnormal numbers multiply slowly
        is_exact = (np.abs(fraction) == 0.5) & np.isfinite(inverse) & (np.abs(inverse) >= smallest)
    if not is_exact.all():
        return None
    return (walk.add(multiply, [x, Constant(inverse)]),)


def _floordiv(operation: Operation, walk: Rewriter) -> Found:
    n, bits = operation.inputs[0], _exponent(operation)
    if bits is None:
        return None
    return (walk.add(right_shift, [n, Constant(np.array(bits, n.dtype.numpy_dtype))]),)


def _floormod(operation: Operation, walk: Rewriter) -> Found:
    n, bits = operation.inputs[0], _exponent(operation)
    if bits is None:
        return None
    return (walk.add(bitwise_and, [n, Constant(np.array(2**bits - 1, n.dtype.numpy_dtype))]),)


def _exponent(operation: Operation) -> int | None:
    """Return the exponent of the power of two by which a tensor of integers is divided; None for others."""
    divisor = operation.inputs[1]
    if not isinstance(divisor, Constant) or divisor.value.dtype.kind not in "iu" or divisor.shape != ():
        return None
    size = int(divisor.value)
    return size.bit_length() - 1 if size > 1 and size & (size - 1) == 0 else None


RULES: dict[OpDef, Rule] = {pow: _pow, realdiv: _realdiv, floordiv: _floordiv, floormod: _floormod}
