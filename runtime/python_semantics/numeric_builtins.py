"""Python's numeric functions over tensors.

int(x)          cast to int32; a tensor of wide integers stays unchanged
round(x)        an integer: ties go to the even one
pow(x, n, m)    by repeated squaring, so that intermediate results do not overflow
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..control_flow import regions, while_loop
from ..control_flow.builtin_errors import raise_unless
from ..core.conversion import convert_to_tensor
from ..ops.arrays import where_ops
from ..ops.math import arithmetic, cast, comparison, elementwise


def to_int(x: Any = 0, /, base: Any = None) -> Any:
    if base is not None:
        raise TypeError("int() can't convert non-string with explicit base")
    tensor = convert_to_tensor(x)
    return tensor if tensor.dtype.is_integer and tensor.dtype.size >= 4 else cast.cast(tensor, dtypes.int32)


def to_float(x: Any = 0.0, /) -> Any:
    tensor = convert_to_tensor(x)
    return tensor if tensor.dtype in (dtypes.float32, dtypes.float64) else cast.cast(tensor, dtypes.float32)


def to_complex(real: Any = 0, imag: Any = None) -> Any:
    tensor = convert_to_tensor(real)
    if imag is None:
        if tensor.dtype.is_complex:
            return tensor
        wide = tensor.dtype is dtypes.float64
        return cast.cast(tensor, dtypes.complex128 if wide else dtypes.complex64)
    first, second = to_float(real), to_float(imag)
    return cast.complex(first, cast.cast(second, first.dtype))


def to_bool(x: Any = False, /) -> Any:
    return regions.truth(x, "bool")


def rounded(number: Any, ndigits: Any = None) -> Any:
    return round(convert_to_tensor(number), ndigits)  # type: ignore[call-overload]


def power(base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return arithmetic.pow(base, exp)
    base, exp, mod = map(convert_to_tensor, (base, exp, mod))
    if not all(x.dtype.is_integer for x in (base, exp, mod)):
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    raise_unless(comparison.not_equal(mod, 0), ValueError("pow() 3rd argument cannot be 0"))
    raise_unless(
        comparison.greater_equal(exp, 0),
        ValueError("pow() of tensors takes no negative exponent with a modulus"),
    )
    wide = [cast.cast(x, dtypes.int64) for x in (base, exp, mod)]
    fits = comparison.less_equal(elementwise.abs(wide[2]), 3037000499)  # its square is an int64
    raise_unless(fits, OverflowError("pow() of tensors takes a modulus below 2 ** 31.5"))
    return cast.cast(_power_modulo(*wide), base.dtype)


def _power_modulo(base: Any, exponent: Any, modulus: Any) -> Any:
    """Return the power by repeated squaring, so that no product is larger than the square of the modulus."""

    def step(result: Any, square: Any, left: Any) -> tuple[Any, ...]:
        is_odd = comparison.equal(left % 2, 1)
        return (
            where_ops.where(is_odd, result * square % modulus, result),
            square * square % modulus,
            left // 2,
        )

    one = convert_to_tensor(1, dtypes.int64) % modulus
    state = (one, base % modulus, exponent)
    return while_loop.Loop(lambda _, __, left: left > 0, step, state, ("result", "square", "left")).record()[
        0
    ]
