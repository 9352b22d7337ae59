"""Reductions along axes.

`axis` is one axis, several, or None for all of them; `keepdims` keeps reduced axes with size 1.

>>> reduce_sum([[1, 2], [3, 4]]).numpy().tolist(), reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
(10, [4, 6])
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors, shapes
from ..ir.graph import Operand
from ..ir.specs import Spec
from .arithmetic import maximum, real_divide_no_nan, truncated
from .attributes import Axes, DType
from .casting import cast
from .comparison import equal
from .creation import zeros_like
from .declare import Input, Ints, Name, Op, op
from .elementwise import as_real, conj, exp, is_finite, real
from .extents import shape as shape_of
from .extents import size as size_of
from .extremes import largest, smallest
from .families import (
    BOOLS,
    CURVED,
    EVERY,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REAL,
    Array,
    DTypes,
    demand,
    real_part,
)  # fmt: skip
from .joining import join
from .refusing import PythonTypeError
from .scans import back_through_products, cumprod
from .selecting import choose, gather
from .shaping import reshape, transpose
from .static import checked_dims, dims

_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce
_both: Any = np.logical_and.reduce
_either: Any = np.logical_or.reduce


def reduced(shape: shapes.Dims, axis: Axes, keepdims: bool) -> shapes.Dims:
    """The shape that is left; ValueError for an axis that is not there or given twice.

    >>> reduced((2, 3, None), (0, -1), False), reduced((2, 3), None, True), reduced(None, None, False)
    ((3,), (1, 1), ())
    """
    if shape is None:
        return () if axis is None and not keepdims else None
    gone = set(range(len(shape))) if axis is None else {shapes.normal_axis(one, len(shape)) for one in axis}
    if axis is not None and len(gone) < len(axis):
        raise ValueError(f"Invalid reduction arguments: Axes contains duplicate dimension: {axis}")
    if keepdims:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)


def reduction(
    name: str, compute: Callable[..., Any], allowed: DTypes, manual: str, example: str, gives: str
) -> Op:
    """A row of the table below: an operation that keeps the dtype."""

    def rule(input_tensor: Input, axis: Axes = None, keepdims: bool = False, name: Name = None) -> Spec:
        demand(input_tensor, allowed, operation.name)
        return Spec(input_tensor.dtype, reduced(input_tensor.shape, axis, keepdims))

    rule.__name__ = rule.__qualname__ = name
    rule.__module__ = sys._getframe(1).f_globals["__name__"]
    rule.__doc__ = f"{manual}\n\n>>> {name}({example}).numpy().tolist()\n{gives}\n"
    operation = Op(rule)
    operation.kernel(compute)
    return operation


def _is_of_pairs(array: Array) -> bool:
    return array.ndim > 1 and array.shape[-1] == 2 and array.dtype.char in "fd"


def _sum(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    if axis and not keepdims and _is_of_pairs(input_tensor) and axis in ((-1,), (input_tensor.ndim - 1,)):
        total = input_tensor[..., 0] + input_tensor[..., 1]  # NumPy takes longer for pairs, one by one
        total += input_tensor.dtype.type(0)  # which it begins with: the sum of zeros below 0 is none
        return total
    return _add(input_tensor, axis, input_tensor.dtype, None, keepdims)


def _prod(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return _multiply(input_tensor, axis, input_tensor.dtype, None, keepdims)


_WIDE: dict[str, Any] = {"i": np.int64, "u": np.uint64, "e": np.float32}
"""In what sums for means are added up, by the kind or character of the dtype."""


def _mean(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    own = input_tensor.dtype
    kind = _WIDE.get(own.char) or _WIDE.get(own.kind) or own.type
    total = _add(input_tensor, axis, kind, None, keepdims)
    count = input_tensor.size // (total.size or 1)
    if own.kind not in "iu":
        return (total / kind(count)).astype(own, copy=False)
    return (truncated(total, kind(count)) if count else total).astype(own)


def _variance(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    wide = input_tensor.astype(_WIDE.get(input_tensor.dtype.char, input_tensor.dtype), copy=False)
    distance = wide - _mean(wide, axis, True)
    squares = (distance * np.conj(distance)).real if distance.dtype.kind == "c" else distance * distance
    return _mean(squares, axis, keepdims)


def _max(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return largest(input_tensor, axis, None, None, keepdims)


def _min(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return smallest(input_tensor, axis, None, None, keepdims)


def _all(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return _both(input_tensor, axis, None, None, keepdims)


def _any(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return _either(input_tensor, axis, None, None, keepdims)


def _logsumexp(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    largest = _max(input_tensor, axis, True)
    largest = np.where(np.isfinite(largest), largest, input_tensor.dtype.type(0))
    logs = np.log(_sum(np.exp(input_tensor - largest), axis, keepdims))
    return logs + largest.reshape(logs.shape)


def _euclidean_norm(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    squares = np.square(np.abs(input_tensor))
    return np.sqrt(_sum(squares, axis, keepdims)).astype(input_tensor.dtype)


reduce_sum = reduction(
    "reduce_sum", _sum, NUMERIC, "The sum; 0 of nothing.", "[[1, 2], [3, 4]], axis=1", "[3, 7]"
)
reduce_prod = reduction("reduce_prod", _prod, NUMERIC, "The product; 1 of nothing.", "[[1, 2], [3, 4]]", "24")
reduce_mean = reduction(
    "reduce_mean", _mean, NUMERIC, "The mean; of integers rounded towards zero.", "[1., 2.]", "1.5"
)
reduce_max = reduction(
    "reduce_max",
    _max,
    REAL,
    "The largest, or NaN; of nothing the least number there is.",
    "[[1, 5], [7, 2]], axis=0",
    "[7, 5]",
)
reduce_min = reduction(
    "reduce_min",
    _min,
    REAL,
    "The smallest, or NaN; of nothing the largest number there is.",
    "[[1, 5], [7, 2]], axis=0",
    "[1, 2]",
)
reduce_all = reduction(
    "reduce_all", _all, BOOLS, "All are True.", "[[True, False], [True, True]], axis=1", "[False, True]"
)
reduce_any = reduction(
    "reduce_any",
    _any,
    BOOLS,
    "At least one is True.",
    "[[True, False], [False, False]], axis=1",
    "[True, False]",
)
reduce_logsumexp = reduction(
    "reduce_logsumexp", _logsumexp, FLOATS, "`log(sum(exp(x)))`, without overflow.", "[1000.]", "1000.0"
)
reduce_euclidean_norm = reduction(
    "reduce_euclidean_norm", _euclidean_norm, NUMERIC, "`sqrt(sum(abs(x) ** 2))`.", "[3., 4.]", "5.0"
)


@reduce_prod.gradient
def _(dy: Any, y: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    """Each element gets the product of the others, which is found without dividing: there may be zeros."""
    return spread(dy, shape_of(x), axis, keepdims) * conj(product_of_others(x, axis))


def _share(x: Any, y: Any) -> Any:
    """How many elements of `x` there are to each of `y`."""
    return cast(maximum(size_of(x), 1) // maximum(size_of(y), 1), x.dtype)


def _to_the_equal(dy: Any, y: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    """The gradient of an extreme, shared among the elements that are equal to it."""
    chosen = cast(equal(x, spread(y, shape_of(x), axis, keepdims)), dy.dtype)
    return chosen * spread(dy / reduce_sum(chosen, axis, keepdims), shape_of(x), axis, keepdims)


def stop_at_infinity(x: Any) -> Any:
    """`x` where it is finite, 0 elsewhere."""
    return choose(is_finite(x), x, zeros_like(x))


@op
def spread(tensor: Input, shape: Ints, axis: Axes, keepdims: bool, name: Name = None) -> Spec:
    """The opposite of a reduction: what was reduced to one element gets that everywhere.

    >>> spread([1, 2], [2, 3], axis=1, keepdims=False).numpy().tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    wanted = dims(shape)
    if wanted is not None and tensor.shape is not None:
        shapes.merge(tensor.shape, reduced(wanted, axis, keepdims))
    return Spec(tensor.dtype, wanted)


