"""Static values of integer operands in inference rules, such as the shape in `reshape(x, [n, 2])`.

>>> from agc.runtime import dtypes
>>> from agc.runtime.ir.graph import Constant, Value
>>> from agc.runtime.ir.value_types import TensorType
>>> integers(Constant.int32([2, -1]))
(2, -1)
>>> integers(Value("shape", TensorType(dtypes.int32, (2,))))
(None, None)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core import shapes

_MOST_DIMENSIONS = 32


def integers(operand: Any) -> tuple[int | None, ...] | None:
    """Return the elements of a vector of integers, None for unknown ones; None when their number is unknown."""
    unknown = unread_integers(operand)
    if operand.value is not None:
        return tuple(np.ravel(operand.value).tolist())
    return unknown if operand.elements is None else operand.elements


def unread_integers(operand: Any) -> tuple[None, ...] | None:
    """Return `integers` without their values, for a rule that does not depend on these."""
    _check_integer(operand)
    if operand.shape is not None and len(operand.shape) > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(operand.shape)}")
    if operand.shape is None:
        return None
    count = operand.shape[0] if operand.shape else 1
    return None if count is None else (None,) * count


def integer(operand: Any) -> int | None:
    """Return the static value of a scalar integer, or None."""
    _check_integer(operand)
    if operand.shape not in (None, ()):
        raise ValueError(f"a scalar is needed, but the shape is {shapes.show(operand.shape)}")
    if operand.value is not None:
        return int(operand.value)
    return operand.elements[0] if operand.elements else None


def size(operand: Any, what: str) -> int | None:
    """Return the static value of a non-negative scalar integer, or None; ValueError if it is negative."""
    known = integer(operand)
    return None if known is None else checked_size(known, what)


def checked_size(number: Any, what: str) -> int:
    """Convert a kernel's argument, a count, to an int; ValueError if it is negative."""
    size = int(number)
    if size < 0:
        raise ValueError(f"{what} must be non-negative, got: {size}")
    return size


def known_elements(operand: Any) -> tuple[int | None, ...] | None:
    """Return the elements of a scalar or short vector of integers as `integers` does; None for other operands."""
    shape = operand.shape
    if not operand.dtype.is_integer or shape is None or len(shape) > 1 or None in shape:
        return None
    return integers(operand) if not shape or shape[0] <= _MOST_DIMENSIONS else None


def computed(compute: Callable[..., int]) -> Callable[..., tuple[int | None, ...] | None]:
    """Return the function for `OpDef.elements` of an elementwise operation, which computes with the known elements.

    >>> from agc.runtime import dtypes
    >>> import operator
    >>> from agc.runtime.ir.graph import Constant
    >>> three, sizes = (Constant.int32(value) for value in (3, [1, 2]))
    >>> computed(operator.sub)(three, sizes)
    (2, 1)
    """

    def elements(*operands: Any) -> tuple[int | None, ...] | None:
        known = []
        for operand in operands:
            own = known_elements(operand)
            if own is None:
                return None
            known.append(own)
        count = next((len(each) for each in known if len(each) != 1), 1)
        columns = [each * count if len(each) == 1 else each for each in known]
        dtype = operands[0].dtype
        found = tuple(_element(compute, row, dtype) for row in zip(*columns, strict=True))
        return found if any(each is not None for each in found) else None

    return elements


def _element(compute: Callable[..., int], row: tuple[int | None, ...], dtype: Any) -> int | None:
    """Return the result of one element; None if it is unknown, an error, or does not fit its dtype."""
    if None in row:
        return None
    try:
        result = compute(*row)
    except ZeroDivisionError:
        return None
    return result if dtype.min <= result <= dtype.max else None


def _check_integer(operand: Any) -> None:
    if not operand.dtype.is_integer:
        raise TypeError(f"integers are needed, but the dtype is {operand.dtype.name}")


def dims(operand: Any) -> shapes.Dims:
    """Return the shape that a vector of integers describes; ValueError for negative dimensions."""
    sizes = integers(operand)
    for size in sizes or ():
        if size is not None and size < 0:
            raise ValueError(f"Dimension {size} must be >= 0")
    return sizes


def as_tuple(array: Any) -> tuple[int, ...]:
    """Return a kernel's shape array as a tuple of integers; a scalar counts as a vector of one."""
    if array.ndim > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {array.ndim}")
    values = array.tolist()
    return tuple(values) if type(values) is list else (values,)


def checked_dims(array: Any) -> tuple[int, ...]:
    """Return a kernel's shape array as a shape; ValueError for negative dimensions."""
    sizes = as_tuple(array)
    if sizes and min(sizes) < 0:
        raise ValueError(f"Dimension {min(sizes)} must be >= 0")
    return sizes


def listed(sizes: Iterable[int | None]) -> str:
    """Format a shape as in the messages of TensorFlow's kernels: `[2,?]`."""
    return "[" + ",".join("?" if size is None else str(size) for size in sizes) + "]"


def with_axis(shape: tuple[int | None, ...], axis: int, size: int | None) -> tuple[int | None, ...]:
    """Return `shape` with the size of one axis replaced."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def of_tensor(tensor: Any) -> tuple[int | None, ...] | None:
    """Return the static elements of a vector of integers, None for unknown ones; None when their number is unknown."""
    if hasattr(tensor, "_array"):
        return tuple(np.ravel(tensor._array).tolist())
    return integers(tensor._value)
