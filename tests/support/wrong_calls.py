"""Calls that operations should refuse, made of calls that they take: one argument at a time is changed.

add([1, 2], [3, 4])    →    dtype: add("qq", [3, 4])    shape: add([1, 2, 1], [3, 4])    …
gather([7], [0])       →    range: gather([7], [100])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from agc.runtime import dtypes
from agc.runtime.core.tensor import EagerTensor
from agc.runtime.ops.framework.op import Op

NUMBERS = (100, -100, 0)
TEXT = "no such"
DTYPES = (dtypes.string, dtypes.bool_, dtypes.complex64, dtypes.float64, dtypes.int32)


class Wrong(NamedTuple):
    """A call with one argument changed: what kind of change, of which parameter, and all arguments."""

    kind: str
    parameter: str
    arguments: dict[str, Any]


def wrong_calls(op: Op, arrays: list[Any], attrs: dict[str, Any]) -> Iterator[Wrong]:
    """Changes of a call, an array and an attribute at a time."""
    for place in range(len(arrays)):
        for kind, array in changed(np.asarray(arrays[place])):
            yield Wrong(
                kind,
                parameter_of(op, arrays, place),
                arguments(op, [*arrays[:place], array, *arrays[place + 1 :]], attrs),
            )
    if len(arrays) > 1:
        clash = [
            filled((2 + i,), element_of(np.asarray(array)), np.asarray(array).dtype)
            for i, array in enumerate(arrays)
        ]
        yield Wrong("shape", op.input_names[-1], arguments(op, clash, attrs))
    for name, value in attrs.items():
        for other in changed_attribute(value):
            yield Wrong("range", name, arguments(op, arrays, {**attrs, name: other}))


def arguments(op: Op, arrays: list[Any], attrs: dict[str, Any]) -> dict[str, Any]:
    """Return arrays as tensors, by the names of the parameters, together with the attributes."""
    tensors = op.grouped([EagerTensor(array) for array in arrays])
    return {**dict(zip(op.input_names, tensors, strict=True)), **attrs}


def parameter_of(op: Op, arrays: list[Any], place: int) -> str:
    """The parameter that an array belongs to."""
    places = op.grouped(list(range(len(arrays))))
    return next(
        name
        for name, held in zip(op.input_names, places, strict=True)
        if held == place or (isinstance(held, list) and place in held)
    )


def changed(array: Any) -> Iterator[tuple[str, Any]]:
    """Arrays that differ from this one in dtype, shape or a number, and which of these it is."""
    for dtype in DTYPES:
        if dtype is not dtypes.of_array(array):
            yield "dtype", filled(array.shape, b"q" if dtype is dtypes.string else 1, dtype.numpy_dtype)
    for shape in shapes(array.shape):
        yield "shape", filled(shape, element_of(array), array.dtype)
    if array.dtype.kind in "iuf" and array.size:
        for number in NUMBERS:
            if number >= 0 or array.dtype.kind != "u":
                other = array.copy()
                other.flat[0] = number
                yield "range", other


def element_of(array: Any) -> Any:
    return array.ravel()[0] if array.size else (b"q" if array.dtype == object else 1)


def filled(shape: tuple[int, ...], element: Any, dtype: Any) -> Any:
    array = np.empty(shape, dtype)
    array[...] = element
    return array


def shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Shapes with another rank, and with one more element on an axis, or none."""
    yield from ((2, *shape), (2, 1, 2, 1, 3, 1, 2), ())
    for axis, size in enumerate(shape):
        yield (*shape[:axis], size + 1, *shape[axis + 1 :])
        yield (*shape[:axis], 0, *shape[axis + 1 :])


def changed_attribute(value: Any) -> Iterator[Any]:
    """Attributes of a kind that is not meant, or far from it."""
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)) or value is None:
        yield from (*NUMBERS, object())
    elif isinstance(value, str):
        yield from (TEXT, object())
    elif isinstance(value, tuple):
        yield from ((*value, 100), (100,) * len(value), object())
    else:
        yield object()
