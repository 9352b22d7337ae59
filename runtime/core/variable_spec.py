"""`VariableSpec`: the spec of a variable inside of a composite, such as a distribution with trainable parameters."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..ir.value_types import TensorType, VariableType
from . import shapes
from .type_spec import TypeSpec
from .variable import Variable


class VariableSpec(TypeSpec):
    """The dtype and shape of a variable, which is its own only component.

    >>> VariableSpec([2]).is_compatible_with(Variable([1.0, 2.0]))
    True
    """

    __slots__ = ("alias_id", "spec", "trainable")

    def __init__(
        self, shape: Any, dtype: Any = "float32", trainable: bool = True, alias_id: int | None = None
    ) -> None:
        self.spec = VariableType(TensorType(dtypes.as_dtype(dtype), shapes.as_dims(shape)))
        self.trainable = trainable
        self.alias_id = alias_id

    @classmethod
    def from_value(cls, value: Variable) -> VariableSpec:
        """Return the spec of a variable."""
        return cls(value.shape, value.dtype, value.trainable)

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape of the variable."""
        return shapes.of_dims(self.spec.content.shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the variable."""
        return self.spec.content.dtype

    @property
    def value_type(self) -> type:
        return Variable

    @property
    def _component_specs(self) -> VariableSpec:
        return self

    def _to_components(self, value: Variable) -> Variable:
        return value

    def _from_components(self, components: Variable) -> Variable:
        return components

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.trainable, self.alias_id

    def flatten(self) -> list[Any]:
        return [self]

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a variable or its spec has this dtype and a compatible shape."""
        return (
            isinstance(spec_or_value, (Variable, VariableSpec))
            and self.dtype is spec_or_value.dtype
            and self.shape.is_compatible_with(spec_or_value.shape)
        )
