"""Types of values: the kind, dtype and shape that are known before the graph runs.

    TensorType    float32[2, ?]         a tensor
    VariableType  ref float32[2, ?]     a variable, by reference
    ListType      array float32[2]      a TensorArray whose elements are such tensors

>>> print(TensorType(dtypes.float32, (2, None)), VariableType(TensorType(dtypes.int32, ())))
float32[2, ?] ref int32[]
>>> print(ListType(TensorType(dtypes.bool_, None)))
array bool[...]
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core import shapes


class TensorType:
    """The type of a tensor; None is an unknown dimension or rank."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: dtypes.DType, shape: shapes.Dims) -> None:
        self.dtype = dtype
        self.shape = shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and self.dtype is other.dtype and self.shape == other.shape

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        return f"TensorType({self.dtype!r}, {self.shape!r})"

    def with_shape(self, shape: shapes.Dims) -> TensorType:
        return TensorType(self.dtype, shape)

    def covers(self, other: AnySpec) -> bool:
        """Return whether every value of type `other` has this type."""
        return (
            isinstance(other, TensorType)
            and self.dtype is other.dtype
            and shapes.covers(self.shape, other.shape)
        )

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype.name}[...]"
        return f"{self.dtype.name}[{', '.join('?' if size is None else str(size) for size in self.shape)}]"


class VariableType:
    """The type of a variable with values of type `content`."""

    __slots__ = ("content",)

    def __init__(self, content: TensorType) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableType) and self.content == other.content

    def __hash__(self) -> int:
        return hash((VariableType, self.content))

    def __repr__(self) -> str:
        return f"VariableType({self.content!r})"

    def covers(self, other: AnySpec) -> bool:
        return isinstance(other, VariableType) and self.content.covers(other.content)

    def __str__(self) -> str:
        return f"ref {self.content}"


class ListType:
    """The type of a TensorArray or list with elements of type `element`; elements of a list may be lists."""

    __slots__ = ("_hash", "element")

    def __init__(self, element: Any) -> None:
        self.element = element
        self._hash = hash((ListType, element))  # once: lists may be nested deep

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ListType) and self.element == other.element)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:  # hashes differ in each process
        return ListType, (self.element,)

    def __repr__(self) -> str:
        return f"ListType({self.element!r})"

    def covers(self, other: AnySpec) -> bool:
        return isinstance(other, ListType) and self.element.covers(other.element)

    def __str__(self) -> str:
        return f"array {self.element}"


AnySpec = TensorType | VariableType | ListType
