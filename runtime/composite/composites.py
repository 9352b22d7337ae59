"""How operations apply to values that are made of several tensors.

An operation finds out that an argument is no tensor but a composite when its conversion fails; only then is the
composite's class asked for the function that does the same for it. Calls with dense tensors never come here.

    tf.exp(ragged)   →   conversion fails   →   RaggedTensor._operation(exp)   →   with_flat_values(exp(flat values))

`dispatching_composites` gives the same to functions that are written with operations: their first conversion
that fails decides.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..core.type_spec import MeetsCompositeError

DISPATCHERS: list[Callable[[Any, Sequence[Any]], Callable[..., Any] | None]] = []
"""What users have registered: each takes an operation and its arguments, and gives the function to call, or None."""


def name_of(operation: Any) -> str:
    """What an operation, or a function that is written with operations, is called in the tables of composites."""
    return str(getattr(operation, "name", None) or operation.__name__)


def apply(operation: Any, values: Sequence[Any], met: MeetsCompositeError) -> Any:
    """The result for arguments, in the order of the parameters, among which there is a composite."""
    for dispatcher in DISPATCHERS:
        own = dispatcher(operation, values)
        if own is not None:
            return own(*values)
    kind = type(met.value)
    found = kind._operation(operation) if hasattr(kind, "_operation") else None
    if found is None:
        raise met from None
    return found(*values)


def dispatching_composites(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: a function of tensors, known as `name`, to which classes of composites give their own meaning."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def accepting(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except MeetsCompositeError as met:
                bound = inspect.signature(function).bind(*args, **kwargs)
                bound.apply_defaults()
                return apply(accepting, list(bound.arguments.values()), met)

        accepting.name = name  # type: ignore[attr-defined]
        return accepting

    return decorated
