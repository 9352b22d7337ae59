"""What is known of a value before the graph runs: its kind, dtype and shape.

    Spec       float32[2, ?]          a tensor
    RefSpec    ref float32[2, ?]      a variable, by reference
    ArraySpec  array float32[2]       a TensorArray whose elements are such tensors

>>> print(Spec(dtypes.float32, (2, None)), RefSpec(Spec(dtypes.int32, ())), ArraySpec(Spec(dtypes.bool_, None)))
float32[2, ?] ref int32[] array bool[...]
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import dtypes, shapes


@dataclass(frozen=True, slots=True)
class Spec:
    """A tensor of this dtype and shape; None stands for an unknown dimension or rank."""

    dtype: dtypes.DType
    shape: shapes.Dims

    def with_shape(self, shape: shapes.Dims) -> Spec:
        return Spec(self.dtype, shape)

    def covers(self, other: AnySpec) -> bool:
        """Whether every value that fits `other` fits this spec."""
        return isinstance(other, Spec) and self.dtype is other.dtype and shapes.covers(self.shape, other.shape)

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype.name}[...]"
        return f"{self.dtype.name}[{', '.join('?' if size is None else str(size) for size in self.shape)}]"


@dataclass(frozen=True, slots=True)
class RefSpec:
    """A variable whose values are of the given kind."""

    content: Spec

    def covers(self, other: AnySpec) -> bool:
        return isinstance(other, RefSpec) and self.content.covers(other.content)

    def __str__(self) -> str:
        return f"ref {self.content}"


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """A TensorArray whose elements are of the given kind."""

    element: Spec

    def covers(self, other: AnySpec) -> bool:
        return isinstance(other, ArraySpec) and self.element.covers(other.element)

    def __str__(self) -> str:
        return f"array {self.element}"


AnySpec = Spec | RefSpec | ArraySpec
