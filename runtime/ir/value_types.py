"""What is known of a value before the graph runs: its kind, dtype and shape.

    Spec       float32[2, ?]          a tensor
    RefSpec    ref float32[2, ?]      a variable, by reference
    ArraySpec  array float32[2]       a TensorArray whose elements are such tensors

>>> print(Spec(dtypes.float32, (2, None)), RefSpec(Spec(dtypes.int32, ())), ArraySpec(Spec(dtypes.bool_, None)))
float32[2, ?] ref int32[] array bool[...]
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core import shapes


class Spec:
    """A tensor of this dtype and shape; None stands for an unknown dimension or rank."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: dtypes.DType, shape: shapes.Dims) -> None:
        self.dtype = dtype
        self.shape = shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.dtype is other.dtype and self.shape == other.shape

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))

    def __repr__(self) -> str:
        return f"Spec({self.dtype!r}, {self.shape!r})"

    def with_shape(self, shape: shapes.Dims) -> Spec:
        return Spec(self.dtype, shape)

    def covers(self, other: AnySpec) -> bool:
        """Whether every value that fits `other` fits this spec."""
        return (
            isinstance(other, Spec) and self.dtype is other.dtype and shapes.covers(self.shape, other.shape)
        )

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype.name}[...]"
        return f"{self.dtype.name}[{', '.join('?' if size is None else str(size) for size in self.shape)}]"


class RefSpec:
    """A variable whose values are of the given kind."""

    __slots__ = ("content",)

    def __init__(self, content: Spec) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RefSpec) and self.content == other.content

    def __hash__(self) -> int:
        return hash((RefSpec, self.content))

    def __repr__(self) -> str:
        return f"RefSpec({self.content!r})"

    def covers(self, other: AnySpec) -> bool:
        return isinstance(other, RefSpec) and self.content.covers(other.content)

    def __str__(self) -> str:
        return f"ref {self.content}"


class ArraySpec:
    """A TensorArray, or a list, whose elements are of the given kind; those of a list may be lists."""

    __slots__ = ("element",)

    def __init__(self, element: Any) -> None:
        self.element = element

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArraySpec) and self.element == other.element

    def __hash__(self) -> int:
        return hash((ArraySpec, self.element))

    def __repr__(self) -> str:
        return f"ArraySpec({self.element!r})"

    def covers(self, other: AnySpec) -> bool:
        return isinstance(other, ArraySpec) and self.element.covers(other.element)

    def __str__(self) -> str:
        return f"array {self.element}"


AnySpec = Spec | RefSpec | ArraySpec
