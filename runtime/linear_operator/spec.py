"""The type spec of operators: the class, specs of its tensors and operators, and its other arguments.

    LinearOperatorDiag(x)   ==>   LinearOperatorSpec(LinearOperatorDiag, {"diag": TensorSpec(...)}, {hints})

A function, a branch or a loop carries the tensors, and calls the class's constructor with those that it returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import nest
from ..core.conversion import convert_to_tensor, is_tensor_like
from ..core.type_spec import TypeSpec, type_spec_from_value
from .hints import HINTS


class LinearOperatorSpec(TypeSpec):
    """The spec of an operator: its class, the specs of the arguments with tensors, and the other arguments."""

    __slots__ = ("_class", "_data", "_tensors")

    def __init__(self, operator_class: type, tensors: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        self._class, self._tensors, self._data = operator_class, dict(tensors), dict(data)

    @classmethod
    def of(cls, operator: Any) -> LinearOperatorSpec:
        """Return the spec of an operator."""
        tensors, data = {}, {}
        for name, value in operator._arguments().items():
            leaves = nest.flatten(value)
            if leaves and all(is_tensor_like(leaf) or nest.is_composite(leaf) for leaf in leaves):
                tensors[name] = nest.map_structure(type_spec_from_value, value)
            else:
                data[name] = value
        return cls(type(operator), tensors, data)

    @property
    def value_type(self) -> type:
        return self._class

    def _serialize(self) -> tuple[Any, ...]:
        return self._class, self._tensors, self._data

    @property
    def _component_specs(self) -> list[Any]:
        return nest.flatten(self._tensors)

    @property
    def _component_names(self) -> list[str]:
        return [path for path, _ in nest.flatten_with_path(self._tensors)]

    def parts(self, operator: Any) -> list[Any]:
        """Return the tensors, variables and operators that the operator is made of."""
        arguments = operator._arguments()
        return nest.flatten({name: arguments[name] for name in self._tensors})

    def _to_components(self, value: Any) -> list[Any]:
        return [part if nest.is_composite(part) else convert_to_tensor(part) for part in self.parts(value)]

    def _from_components(self, components: Any) -> Any:
        if rest := next((name for name in (*self._tensors, *self._data) if name.startswith("*")), None):
            raise TypeError(
                f"{self._class.__name__} takes the arguments {rest}: name them, or pass `parameters` to the base "
                "class, so that functions, branches and loops can make it again"
            )
        return self._class(**nest.pack_sequence_as(self._tensors, list(components)), **self._data)

    def without_hints(self) -> LinearOperatorSpec:
        """Return the spec of derivatives, of which it is not known what the hints say."""
        unknown = {name: None for name in HINTS[:3] if name in self._data and self._tensors}
        return LinearOperatorSpec(self._class, self._tensors, {**self._data, **unknown})

    def __repr__(self) -> str:
        known = {name: value for name, value in self._data.items() if value is not None}
        return f"{self._class.__name__}Spec({self._tensors}, {known})"
