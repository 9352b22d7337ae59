"""Dispatch of TensorFlow's operations to functions registered for user-defined types.

    @dispatch_for_unary_elementwise_apis(Masked)
    def _(api, x):                                  # tf.abs(x), tf.exp(x), tf.cast(x, dtype) …
        return Masked(api(x.values), x.mask)

The functions are tried when an operation's argument is a composite tensor, such as an `ExtensionType`.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.export import export
from ..ops.framework.composite_dispatch import DISPATCHERS, element_operands, name_of

Handler = Callable[..., Any]
_registered: dict[Any, list[Any]] = {}


@export("experimental.dispatch_for_unary_elementwise_apis")
def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Handler], Handler]:
    """Register `function(api, x)` as every unary elementwise operation for an `x` of this type.

    >>> import agc.runtime as tf
    >>> class Named(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    >>> handler = dispatch_for_unary_elementwise_apis(Named)(lambda api, x: Named(api(x.values)))
    >>> tf.abs(Named([-1.0, 2.0])).values.numpy().tolist()
    [1.0, 2.0]
    >>> unregister_dispatch_for(handler)
    """

    def found(operation: Any, values: Sequence[Any], handler: Handler) -> Handler | None:
        if element_operands(operation) != 1 or not _fits(values[0], x_type):
            return None
        return lambda x, *others: handler(functools.partial(_with, operation, others), x)

    return _registering(found)


@export("experimental.dispatch_for_binary_elementwise_apis")
def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Handler], Handler]:
    """Register `function(api, x, y)` as every binary elementwise operation for these types.

    >>> import agc.runtime as tf
    >>> class Named(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    >>> register = dispatch_for_binary_elementwise_apis(Named, Named)
    >>> handler = register(lambda api, x, y: Named(api(x.values, y.values)))
    >>> tf.add(Named([1.0]), Named([2.0])).values.numpy().tolist()
    [3.0]
    >>> unregister_dispatch_for(handler)
    """

    def found(operation: Any, values: Sequence[Any], handler: Handler) -> Handler | None:
        if element_operands(operation) != 2 or not _fits(values[0], x_type) or not _fits(values[1], y_type):
            return None
        return lambda x, y, *others: handler(functools.partial(_with, operation, others), x, y)

    return _registering(found)


def _with(operation: Any, others: Sequence[Any], *elements: Any) -> Any:
    """Call the operation with the elements and its other arguments."""
    given = [one for one in others if one is not None]
    return operation(*elements, *others) if given else operation(*elements)


@export("experimental.dispatch_for_api")
def dispatch_for_api(api: Any, *signatures: Mapping[Any, Any]) -> Callable[[Handler], Handler]:
    """Register the decorated function as `api` for arguments of certain types.

    Args:
        api: an operation or function of this package, such as `tf.stack`.
        signatures: dicts from a parameter's name or position to a type; one of them has to match. Without them, the
            annotations of the decorated function are used.

    The function may leave out parameters of `api`, which then have to be left out in calls, too. Raises ValueError if
    it has one that `api` has not, TypeError for a call with an argument that it does not take.

    >>> from agc.runtime import RaggedTensor, ragged, sort
    >>> handler = dispatch_for_api(sort, {"values": RaggedTensor})(lambda values: "sorted by me")
    >>> sort(ragged.constant([[2, 1], [3]]))
    'sorted by me'
    >>> unregister_dispatch_for(handler)
    """
    wanted = name_of(api)

    def found(operation: Any, values: Sequence[Any], handler: Handler) -> Handler | None:
        if name_of(operation) != wanted:
            return None
        names = _parameters(operation)
        given = dict(zip(names, values, strict=False))
        allowed = signatures or (_annotated(handler),)
        if not any(_matches(signature, names, given) for signature in allowed):
            return None
        return lambda *values: handler(**_taken(handler, operation, dict(zip(names, values, strict=False))))

    def decorated(handler: Handler) -> Handler:
        if unknown := [name for name in _needed(handler) if name not in _parameters(api)]:
            raise ValueError(
                f"Dispatch function's signature {inspect.signature(handler)} does not match API's signature "
                f"{inspect.signature(api)}: `{wanted}` has no parameter {', '.join(unknown)}"
            )
        return _registering(found)(handler)

    return decorated


def _needed(handler: Handler) -> list[str]:
    """Return the names of the parameters without a default."""
    parameters = inspect.signature(handler).parameters.values()
    several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [each.name for each in parameters if each.default is each.empty and each.kind not in several]


def _parameters(operation: Any) -> list[str]:
    own = getattr(operation, "parameters", None)
    return list(inspect.signature(operation).parameters if own is None else own)


def _annotated(handler: Handler) -> Mapping[str, Any]:
    hints = typing.get_type_hints(handler)
    hints.pop("return", None)
    return hints


def _matches(signature: Mapping[Any, Any], names: Sequence[str], given: Mapping[str, Any]) -> bool:
    for key, annotation in signature.items():
        name = names[key] if isinstance(key, int) else key
        if name not in given or not _fits(given[name], annotation):
            return False
    return bool(signature)


def _taken(handler: Handler, operation: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for which the function has parameters. TypeError if others are not the defaults."""
    parameters = inspect.signature(handler).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return arguments
    names = {parameter.name for parameter in parameters}
    for name, parameter in inspect.signature(operation).parameters.items():
        if name not in names and arguments.get(name, parameter.default) is not parameter.default:
            raise TypeError(
                f"{name_of(operation)}: the function {handler.__name__} takes no argument `{name}`, which is "
                f"{arguments[name]!r} in this call"
            )
    return {name: value for name, value in arguments.items() if name in names}


def _fits(value: Any, annotation: Any) -> bool:
    """Return whether a value matches a type annotation."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, kind) for kind in arguments)
    if origin in (list, tuple):
        return isinstance(value, (list, tuple)) and all(_fits(item, arguments[0]) for item in value)
    return isinstance(value, annotation) if isinstance(annotation, type) else False


def _registering(
    found: Callable[[Any, Sequence[Any], Handler], Handler | None],
) -> Callable[[Handler], Handler]:
    def decorated(handler: Handler) -> Handler:
        def dispatcher(operation: Any, values: Sequence[Any]) -> Handler | None:
            return found(operation, values, handler)

        DISPATCHERS.append(dispatcher)
        _registered.setdefault(handler, []).append(dispatcher)
        return handler

    return decorated


@export("experimental.unregister_dispatch_for")
def unregister_dispatch_for(dispatch_target: Handler) -> None:
    """Remove a function that one of the decorators registered; ValueError for others.

    >>> handler = dispatch_for_unary_elementwise_apis(int)(lambda api, x: x)
    >>> unregister_dispatch_for(handler)
    """
    if dispatch_target not in _registered:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )
    for dispatcher in _registered.pop(dispatch_target):
        DISPATCHERS.remove(dispatcher)
