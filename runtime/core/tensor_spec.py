"""`TensorSpec`: the dtype and shape that a function requires of an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..ir.value_types import TensorType
from . import shapes
from .export import export
from .tensor import Tensor
from .type_spec import TypeSpec


@export("TensorSpec")
class TensorSpec(TypeSpec):
    """A dtype and a shape, with None for unknown dimensions or an unknown rank.

    >>> TensorSpec([None, 3], "float32", name="x")
    TensorSpec(shape=(None, 3), dtype=tf.float32, name='x')
    """

    __slots__ = ("name", "spec")

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        self.spec = TensorType(dtypes.as_dtype(dtype), shapes.as_dims(shape))
        self.name = name

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape."""
        return shapes.of_dims(self.spec.shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self.spec.dtype

    @property
    def value_type(self) -> type:
        return Tensor

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def flatten(self) -> list[Any]:
        return [self]

    def from_tensors(self, tensors: Any) -> Any:
        """Return the first of these tensors."""
        return next(iter(tensors))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the spec with exactly the dtype and shape of `tensor`."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return the spec with the shape and dtype of another spec."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Return whether a tensor or spec has this dtype and a compatible shape."""
        is_dense = isinstance(spec_or_tensor, (TensorSpec, Tensor)) or hasattr(spec_or_tensor, "content_spec")
        return (
            is_dense
            and self.dtype is spec_or_tensor.dtype
            and self.shape.is_compatible_with(spec_or_tensor.shape)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether every tensor that fits this spec fits the other one."""
        return isinstance(other, TensorSpec) and other.spec.covers(self.spec)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """Return the most precise spec that covers this one and the others; None when their dtypes differ."""
        shape, name = self.spec.shape, self.name
        for other in others:
            if not isinstance(other, TensorSpec) or other.dtype is not self.dtype:
                return None
            shape = shapes.generalize(shape, other.spec.shape)
            name = name if name == other.name else None
        return TensorSpec(shape, self.dtype, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self.spec == other.spec and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    def __reduce__(self) -> Any:
        return TensorSpec, (self.spec.shape, self.spec.dtype, self.name)
