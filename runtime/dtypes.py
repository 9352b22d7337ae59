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
import importlib
import types
from typing import Any, NoReturn

import numpy as np

from .core import late_binding
from .core.export import export as _export
from .core.missing_names import missing_name

# Older versions promote numbers by their values: results would differ.
if int(np.__version__.partition(".")[0]) < 2:
    raise ImportError(
        f"agc.runtime needs NumPy 2.0 or newer, but {np.__version__} is installed: pip install --upgrade numpy"
    )


@_export("DType")
class DType:
    """The type of a tensor's elements: one object for each type, compared by identity.

    Attributes: `name` ("float32"), `as_numpy_dtype` (the NumPy scalar type), `size` (bytes per element).

    >>> float32.name, float32.size, float32.is_floating
    ('float32', 4, True)
    """

    __slots__ = ("kind", "name", "numpy_dtype")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy_dtype = np.dtype(numpy)
        self.kind = "S" if self.numpy_dtype.kind == "O" else self.numpy_dtype.kind

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type, e.g. `numpy.float32`; `object` for strings."""
        return self.numpy_dtype.type if self.kind != "S" else object

    @property
    def base_dtype(self) -> DType:
        """The dtype itself; there are no reference dtypes."""
        return self

    @property
    def is_floating(self) -> bool:
        """True if elements are real floating-point numbers."""
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        """True if elements are integers, signed or not."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """True if elements are integers without a sign."""
        return self.kind == "u"

    @property
    def is_complex(self) -> bool:
        """True if elements are complex numbers."""
        return self.kind == "c"

    @property
    def is_bool(self) -> bool:
        """True if elements are bools."""
        return self.kind == "b"

    @property
    def is_numeric(self) -> bool:
        """True if elements are numbers; bools are not."""
        return self.kind in "iufc"

    @property
    def is_quantized(self) -> bool:
        """False: there are no quantized tensors."""
        return False

    @property
    def is_numpy_compatible(self) -> bool:
        """True if a NumPy array can hold the elements."""
        return True

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part of such a number."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def size(self) -> int:
        """The size of an element in bytes; 0 for strings, which have no fixed size."""
        return int(self.numpy_dtype.itemsize) if self.kind != "S" else 0

    @property
    def min(self) -> Any:
        """The smallest value: a Python integer or bool, a NumPy number of this dtype for floats."""
        return _limits(self)[0]

    @property
    def max(self) -> Any:
        """The largest value: a Python integer or bool, a NumPy number of this dtype for floats."""
        return _limits(self)[1]

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of values in images of this dtype: (0, 1) for floats, (0, the largest) for others.

        Raises ValueError for dtypes that have none.
        """
        if not (self.is_integer or self.is_bool or self.name in ("float32", "float64")):
            raise ValueError(
                f"limits are defined for bool, integers, float32 and float64, not for {self.name}"
            )
        return (0, 1 if self.is_floating else self.max)

    @property
    def as_datatype_enum(self) -> int:
        """The number of this dtype in TensorFlow's file formats."""
        return _ENUM[self.name]

    def is_compatible_with(self, other: object) -> bool:
        """Return whether the other dtype is the same one."""
        return self is as_dtype(other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


class NarrowFloat(DType):
    """A float type that NumPy lacks; `ml_dtypes` defines it, and is imported at the first use.

    Operations compute in float32 and round; see `ops.narrow`.

    >>> bfloat16.size, bfloat16.is_floating
    (2, True)
    """

    __slots__ = ("_numpy",)

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind = "f"
        self._numpy: Any = None

    @property
    def numpy_dtype(self) -> Any:
        """The NumPy dtype. Raises ImportError when there is no `ml_dtypes`."""
        if self._numpy is None:
            try:
                module = importlib.import_module("ml_dtypes")
            except ImportError:
                raise ImportError(
                    f"{self.name} needs the package ml_dtypes: pip install 'agc-autograph[bfloat16]'"
                ) from None
            self._numpy = np.dtype(getattr(module, self.name))
            _BY_NUMPY[self._numpy] = self
            NARROW.add(self._numpy)
        return self._numpy


class Handle(DType):
    """The dtype of tensors of rank 0 that hold an object of this runtime: a dataset, an iterator.

    >>> resource
    tf.resource
    """

    __slots__ = ()

    @property
    def is_numpy_compatible(self) -> bool:
        """False: the element is an object of this runtime."""
        return False


class Foreign(DType):
    """A dtype of TensorFlow without tensors here: only its name exists.

    >>> as_dtype("qint8")
    tf.qint8
    """

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind = "q" if "q" in name else "V"

    @property
    def is_quantized(self) -> bool:
        """True if elements are quantized numbers."""
        return self.kind == "q"

    @property
    def is_numpy_compatible(self) -> bool:
        """True if a NumPy array can hold the elements."""
        return False

    @property
    def numpy_dtype(self) -> NoReturn:
        """No NumPy dtype: raises TypeError."""
        advice = "; keep int8 or uint8 tensors and their scale apart" if self.is_quantized else ""
        raise TypeError(f"there are no tensors of dtype {self.name} here{advice}")


@functools.cache
def _limits(dtype: DType) -> tuple[Any, Any]:
    """Return the smallest and the largest value."""
    if dtype.is_bool:
        return False, True
    if dtype.is_integer:
        integers = np.iinfo(dtype.numpy_dtype)
        return int(integers.min), int(integers.max)
    if isinstance(dtype, NarrowFloat):
        numbers = importlib.import_module("ml_dtypes").finfo(dtype.numpy_dtype)
        return numbers.min, numbers.max
    if dtype.is_floating:
        wide = np.finfo(dtype.numpy_dtype)
        return wide.min, wide.max
    raise TypeError(f"{dtype.name} has no minimum and maximum value")


float16 = half = _export("float16", "half")(DType("float16", np.float16))
float32 = _export("float32")(DType("float32", np.float32))
float64 = double = _export("double", "float64")(DType("float64", np.float64))
int8 = _export("int8")(DType("int8", np.int8))
int16 = _export("int16")(DType("int16", np.int16))
int32 = _export("int32")(DType("int32", np.int32))
int64 = _export("int64")(DType("int64", np.int64))
uint8 = _export("uint8")(DType("uint8", np.uint8))
uint16 = _export("uint16")(DType("uint16", np.uint16))
uint32 = _export("uint32")(DType("uint32", np.uint32))
uint64 = _export("uint64")(DType("uint64", np.uint64))
complex64 = _export("complex64")(DType("complex64", np.complex64))
complex128 = _export("complex128")(DType("complex128", np.complex128))
bool_ = _export("bool")(DType("bool", np.bool_))
string = _export("string")(DType("string", np.object_))
variant = _export("variant")(Handle("variant", [("object", np.object_)]))

ALL = (
    float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    complex64, complex128, bool_, string,
)  # fmt: skip

bfloat16 = _export("bfloat16")(NarrowFloat("bfloat16"))
float8_e5m2 = NarrowFloat("float8_e5m2")
float8_e4m3fn = NarrowFloat("float8_e4m3fn")

NARROW_FLOATS = (bfloat16, float8_e5m2, float8_e4m3fn)

qint8 = _export("qint8")(Foreign("qint8"))
qint16 = _export("qint16")(Foreign("qint16"))
qint32 = _export("qint32")(Foreign("qint32"))
quint8 = _export("quint8")(Foreign("quint8"))
quint16 = _export("quint16")(Foreign("quint16"))
resource = _export("resource")(Foreign("resource"))

QUANTIZED_DTYPES = frozenset({qint8, qint16, qint32, quint8, quint16})
_FOREIGN = (*QUANTIZED_DTYPES, resource)

NARROW: set[Any] = set()
"""The NumPy dtypes of the narrow floats that have been used."""


class _ByNumpy(dict[Any, DType]):
    """A map from NumPy dtypes to `DType` objects; a narrow float is added at its first lookup."""

    def __missing__(self, numpy: Any) -> DType:
        for narrow in NARROW_FLOATS:
            if narrow.name == numpy.name and narrow.numpy_dtype == numpy:
                return narrow
        raise KeyError(numpy)


_BY_NAME = {dtype.name: dtype for dtype in (*ALL, variant, *NARROW_FLOATS, *_FOREIGN)} | {
    "float": float32,
    "half": float16,
    "double": float64,
}
_BY_NUMPY = _ByNumpy({dtype.numpy_dtype: dtype for dtype in (*ALL, variant)})
_NUMBERED = (
    float32, float64, int32, uint8, int16, int8, string, complex64, int64, bool_, qint8, quint8, qint32, bfloat16,
    qint16, quint16, uint16, complex128, float16, resource, variant, uint32, uint64, float8_e5m2, float8_e4m3fn,
)  # fmt: skip
_ENUM = {dtype.name: number for number, dtype in enumerate(_NUMBERED, 1)}
_BY_PYTHON = {bool: bool_, int: int32, float: float32, complex: complex128, str: string, bytes: string}


def of_array(array: Any) -> DType:
    """Return the `DType` of a NumPy array's elements (a fast path: one dict lookup).

    >>> of_array(np.zeros(2, np.float32))
    tf.float32
    """
    return _BY_NUMPY[array.dtype]


@_export("as_dtype")
def as_dtype(type_value: object) -> DType:
    """Return the `DType` for a DType, a name, a NumPy dtype of either byte order or scalar type, or a Python type.

    A number is that of `DType.as_datatype_enum`. Raises TypeError for anything else.

    >>> as_dtype("float32"), as_dtype(np.int64), as_dtype(bool)
    (tf.float32, tf.int64, tf.bool)
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str) and type_value in _BY_NAME:
        return _BY_NAME[type_value]
    if isinstance(type_value, type) and type_value in _BY_PYTHON:
        return _BY_PYTHON[type_value]
    if type(type_value) is int and 0 < type_value <= len(_NUMBERED):
        return _NUMBERED[type_value - 1]
    try:
        numpy = np.dtype(type_value)  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(f"Cannot convert {type_value!r} to a dtype") from None
    if numpy.kind in "SU":
        return string
    try:
        found = _BY_NUMPY[numpy if numpy.isnative else numpy.newbyteorder("=")]
    except KeyError:
        found = None
    if found is None or type_value is None:
        raise TypeError(f"Cannot convert {type_value!r} to a dtype")
    return found


def __getattr__(name: str) -> Any:
    """Return a function of `tf.dtypes`, imported on demand since its module imports this module."""
    if name == "bool":  # within this module `bool` is Python's
        return bool_
    if name in ("cast", "complex", "saturate_cast"):
        return getattr(late_binding.cast_ops, name)
    if name == "experimental":
        return types.SimpleNamespace(float8_e4m3fn=float8_e4m3fn, float8_e5m2=float8_e5m2)
    raise missing_name(__name__, name)
