"""Conversion of Python values to tensors: one registry of conversions, one set of dtype rules.

Python's int, float, bool, complex, str and nests of them take the dtype of the other operand when that loses
nothing. Otherwise they become int32 (int64 if needed), float32, bool, complex128 or string. NumPy arrays keep their
dtype unless the other operand is a tensor. Lists of NumPy values follow the rules of lists; a list takes a NumPy
dtype only if its first number is a NumPy float. Two tensors are never promoted.

>>> convert_to_tensor([1, 2])
<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
>>> [convert_to_tensor(x).dtype.name for x in (np.int64(1), [np.int64(1)], [np.float64(1), 2], [1, np.float64(2)])]
['int64', 'int32', 'float64', 'float32']
>>> convert_to_tensor(3, dtypes.float32)
<tf.Tensor: shape=(), dtype=float32, numpy=3.0>
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..ir.builder import current
from . import late_binding, mixed_literals
from .export import export
from .fp_errors import quietly
from .native_extension import native_extension
from .shapes import TensorShape
from .symbolic_tensor import SymbolicTensor
from .tensor import EagerTensor, Tensor
from .type_spec import MeetsCompositeError

TensorLike = Any
"""An operand that converts to a tensor: a Tensor, Variable, NumPy array, number or nest of these."""

Conversion = Callable[[Any, dtypes.DType | None], Tensor]

Kinds = type | tuple[type, ...]

_conversions: list[tuple[int, Kinds, Conversion]] = []
_TEXTS = frozenset({str, bytes})
_LITERALS = frozenset({bool, int, float, complex, *_TEXTS})
_PLAIN = frozenset({*_LITERALS, list, tuple})
_SINGLE = np.dtype(np.float32)
_native = native_extension("_native_literals")
literal_array: Callable[[Any, Any], np.ndarray[Any, Any] | None]
literal_array = _native.literal_array if _native else lambda value, dtype: None
"""Return a number or a nest of them as an array, of the dtype by the rules of this module for None; None for others."""

_ARRAY_PROTOCOLS = ("__array__", "__array_interface__", "__dlpack__")


def register_conversion(kind: Kinds, conversion: Conversion, priority: int = 0) -> None:
    """Register `conversion(value, dtype or None) -> Tensor` for instances of `kind`."""
    bisect.insort(_conversions, (priority, kind, conversion), key=lambda known: known[0])


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: Kinds, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Register `conversion_func(value, dtype=..., name=..., as_ref=...)` for instances of `base_type`.

    A function may return NotImplemented; then the next one is tried, by `priority` and then in order.

    >>> class Degrees:
    ...     def __init__(self, number):
    ...         self.number = number
    >>> def in_degrees(value, dtype=None, name=None, as_ref=False):
    ...     return convert_to_tensor(value.number, dtype)
    >>> register_tensor_conversion_function(Degrees, in_degrees)
    >>> convert_to_tensor(Degrees(20.5))
    <tf.Tensor: shape=(), dtype=float32, numpy=20.5>
    """
    kinds = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(kind, type) for kind in kinds):
        raise TypeError(f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}")
    if any(issubclass(kind, (int, float, np.ndarray, np.generic)) for kind in kinds):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")

    def conversion(value: Any, dtype: dtypes.DType | None) -> Any:
        return conversion_func(value, dtype=dtype, name=None, as_ref=False)

    register_conversion(base_type, conversion, priority)


