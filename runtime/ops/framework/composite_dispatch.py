"""Dispatch of operations on composite tensors.

An operation detects a composite argument when its conversion to a tensor fails. Only then is the operation looked up
in the composite's class. Calls with dense tensors never reach this module.

    tf.exp(ragged)   →   conversion fails   →   RaggedTensor._operation(exp)   →   with_flat_values(exp(flat values))

`dispatching_composites` does the same for functions composed of operations: the first failing conversion
dispatches.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ... import nest
from ...core.type_spec import CompositeTensor, MeetsCompositeError

F = TypeVar("F", bound=Callable[..., Any])

DISPATCHERS: list[Callable[[Any, Sequence[Any]], Callable[..., Any] | None]] = []
"""The registered dispatchers: each maps an operation and its arguments to the function to call, or None."""

_COMPONENTWISE = frozenset({"identity", "stop_gradient"})
"""Operations that take composites of all classes, and compute each component by itself."""


def name_of(operation: Any) -> str:
    """Return the name of an operation, or of a function composed of operations, for `dispatch_for_api`."""
    return str(getattr(operation, "name", None) or operation.__name__)


def apply(operation: Any, values: Sequence[Any], met: MeetsCompositeError) -> Any:
    """Return the result for arguments, in the order of the parameters, that include a composite."""
    for dispatcher in DISPATCHERS:
        own = dispatcher(operation, values)
        if own is not None:
            return own(*values)
    kind = type(met.value)
    found = kind._operation(operation) if hasattr(kind, "_operation") else None
    if found is None and isinstance(met.value, CompositeTensor) and name_of(operation) in _COMPONENTWISE:
        found = functools.partial(_on_components, operation)
    if found is None:
        met.operation = met.operation or name_of(operation)
        raise met from None
    return found(*values)


def _on_components(operation: Any, value: Any, name: str | None) -> Any:
    """Return a composite of which `operation` has computed the components."""
    computed = nest.map_structure(lambda component: operation(component, name), value.__components__())
    return value.__recomposed__(computed)


def meet_rows(value: Any) -> None:
    """Raise MeetsCompositeError for IndexedSlices, for which most operations take the dense tensor."""
    if is_rows(value):
        raise MeetsCompositeError(value)


def is_rows(value: Any) -> bool:
    """Return whether a value is IndexedSlices, whose class few programs import."""
    return getattr(type(value), "_is_rows", False)


def element_operands(operation: Any) -> int:
    """Return how many leading arguments of an elementwise operation are elements; 0 for other operations."""
    return getattr(operation, "element_operands", 0)


def elementwise_on(count: int) -> Callable[[F], F]:
    """Decorate a function that is elementwise in its first `count` arguments, and calls `apply` itself."""

    def decorated(function: F) -> F:
        function.element_operands = count  # type: ignore[attr-defined]
        return function

    return decorated


def dispatching_composites(
    name: str, element_operands: int = 0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function of tensors, known as `name`, so that composite classes can override it.

    Args:
        name: The name by which `dispatch_for_api` finds the function and the operation that it calls.
        element_operands: The number of leading arguments whose elements give the elements of the result.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def accepting(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except MeetsCompositeError as met:
                bound = inspect.signature(function).bind(*args, **kwargs)
                bound.apply_defaults()
                return apply(accepting.public, list(bound.arguments.values()), met)  # type: ignore[attr-defined]

        accepting.name = name  # type: ignore[attr-defined]
        accepting.public = accepting  # type: ignore[attr-defined]
        return elementwise_on(element_operands)(accepting)

    return decorated
