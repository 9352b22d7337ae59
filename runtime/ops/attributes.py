"""How operations read their attributes: one function for each annotation in a signature.

A reader takes what the user gave and returns a plain value that prints and parses (int, float, bool, str, None,
DType, tuple of these), or raises TypeError or ValueError.

>>> READERS["Axes"]([0, 1]), READERS["Axes"](None), READERS["Axis"](-1)
((0, 1), None, -1)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .. import dtypes, shapes
from ..ir.specs import Spec

Axis = int
LastAxis = int
Axes = tuple[int, ...] | None
DType = dtypes.DType
OptionalDType = dtypes.DType | None
Dims = shapes.Dims
Texts = tuple[str, ...]
Object = Any
Specs = tuple[Spec, ...]


def read_axis(value: Any) -> int:
    """One axis, negative from the end; a scalar integer tensor whose value is known will do."""
    return operator.index(getattr(value, "_array", value))


def read_last_axis(value: Any) -> int:
    """One axis; None is the last one."""
    return -1 if value is None else read_axis(value)


def read_axes(value: Any) -> tuple[int, ...] | None:
    """None for all axes, one axis, or several."""
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


def read_optional_dtype(value: Any) -> dtypes.DType | None:
    return None if value is None else dtypes.as_dtype(value)


def read_bool(value: Any) -> bool:
    return bool(value)


READERS: dict[str, Callable[[Any], Any]] = {
    "Axis": read_axis,
    "LastAxis": read_last_axis,
    "Axes": read_axes,
    "DType": dtypes.as_dtype,
    "OptionalDType": read_optional_dtype,
    "Dims": shapes.as_dims,
    "bool": read_bool,
    "int": read_axis,
    "int | None": read_optional_int,
    "float": float,
    "str": str,
    "Texts": lambda value: tuple(map(str, value)),
    "Object": lambda value: value,  # exists in a running program only
    "Specs": tuple,
    "str | None": lambda value: None if value is None else str(value),
}
