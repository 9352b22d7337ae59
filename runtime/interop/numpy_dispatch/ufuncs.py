"""NumPy's universal functions as operations, with the dtypes that NumPy computes with.

    np.sin(x), x an int32     ==>     sin(cast(x, float64))

An array operand takes the dtype of a tensor operand, as with the operator `+`. Two tensors are promoted as in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.tensor import Tensor
from ...ops.arrays.creation import ones_like, zeros_like
from ...ops.arrays.reshape import expand_dims, squeeze
from ...ops.arrays.where_ops import where
from ...ops.linalg.matmul import matmul_op
from ...ops.math import arithmetic, bitwise, comparison, elementwise
from ...ops.math import cast as casting
from ...ops.math.cast import cast, identity
from ...ops.math.divisors import gcd, lcm
from ...ops.math.hypot_logaddexp import copy_sign, hypotenuse, log_of_sum, sign_bit
from ...ops.reduce.reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_prod, reduce_sum

Function = Callable[..., Any]


def _quotient(x: Tensor, y: Tensor) -> Any:
    """Return the floor of the quotient. A finite number divided by an infinity of the opposite sign is -1."""
    unseen = elementwise.is_finite(x) & elementwise.is_inf(y) & (x != 0) & ((x < 0) != (y < 0))
    return where(unseen, cast(-1, x.dtype), arithmetic.floordiv(x, y))


def _product(x: Tensor, y: Tensor) -> Any:
    """Return the product of matrices, or of vectors: a row on the left, a column on the right."""
    if x.shape.rank == 1 and y.shape.rank == 1:
        from ...ops.linalg.tensordot import tensordot  # few programs multiply vectors so

        return tensordot(x, y, 1)
    if x.shape.rank == 1:
        return squeeze(matmul_op(expand_dims(x, 0), y), -2)
    if y.shape.rank == 1:
        return squeeze(matmul_op(x, expand_dims(y, 1)), -1)
    return matmul_op(x, y)


UFUNCS: dict[np.ufunc, Function] = {
    np.add: arithmetic.add,
    np.subtract: arithmetic.subtract,
    np.multiply: arithmetic.multiply,
    np.true_divide: arithmetic.divide,
    np.floor_divide: _quotient,
    np.remainder: arithmetic.floormod,
    np.fmod: arithmetic.truncatemod,
    np.power: arithmetic.pow,
    np.float_power: arithmetic.pow,
    np.maximum: arithmetic.maximum,
    np.minimum: arithmetic.minimum,
    np.arctan2: arithmetic.atan2,
    np.hypot: hypotenuse,
    np.logaddexp: log_of_sum,
    np.logaddexp2: lambda x, y: log_of_sum(x * math.log(2.0), y * math.log(2.0)) / math.log(2.0),
    np.heaviside: lambda x, y: where(x > 0, ones_like(x), where(x < 0, zeros_like(x), where(x == 0, y, x))),
    np.copysign: copy_sign,
    np.gcd: gcd,
    np.lcm: lcm,
    np.negative: elementwise.negative,
    np.positive: identity,
    np.absolute: elementwise.abs,
    np.fabs: elementwise.abs,
    np.sign: elementwise.sign,
    np.square: elementwise.square,
    np.sqrt: elementwise.sqrt,
    np.cbrt: lambda x: copy_sign(arithmetic.pow(elementwise.abs(x), 1 / 3), x),
    np.reciprocal: elementwise.reciprocal,
    np.exp: elementwise.exp,
    np.exp2: lambda x: arithmetic.pow(2.0, x),
    np.expm1: elementwise.expm1,
    np.log: elementwise.log,
    np.log2: lambda x: elementwise.log(x) / math.log(2.0),
    np.log10: lambda x: elementwise.log(x) / math.log(10.0),
    np.log1p: elementwise.log1p,
    np.sin: elementwise.sin,
    np.cos: elementwise.cos,
    np.tan: elementwise.tan,
    np.arcsin: elementwise.asin,
    np.arccos: elementwise.acos,
    np.arctan: elementwise.atan,
    np.sinh: elementwise.sinh,
    np.cosh: elementwise.cosh,
    np.tanh: elementwise.tanh,
    np.arcsinh: elementwise.asinh,
    np.arccosh: elementwise.acosh,
    np.arctanh: elementwise.atanh,
    np.degrees: lambda x: x * (180.0 / math.pi),
    np.rad2deg: lambda x: x * (180.0 / math.pi),
    np.radians: lambda x: x * (math.pi / 180.0),
    np.deg2rad: lambda x: x * (math.pi / 180.0),
    np.floor: elementwise.floor,
    np.ceil: elementwise.ceil,
    np.rint: elementwise.rint,
    np.trunc: lambda x: where(x < 0, elementwise.ceil(x), elementwise.floor(x)),
    np.signbit: sign_bit,
    np.isnan: elementwise.is_nan,
    np.isinf: elementwise.is_inf,
    np.isfinite: elementwise.is_finite,
    np.conjugate: elementwise.conj,
    np.equal: comparison.equal,
    np.not_equal: comparison.not_equal,
    np.less: comparison.less,
    np.less_equal: comparison.less_equal,
    np.greater: comparison.greater,
    np.greater_equal: comparison.greater_equal,
    np.logical_and: lambda x, y: comparison.logical_and(_truth(x), _truth(y)),
    np.logical_or: lambda x, y: comparison.logical_or(_truth(x), _truth(y)),
    np.logical_xor: lambda x, y: comparison.not_equal(_truth(x), _truth(y)),
    np.logical_not: lambda x: comparison.logical_not(_truth(x)),
    np.bitwise_and: bitwise.bitwise_and,
    np.bitwise_or: bitwise.bitwise_or,
    np.bitwise_xor: bitwise.bitwise_xor,
    np.invert: bitwise.invert,
    np.left_shift: bitwise.left_shift,
    np.right_shift: bitwise.right_shift,
    np.matmul: _product,
}


def _compared(operation: Function) -> Function:
    """Return an ordering of False and True."""
    return lambda x, y: operation(cast(x, dtypes.int8), cast(y, dtypes.int8))


_BOOLS: dict[np.ufunc, Function] = {
    np.add: comparison.logical_or,
    np.multiply: comparison.logical_and,
    np.maximum: comparison.logical_or,
    np.minimum: comparison.logical_and,
    np.absolute: identity,
    np.bitwise_and: comparison.logical_and,
    np.bitwise_or: comparison.logical_or,
    np.bitwise_xor: comparison.not_equal,
    np.invert: comparison.logical_not,
    np.less: _compared(comparison.less),
    np.less_equal: _compared(comparison.less_equal),
    np.greater: _compared(comparison.greater),
    np.greater_equal: _compared(comparison.greater_equal),
    **dict.fromkeys((np.floor, np.ceil, np.trunc), identity),
    **dict.fromkeys((np.isnan, np.isinf), lambda x: zeros_like(x, dtypes.bool_)),
    np.isfinite: lambda x: ones_like(x, dtypes.bool_),
}
"""Implementations for bools, which the operations above do not support."""

_INTEGERS: dict[np.ufunc, Function] = {
    **{ufunc: _BOOLS[ufunc] for ufunc in (np.floor, np.ceil, np.trunc, np.isnan, np.isinf, np.isfinite)},
    np.rint: identity,
    np.floor_divide: arithmetic.floordiv,
    np.reciprocal: lambda x: arithmetic.truncatediv(ones_like(x), x),
}
"""Implementations for integers."""


def _unsigned_power(x: Tensor, y: Tensor) -> Tensor:
    """Return the power, computed in int64 since its low bits are those of the power in any narrower type."""
    return cast(arithmetic.pow(cast(x, dtypes.int64), cast(y, dtypes.int64)), x.dtype)


_UNSIGNED: dict[np.ufunc, Function] = {
    **_INTEGERS,
    np.absolute: identity,
    np.negative: lambda x: zeros_like(x) - x,
    np.sign: lambda x: cast(x > 0, x.dtype),
    np.power: _unsigned_power,
}
"""Implementations for unsigned integers."""


def _both_parts(operation: Function) -> Function:
    """Return a function that applies the operation to the real and the imaginary part of a complex number."""
    return lambda z: casting.complex(operation(elementwise.real(z)), operation(elementwise.imag(z)))


def _either_part(operation: Function) -> Function:
    return lambda z: comparison.logical_or(operation(elementwise.real(z)), operation(elementwise.imag(z)))


def _logarithm(base: float) -> Function:
    """Return the complex logarithm to a base. Its parts are divided: complex division makes NaN of infinity."""
    divided = _both_parts(lambda x: x / math.log(base))
    return lambda z: divided(elementwise.log(z))


_COMPLEX: dict[np.ufunc, Function] = {
    np.isfinite: lambda z: ~_either_part(lambda x: ~elementwise.is_finite(x))(z),
    np.isinf: _either_part(elementwise.is_inf),
    np.isnan: _either_part(elementwise.is_nan),
    np.log2: _logarithm(2.0),
    np.log10: _logarithm(10.0),
    np.rint: _both_parts(elementwise.rint),
}
"""Implementations for complex numbers."""

_SPECIAL = {"b": _BOOLS, "i": _INTEGERS, "u": _UNSIGNED, "c": _COMPLEX}


def operation_of(ufunc: np.ufunc, dtype: dtypes.DType) -> Function:
    """Return the implementation of a universal function for operands of a dtype."""
    return _SPECIAL.get(dtype.kind, {}).get(ufunc) or UFUNCS[ufunc]


def _truth(x: Tensor) -> Tensor:
    return x if x.dtype.is_bool else comparison.not_equal(x, cast(0, x.dtype))


def apply(ufunc: np.ufunc, inputs: tuple[Any, ...], dtype: Any = None) -> Any:
    """Record a universal function; return NotImplemented if no operation implements it."""
    if ufunc is np.divmod:
        return tuple(apply(each, inputs, dtype) for each in (np.floor_divide, np.remainder))
    if ufunc not in UFUNCS:
        return NotImplemented
    values = beside_each_other(inputs)
    wanted, result = _loop(ufunc, values, dtype)
    own = operation_of(ufunc, wanted[0])
    found = own(*[cast(value, each) for value, each in zip(values, wanted, strict=True)])
    return found if found.dtype is result else cast(found, result)


def beside_each_other(inputs: tuple[Any, ...]) -> list[Tensor]:
    """Return the inputs as tensors; other values take the dtype of a tensor among the inputs, if they fit."""
    hint = next((value.dtype for value in inputs if is_tensor_like(value)), None)
    return [convert_to_tensor(value, None if is_tensor_like(value) else hint) for value in inputs]


def _loop(ufunc: np.ufunc, values: list[Tensor], dtype: Any) -> tuple[list[dtypes.DType], dtypes.DType]:
    """Return the dtypes that NumPy computes with: of the inputs, and of the result."""
    given: tuple[Any, ...] = (*[value.dtype.numpy_dtype for value in values], None)
    if dtype is not None:
        wanted = dtypes.as_dtype(dtype)
        return [wanted] * len(values), wanted
    *wanted_numpy, result = ufunc.resolve_dtypes(given)
    return [dtypes.as_dtype(each) for each in wanted_numpy], dtypes.as_dtype(result)


def _reduced(reduce: Callable[..., Any], widen: bool = False) -> Callable[..., Any]:
    """Return `ufunc.reduce`, also for np.sum and the like; sums of small integers are int64, as in NumPy."""

    def reduction(
        a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = False, **options: Any
    ) -> Any:
        if out is not None or options:
            unknown = sorted(options) or ["out"]
            raise TypeError(f"reduction() got an unexpected keyword argument {unknown[0]!r}")
        x = convert_to_tensor(a)
        if reduce in (reduce_all, reduce_any):
            x = _truth(x)
        elif x.dtype.is_bool and reduce in (reduce_max, reduce_min):
            return (reduce_any if reduce is reduce_max else reduce_all)(x, axis=axis, keepdims=bool(keepdims))
        elif dtype is not None:
            x = cast(x, dtype)
        elif widen:
            x = widened(x)
        return reduce(x, axis=axis, keepdims=bool(keepdims))

    return reduction


def widened(x: Tensor) -> Tensor:
    """Return integers and bools with 64 bits, in which NumPy accumulates them."""
    if x.dtype.is_bool or (x.dtype.is_integer and x.dtype.size < 8):
        return cast(x, dtypes.uint64 if x.dtype.is_unsigned else dtypes.int64)
    return x


sum_, prod = _reduced(reduce_sum, widen=True), _reduced(reduce_prod, widen=True)
max_, min_ = _reduced(reduce_max), _reduced(reduce_min)
all_, any_ = _reduced(reduce_all), _reduced(reduce_any)


def _along_first(whole: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method `reduce` of a universal function, which reduces the first axis by default."""

    def reduce(a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        return whole(a, axis, dtype, out, keepdims)

    return reduce


REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _along_first(sum_),
    np.multiply: _along_first(prod),
    np.maximum: _along_first(max_),
    np.minimum: _along_first(min_),
    np.logical_and: _along_first(all_),
    np.logical_or: _along_first(any_),
}
