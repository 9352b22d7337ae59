"""`Optional`: an element that may be missing, as a value.

>>> from agc.runtime import constant
>>> Optional.from_value(constant(3)).get_value().numpy(), Optional.empty(None).has_value().numpy()
(np.int32(3), np.False_)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import errors
from ..control_flow import state_leaves
from ..control_flow.builtin_errors import raise_unless
from ..control_flow.functional_api import cond
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor, Tensor
from ..ir.builder import current
from . import ops
from .element_spec import leaf_specs, made, normalized, spec_of

if TYPE_CHECKING:
    from .iterator import Iterator


class Optional:
    """An element, or nothing; see `Iterator.get_next_as_optional`."""

    def __init__(self, has_value: Any, value: Any, element_spec: Any) -> None:
        self._there = has_value
        self._value = value
        self._spec = element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Return an optional with this value."""
        element = normalized(value)
        return Optional(convert_to_tensor(True), element, spec_of(element))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Return an optional without a value."""
        blank = None if element_spec is None else _blank(element_spec)
        return Optional(convert_to_tensor(False), blank, element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of the value."""
        return self._spec

    def has_value(self, name: str | None = None) -> Tensor:
        """Return whether there is a value: a scalar bool."""
        return self._there  # type: ignore[no-any-return]

    def get_value(self, name: str | None = None) -> Any:
        """Return the value. Raises InvalidArgumentError when there is none."""
        missing = errors.InvalidArgumentError("The given optional does not have a value.")
        if isinstance(self._there, EagerTensor):
            if not self._there:
                raise missing
        else:
            raise_unless(self._there, missing)
        return self._value

    def __nest__(self) -> list[tuple[Any, Any]]:
        return [("there", self._there), ("value", self._value)]

    def __rebuilt__(self, parts: list[Any]) -> Optional:
        return Optional(parts[0], parts[1], self._spec)


def _blank(spec: Any) -> Any:
    return made(spec, [state_leaves.zeros(leaf) for leaf in leaf_specs(spec)])


def taken(iterator: Iterator) -> Optional:
    """Return the next element of an iterator, or an empty optional."""
    spec = iterator.element_spec
    if current() is None and iterator._walk is not None:
        has_value = iterator._walk.advance()
        return (
            Optional.from_value(iterator._pack(iterator._walk.current)) if has_value else Optional.empty(spec)
        )
    handle = iterator.handle()
    has_value = ops.iterator_advance(handle)
    specs = tuple(leaf_specs(spec))
    found = cond(
        has_value,
        lambda: tuple(ops.iterator_current(handle, specs)),
        lambda: tuple(state_leaves.zeros(leaf) for leaf in specs),
    )
    return Optional(has_value, iterator.packed(found), spec)
