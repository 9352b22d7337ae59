"""Lossless JSON form of the attributes of operations.

None, True, 3, 0.5, "mean"          as they are
(0, None)                           [0, null]
[0], {"a": 1}                       {"list": [0]}, {"dict": [["a", 1]]}
tf.float32, TensorShape([2])        {"dtype": "float32"}, {"shape": [2]}
b"\\xff", nan, 1j                   {"bytes": "/w=="}, {"float": "nan"}, {"complex": [0.0, 1.0]}
slice(0, 2)                         {"slice": [0, 2, null]}
an array                            {"array": {"dtype": "int32", "shape": [2], "data": "AQAAAAIAAAA="}}
a value of a `declare`d class       {tag: [its parts]}

Objects of a running program, such as functions, become {"python": "<function f>"} and cannot be read back.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core import shapes
from .literal_printer import decode, encode, show_attribute


def declare(kind: type, tag: str, parts: Callable[[Any], tuple[Any, ...]]) -> None:
    """Give the values of a class a JSON form: the attributes that `kind(*parts)` rebuilds a value from."""
    _DECLARED[kind] = tag, parts
    _READERS[tag] = lambda data: kind(*map(attribute_from, data))


_DECLARED: dict[type, tuple[str, Callable[[Any], tuple[Any, ...]]]] = {}


def attribute_data(value: Any) -> Any:
    """Return an attribute as JSON data; see the table in the module's docstring."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) is tuple:
        return [attribute_data(item) for item in value]
    if type(value) is list:
        return {"list": [attribute_data(item) for item in value]}
    if type(value) is dict:
        return {"dict": [[attribute_data(key), attribute_data(item)] for key, item in value.items()]}
    if isinstance(value, dtypes.DType):
        return {"dtype": value.name}
    if isinstance(value, shapes.TensorShape):
        return {"shape": None if value.sizes is None else list(value.sizes)}
    return _tagged(value)


def _tagged(value: Any) -> dict[str, Any]:
    if type(value) is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if type(value) is complex:
        return {"complex": [attribute_data(value.real), attribute_data(value.imag)]}
    if type(value) is slice:
        return {"slice": [attribute_data(part) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"array": array_data(np.asarray(value))}
    if type(value) in _DECLARED:
        tag, parts = _DECLARED[type(value)]
        return {tag: [attribute_data(part) for part in parts(value)]}
    return {"python": show_attribute(value)}


def attribute_from(data: Any) -> Any:
    """Return the attribute that `data` describes. Raises ValueError if `data` describes none."""
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    if isinstance(data, list):
        return tuple(map(attribute_from, data))
    if isinstance(data, dict) and len(data) == 1:
        ((tag, content),) = data.items()
        if tag == "python":
            raise ValueError(f"{content} exists only while the program runs")
        if tag in _READERS:
            return _READERS[tag](content)
    raise ValueError(f"{data!r} is not an attribute")


_READERS: dict[str, Any] = {
    "float": float,
    "list": lambda items: list(map(attribute_from, items)),
    "dict": lambda pairs: {attribute_from(key): attribute_from(item) for key, item in pairs},
    "dtype": dtypes.as_dtype,
    "shape": shapes.TensorShape,
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "complex": lambda parts: complex(*map(attribute_from, parts)),
    "slice": lambda parts: slice(*map(attribute_from, parts)),
    "ellipsis": lambda _: Ellipsis,
    "array": lambda data: array_from(data),
}


def array_data(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return an array as its dtype, its shape, and its elements in base64 (strings with length prefixes)."""
    dtype = dtypes.of_array(array)
    return {"dtype": dtype.name, "shape": list(array.shape), "data": base64.b64encode(encode(array)).decode()}


def array_from(data: Any) -> np.ndarray[Any, Any]:
    """Return the array for the result of `array_data`. Raises ValueError for damaged data."""
    dtype = dtypes.as_dtype(data["dtype"])
    return decode(base64.b64decode(data["data"], validate=True), dtype, tuple(data["shape"]))
