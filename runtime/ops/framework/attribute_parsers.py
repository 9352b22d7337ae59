"""Parsers of operation attributes: one function for each annotation in a signature.

A parser (a reader) takes the argument and returns a plain value, or raises TypeError or ValueError. Plain values
can be printed and parsed: int, float, bool, str, None, DType, and tuples of these.

>>> READERS["Axes"]([0, 1]), READERS["Axes"](None), READERS["Axis"](-1)
((0, 1), None, -1)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.value_types import TensorType

Axis = int
LastAxis = int
NewAxis = int
Results = int
Axes = tuple[int, ...] | None
DType = dtypes.DType
OptionalDType = dtypes.DType | None
Dims = shapes.Dims
Texts = tuple[str, ...]
Object = Any
Specs = tuple[TensorType, ...]


def read_axis(value: Any) -> int:
    """Read one axis; negative axes count from the end.

    A scalar integer tensor with a static value is accepted, and so is a float without a fraction, such as `8 / 2`.
    """
    is_whole = isinstance(value, (float, np.floating)) and value.is_integer()
    try:
        number = operator.index(int(value) if is_whole else getattr(value, "_array", value))
    except TypeError as error:
        if type(error) is not TypeError:
            raise
        raise TypeError(f"expected an integer, got {value!r}") from None
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError("the integer has more than 64 bits")
    return number


def read_results(value: Any) -> int:
    """Read the number of results of an operation.

    A file that lists fewer results is rejected before the inference rule creates them.
    """
    return read_axis(value)


def read_last_axis(value: Any) -> int:
    """Read one axis; None means the last axis."""
    return -1 if value is None else read_axis(value)


def read_new_axis(value: Any) -> int:
    """Read one axis, which may be the only element of a list, tuple or array, nested or not."""
    element = value
    while isinstance(element, (list, tuple)) and len(element) == 1:
        element = element[0]
    array = getattr(element, "_array", element)
    if isinstance(array, np.ndarray) and array.size == 1:
        return read_axis(array.item())
    if isinstance(array, (list, tuple, np.ndarray)):
        raise errors.InvalidArgumentError(
            None, None, f"'dim' must be a tensor with a single value, not {value!r}"
        )
    return read_axis(element)


def read_axes(value: Any) -> tuple[int, ...] | None:
    """Read None for all axes, one axis, or several."""
    if value is None:
        return None
    if hasattr(value, "_array"):
        value = value._array.tolist()
    elif hasattr(value, "numpy"):
        value = value.numpy().tolist()
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return tuple(map(read_axis, value))
    return (read_axis(value),)


def read_optional_int(value: Any) -> int | None:
    return None if value is None else read_axis(value)


def read_rounds(value: Any) -> int | None:
    """Read a number of loop iterations; None means no limit."""
    number = read_optional_int(value)
    if number is not None and number < 0:
        raise ValueError(f"{number} is not a number of iterations")
    return number


def read_every(value: Any) -> int | str:
    """Read how many iterations pass between two saved states; "auto" lets the gradient choose."""
    number = value if value == "auto" else read_axis(value)
    if number != "auto" and number < 1:
        raise ValueError(f"{number} is not a number of iterations")
    return number


def read_optional_dtype(value: Any) -> dtypes.DType | None:
    return None if value is None else dtypes.as_dtype(value)


def read_float(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"expected a number, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        if type(error) not in (TypeError, ValueError):
            raise
        raise TypeError(f"expected a number, got {value!r}") from None


def read_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return str(value)


def read_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"expected a list of texts, got {value!r}")
    return tuple(map(read_text, value))


def read_specs(value: Any) -> tuple[TensorType, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"expected a list of specs, got {value!r}")
    if not all(isinstance(item, TensorType) for item in value):
        raise TypeError(f"expected a list of specs, got {value!r}")
    return tuple(value)


def read_bool(value: Any) -> bool:
    return bool(value)


def read_object(value: Any) -> Any:
    """Return `value` unchanged: an object of the running program, such as a function. It cannot be serialized."""
    return value


LITERALS = {type(None), bool, int, float, str}
"""The classes of attributes that files may contain."""


def is_literal(value: Any) -> bool:
    """Return whether an attribute has a type that prints and parses; objects of subclasses do not."""
    if type(value) is tuple:
        return all(map(is_literal, value))
    return type(value) in LITERALS or isinstance(value, dtypes.DType)


READERS: dict[str, Callable[[Any], Any]] = {
    "Axis": read_axis,
    "LastAxis": read_last_axis,
    "NewAxis": read_new_axis,
    "Results": read_results,
    "Axes": read_axes,
    "DType": dtypes.as_dtype,
    "OptionalDType": read_optional_dtype,
    "Dims": shapes.as_dims,
    "bool": read_bool,
    "int": read_axis,
    "int | None": read_optional_int,
    "float": read_float,
    "str": read_text,
    "Texts": read_texts,
    "Object": read_object,
    "Specs": read_specs,
    "Rounds": read_rounds,
    "Every": read_every,
    "str | None": lambda value: None if value is None else read_text(value),
}