@spread.kernel
def _(tensor: Array, shape: Array, axis: Axes, keepdims: bool) -> Array:
    wanted = checked_dims(shape)
    if not keepdims:
        tensor = np.reshape(tensor, reduced(wanted, axis, True))
    return np.broadcast_to(tensor, wanted)


@spread.gradient
def _(dy: Any, y: Any, tensor: Any, shape: Any, axis: Axes, keepdims: bool) -> Any:
    return reduce_sum(dy, axis, keepdims), None


# Gradients. `spread` gives every element the gradient of the result that it is part of.

reduce_sum.gradient(lambda dy, y, x, axis, keepdims: spread(dy, shape_of(x), axis, keepdims))
reduce_mean.gradient(lambda dy, y, x, axis, keepdims: spread(dy / _share(x, y), shape_of(x), axis, keepdims))
reduce_max.gradient(lambda dy, y, x, axis, keepdims: _to_the_equal(dy, y, x, axis, keepdims))
reduce_min.gradient(lambda dy, y, x, axis, keepdims: _to_the_equal(dy, y, x, axis, keepdims))
reduce_logsumexp.gradient(
    lambda dy, y, x, axis, keepdims: (
        spread(dy, shape_of(x), axis, keepdims)
        * exp(x - stop_at_infinity(spread(y, shape_of(x), axis, keepdims)))
    )
)
reduce_euclidean_norm.gradient(
    lambda dy, y, x, axis, keepdims: (
        x * spread(real_divide_no_nan(as_real(dy), y), shape_of(x), axis, keepdims)
    )
)


