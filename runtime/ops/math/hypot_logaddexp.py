"""Float functions of NumPy and the array API that TensorFlow lacks, without overflow of intermediate results."""

from __future__ import annotations

import math

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.tensor import Tensor
from ..arrays.creation import ones_like, zeros_like
from ..arrays.where_ops import where
from .arithmetic import maximum
from .cast import bitcast, cast
from .elementwise import abs, exp, is_inf, log1p, sqrt, square


def hypotenuse(x: TensorLike, y: TensorLike) -> Tensor:
    """Return sqrt(x * x + y * y), scaled by the longer side; infinite if a side is, even if the other is NaN.

    >>> hypotenuse([3.0, 0.0], [4.0, -2e30]).numpy().tolist()
    [5.0, 2.0000000300949324e+30]
    """
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, x.dtype)
    infinite = is_inf(x) | is_inf(y)
    x, y = abs(x), abs(y)
    is_longer = x >= y
    longer, shorter = where(is_longer, x, y), where(is_longer, y, x)  # equal sides share the gradient
    divisor = where((longer == 0) | is_inf(longer), ones_like(longer), longer)
    length = longer * sqrt(1 + square(shorter / divisor))
    return where(infinite, cast(math.inf, x.dtype), length)  # type: ignore[no-any-return]


def log_of_sum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return log(exp(x) + exp(y)), as max + log(1 + exp(-|x - y|)); equal arguments, infinities too, add log 2.

    >>> log_of_sum([0.0, -math.inf], [-math.inf, -math.inf]).numpy().tolist()
    [0.0, -inf]
    """
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, x.dtype)
    gap = where(x == y, zeros_like(x - y), x - y)
    return maximum(x, y) + log1p(exp(-abs(gap)))  # type: ignore[no-any-return]


def sign_bit(x: TensorLike) -> Tensor:
    """Return whether there is a minus, also of -0.0 and NaN.

    >>> sign_bit([-0.0, 1.0]).numpy().tolist()
    [True, False]
    """
    x = convert_to_tensor(x)
    return bitcast(x, {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}[x.dtype.size]) < 0  # type: ignore[no-any-return]


def copy_sign(x: TensorLike, y: TensorLike) -> Tensor:
    """Return |x| with the sign of y.

    >>> copy_sign([1.0, -2.0], [-0.0, 3.0]).numpy().tolist()
    [-1.0, 2.0]
    """
    size = abs(x)
    return where(sign_bit(y), -size, size)  # type: ignore[no-any-return]
