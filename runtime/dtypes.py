"""Element types of tensors, with TensorFlow's names.

>>> as_dtype("float32").size, int32.max, bool_.is_bool
(4, 2147483647, True)
>>> float32
tf.float32
>>> as_dtype(np.dtype("int64"))
tf.int64
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


class DType:
    """The type of a tensor's elements: one object for each type, compared by identity.

    Attributes: `name` ("float32"), `as_numpy_dtype` (the NumPy scalar type), `size` (bytes an element).
    """

    __slots__ = ("_hash", "kind", "name", "numpy")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy = np.dtype(numpy)
        self.kind = "S" if self.numpy.kind == "O" else self.numpy.kind
        self._hash = hash(("DType", name))

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type, e.g. `numpy.float32`; `object` for strings."""
        return self.numpy.type if self.kind != "S" else object

    @property
    def base_dtype(self) -> DType:
        return self

    @property
    def is_floating(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def is_numeric(self) -> bool:
        return self.kind in "iufc"

    @property
    def size(self) -> int:
        return int(self.numpy.itemsize)

    @property
    def min(self) -> Any:
        return _limits(self)[0]

    @property
    def max(self) -> Any:
        return _limits(self)[1]

    def is_compatible_with(self, other: object) -> bool:
        return self is as_dtype(other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


@functools.cache
def _limits(dtype: DType) -> tuple[Any, Any]:
    """The smallest and the largest value."""
    if dtype.is_bool:
        return False, True
    if dtype.is_integer:
        integers = np.iinfo(dtype.numpy)
        return int(integers.min), int(integers.max)
    if dtype.is_floating:
        numbers = np.finfo(dtype.numpy)
        return float(numbers.min), float(numbers.max)
    raise TypeError(f"{dtype.name} has no minimum and maximum value")


float16 = half = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
bool_ = DType("bool", np.bool_)
string = DType("string", np.object_)

ALL = (
    float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    complex64, complex128, bool_, string,
)  # fmt: skip

_BY_NAME = {dtype.name: dtype for dtype in ALL} | {"half": float16, "double": float64}
_BY_NUMPY: dict[Any, DType] = {dtype.numpy: dtype for dtype in ALL}
_BY_PYTHON = {bool: bool_, int: int32, float: float32, complex: complex128, str: string, bytes: string}


def of_array(array: Any) -> DType:
    """The type of a NumPy array's elements (a short cut: one dict look-up)."""
    return _BY_NUMPY[array.dtype]


def as_dtype(value: object) -> DType:
    """The `DType` named by a DType, a name, a NumPy dtype or scalar type, or a Python type.

    Raises TypeError for anything else.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if isinstance(value, type) and value in _BY_PYTHON:
        return _BY_PYTHON[value]
    try:
        numpy = np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(f"Cannot convert {value!r} to a dtype") from None
    if numpy.kind in "SU":
        return string
    found = _BY_NUMPY.get(numpy)
    if found is None or value is None:
        raise TypeError(f"Cannot convert {value!r} to a dtype")
    return found
