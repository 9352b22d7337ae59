"""Nests: tuples, lists, dicts, namedtuples and dataclasses, taken apart into leaves and put together again.

>>> flatten({"b": [1, 2], "a": 3})
[3, 1, 2]
>>> pack_sequence_as({"b": [0, 0], "a": 0}, [3, 1, 2])
{'b': [1, 2], 'a': 3}
>>> map_structure(lambda x, y: x + y, (1, [2]), (10, [20]))
(11, [22])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def is_nested(value: Any) -> bool:
    """Whether `value` is taken apart (strings are not)."""
    return _is_nest(type(value))  # type: ignore[arg-type]  # mypy does not know that classes are hashable


@functools.lru_cache(maxsize=1024)
def _is_nest(kind: type) -> bool:
    return (
        issubclass(kind, (tuple, list, Mapping))
        or hasattr(kind, "__dataclass_fields__")
        or hasattr(kind, "__nest__")
    )


def _is_dataclass(value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__")


def children(value: Any) -> list[tuple[Any, Any]]:
    """The (key, child) pairs of a nest; dicts in the order of their sorted keys, as in TensorFlow."""
    if isinstance(value, (tuple, list)):
        return list(enumerate(value))
    if isinstance(value, Mapping):
        return [(key, value[key]) for key in _sorted_keys(value)]
    if hasattr(value, "__nest__"):
        pairs: list[tuple[Any, Any]] = value.__nest__()
        return pairs
    return [(name, getattr(value, name)) for name in _field_names(value)]


def _field_names(value: Any) -> list[str]:
    import dataclasses  # here, where there is one: importing the module costs more than the rest of this file

    return [field.name for field in dataclasses.fields(value)]


def _sorted_keys(value: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def rebuilt(like: Any, parts: list[Any]) -> Any:
    """A nest of `like`'s type with these children, in `children` order."""
    if hasattr(like, "__rebuilt__"):
        return like.__rebuilt__(parts)
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*parts)
    if isinstance(like, (tuple, list)):
        return type(like)(parts)
    if isinstance(like, Mapping):
        by_key = dict(zip(_sorted_keys(like), parts, strict=True))
        ordered = {key: by_key[key] for key in like}
        return ordered if type(like) is dict else type(like)(ordered)  # type: ignore[call-arg]
    import dataclasses

    return dataclasses.replace(like, **dict(zip(_field_names(like), parts, strict=True)))


def flatten(structure: Any) -> list[Any]:
    """The leaves, from left to right."""
    leaves: list[Any] = []
    _collect(structure, leaves)
    return leaves


def _collect(structure: Any, leaves: list[Any]) -> None:
    if not is_nested(structure):
        leaves.append(structure)
        return
    for _, child in children(structure):
        _collect(child, leaves)


def flatten_with_path(structure: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, leaf) pairs; a path reads like Python: `['a'][0].x`."""
    if not is_nested(structure):
        yield path, structure
        return
    named = hasattr(structure, "_fields") or _is_dataclass(structure)
    for key, child in children(structure):
        name = structure._fields[key] if hasattr(structure, "_fields") else key
        step = f".{name}" if named else f"[{key!r}]"
        yield from flatten_with_path(child, path + step)


def pack_sequence_as(structure: Any, flat_sequence: Iterable[Any]) -> Any:
    """A nest like `structure` with the leaves of `flat_sequence`; ValueError when their number differs."""
    leaves = iter(flat_sequence)
    try:
        packed = _pack(structure, leaves)
    except StopIteration:
        raise ValueError("The flat sequence has too few leaves for the structure") from None
    if next(leaves, leaves) is not leaves:
        raise ValueError("The flat sequence has too many leaves for the structure")
    return packed


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    parts = []
    for _, child in children(structure):
        parts.append(_pack(child, leaves))
    return rebuilt(structure, parts)


def map_structure(func: Callable[..., Any], *structures: Any) -> Any:
    """`func` applied to the corresponding leaves of nests with the same structure."""
    first, *others = structures
    for other in others:
        assert_same_structure(first, other)
    columns = zip(*map(flatten, structures), strict=True)
    return pack_sequence_as(first, [func(*leaves) for leaves in columns])


def same_structure(one: Any, other: Any) -> bool:
    """Whether both nests have the same shape, types and keys."""
    if not is_nested(one) or not is_nested(other):
        return not is_nested(one) and not is_nested(other)
    if type(one) is not type(other):
        return False
    left, right = children(one), children(other)
    return [key for key, _ in left] == [key for key, _ in right] and all(
        same_structure(a, b) for (_, a), (_, b) in zip(left, right, strict=True)
    )


def assert_same_structure(nest1: Any, nest2: Any) -> None:
    """ValueError unless both nests have the same structure."""
    if not same_structure(nest1, nest2):
        raise ValueError(
            f"The two structures don't have the same nested structure.\n\nFirst structure: {nest1}\n\n"
            f"Second structure: {nest2}"
        )
