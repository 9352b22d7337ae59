"""The type promotion of the array API standard, within a kind of dtypes; Python numbers are weak.

    add(int8, int16)      int16          add(uint8, int8)       int16
    add(float32, 1)       float32        add(int8, float32)     TypeError: the standard leaves it open
    add(float32, 1j)      complex64      add(uint64, int8)      TypeError: no integer holds both

>>> result_type(dtypes.uint8, dtypes.int8, 3)
tf.int16
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...dtypes import DType
from ...ops.math.cast import cast
from .data_types import NUMERIC, demand, dtype_of, read_dtype, refuse_device

_NUMBERS = (bool, int, float, complex)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the dtype that arrays, dtypes and Python numbers are promoted to.

    Raises TypeError for kinds that the standard does not mix.
    """
    numbers = [each for each in arrays_and_dtypes if type(each) in _NUMBERS]
    known = [dtype_of(each) for each in arrays_and_dtypes if type(each) not in _NUMBERS]
    if not known:
        raise ValueError("result_type needs at least one array or dtype")
    found = known[0]
    for each in known[1:]:
        found = _both(found, each)
    for number in numbers:
        found = _with_number(found, number)
    return found


def _both(a: DType, b: DType) -> DType:
    if a is b:
        return a
    mixed = a.is_bool or b.is_bool or a.is_integer != b.is_integer
    promoted = None if mixed else dtypes.as_dtype(np.result_type(a.numpy_dtype, b.numpy_dtype))
    if promoted is None or promoted.is_integer != a.is_integer:
        raise TypeError(f"{a.name} and {b.name} are not promoted to one dtype: use astype on one of them")
    return promoted


def _with_number(dtype: DType, number: Any) -> DType:
    if type(number) is complex and dtype.is_floating:
        return _both(dtype, dtypes.complex64)
    allowed = {
        bool: dtype.is_bool,
        int: dtype.is_numeric,
        float: dtype.is_floating or dtype.is_complex,
        complex: dtype.is_complex,
    }
    if not allowed[type(number)]:
        kind = type(number).__name__
        raise TypeError(f"Python's {kind} {number!r} does not fit an array of {dtype.name}: use astype")
    return dtype


def can_cast(from_: Any, to: Any, /) -> bool:
    """Return whether promotion leads from a dtype, or the dtype of an array, to another dtype."""
    wanted = read_dtype(to)
    try:
        return result_type(from_, wanted) is wanted
    except TypeError:
        return False


def together(values: tuple[Any, ...], kinds: tuple[DType, ...], function: str) -> list[Tensor]:
    """Return tensors of the promoted dtype of the values; raise TypeError if the function does not support it."""
    if all(type(value) in _NUMBERS for value in values):
        raise TypeError(f"{function} needs at least one array")
    kept = [value if type(value) in _NUMBERS else convert_to_tensor(value) for value in values]
    for value in kept:
        if isinstance(value, Tensor):
            demand(value.dtype, kinds, function)
    dtype = demand(result_type(*kept), kinds, function)
    return [as_dtype(value, dtype) for value in kept]


def as_dtype(value: Any, dtype: DType) -> Tensor:
    """Return a tensor or a number in another dtype; raise TypeError for a number that does not fit."""
    return cast(value, dtype) if isinstance(value, Tensor) else convert_to_tensor(value, dtype)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """Return the elements in another dtype; raise TypeError for complex to real numbers, except to bool."""
    refuse_device(device)
    wanted, tensor = read_dtype(dtype), convert_to_tensor(x)
    if tensor.dtype.is_complex and wanted in NUMERIC and not wanted.is_complex:
        raise TypeError(f"astype does not cast {tensor.dtype.name} to {wanted.name}: take real(x) or imag(x)")
    return cast(tensor, wanted)