@op
def product_of_others(x: Input, axis: Axes, name: Name = None) -> Spec:
    """For each element the product of the other ones that `reduce_prod` multiplies it with.

    >>> product_of_others([2, 0, 3], None).numpy().tolist()
    [0, 6, 0]
    """
    demand(x, NUMERIC, "product_of_others")
    reduced(x.shape, axis, False)
    return Spec(x.dtype, x.shape)


@product_of_others.kernel
def _(x: Array, axis: Axes) -> Array:
    x = np.asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else tuple(one % x.ndim for one in axis)
    kept = [i for i in range(x.ndim) if i not in axes]
    flat = np.moveaxis(x, kept, range(len(kept))).reshape(*(x.shape[i] for i in kept), -1)
    before, after = np.ones_like(flat), np.ones_like(flat)
    np.multiply.accumulate(flat[..., :-1], -1, out=before[..., 1:])
    np.multiply.accumulate(flat[..., :0:-1], -1, out=after[..., -2::-1])
    rest = [x.shape[i] for i in range(x.ndim) if i in axes]
    products = (before * after).reshape(*(x.shape[i] for i in kept), *rest)
    return np.moveaxis(products, range(len(kept)), kept)


@product_of_others.gradient
def _(dy: Any, y: Any, x: Any, axis: Axes) -> Any:
    """The products of those before and of those after an element, each differentiated."""
    flat, one = _in_one_axis(x, axis)
    grad, _ = _in_one_axis(dy, axis)
    before, after = cumprod(flat, one, True), cumprod(flat, one, True, True)
    found = back_through_products(grad * conj(after), flat, one, True, False)
    found += back_through_products(grad * conj(before), flat, one, True, True)
    return _as_before(found, x, axis)


def _in_one_axis(x: Any, axis: Axes) -> tuple[Any, int]:
    """The tensor with the axes made one, and where that is."""
    if axis is None:
        return reshape(x, [-1]), 0
    if len(axis) == 1:
        return x, axis[0]
    order = _last(x, axis)
    kept = len(order) - len(axis)
    turned = transpose(x, order)
    return reshape(turned, join([shape_of(turned)[:kept], [-1]], 0)), kept


def _as_before(flat: Any, x: Any, axis: Axes) -> Any:
    if axis is None or len(axis) == 1:
        return reshape(flat, shape_of(x))
    order = _last(x, axis)
    turned = reshape(flat, gather(shape_of(x), order))
    return transpose(turned, [order.index(i) for i in range(len(order))])


def _last(x: Any, axis: tuple[int, ...]) -> list[int]:
    """An order of all axes in which these are the last ones."""
    if x.shape.rank is None:
        raise LookupError(
            "reduce_prod along several axes has no second gradient for a tensor of unknown rank"
        )
    chosen = [one % x.shape.rank for one in axis]
    return [*(i for i in range(x.shape.rank) if i not in chosen), *chosen]


def _spread(x: Operand, axis: Axes, keepdims: bool, what: str) -> Spec:
    if x.dtype in INTEGERS:
        raise PythonTypeError("Input must be either real or complex. Received integer type.")
    demand(x, CURVED, what)
    return Spec(real_part(x.dtype), reduced(x.shape, axis, keepdims))


@op
def reduce_variance(
    input_tensor: Input, axis: Axes = None, keepdims: bool = False, name: Name = None
) -> Spec:
    """The mean of the squared distances from the mean.

    >>> reduce_variance([1., 3.]).numpy().tolist()
    1.0
    """
    return _spread(input_tensor, axis, keepdims, "reduce_variance")


