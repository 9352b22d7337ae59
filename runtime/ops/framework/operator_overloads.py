"""Python's operators on tensors.

Numbers, lists and NumPy arrays are converted to the dtype of the other operand, a tensor. `&`, `|`, `^` and
`~` are logical for bools and bitwise for integers; `*` of bools is `&`. `==` compares elements: None equals no
tensor, and tensors of shapes that do not broadcast differ as a whole.

>>> x = convert_to_tensor([1, 2])
>>> (2 * x + 1).numpy().tolist(), (x == 2).numpy().tolist(), x == None
([3, 5], [False, True], False)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.tensor import EagerTensor, Tensor
from ..linalg.matmul import matmul_op
from ..math import arithmetic, cast, comparison, elementwise
from ..math import bitwise as bits
from .eager_calls import native
from .op_families import Elementwise

Binary = Callable[[Any, Any], Any]


def _by_dtype(logical: Binary, numeric: Binary) -> Binary:
    def operation(x: Any, y: Any) -> Any:
        if type(x) is EagerTensor:
            return (logical if x._array.dtype.type is np.bool_ else numeric)(x, y)
        kind = x.dtype if is_tensor_like(x) else y.dtype
        return (logical if kind.is_bool else numeric)(x, y)

    return operation


def _equality(strict: Binary, loose: Binary, otherwise: bool) -> Binary:
    def operation(x: Any, y: Any) -> Any:
        if type(x) is EagerTensor and type(y) is EagerTensor and x._array.shape == y._array.shape:
            return strict(x, y)
        if x is None or y is None:
            return otherwise
        if type(y) in (int, float, bool):
            return strict(x, y)
        x = convert_to_tensor(x)
        y = y if is_tensor_like(y) else convert_to_tensor(y, x.dtype)
        sure = x is y or comparison.certainly_broadcasts(x.shape.sizes, y.shape.sizes)
        return (strict if sure else loose)(x, y)

    return operation


def _forward(operation: Binary, reflected: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        try:
            return operation(self, other)
        except (TypeError, ValueError):
            knows_better = hasattr(type(other), reflected) and type(other) is not type(self)
            if knows_better and not isinstance(other, _CONVERTIBLE):
                return NotImplemented  # the other object's class may implement the operation
            raise

    return method


def _backward(operation: Binary) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if type(other) in (int, float, str):
            return operation(other, self)
        return operation(convert_to_tensor(other, self.dtype), self)

    return method


def _unary(operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return operation(self)

    return method


def _plain(operation: Binary) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return operation(self, other)

    return method


def _positive(x: Any) -> Any:
    """Return the same numbers; TypeError for dtypes without numbers, as in Python and NumPy."""
    if x.dtype.is_numeric:
        return convert_to_tensor(x)
    raise TypeError(f"bad operand type for unary +: a tensor of {x.dtype.name}")


def _round(self: Any, ndigits: Any = None) -> Any:
    """Round to the nearest integer, halves to even; the result is an int, as in Python."""
    tensor = convert_to_tensor(self)
    if ndigits is None:
        nearest = elementwise.round(tensor)
        is_int = tensor.dtype.is_integer and tensor.dtype.size >= 4
        return nearest if is_int else cast.cast(nearest, dtypes.int32)
    if tensor.dtype.is_integer and isinstance(ndigits, int) and ndigits >= 0:
        return tensor
    raise TypeError(
        "round() of a tensor takes no number of digits: Python rounds the decimal digits of a number, which binary "
        "arithmetic cannot; tf.round(x * 100) / 100 is near it"
    )


_CONVERTIBLE = (Tensor, int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic)

_ARITHMETIC: dict[str, Binary] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": _by_dtype(comparison.logical_and, arithmetic.multiply),
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.floormod,
    "pow": arithmetic.pow,
    "matmul": matmul_op,
    "divmod": lambda x, y: (arithmetic.floordiv(x, y), arithmetic.floormod(x, y)),
    "and": _by_dtype(comparison.logical_and, bits.bitwise_and),
    "or": _by_dtype(comparison.logical_or, bits.bitwise_or),
    "xor": _by_dtype(comparison.logical_xor, bits.bitwise_xor),
}
_COMPARISONS: dict[str, Binary] = {
    "lt": comparison.less,
    "le": comparison.less_equal,
    "gt": comparison.greater,
    "ge": comparison.greater_equal,
    "eq": _equality(comparison.equal, comparison.equal_or_false, False),
    "ne": _equality(comparison.not_equal, comparison.not_equal_or_true, True),
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": elementwise.negative,
    "pos": _positive,
    "abs": elementwise.abs,
    "invert": lambda x: (comparison.logical_not if x.dtype.is_bool else bits.invert)(x),
}

OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": _forward(operation, f"__r{name}__") for name, operation in _ARITHMETIC.items()},
    **{f"__r{name}__": _backward(operation) for name, operation in _ARITHMETIC.items()},
    **{f"__{name}__": _plain(operation) for name, operation in _COMPARISONS.items()},
    **{f"__{name}__": _unary(operation) for name, operation in _UNARY.items()},
    "__round__": _round,
}
"""Special methods by name, for every class that acts as a tensor."""

Tensor.OVERLOADABLE_OPERATORS = frozenset(OPERATORS.keys() - {"__round__"} | {"__getitem__"})


_TRIED: dict[str, tuple[Any, ...]] = {
    **{
        name: (operation,)
        for name, operation in {**_ARITHMETIC, **_COMPARISONS, **_UNARY}.items()
        if isinstance(operation, Elementwise)
    },
    "mul": (arithmetic.multiply, comparison.logical_and),
    "truediv": (arithmetic.realdiv,),
    "and": (comparison.logical_and, bits.bitwise_and),
    "or": (comparison.logical_or, bits.bitwise_or),
    "xor": (comparison.logical_xor, bits.bitwise_xor),
    "eq": (comparison.equal,),
    "ne": (comparison.not_equal,),
    "invert": (comparison.logical_not, bits.invert),
}
"""Elementwise operations that compute an operator, each for the dtypes that it accepts."""


def _native_operators() -> dict[str, Callable[..., Any]]:
    """Return C functions that try the elementwise operations, and then call the methods in `OPERATORS`."""
    tried = {
        f"__{side}{name}__": (tuple(op.__call__ for op in ops), bool(side))
        for name, ops in _TRIED.items()
        for side in ("", "r")
    }
    return {name: native.operator(OPERATORS[name], *tried[name]) for name in tried.keys() & OPERATORS.keys()}


for _name, _method in OPERATORS.items():
    _method.__name__ = _name

_INSTALLED = {**OPERATORS, **(_native_operators() if native else {})}


def install(kind: type) -> None:
    """Add Python's operators to a class."""
    for name, method in _INSTALLED.items():
        setattr(kind, name, method)
