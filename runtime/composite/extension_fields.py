"""The fields of extension types: allowed annotations, and conversion of values to them.

values: tf.Tensor                   a value that converts to a tensor
count: int                          an int
parts: Tuple[tf.Tensor, ...]        a tuple, or a list that becomes one
named: Mapping[str, tf.Tensor]      a dict, which becomes an ImmutableDict
mask: Optional[tf.Tensor]           None, or a value that converts to a tensor
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import CompositeTensor, TypeSpec, type_spec_from_value

_PLAIN = (bool, int, float, str, bytes, type(None))


class ImmutableDict(Mapping[Any, Any]):
    """A dict that never changes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


def check_annotation(name: str, annotation: Any) -> None:
    """Raise TypeError for an annotation that fields cannot have."""
    if not _is_allowed(annotation):
        shown = repr(annotation.__name__) if isinstance(annotation, type) else annotation
        raise TypeError(f"In field {name!r}: Unsupported type annotation {shown}")


def _is_allowed(annotation: Any) -> bool:
    annotation = type(None) if annotation is None else annotation
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return _is_allowed(arguments[0])
        return annotation is not typing.Tuple and all(map(_is_allowed, arguments))  # noqa: UP006
    if origin is collections.abc.Mapping:
        return len(arguments) == 2 and arguments[0] in _PLAIN and _is_allowed(arguments[1])
    if origin in (typing.Union, types.UnionType):
        return all(map(_is_allowed, arguments))
    if origin is not None or not isinstance(annotation, type):
        return False
    return annotation in (*_PLAIN, Tensor, dtypes.DType, TensorShape) or issubclass(
        annotation, CompositeTensor
    )


def converted(name: str, value: Any, annotation: Any) -> Any:
    """Return a value converted to its field's annotation; TypeError when it does not fit."""
    annotation = type(None) if annotation is None else annotation
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        return _as_tuple(name, value, arguments)
    if origin is collections.abc.Mapping:
        if not isinstance(value, Mapping):
            raise _unexpected(name, value, "mapping")
        key_type, value_type = arguments
        return ImmutableDict(
            {
                converted(f"{name}.keys()", key, key_type): converted(f"{name}[{key!r}]", item, value_type)
                for key, item in value.items()
            }
        )
    if origin in (typing.Union, types.UnionType):
        return _as_one_of(name, value, annotation, arguments)
    return _as_single(name, value, annotation)


def _as_tuple(name: str, value: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _unexpected(name, value, "tuple")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(arguments) != len(value):
        raise TypeError(f"{name}: expected tuple with length {len(arguments)}, got {value!r}")
    pairs = zip(value, arguments, strict=True)
    return tuple(converted(f"{name}[{i}]", item, kind) for i, (item, kind) in enumerate(pairs))


def _as_one_of(name: str, value: Any, annotation: Any, arguments: tuple[Any, ...]) -> Any:
    for kind in arguments:
        if isinstance(kind, type) and isinstance(value, kind):
            return value
    for kind in arguments:
        try:
            return converted(name, value, kind)
        except TypeError:
            continue  # try the next type of the union
    raise TypeError(f"{name}: expected {annotation}, got {type(value).__name__!r}")


def _as_single(name: str, value: Any, annotation: type) -> Any:
    if annotation is Tensor:
        if isinstance(value, (Tensor, TypeSpec)):
            return value
        try:
            return convert_to_tensor(value)
        except (TypeError, ValueError):
            raise _unexpected(name, value, "Tensor") from None
    if annotation is dtypes.DType:
        return _read(name, value, dtypes.as_dtype, "DType")
    if annotation is TensorShape:
        return _read(name, value, TensorShape, "TensorShape")
    if not isinstance(value, annotation):
        raise _unexpected(name, value, annotation.__name__)
    return value


def _read(name: str, value: Any, read: Callable[[Any], Any], expected: str) -> Any:
    try:
        return read(value)
    except TypeError:
        raise _unexpected(name, value, expected) from None


def _unexpected(name: str, value: Any, expected: str) -> TypeError:
    return TypeError(f"{name}: expected {expected!r}, got {type(value).__name__!r}")


def spec_of(value: Any) -> Any:
    """Return the spec's form of a field's value: specs for tensors, other values unchanged."""
    if isinstance(value, (Tensor, CompositeTensor)):
        return type_spec_from_value(value)
    if isinstance(value, tuple):
        return tuple(map(spec_of, value))
    if isinstance(value, Mapping):
        return ImmutableDict({key: spec_of(item) for key, item in value.items()})
    return value


def specs_in(field: Any, path: str) -> Iterator[tuple[str, TypeSpec]]:
    """Yield the specs of the tensors in a field's value, with their paths."""
    if isinstance(field, TypeSpec):
        yield path, field
    elif isinstance(field, tuple):
        for position, item in enumerate(field):
            yield from specs_in(item, f"{path}_{position}")
    elif isinstance(field, Mapping):
        for key, item in field.items():
            yield from specs_in(item, f"{path}_{key}")


def parts_of(field: Any, value: Any) -> Iterator[Any]:
    """Yield the tensors and composites in a field's value, in the order of `specs_in`."""
    if isinstance(field, TypeSpec):
        yield value
    elif isinstance(field, tuple):
        for spec, item in zip(field, value, strict=True):
            yield from parts_of(spec, item)
    elif isinstance(field, Mapping):
        for key, spec in field.items():
            yield from parts_of(spec, value[key])


def filled(field: Any, parts: Iterator[Any]) -> Any:
    """Rebuild the value of a field from the next tensors and composites."""
    return _mapped(field, lambda leaf: next(parts) if isinstance(leaf, TypeSpec) else leaf)


def with_shapes(field: Any, change: Callable[[TensorShape], TensorShape]) -> Any:
    """Return the value of a field with other `TensorShape`s."""
    return _mapped(field, lambda leaf: change(leaf) if isinstance(leaf, TensorShape) else leaf)


def _mapped(field: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(field, tuple):
        return tuple(_mapped(item, change) for item in field)
    if isinstance(field, Mapping):
        return ImmutableDict({key: _mapped(item, change) for key, item in field.items()})
    return change(field)