@export("convert_to_tensor")
def convert_to_tensor(
    value: TensorLike, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """Return `value` as a tensor of `dtype`.

    `dtype_hint` is the dtype to use if the value can have it. Raises TypeError when `value` cannot become a
    tensor of that dtype, ValueError for a nest that is not rectangular.

    >>> convert_to_tensor([1, 2.5])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>
    >>> convert_to_tensor(3, dtype_hint="float64").dtype
    tf.float64
    """
    wanted = dtype if dtype is None or type(dtype) is dtypes.DType else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype is not wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if wanted is None and dtype_hint is not None:
        try:
            return _convert(value, dtypes.as_dtype(dtype_hint))
        except MeetsCompositeError:
            raise
        except (TypeError, ValueError):
            return _convert(value, None)  # a hint that does not fit is ignored
    return _convert(value, wanted)


def integers_to_tensor(value: Any) -> Tensor:
    """Return integers as a tensor: Python values, which may be an empty list, as int32, others in their own dtype."""
    return convert_to_tensor(value, dtype_hint=None if hasattr(value, "dtype") else dtypes.int32)


def _convert(value: Any, dtype: dtypes.DType | None) -> Tensor:
    if type(value) is np.ndarray:  # no other conversion can be registered for this type
        return EagerTensor(_from_numpy(value, dtype))
    if type(value) not in _PLAIN:
        for _, kind, conversion in _conversions:
            if isinstance(value, kind):
                result = conversion(value, dtype)
                if result is not NotImplemented:
                    return result
        if hasattr(value, "__components__"):
            raise MeetsCompositeError(value)
        if hasattr(value, "__tf_tensor__"):
            return convert_to_tensor(value.__tf_tensor__(dtype), dtype)
        return EagerTensor(to_array(value, dtype))
    literal = literal_array(value, None if dtype is None else dtype.numpy_dtype)
    if literal is not None:
        return EagerTensor(literal)
    if type(value) in (list, tuple) and holds_tensor(value):
        return _stack(value, dtype)
    return EagerTensor(to_array(value, dtype))


def holds_tensor(value: Any) -> bool:
    """Return whether a list or tuple contains a tensor, or a value that converts to a symbolic tensor."""
    if isinstance(value, (list, tuple)):
        return not _LITERALS.issuperset(map(type, value)) and any(map(holds_tensor, value))
    return isinstance(value, SymbolicTensor) or is_tensor_like(value)


def variable_of(x: Any) -> Any:
    """Return the variable of an object that acts as one; return others unchanged.

    An object whose value is replaced for a while, as in a stateless scope of Keras, has no handle: return that value.
    """
    if not acts_as_variable(x):
        return x
    handle = getattr(x, "handle", None)
    return convert_to_tensor(x) if handle is None else handle.variable


def acts_as_variable(x: Any) -> bool:
    """Return whether an object has TensorFlow's mark of classes that wrap a variable, as Keras's variables do."""
    return getattr(type(x), "_should_act_as_resource_variable", False) is True


@export("is_tensor")
def is_tensor(x: Any) -> bool:
    """Return whether `x` is a Tensor, a Variable, an object that acts as a variable, or a composite tensor.

    >>> is_tensor(convert_to_tensor(1)), is_tensor(1)
    (True, False)
    """
    if acts_as_variable(x):
        return True
    if hasattr(type(x), "__components__"):
        return bool(x._is_native) or hasattr(
            x, "is_tensor_like"
        )  # the attribute by which TensorFlow asks as well
    return is_tensor_like(x) and hasattr(x, "get_shape")


def is_tensor_like(value: Any) -> bool:
    """Return whether `value` is a Tensor or Variable, which have a fixed dtype that is never promoted."""
    return isinstance(getattr(value, "dtype", None), dtypes.DType)


def _stack(values: Sequence[Any], dtype: dtypes.DType | None) -> Tensor:
    try:
        return late_binding.concat_split.stack_nest(values, dtype)  # type: ignore[no-any-return]
    except RecursionError as error:
        raise late_binding.cyclic_nests.told(error, values) from None


def to_array(value: Any, dtype: dtypes.DType | None) -> np.ndarray[Any, Any]:
    """Return a new NumPy array for a Python or NumPy value, by the rules of this module."""
    literal = literal_array(value, None if dtype is None else dtype.numpy_dtype)
    if literal is not None:
        return literal
    if type(value) not in _PLAIN:
        if isinstance(value, (np.ndarray, np.generic)):
            return _from_numpy(np.asarray(value), dtype)
        if isinstance(value, TensorShape):
            value = value.as_list()
            if not value and dtype is None:  # sizes are integers, also where there is none
                return np.zeros(0, np.int32)
        elif any(hasattr(type(value), protocol) for protocol in _ARRAY_PROTOCOLS):
            return _from_numpy(_of_another_library(value), dtype)
    array = _from_python(value, dtype)
    if dtype is None:
        return _demanded(array, value) if array.dtype == _SINGLE else array
    if array.dtype == dtype.numpy_dtype:
        return array
    if not _fits(array, dtype):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    if dtype.is_floating or dtype.is_complex:
        return rounded(value, dtype.numpy_dtype)  # from `value`: `array` is already rounded to float32
    return array.astype(dtype.numpy_dtype)


def _demanded(array: np.ndarray[Any, Any], value: Any) -> np.ndarray[Any, Any]:
    """Check that no finite number overflowed the default float32, else raise ValueError.

    While a graph is traced such a number becomes infinite, as in TensorFlow.
    """
    if np.count_nonzero(np.isinf(array)) and current() is None:
        for single, number in zip(array.flat, np.array(value, np.float64).flat, strict=True):
            if np.isinf(single) and not np.isinf(number):
                raise ValueError(
                    f"Can't convert the Python number {number} to a tensor: it is too large for float32, the dtype of "
                    f"floats. Give the dtype, for instance tf.float64, or float('inf') for infinity."
                )
    return array


@quietly
def rounded(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return a new array of `dtype`; numbers too large for a float become infinite, without a warning.

    >>> rounded(1e6, np.dtype(np.float16)).tolist()
    inf
    """
    return np.array(value, dtype)


def _of_another_library(value: Any) -> np.ndarray[Any, Any]:
    """Return the array of an object with an array protocol, such as a table's column or another library's tensor."""
    if hasattr(type(value), "__array__") or hasattr(type(value), "__array_interface__"):
        return np.asarray(value)
    return np.from_dlpack(value)


def _from_numpy(array: np.ndarray[Any, Any], dtype: dtypes.DType | None) -> np.ndarray[Any, Any]:
    if array.dtype.kind in "SUO":
        if dtype not in (None, dtypes.string):
            raise _unfit(array, dtype)
        return _strings(array)
    if array.dtype.kind in "mM" and dtype is not None and (dtype.is_integer or dtype.is_floating):
        array = array.astype(np.int64)  # dates and durations, in their unit
    own = dtypes.as_dtype(array.dtype)
    if dtype is None or own is dtype:
        return np.array(array, own.numpy_dtype)  # a copy: the caller may write to the original later
    if dtype is dtypes.string or (own.is_complex and not dtype.is_complex):
        raise _unfit(array, dtype)
    if own.is_floating and dtype.is_integer and not np.array_equal(array, np.trunc(array)):
        raise _unfit(array, dtype)
    return rounded(array, dtype.numpy_dtype)


def _unfit(array: np.ndarray[Any, Any], dtype: dtypes.DType | None) -> TypeError:
    return TypeError(f"Cannot convert a NumPy array of {array.dtype} to a tensor of {dtype and dtype.name}")


def _from_python(value: Any, dtype: dtypes.DType | None) -> np.ndarray[Any, Any]:
    kind = type(value)
    if kind is float:
        return np.array(value, _SINGLE) if abs(value) < 1e38 else rounded(value, _SINGLE)
    if kind is bool:
        return np.array(value)
    if kind is int:
        small = -(2**31) <= value < 2**31
        return np.array(value, np.int32) if small else _integers(np.array(value), value, dtype)
    if kind in (str, bytes):
        return _strings(np.array(value, object))
    if value is None:
        raise _unsupported(value)
    first_leaf = value
    while type(first_leaf) in (list, tuple) and first_leaf:
        first_leaf = first_leaf[0]
    if type(first_leaf) in _TEXTS:  # else NumPy gives each string the size of the longest
        array = np.array(value, object)
        if not any(issubclass(kind, (list, tuple)) for kind in set(map(type, array.flat))):
            return _strings(array)
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {value!r}") from None
    if array.dtype.kind == "f":
        if type(first_leaf) is float:  # the common case
            return rounded(array, _SINGLE)
        first = mixed_literals.first(value)
        if array.size and mixed_literals.are_whole(value):
            return _integers(mixed_literals.whole(value), value, dtype)
        own = getattr(first, "dtype", None)
        return rounded(array, own if own in (np.float16, np.float64) else _SINGLE)
    if array.dtype.kind in "iu":
        return _integers(array, value, dtype)
    if array.dtype.kind == "O" and mixed_literals.are_whole(value):
        return _integers(array, value, dtype)
    if array.dtype.kind in "SUO":
        return _strings(np.array(value, object))
    return array.astype(
        np.complex128 if array.dtype.kind == "c" else dtypes.as_dtype(array.dtype).numpy_dtype
    )


def _integers(array: np.ndarray[Any, Any], value: Any, dtype: dtypes.DType | None) -> np.ndarray[Any, Any]:
    if array.dtype.kind not in "iu":
        if dtype is not None and (dtype.is_floating or dtype.is_complex):
            return _large(value)
        raise ValueError(f"{value!r} does not fit any integer dtype")
    if not array.size or (array.max() <= dtypes.int32.max and array.min() >= dtypes.int32.min):
        return array.astype(np.int32)
    return array if array.max() > dtypes.int64.max else array.astype(np.int64)


def _large(value: Any) -> np.ndarray[Any, Any]:
    """Return integers that no integer dtype holds as floats."""
    try:
        return np.array(value, np.float64)
    except OverflowError:
        raise ValueError(f"{value!r} does not fit any dtype") from None


def _strings(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a new array of bytes for an array of texts. While a graph is built, its builder sees each text."""
    items = array.ravel().tolist()
    if current() is None and _TEXTS.issuperset(map(type, items)):
        texts = (item if type(item) is bytes else item.encode() for item in items)
        return np.fromiter(texts, object, array.size).reshape(array.shape)
    out = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        item = array[index]
        if hasattr(type(item), "__components__"):
            raise MeetsCompositeError(item)
        if not isinstance(item, (str, bytes)):
            raise _no_string(array, item)
        if isinstance(item, str) and (builder := current()) is not None:
            builder.shown.check_data(item)
        out[index] = item.encode() if isinstance(item, str) else bytes(item)
    return out


def _no_string(array: np.ndarray[Any, Any], first: Any) -> ValueError:
    """Return the error for an array without strings, naming the first element of an unsupported type."""
    plain = (str, bytes, bool, int, float, complex, np.generic)
    odd = next((item for item in array.flat if not isinstance(item, plain)), first)
    if any(isinstance(item, (str, bytes)) for item in array.flat) and odd is first:
        return ValueError(f"Can't convert Python sequence with mixed types to Tensor: {array.tolist()!r}")
    return _unsupported(odd)


def _unsupported(value: Any) -> ValueError:
    return ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor."
    )


def _fits(array: np.ndarray[Any, Any], dtype: dtypes.DType) -> bool:
    """Return whether Python numbers may take `dtype`: a richer kind, or an integer dtype that holds them."""
    kind = array.dtype.kind
    if not array.size:
        return True
    if kind == "b":
        return dtype.is_numeric
    if kind in "iu" and dtype.is_integer:
        return bool(dtype.min <= array.min() and array.max() <= dtype.max)
    rank = "iufc".find(kind)
    return (
        dtype.is_numeric
        and rank >= 0
        and ("iufc".find(dtype.kind) >= rank or (kind in "iu" and dtype.is_integer))
    )
