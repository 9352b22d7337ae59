"""The dtypes of the array API standard: their kinds, and what is known of their numbers.

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
"""The standard's names of kinds."""

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
"""What the functions of creation take without a dtype: as in TensorFlow, save that indices are int64."""


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
    """A dtype of the standard. Raises TypeError for others, such as strings."""
    known = dtypes.as_dtype(dtype)
    if known not in ANY and not known.is_floating:
        raise TypeError(f"{known.name} is not a dtype of the array API")
    return known


def dtype_of(value: Any) -> DType:
    """The dtype of an array, or the dtype itself."""
    return value if isinstance(value, DType) else convert_to_tensor(value).dtype


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether `dtype` is of a kind: a dtype, one of `KINDS`, or a tuple of these."""
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
    """Limits of a floating-point dtype, or of an array's. Raises TypeError for other dtypes."""
    dtype = demand(dtype_of(type), FLOATING, "finfo").real_dtype
    limits = np.finfo(dtype.numpy)
    smallest = float(limits.smallest_normal)
    return FInfo(limits.bits, float(limits.eps), float(limits.max), float(limits.min), smallest, dtype)


def iinfo(type: Any, /) -> IInfo:
    """Limits of an integer dtype, or of an array's. Raises TypeError for other dtypes."""
    dtype = demand(dtype_of(type), INTEGRAL, "iinfo")
    return IInfo(8 * dtype.size, dtype.max, dtype.min, dtype)


def demand(dtype: DType, kinds: tuple[DType, ...], function: str) -> DType:
    """Raises TypeError when a function is not defined for a dtype; the half floats are no more than floats."""
    if dtype in kinds or (dtype.is_floating and dtypes.float32 in kinds):
        return dtype
    raise TypeError(f"{function} takes arrays of {_NAMES[kinds]} dtypes, not {dtype.name}: use astype")


def tensor_of(x: Any, kinds: tuple[DType, ...], function: str) -> Tensor:
    """An array as a tensor, of a dtype that the function is defined for."""
    tensor = convert_to_tensor(x)
    demand(tensor.dtype, kinds, function)
    return tensor


def rank_of(x: Tensor, function: str) -> int:
    """The number of dimensions, which many functions of the standard have to know when they are called."""
    if x.shape.rank is None:
        raise ValueError(f"{function} needs an array of known rank: say it with tf.ensure_shape")
    return x.shape.rank


def axis_of(axis: int, rank: int, function: str) -> int:
    """An axis, counted from the front. Raises IndexError for one that there is not."""
    if not -rank <= axis < rank:
        raise IndexError(f"{function}: axis {axis} is out of bounds for an array of {rank} dimensions")
    return axis % rank


def named(function: Callable[..., Any], name: str, manual: str) -> None:
    """Give a function that a table made its name and manual."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = manual


def refuse_device(device: Any) -> None:
    """There is one device: any name of the CPU is taken. Raises ValueError for others."""
    if device is None:
        return
    kind = str(device).upper().rpartition("DEVICE:")[2].strip("/")
    if kind not in ("", "CPU", "CPU:0"):
        raise ValueError(f"there is no device {device!r}: arrays are on the CPU")
