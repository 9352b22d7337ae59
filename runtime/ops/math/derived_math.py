"""Mathematical functions composed of other operations, and a few further kernels.

>>> polyval([1, 2, 3], 2).numpy().tolist(), zero_fraction([0., 2.]).numpy().tolist()
(11, 0.5)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import ELEMENTWISE
from ...ir.value_types import TensorType
from ..arrays.creation import ones_like, zeros_like
from ..arrays.reshape import fitted, reshape
from ..arrays.select_kernel import selected
from ..arrays.shape_ops import size
from ..arrays.where_ops import where
from ..framework.attribute_parsers import Axis
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Input, Name, Same, op
from ..framework.op_families import COMPLEX, FLOATS, NUMERIC, Array, DTypes, binary, require_dtype
from ..reduce.reductions import reduce_all, reduce_sum
from ..reduce.scans import scanned, scanned_spec
from .arithmetic import add, add_n, divide, divide_no_nan, multiply, subtract, xdivy
from .cast import cast
from .comparison import equal, greater, less, less_equal, not_equal
from .elementwise import conj, exp, log
from .error_and_gamma import lgamma

_WIDE: DTypes = frozenset({dtypes.float32, dtypes.float64})


@export("math.accumulate_n")
@cached_dispatch
def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: Name = None) -> Tensor:
    """Return the sum of tensors of one shape and dtype.

    Args:
        shape: the required shape of the tensors.
        tensor_dtype: the required dtype of the tensors.

    Raises ValueError if they differ, and for an empty list.

    >>> accumulate_n([[1, 2], [3, 4]]).numpy().tolist()
    [4, 6]
    """
    tensors = [convert_to_tensor(value) for value in inputs] if isinstance(inputs, (list, tuple)) else []
    if not tensors or any(tensor.dtype is not tensors[0].dtype for tensor in tensors):
        raise ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not tensors[0].dtype:
        raise TypeError(
            f"tensor_dtype is {dtypes.as_dtype(tensor_dtype)!r}, but input is {tensors[0].dtype!r}"
        )
    known = shapes.as_dims(shape)
    for tensor in tensors:
        known = shapes.merge(known, shapes.as_dims(tensor.shape))
    return add_n(tensors, name)  # type: ignore[no-any-return]


@export("math.zero_fraction", "nn.zero_fraction")
@cached_dispatch
def zero_fraction(value: TensorLike, name: Name = None) -> Tensor:
    """Return the fraction of elements that are zero, as a float32; NaN for an empty tensor.

    >>> zero_fraction([0., 0., 1., 2.]).numpy().tolist()
    0.5
    """
    value = convert_to_tensor(value)
    zeros = reduce_sum(cast(equal(value, zeros_like(value)), dtypes.int64))
    return divide(cast(zeros, dtypes.float32), cast(size(value, dtypes.int64), dtypes.float32), name)


@export("math.lbeta")
@cached_dispatch
def lbeta(x: TensorLike, name: Name = None) -> Tensor:
    """Return the logarithm of the multivariate beta function of the numbers along the last axis.

    >>> lbeta([1., 1., 1.]).numpy().round(4).tolist()
    -0.6930999755859375
    """
    x = convert_to_tensor(x)
    return subtract(reduce_sum(lgamma(x), -1), lgamma(reduce_sum(x, -1)), name)  # type: ignore[no-any-return]


@export("math.polyval")
@cached_dispatch
def polyval(coeffs: Sequence[Any], x: TensorLike, name: Name = None) -> Tensor:
    """Evaluate the polynomial with these coefficients, the highest first, at `x`.

    >>> polyval([1., 0., -2.], [1., 2.]).numpy().tolist()
    [-1.0, 2.0]
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert_to_tensor(x)
    if not coeffs:
        return zeros_like(x, name=name)  # type: ignore[no-any-return]
    total = convert_to_tensor(coeffs[0], x.dtype)
    for coefficient in coeffs[1:]:
        total = add(convert_to_tensor(coefficient, x.dtype), multiply(total, x))
    return total


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x: TensorLike, name: Name = None) -> Tensor:
    """Return `1 / x`, and 0 where `x` is 0.

    >>> reciprocal_no_nan([2., 0.]).numpy().tolist()
    [0.5, 0.0]
    """
    x = convert_to_tensor(x)
    return divide_no_nan(ones_like(x), x, name)  # type: ignore[no-any-return]


