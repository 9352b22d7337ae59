"""`Optional`: an element that may be missing, as a value.

In graphs it is one tensor of dtype variant, so a loop can carry one before the spec of its value is known.
"""

from __future__ import annotations

from typing import Any

from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..core.type_spec import CompositeTensor
from . import ops
from .dataset_spec import OptionalSpec
from .element_spec import leaf_specs, leaves_of, made, normalized, spec_of


@export("experimental.Optional")
class Optional(CompositeTensor):
    """An element, or nothing; `Iterator.get_next_as_optional` returns one, and so do `from_value` and `empty`.

    >>> from agc.runtime import constant
    >>> Optional.from_value(constant(3)).get_value().numpy(), Optional.empty(None).has_value().numpy()
    (np.int32(3), np.False_)
    """

    def __init__(self, variant: Any, element_spec: Any, value: Any = None) -> None:
        self._variant = variant  # None for a known value outside of graphs
        self._element_spec = element_spec
        self._value = value

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Return an optional with this value, a tensor or a nest of tensors."""
        element = normalized(value)
        leaves = leaves_of(element)
        is_eager = all(isinstance(leaf, EagerTensor) for leaf in leaves)
        # A branch may return the optional, so the graph of traced tensors must have the variant.
        variant = None if is_eager else ops.optional_from_value(leaves)
        return Optional(variant, spec_of(element), element)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Return an optional without a value; `element_spec` is None if the spec is not known."""
        return Optional(ops.optional_none(), element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of the value; None if it is not known."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def handle(self) -> Tensor:
        """Return the tensor of dtype variant that represents the optional."""
        made = self._variant is None
        return ops.optional_from_value(leaves_of(self._value)) if made else self._variant  # type: ignore[no-any-return]

    def has_value(self, name: str | None = None) -> Tensor:
        """Return whether there is a value: a scalar bool."""
        return ops.optional_has_value(self.handle())  # type: ignore[no-any-return]

    def get_value(self, name: str | None = None) -> Any:
        """Return the value. Raises InvalidArgumentError when there is none, ValueError when its spec is not known."""
        if self._variant is None or self._value is not None:
            return self._value
        if self._element_spec is None and not isinstance(self._variant, EagerTensor):
            raise ValueError("the spec of this optional's value is not known: give it to Optional.empty")
        specs = tuple(leaf_specs(self._element_spec or ()))
        return made(self._element_spec, ops.optional_get_value(self._variant, specs))

    def __repr__(self) -> str:
        return f"<Optional element_spec={self._element_spec!r}>"
