"""TensorFlow's internal base classes of specs, from which libraries derive their own."""

from __future__ import annotations

from typing import Any

from ... import dtypes, nest
from ...core.shapes import TensorShape
from ...core.type_spec import TypeSpec, are_compatible, comparison_key
from ...core.type_spec import type_spec_from_value as spec_of_tensors
from ...core.variable import Variable
from ...core.variable_spec import VariableSpec


class _PrivateMethods(TypeSpec):
    """The private methods of TensorFlow's `TypeSpec` that TensorFlow Probability's subclasses call."""

    __slots__ = ()

    @property
    def _holds_variables(self) -> bool:  # type: ignore[override]
        return any(isinstance(part, VariableSpec) for part in nest.flatten(self._component_specs, True))

    def _TypeSpec__make_cmp_key(self, value: Any) -> Any:
        return comparison_key(value)

    def _TypeSpec__is_compatible(self, one: Any, other: Any) -> bool:
        return are_compatible(one, other)


class BatchableTypeSpec(_PrivateMethods):
    """The base class of specs whose values can be put in batches."""

    __slots__ = ()


class DenseSpec(_PrivateMethods):
    """The base class of specs with one shape and one dtype."""

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The static shape of the values."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name of the value; None without one."""
        return self._name


def type_spec_from_value(value: Any) -> TypeSpec:
    """Return the spec of a variable, or of any value of which `tf.type_spec_from_value` returns one."""
    return VariableSpec.from_value(value) if isinstance(value, Variable) else spec_of_tensors(value)
