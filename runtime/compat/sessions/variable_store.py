"""The cell in which a session stores the value of a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import errors

if TYPE_CHECKING:
    from ...core.variable import Variable


class SessionVariable:
    """Replaces a variable while a graph runs in a session; it has no value until an assignment."""

    def __init__(self, variable: Variable) -> None:
        self.name = variable.name
        self.spec = variable.spec

    def fill(self, array: Any) -> None:
        """Set the variable's value."""
        self._array = array

    def __getattr__(self, name: str) -> Any:
        if name != "_array":
            raise AttributeError(name)
        raise errors.FailedPreconditionError(
            f"Attempting to use uninitialized value {self.name}: run tf.compat.v1.global_variables_initializer() first"
        )
