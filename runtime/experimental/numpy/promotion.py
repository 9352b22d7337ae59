"""Dtypes of tf.experimental.numpy: NumPy's promotion, in which Python numbers and lists of them are weak.

    int32 tensor + 1.5        float64            float32 tensor + [1, 2]      float32
    float32 + int32           float64            1 + 2.5                      float64

`experimental_enable_numpy_behavior` changes the rules: with `prefer_float32` Python's floats are float32; in the mode
"all" a float tensor keeps its dtype next to integers; in the mode "safe" promotions that lose digits are refused.

>>> result_type(dtypes.float32, dtypes.int32), result_type(dtypes.int8, 3)
(tf.float64, tf.int8)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor, holds_tensor, is_tensor_like
from ...core.tensor import Tensor
from ...dtypes import DType
from ...ops.arrays import concat_split
from ...ops.math.cast import cast

_NUMBERS = (bool, int, float, complex)
_KINDS = {bool: True, int: 1, float: 1.0, complex: 1j}


class Rules:
    """The rules in force; `experimental_enable_numpy_behavior` sets them."""

    prefer_float32 = False
    mode = "legacy"


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype that arrays, dtypes and Python numbers are promoted to.

    Raises TypeError in the mode "safe" for dtypes whose promotion loses digits.

    >>> result_type(dtypes.float32, 1), result_type(1, 2.5)
    (tf.float32, tf.float64)
    """
    weak = [number for each in arrays_and_dtypes if (number := weak_number(each)) is not None]
    known = [_dtype_of(each) for each in arrays_and_dtypes if weak_number(each) is None]
    if not known:
        return default_dtype(max(weak, key=lambda number: list(_KINDS).index(type(number))))
    found = known[0]
    for each in known[1:]:
        found = _both(found, each)
    for number in weak:
        found = _with_number(found, number)
    return found


def weak_number(value: Any) -> Any:
    """Return a Python number of the kind of `value`, a number or a nested list of numbers; None for other values.

    >>> weak_number([[1, 2.5]]), weak_number(3), weak_number(np.float32(3))
    (1.0, 1, None)
    """
    if type(value) in _NUMBERS:
        return _KINDS[type(value)]
    if type(value) not in (list, tuple):
        return None
    found = [weak_number(item) for item in value]
    if any(number is None for number in found):
        return None
    return max(found, key=lambda number: list(_KINDS).index(type(number)), default=1.0)


def _dtype_of(value: Any) -> Any:
    if isinstance(value, (DType, type, str, np.dtype)):
        return read_dtype(value)
    return value.dtype if is_tensor_like(value) else asarray(value).dtype


def read_dtype(dtype: Any) -> DType:
    """Return a dtype; Python's types mean NumPy's: `float` is float64, unless float32 is preferred."""
    if not isinstance(dtype, type) or dtype not in _KINDS:
        return dtypes.as_dtype(dtype)
    is_narrow = dtype in (float, complex) and (Rules.prefer_float32 or Rules.mode in ("all", "safe"))
    return default_dtype(dtype()) if is_narrow else dtypes.as_dtype(np.dtype(dtype))


def default_dtype(number: Any) -> DType:
    """Return the dtype of a Python number: int64, float64 or complex128; the narrower ones where they are preferred."""
    narrow = Rules.mode in ("all", "safe")
    if isinstance(number, (bool, int)):
        return dtypes.bool_ if isinstance(number, bool) else dtypes.int32 if narrow else dtypes.int64
    if isinstance(number, float):
        return dtypes.float32 if narrow or Rules.prefer_float32 else dtypes.float64
    return dtypes.complex64 if Rules.prefer_float32 else dtypes.complex128


def _both(a: DType, b: DType) -> DType:
    if a is b:
        return a
    if Rules.mode not in ("all", "safe"):
        return dtypes.as_dtype(np.result_type(a.numpy_dtype, b.numpy_dtype))
    whole = [each.is_integer or each.is_bool for each in (a, b)]
    if whole[0] != whole[1]:
        found = a if whole[1] else b
    elif {a, b} == {dtypes.float16, dtypes.bfloat16}:
        found = dtypes.float32
    else:
        found = dtypes.as_dtype(np.result_type(a.numpy_dtype, b.numpy_dtype))
    if Rules.mode == "safe" and not _keeps_digits(a, b, found):
        raise TypeError(
            f"In promotion mode PromoMode.SAFE, implicit dtype promotion between {a.name} and {b.name} is disallowed. "
            "You need to explicitly specify the dtype in your op, or relax your dtype promotion rules (such as from "
            "SAFE mode to ALL mode)."
        )
    return found


def _keeps_digits(a: DType, b: DType, found: DType) -> bool:
    if {a, b} == {dtypes.uint8, dtypes.int8}:
        return True
    other = b if found is a else a
    is_exact = not (other.is_integer and other.size == 8 and found.is_floating)
    return found in (a, b) and is_exact and bool(np.can_cast(other.numpy_dtype, found.numpy_dtype))


def _with_number(dtype: DType, number: Any) -> DType:
    if Rules.mode not in ("all", "safe"):
        return dtypes.as_dtype(np.result_type(dtype.numpy_dtype, number))
    if dtype.is_bool:
        return default_dtype(number)
    if (
        isinstance(number, (bool, int))
        or dtype.is_complex
        or (dtype.is_floating and isinstance(number, float))
    ):
        return dtype
    if dtype.is_floating:
        return dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64
    found = dtypes.float64 if isinstance(number, float) else dtypes.complex128
    if Rules.mode == "safe" and isinstance(number, float):
        raise TypeError(
            f"In promotion mode PromoMode.SAFE, implicit dtype promotion between {dtype.name} and the Python number "
            f"{number} is disallowed."
        )
    return found


def asarray(a: Any, dtype: Any = None) -> Any:
    """Return an array: a tensor is returned itself; Python's floats are float64 and integers int64, as in NumPy.

    >>> asarray([1, 2.5]).dtype, asarray(convert_to_tensor(1.5)).dtype
    (tf.float64, tf.float32)
    """
    wanted = None if dtype is None else read_dtype(dtype)
    if is_tensor_like(a):
        tensor = convert_to_tensor(a)
        return tensor if wanted in (None, tensor.dtype) else cast(tensor, wanted)
    if isinstance(a, (list, tuple)) and holds_tensor(a):
        return concat_split.stack(promote(list(map(asarray, a)), wanted))
    number = weak_number(a)
    if number is not None and wanted is None:
        wanted = default_dtype(number)
    values = np.asarray(a, None if wanted is None or wanted is dtypes.string else wanted.numpy_dtype)
    if Rules.prefer_float32 and isinstance(a, (np.float64, np.complex128)) and dtype is None:
        values = values.astype(default_dtype(a.item()).numpy_dtype)
    return convert_to_tensor(values, wanted)


def promote(values: Any, dtype: DType | None = None) -> list[Tensor]:
    """Return the values as arrays of the dtype that all of them are promoted to, or of `dtype`.

    >>> [each.dtype for each in promote([convert_to_tensor([1, 2]), 0.5])]
    [tf.float64, tf.float64]
    """
    known = [value if weak_number(value) is not None else asarray(value) for value in values]
    common = result_type(*known) if dtype is None else dtype
    return [asarray(value, common) for value in known]
