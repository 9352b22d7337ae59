"""Variance and standard deviation along axes.

>>> reduce_variance([[1., 3.], [2., 6.]], axis=1).numpy().tolist(), reduce_std([2., 6.]).numpy().tolist()
([1.0, 4.0], 2.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import shapes
from ...core.export import export
from ...ir.graph import Operand
from ...ir.value_types import TensorType
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Name, op
from ..framework.op_errors import PythonTypeError
from ..framework.op_families import CURVED, INTEGERS, Array, real_part, require_dtype
from ..math.cast import cast
from ..math.elementwise import real
from .reductions import WIDE, mean_of, reduce_mean, share, spread


def _variance(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    wide = input_tensor.astype(WIDE.get(input_tensor.dtype.char, input_tensor.dtype), copy=False)
    distance = wide - mean_of(wide, axis, True)
    squares = (distance * np.conj(distance)).real if distance.dtype.kind == "c" else distance * distance
    return mean_of(squares, axis, keepdims)


def _spec(x: Operand, axis: Axes, keepdims: bool, what: str) -> TensorType:
    if x.dtype in INTEGERS:
        raise PythonTypeError("Input must be either real or complex. Received integer type.")
    require_dtype(x, CURVED, what)
    return TensorType(real_part(x.dtype), shapes.reduced(x.shape, axis, keepdims))


@export("math.reduce_variance")
@op
def reduce_variance(
    input_tensor: Input, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> TensorType:
    """Return the mean of the squared distances from the mean.

    >>> reduce_variance([1., 3.]).numpy().tolist()
    1.0
    """
    return _spec(input_tensor, axis, keepdims, "reduce_variance")


@reduce_variance.kernel
def _(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return _variance(input_tensor, axis, keepdims).astype(input_tensor.real.dtype)


@reduce_variance.gradient
def _(dy: Any, y: Any, input_tensor: Any, axis: Axes, keepdims: bool) -> Any:
    x = input_tensor
    distance = x - reduce_mean(x, axis, True)
    return distance * cast(spread(dy * 2 / share(real(x), y), shape_of(x), axis, keepdims), x.dtype)


@export("math.reduce_std")
@op
def reduce_std(
    input_tensor: Input, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> TensorType:
    """Return the standard deviation: the square root of the variance.

    >>> reduce_std([1., 5.]).numpy().tolist()
    2.0
    """
    return _spec(input_tensor, axis, keepdims, "reduce_std")


@reduce_std.kernel
def _(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return np.sqrt(_variance(input_tensor, axis, keepdims)).astype(input_tensor.real.dtype)


@reduce_std.gradient
def _(dy: Any, y: Any, input_tensor: Any, axis: Axes, keepdims: bool) -> Any:
    x = input_tensor
    distance = x - reduce_mean(x, axis, True)
    return distance * cast(spread(dy / y / share(real(x), y), shape_of(x), axis, keepdims), x.dtype)