@reduce_variance.kernel
def _(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return _variance(input_tensor, axis, keepdims).astype(input_tensor.real.dtype)


@reduce_variance.gradient
def _(dy: Any, y: Any, input_tensor: Any, axis: Axes, keepdims: bool) -> Any:
    x = input_tensor
    distance = x - reduce_mean(x, axis, True)
    return distance * cast(spread(dy * 2 / _share(real(x), y), shape_of(x), axis, keepdims), x.dtype)


@op
def reduce_std(input_tensor: Input, axis: Axes = None, keepdims: bool = False, name: Name = None) -> Spec:
    """The standard deviation: the square root of the variance.

    >>> reduce_std([1., 5.]).numpy().tolist()
    2.0
    """
    return _spread(input_tensor, axis, keepdims, "reduce_std")


@reduce_std.kernel
def _(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    return np.sqrt(_variance(input_tensor, axis, keepdims)).astype(input_tensor.real.dtype)


@reduce_std.gradient
def _(dy: Any, y: Any, input_tensor: Any, axis: Axes, keepdims: bool) -> Any:
    x = input_tensor
    distance = x - reduce_mean(x, axis, True)
    return distance * cast(spread(dy / y / _share(real(x), y), shape_of(x), axis, keepdims), x.dtype)


@op
def count_nonzero(
    input: Input, axis: Axes = None, keepdims: bool = False, dtype: DType = dtypes.int64, name: Name = None
) -> Spec:
    """How many elements are not zero, not False, not empty.

    >>> count_nonzero([[0, 1], [2, 3]], axis=1).numpy().tolist(), count_nonzero(["", "a"]).numpy().tolist()
    ([1, 2], 1)
    """
    demand(input, EVERY, "count_nonzero")
    return Spec(dtype, reduced(input.shape, axis, keepdims))


@count_nonzero.kernel
def _(input: Array, axis: Axes, keepdims: bool, dtype: dtypes.DType) -> Array:
    there = np.not_equal(input, b"" if input.dtype.kind == "O" else 0)
    return _add(there, axis, dtype.numpy, None, keepdims)


_INDICES = frozenset({dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64})


def _index_spec(x: Operand, axis: int | None, output_type: dtypes.DType, what: str) -> Spec:
    demand(x, REAL | BOOLS, what)
    if output_type not in _INDICES:
        raise errors.InvalidArgumentError(
            f"{what} gives {sorted(map(str, _INDICES))}, not {output_type}", what
        )
    axis = axis or 0
    shape = reduced(x.shape, (axis,), False)
    if x.shape is not None and x.shape[axis] == 0:
        raise ValueError(f"Reduction axis {axis} is empty in shape {shapes.show(x.shape)}")
    return Spec(output_type, shape)


def _has_nan(x: Array) -> bool:
    """Whether there is one: then it is the least."""
    if x.dtype.kind != "f" or not x.size:
        return False
    least = np.minimum.reduce(x, None)
    return bool(least != least)


@op
def argmax(
    input: Input, axis: int | None = None, output_type: DType = dtypes.int64, name: Name = None
) -> Spec:
    """Where along `axis` (0 by default) the largest element is: the first of several, never a NaN.

    >>> argmax([[1, 9], [7, 2]], axis=1).numpy().tolist()
    [1, 0]
    """
    return _index_spec(input, axis, output_type, "argmax")


@argmax.kernel
def _(input: Array, axis: int | None, output_type: dtypes.DType) -> Array:
    if _has_nan(input):
        input = np.where(np.isnan(input), input.dtype.type(-np.inf), input)
    return input.argmax(axis or 0).astype(output_type.numpy)


@op
def argmin(
    input: Input, axis: int | None = None, output_type: DType = dtypes.int64, name: Name = None
) -> Spec:
    """Where along `axis` (0 by default) the smallest element is: the first of several, never a NaN.

    >>> argmin([[1, 9], [7, 2]], axis=1).numpy().tolist()
    [0, 1]
    """
    return _index_spec(input, axis, output_type, "argmin")


@argmin.kernel
def _(input: Array, axis: int | None, output_type: dtypes.DType) -> Array:
    if _has_nan(input):
        input = np.where(np.isnan(input), input.dtype.type(np.inf), input)
    return input.argmin(axis or 0).astype(output_type.numpy)
