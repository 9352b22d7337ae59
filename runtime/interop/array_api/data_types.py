"""The dtypes of the array API standard: their kinds and limits.

>>> isdtype(dtypes.int8, "integral"), isdtype(dtypes.float32, ("bool", dtypes.float64))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...dtypes import DType

BOOL = (dtypes.bool_,)
SIGNED = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
REAL_FLOATING = (dtypes.float32, dtypes.float64)
COMPLEX_FLOATING = (dtypes.complex64, dtypes.complex128)
INTEGRAL = SIGNED + UNSIGNED
FLOATING = REAL_FLOATING + COMPLEX_FLOATING
REAL = INTEGRAL + REAL_FLOATING
NUMERIC = INTEGRAL + FLOATING
ANY = BOOL + NUMERIC

KINDS: dict[str, tuple[DType, ...]] = {
    "bool": BOOL,
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGRAL,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX_FLOATING,
    "numeric": NUMERIC,
}
"""The standard's names of kinds of dtypes."""

_NAMES = {
    ANY: "bool or numeric", REAL: "real numeric", FLOATING: "floating-point", BOOL + INTEGRAL: "integer or bool",
    **{dtypes_: name for name, dtypes_ in KINDS.items()},
}  # fmt: skip

DEFAULTS = {
    "real floating": dtypes.float32,
    "complex floating": dtypes.complex64,
    "integral": dtypes.int32,
    "indexing": dtypes.int64,
}
"""The default dtypes of the creation functions: as in TensorFlow, except that indices are int64."""


class FInfo(NamedTuple):
    """Limits of a floating-point dtype; of a complex one, those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IInfo(NamedTuple):
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def read_dtype(dtype: Any) -> DType:
    """Return a dtype of the standard. Raise TypeError for others, such as strings."""
    known = dtypes.as_dtype(dtype)
    if known not in ANY and not known.is_floating:
        raise TypeError(f"{known.name} is not a dtype of the array API")
    return known


def dtype_of(value: Any) -> DType:
    """Return the dtype of an array, or the dtype itself."""
    return value if isinstance(value, DType) else convert_to_tensor(value).dtype


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether `dtype` is of a kind: a dtype, one of `KINDS`, or a tuple of these."""
    known = dtypes.as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(known, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(
                f"Unrecognized data type kind: {kind!r}; there are {', '.join(map(repr, KINDS))}"
            )
        return known in KINDS[kind] or (kind in ("real floating", "numeric") and known.is_floating)
    return known is dtypes.as_dtype(kind)


def finfo(type: Any, /) -> FInfo:
    """Return the limits of a floating-point dtype, or of an array's dtype. Raise TypeError for other dtypes."""
    dtype = demand(dtype_of(type), FLOATING, "finfo").real_dtype
    limits = np.finfo(dtype.numpy_dtype)
    smallest = float(limits.smallest_normal)
    return FInfo(limits.bits, float(limits.eps), float(limits.max), float(limits.min), smallest, dtype)


def iinfo(type: Any, /) -> IInfo:
    """Return the limits of an integer dtype, or of an array's dtype. Raise TypeError for other dtypes."""
    dtype = demand(dtype_of(type), INTEGRAL, "iinfo")
    return IInfo(8 * dtype.size, dtype.max, dtype.min, dtype)


def demand(dtype: DType, kinds: tuple[DType, ...], function: str) -> DType:
    """Return `dtype`; raise TypeError if the function does not support it. Narrow floats count as floats."""
    if dtype in kinds or (dtype.is_floating and dtypes.float32 in kinds):
        return dtype
    raise TypeError(f"{function} takes arrays of {_NAMES[kinds]} dtypes, not {dtype.name}: use astype")


def tensor_of(x: Any, kinds: tuple[DType, ...], function: str) -> Tensor:
    """Return an array as a tensor; raise TypeError if the function does not support its dtype."""
    tensor = convert_to_tensor(x)
    demand(tensor.dtype, kinds, function)
    return tensor


def rank_of(x: Tensor, function: str) -> int:
    """Return the number of dimensions; raise ValueError if it is unknown while tracing."""
    if x.shape.rank is None:
        raise ValueError(f"{function} needs an array of known rank: set it with tf.ensure_shape")
    return x.shape.rank


def axis_of(axis: int, rank: int, function: str) -> int:
    """Return an axis, counted from the front. Raise IndexError if it is out of bounds."""
    if not -rank <= axis < rank:
        raise IndexError(f"{function}: axis {axis} is out of bounds for an array of {rank} dimensions")
    return axis % rank


def named(function: Callable[..., Any], name: str, manual: str) -> None:
    """Set the name and docstring of a function that was made from a table."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = manual


def refuse_device(device: Any) -> None:
    """Raise ValueError unless the device is None or a name of the CPU, the only device."""
    if device is None:
        return
    kind = str(device).upper().rpartition("DEVICE:")[2].strip("/")
    if kind not in ("", "CPU", "CPU:0"):
        raise ValueError(f"there is no device {device!r}: arrays are on the CPU")