@export("math.is_non_decreasing")
def is_non_decreasing(x: TensorLike, name: Name = None) -> Tensor:
    """Return whether each element, in row-major order, is at least as large as the previous one.

    >>> bool(is_non_decreasing([1, 1, 2])), bool(is_non_decreasing([2, 1]))
    (True, False)
    """
    before, after = _neighbors(x)
    return reduce_all(less_equal(before, after), name=name)  # type: ignore[no-any-return]


@export("math.is_strictly_increasing")
def is_strictly_increasing(x: TensorLike, name: Name = None) -> Tensor:
    """Return whether each element, in row-major order, is larger than the previous one.

    >>> bool(is_strictly_increasing([1, 2, 3])), bool(is_strictly_increasing([1, 1]))
    (True, False)
    """
    before, after = _neighbors(x)
    return reduce_all(less(before, after), name=name)  # type: ignore[no-any-return]


def _neighbors(x: TensorLike) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x)
    if x.dtype not in NUMERIC - COMPLEX:
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    flat = reshape(x, [-1])
    return flat[:-1], flat[1:]


def _xlog1py(x: Array, y: Array) -> Array:
    return selected(x != 0, x * np.log1p(y), x.dtype.type(0))


xlog1py = binary("xlog1py", _xlog1py, FLOATS | COMPLEX, "`x * log(1 + y)`, and 0 where `x` is 0.",
                 "[0., 2.], [-1., 0.]", "[0.0, 0.0]", traits=ELEMENTWISE, cost=18,
                 export=("math.xlog1py",))  # fmt: skip


@xlog1py.gradient
def _(dy: Any, result: Any, x: Any, y: Any) -> Any:
    slope = xlog1py(cast(not_equal(x, zeros_like(x)), x.dtype), y)
    return fitted(dy * conj(slope), x), fitted(dy * conj(xdivy(x, y + 1)), y)


@export("math.nextafter")
@op(cost=6, formula=lambda m, x, y: m.nextafter(x, y))
def nextafter(x1: Same, x2: Same, name: Name = None) -> TensorType:
    """Return the float adjacent to `x1` in the direction of `x2`.

    >>> nextafter([1., 1.], [1., 0.]).numpy().tolist()
    [1.0, 0.9999999403953552]
    """
    require_dtype(x1, _WIDE, "nextafter")
    return TensorType(x1.dtype, shapes.broadcast(x1.shape, x2.shape))


nextafter.kernel(np.nextafter)
nextafter.gradient(lambda dy, y, x1, x2: (fitted(dy, x1), zeros_like(x2)))


@export("math.cumulative_logsumexp")
@op
def cumulative_logsumexp(
    x: Input, axis: Axis = 0, exclusive: bool = False, reverse: bool = False, name: Name = None
) -> TensorType:
    """Return the logarithms of running sums of `exp(x)` along `axis`, without overflow; arguments as of `cumsum`.

    >>> cumulative_logsumexp([0., 0., 100.], exclusive=True).numpy().round(4).tolist()
    [-inf, 0.0, 0.6930999755859375]
    """
    require_dtype(x, FLOATS, "cumulative_logsumexp")
    return scanned_spec(x, axis, "cumulative_logsumexp")


@cumulative_logsumexp.kernel
def _(x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    return scanned(np.logaddexp, -np.inf, x, axis, exclusive, reverse)


@cumulative_logsumexp.gradient
def _(dy: Any, y: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Sum `dy * exp(x - y)` over the results that `x` contributes to: in logarithms, by the sign of `dy`."""
    nothing = zeros_like(x) - np.inf

    def part(size: Any, chosen: Any) -> Any:
        logs = where(chosen, log(where(chosen, size, ones_like(size))) - y, nothing)
        return exp(cumulative_logsumexp(logs, axis, exclusive, not reverse) + x)

    return part(dy, greater(dy, 0)) - part(-dy, less(dy, 0))
