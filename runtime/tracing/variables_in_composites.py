"""Composites that hold variables, as arguments of functions: a graph belongs to the variables that it was traced for.

f(Normal(v, 1.0))       ==>    one trace for `v`, which reads its newest value in each call
f(Normal(w, 1.0))       ==>    another trace
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import nest
from ..composite import components
from ..core.tensor import Reference
from ..core.type_spec import TypeSpec
from ..core.variable import Variable


def spec_of(composite: Any) -> TypeSpec:
    """Return the spec of a composite argument, with references to its variables if it holds any."""
    spec: TypeSpec = composite._type_spec
    return SpecWithVariables(composite) if spec._holds_variables else spec


class SpecWithVariables(TypeSpec):
    """The spec of a composite in which a `Reference` is in the place of each variable."""

    __slots__ = ("_parts", "_spec")

    def __init__(self, composite: Any) -> None:
        self._spec: TypeSpec = composite._type_spec
        specs = components.children(self._spec._component_specs)
        parts = composite.__components__()
        pairs = zip(specs, components.children(parts), strict=True)
        found = [_spec_of_part(spec, part) for (_, spec), (_, part) in pairs]
        self._parts = nest.rebuilt(parts, found) if nest.is_nested(parts) else found[0]

    @property
    def value_type(self) -> type:
        return self._spec.value_type

    @property
    def _component_specs(self) -> Any:
        return self._parts

    def _to_components(self, value: Any) -> Any:
        return self._spec._to_components(value)

    def _from_components(self, components: Any) -> Any:
        return self._spec._from_components(components)

    def _references(self) -> Iterator[Reference]:
        for part in nest.flatten(self._parts):
            if isinstance(part, SpecWithVariables):
                yield from part._references()
            elif isinstance(part, Reference):
                yield part

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a composite has the same variables, and a compatible spec."""
        other = spec_of(spec_or_value) if nest.is_composite(spec_or_value) else spec_or_value
        return (
            isinstance(other, SpecWithVariables)
            and self._spec.is_compatible_with(other._spec)
            and [*self._references()] == [*other._references()]
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> SpecWithVariables | None:
        """Return this spec if the others are equal; None otherwise, so that a call with other shapes traces again."""
        return self if all(other == self for other in others) else None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SpecWithVariables)
            and self._spec == other._spec
            and [*self._references()] == [*other._references()]
        )

    def __hash__(self) -> int:
        return hash(self._spec)

    def __repr__(self) -> str:
        return repr(self._spec)


def _spec_of_part(spec: Any, part: Any) -> Any:
    if isinstance(part, Variable):
        return Reference(part)
    return spec_of(part) if nest.is_composite(part) else spec
