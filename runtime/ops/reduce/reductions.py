"""Reductions along axes.

`axis` is one axis, several, or None for all of them; `keepdims` keeps reduced axes with size 1.

>>> reduce_sum([[1, 2], [3, 4]]).numpy().tolist(), reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
(10, [4, 6])
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.export import export
from ...ir import batching
from ...ir.facts import BlockReduction, DeclaredFacts
from ...ir.traits import TOTAL
from ...ir.value_types import TensorType
from ..arrays.creation import zeros_like
from ..arrays.shape_ops import shape as shape_of
from ..arrays.shape_ops import size as size_of
from ..arrays.where_ops import choose
from ..framework.attribute_parsers import Axes, DType
from ..framework.op import Input, Ints, Name, Op, op
from ..framework.op_families import (
    BOOLS,
    EVERY,
    FLOATS,
    NUMERIC,
    REAL,
    Array,
    DTypes,
    require_dtype,
)  # fmt: skip
from ..framework.static_values import checked_dims, dims
from ..math.arithmetic import maximum, real_divide_no_nan, truncated
from ..math.cast import cast
from ..math.comparison import equal
from ..math.elementwise import as_real, conj, exp, is_finite
from . import minmax_kernels
from .minmax_kernels import largest, smallest
from .short_axis_kernels import ONE_BY_ONE, is_left_to_numpy, needs_numpy, reduced_faster, sum_of

_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce
_larger: Any = np.maximum.reduce
_both: Any = np.logical_and.reduce
_either: Any = np.logical_or.reduce


def reduction(
    name: str,
    compute: Callable[..., Any],
    allowed: DTypes,
    manual: str,
    example: str,
    gives: str,
    **facts: Unpack[DeclaredFacts],
) -> Op:
    """Declare one operation of the table below, which keeps the dtype."""

    def rule(input_tensor: Input, axis: Axes = None, keepdims: bool = False, name: Name = None) -> TensorType:
        require_dtype(input_tensor, allowed, operation.name)
        return TensorType(input_tensor.dtype, shapes.reduced(input_tensor.shape, axis, keepdims))

    rule.__name__ = rule.__qualname__ = name
    rule.__module__ = sys._getframe(1).f_globals["__name__"]
    rule.__doc__ = f"{manual}\n\n>>> {name}({example}).numpy().tolist()\n{gives}\n"
    facts.setdefault("batch", batching.along_axes)
    operation = Op(rule, **facts)
    operation.kernel(compute)
    if allowed is BOOLS:
        operation.dtype_of_empty = dtypes.bool_
    reducer = facts.get("reducer")
    if reducer is not None and reducer.compute in (_add, _multiply):
        operation.specialize(functools.partial(_of_one_shape, reducer))
    elif reducer is not None and reducer.compute in (largest, smallest):
        operation.specialize(functools.partial(minmax_kernels.of_one_shape, reducer.compute))
    return operation


def _of_one_shape(reducer: BlockReduction, specs: Sequence[Any], axis: Axes, keepdims: bool) -> Any:
    """Return the kernel of a sum, product or mean for one shape whose elements NumPy's loop reduces best."""
    (x,) = specs
    own, reduce = x.dtype.numpy_dtype, reducer.compute
    if own.char not in ("fd" if reducer.divides else ONE_BY_ONE) or not shapes.is_static(x.shape):
        return None
    if not needs_numpy(x.shape, axis):
        return None
    if not reducer.divides:
        return lambda x: reduce(x, axis, own, None, keepdims)
    sizes: Any = shapes.reduced(x.shape, axis, keepdims)
    count = own.type(math.prod(x.shape) // (math.prod(sizes) or 1))
    return lambda x: reduce(x, axis, own, None, keepdims) / count


def _prod(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    if input_tensor.dtype.char in ONE_BY_ONE:
        found = reduced_faster(np.multiply, input_tensor, axis, keepdims)
        if found is not None:
            return found
    return _multiply(input_tensor, axis, input_tensor.dtype, None, keepdims)


WIDE: dict[str, Any] = {"i": np.int64, "u": np.uint64, "e": np.float32}
"""The dtype in which the sums for means are computed, by the kind or character of the elements' dtype."""


def mean_of(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    own = input_tensor.dtype
    kind = WIDE.get(own.char) or WIDE.get(own.kind) or own.type
    if own.kind in "fc" and kind is own.type:
        total = sum_of(input_tensor, axis, keepdims)
        return total / kind(input_tensor.size // (total.size or 1))
    total = _add(input_tensor, axis, kind, None, keepdims)
    count = input_tensor.size // (total.size or 1)
    if own.kind not in "iu":
        return (total / kind(count)).astype(own, copy=False)
    return (truncated(total, kind(count)) if count else total).astype(own)


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
    logs = np.log(sum_of(np.exp(input_tensor - largest), axis, keepdims))
    return logs + largest.reshape(logs.shape)


def _logsumexp_of_one_shape(specs: Sequence[Any], axis: Axes, keepdims: bool) -> Any:
    """Return the kernel of `reduce_logsumexp` for one shape that NumPy's loops reduce best."""
    (x,) = specs
    if not is_left_to_numpy(x.shape, axis):
        return None
    own: Any = x.dtype.numpy_dtype
    sizes: Any = shapes.reduced(x.shape, axis, keepdims)
    count = math.prod(sizes)

    def kernel(x: Array) -> Array:
        top = _larger(x, axis, own, None, True)
        if np.count_nonzero(np.isfinite(top)) != count:
            return _logsumexp(x, axis, keepdims)
        return np.log(_add(np.exp(x - top), axis, own, None, keepdims)) + top.reshape(sizes)

    return kernel


def _euclidean_norm(input_tensor: Array, axis: Axes, keepdims: bool) -> Array:
    squares = np.square(np.abs(input_tensor) if input_tensor.dtype.kind == "c" else input_tensor)
    return np.sqrt(sum_of(squares, axis, keepdims)).astype(input_tensor.dtype)


reduce_sum = reduction("reduce_sum", sum_of, NUMERIC, "The sum; 0 of nothing.", "[[1, 2], [3, 4]], axis=1",
                       "[3, 7]", traits=TOTAL, reducer=BlockReduction("np.add.reduce", np.add.reduce),
                       export=("math.reduce_sum", "reduce_sum"))  # fmt: skip
reduce_prod = reduction("reduce_prod", _prod, NUMERIC, "The product; 1 of nothing.", "[[1, 2], [3, 4]]", "24",
                        traits=TOTAL, reducer=BlockReduction("np.multiply.reduce", np.multiply.reduce),
                        export=("math.reduce_prod", "reduce_prod"))  # fmt: skip
reduce_mean = reduction("reduce_mean", mean_of, NUMERIC, "The mean; of integers rounded towards zero.",
                        "[1., 2.]", "1.5", traits=TOTAL,
                        reducer=BlockReduction("np.add.reduce", np.add.reduce, divides=True),
                        export=("math.reduce_mean", "reduce_mean"))  # fmt: skip
reduce_max = reduction("reduce_max", _max, REAL, "The largest, or NaN; of nothing the least number there is.",
                       "[[1, 5], [7, 2]], axis=0", "[7, 5]", reducer=BlockReduction("largest", largest),
                       export=("math.reduce_max", "reduce_max"))  # fmt: skip
reduce_min = reduction("reduce_min", _min, REAL,
                       "The smallest, or NaN; of nothing the largest number there is.",
                       "[[1, 5], [7, 2]], axis=0", "[1, 2]", reducer=BlockReduction("smallest", smallest),
                       export=("math.reduce_min", "reduce_min"))  # fmt: skip
reduce_all = reduction("reduce_all", _all, BOOLS, "All are True.", "[[True, False], [True, True]], axis=1",
                       "[False, True]", traits=TOTAL,
                       reducer=BlockReduction("np.logical_and.reduce", np.logical_and.reduce),
                       export=("math.reduce_all", "reduce_all"))  # fmt: skip
reduce_any = reduction("reduce_any", _any, BOOLS, "At least one is True.",
                       "[[True, False], [False, False]], axis=1", "[True, False]", traits=TOTAL,
                       reducer=BlockReduction("np.logical_or.reduce", np.logical_or.reduce),
                       export=("math.reduce_any", "reduce_any"))  # fmt: skip
reduce_logsumexp = reduction("reduce_logsumexp", _logsumexp, FLOATS, "`log(sum(exp(x)))`, without overflow.",
                             "[1000.]", "1000.0",
                             export=("math.reduce_logsumexp", "reduce_logsumexp"))  # fmt: skip
reduce_logsumexp.specialize(_logsumexp_of_one_shape)
reduce_euclidean_norm = reduction("reduce_euclidean_norm", _euclidean_norm, NUMERIC,
                                  "`sqrt(sum(abs(x) ** 2))`.", "[3., 4.]", "5.0",
                                  export=("math.reduce_euclidean_norm",))  # fmt: skip


@reduce_prod.gradient
def _(dy: Any, y: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    """Multiply by the product of the other elements, computed without division because of zeros."""
    from .leave_one_out_product import product_of_others  # few programs differentiate products

    return spread(dy, shape_of(x), axis, keepdims) * conj(product_of_others(x, axis))


def share(x: Any, y: Any) -> Any:
    """Return the number of elements of `x` for each element of `y`."""
    return cast(maximum(size_of(x), 1) // maximum(size_of(y), 1), x.dtype)


def _to_the_equal(dy: Any, y: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    """Distribute the cotangent of an extreme equally among the elements that equal the extreme."""
    chosen = cast(equal(x, spread(y, shape_of(x), axis, keepdims)), dy.dtype)
    return chosen * spread(dy / reduce_sum(chosen, axis, keepdims), shape_of(x), axis, keepdims)


def stop_at_infinity(x: Any) -> Any:
    """Return `x` where it is finite, 0 elsewhere."""
    return choose(is_finite(x), x, zeros_like(x))


@op
def spread(tensor: Input, shape: Ints, axis: Axes, keepdims: bool, name: Name = None) -> TensorType:
    """Broadcast the result of a reduction to the elements it was computed from: the transpose of `reduce_sum`.

    >>> spread([1, 2], [2, 3], axis=1, keepdims=False).numpy().tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    wanted = dims(shape)
    if wanted is not None and tensor.shape is not None:
        shapes.merge(tensor.shape, shapes.reduced(wanted, axis, keepdims))
    return TensorType(tensor.dtype, wanted)


@spread.kernel
def _(tensor: Array, shape: Array, axis: Axes, keepdims: bool) -> Array:
    wanted = checked_dims(shape)
    if not keepdims:
        tensor = np.reshape(tensor, shapes.reduced(wanted, axis, True))
    return np.broadcast_to(tensor, wanted)


spread.gradient(lambda dy, y, tensor, shape, axis, keepdims: (reduce_sum(dy, axis, keepdims), None))


# Gradient functions. `spread` gives every element the cotangent of its reduction result.

reduce_sum.gradient(lambda dy, y, x, axis, keepdims: spread(dy, shape_of(x), axis, keepdims))
reduce_mean.gradient(lambda dy, y, x, axis, keepdims: spread(dy / share(x, y), shape_of(x), axis, keepdims))
reduce_max.gradient(lambda dy, y, x, axis, keepdims: _to_the_equal(dy, y, x, axis, keepdims))
reduce_min.gradient(lambda dy, y, x, axis, keepdims: _to_the_equal(dy, y, x, axis, keepdims))


@reduce_logsumexp.gradient
def _(dy: Any, y: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    powers = exp(x - spread(stop_at_infinity(y), shape_of(x), axis, keepdims))
    total = reduce_sum(powers, axis, keepdims)  # 1, unless `y` is large and rounded, or not finite
    return powers * spread(dy / total, shape_of(x), axis, keepdims)


reduce_euclidean_norm.gradient(
    lambda dy, y, x, axis, keepdims: (
        x * spread(real_divide_no_nan(as_real(dy), y), shape_of(x), axis, keepdims)
    )
)


@export("math.count_nonzero")
@op
def count_nonzero(
    input: Input, axis: Axes = None, keepdims: bool = False, dtype: DType = dtypes.int64, name: Name = None
) -> TensorType:
    """Count the elements that are not zero, not False, not empty.

    >>> count_nonzero([[0, 1], [2, 3]], axis=1).numpy().tolist(), count_nonzero(["", "a"]).numpy().tolist()
    ([1, 2], 1)
    """
    require_dtype(input, EVERY, "count_nonzero")
    return TensorType(dtype, shapes.reduced(input.shape, axis, keepdims))


@count_nonzero.kernel
def _(input: Array, axis: Axes, keepdims: bool, dtype: dtypes.DType) -> Array:
    is_nonzero = np.not_equal(input, b"" if input.dtype.kind == "O" else 0)
    return _add(is_nonzero, axis, dtype.numpy_dtype, None, keepdims)
