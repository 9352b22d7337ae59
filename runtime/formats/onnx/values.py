"""The values of an ONNX graph that is being written, with which rules compute like with numbers.

x * 2.0 + y     ==>     Mul(x, const), Add
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import dtypes
from .onnx_types import InexpressibleError


def _binary(
    op: str, flip: bool = False, dtype: dtypes.DType | None = None, of_bools: str | None = None
) -> Callable[[Ref, Any], Ref]:
    """Return the method of an operator: Python numbers have the dtype of the other operand."""

    def method(self: Ref, other: Any) -> Ref:
        pair = (self, self.e.like(other, self))
        name = of_bools if of_bools is not None and self.dtype.is_bool else op
        made: Ref = self.e(name, *(pair[::-1] if flip else pair), dtype=dtype)
        return made

    return method


class Ref:
    """A value of the ONNX graph: its name and dtype, its shape as far as it is known, and that of a constant."""

    __slots__ = ("dtype", "e", "is_unwritten", "name", "shape", "value")

    def __init__(self, e: Any, name: str, dtype: dtypes.DType, shape: Any = None, value: Any = None) -> None:
        self.e = e
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.value = value
        self.is_unwritten = False  # a TensorArray that has no elements yet

    @property
    def rank(self) -> int:
        """The number of axes. Raises InexpressibleError if it is unknown."""
        if self.shape is None:
            raise InexpressibleError("the rank of an operand is not known")
        return len(self.shape)

    __add__, __radd__ = _binary("Add"), _binary("Add", flip=True)
    __sub__, __rsub__ = _binary("Sub"), _binary("Sub", flip=True)
    __mul__, __rmul__ = _binary("Mul"), _binary("Mul", flip=True)
    __truediv__, __rtruediv__ = _binary("Div"), _binary("Div", flip=True)
    __lt__, __le__ = _binary("Less", dtype=dtypes.bool_), _binary("LessOrEqual", dtype=dtypes.bool_)
    __gt__, __ge__ = _binary("Greater", dtype=dtypes.bool_), _binary("GreaterOrEqual", dtype=dtypes.bool_)
    __and__, __or__ = _binary("BitwiseAnd", of_bools="And"), _binary("BitwiseOr", of_bools="Or")
    __xor__ = _binary("BitwiseXor", of_bools="Xor")
    equals = _binary("Equal", dtype=dtypes.bool_)
    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        return self.e("Neg", self)

    def __invert__(self) -> Any:
        return self.e("Not" if self.dtype.is_bool else "BitwiseNot", self)
