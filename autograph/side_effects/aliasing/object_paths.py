"""Paths to the mutable objects in pytrees: search, comparison of contents, and replacement of objects.

    ([x, {"n": y}], z)         path            object at the path
                               (0,)            the list
                               (0, 1)          the dict in it

A node of a pytree is a tuple, a dataclass, a list, ... Every other value is a leaf. See `mutable_values.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...staging import Maybe, MutableValue, UnescapedList
from ..mutable_values import (
    attributes,
    copied,
    fixed_fields,
    has_fields,
    has_parts,
    is_mutable,
    parts,
    put,
    with_fields,
)
from ..value_identity import same

Path = tuple[Any, ...]
NOTHING_ELSE: Mapping[Path, Any] = MappingProxyType({})
Choose = Callable[[Path, Any], tuple[Any, bool]]
"""Return the object that replaces one of the pytree, and whether to fill it with the parts of that one."""


def objects(values: Sequence[Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the path and the object of each mutable object in `values`, outer objects before inner ones.

    >>> list(objects(([{"n": [1]}], 2)))
    [((0,), [{'n': [1]}]), ((0, 0), {'n': [1]}), ((0, 0, 'n'), [1])]
    """
    if not all(map(_is_leaf_kind, map(type, values))):
        for number, value in enumerate(values):
            yield from _objects(value, (number,), ())


def _objects(value: Any, path: Path, inside: tuple[Any, ...]) -> Iterator[tuple[Path, Any]]:
    if is_leaf(value):
        return
    if isinstance(value, Maybe):
        value = value.value
    if is_mutable(value):
        if any(value is outer for outer in inside):
            return
        yield path, value
        inside = (*inside, value)
    for key, part in children(value).items():
        yield from _objects(part, (*path, key), inside)


def backend_lists(values: Sequence[Any]) -> Iterator[tuple[Path, Any]]:
    """Yield path and list of each list of a backend in `values`: these are not taken apart."""
    if not are_plain(values):
        for number, value in enumerate(values):
            yield from _backend_lists(value, (number,), ())


def are_plain(values: Sequence[Any]) -> bool:
    """Return whether `values` contain no objects at any depth: most values are tensors and numbers.

    >>> are_plain((1, "a", None)), are_plain((1, [2]))
    (True, False)
    """
    return all(map(_is_plain_kind, map(type, values)))


@functools.lru_cache(maxsize=1024)
def _is_plain_kind(kind: Any) -> bool:
    return _is_leaf_kind(kind) and not _is_backend_list(kind)


def _backend_lists(value: Any, path: Path, inside: tuple[Any, ...]) -> Iterator[tuple[Path, Any]]:
    if is_leaf(value):
        kind: Any = type(value)
        if _is_backend_list(kind):
            yield path, value
    elif isinstance(value, Maybe):
        yield from _backend_lists(value.value, path, inside)
    elif not any(value is outer for outer in inside):
        for key, part in children(value).items():
            yield from _backend_lists(part, (*path, key), (*inside, value))


@functools.lru_cache(maxsize=1024)
def _is_backend_list(kind: Any) -> bool:
    return issubclass(kind, MutableValue)


def circular(found: Mapping[Path, Any]) -> Path | None:
    """Return the path of one object among `found` that contains itself; None if there is none.

    >>> items = ["a"]; items.append([items])
    >>> circular(dict(objects([items])))
    (0,)
    """
    return next(
        (
            path[:length]
            for path, value in found.items()
            for part in _mutable_parts(value)
            for length in range(1, len(path) + 1)
            if found.get(path[:length]) is part
        ),
        None,
    )


def _mutable_parts(value: Any) -> Iterator[Any]:
    for part in children(value).values():
        if is_mutable(part):
            yield part
        elif not is_leaf(part):
            yield from _mutable_parts(part.value if isinstance(part, Maybe) else part)


def is_leaf(value: Any) -> bool:
    """Return whether `value` is a leaf."""
    kind: Any = type(value)
    return _is_leaf_kind(kind)


@functools.lru_cache(maxsize=1024)
def _is_leaf_kind(kind: Any) -> bool:
    """Return whether the instances of a class have no parts: most are tensors and numbers."""
    return not (issubclass(kind, (tuple, UnescapedList, Maybe)) or has_parts(kind))


def children(value: Any) -> Mapping[Any, Any]:
    """Return the children of a node, mutable or not, by their keys; empty for a leaf."""
    if is_mutable(value):
        return parts(value)
    return dict(enumerate(value)) if isinstance(value, (tuple, UnescapedList)) else fixed_fields(value)


def rebuilt(value: Any, path: Path, choose: Choose, instead: Mapping[Path, Any] = NOTHING_ELSE) -> Any:
    """Return the pytree with its mutable objects replaced by those that `choose` returns.

    A replacement is filled with the rebuilt parts if `choose` says so. `instead` maps paths to values that
    are used as they are.
    """
    if isinstance(value, Maybe):
        return Maybe(value.name, rebuilt(value.value, path, choose, instead), value.defined)
    if path in instead:
        return instead[path]
    if is_leaf(value):
        return value
    if is_mutable(value):
        target, is_filled = choose(path, value)
        if is_filled:
            for key, part in parts(value).items():
                new = rebuilt(part, (*path, key), choose, instead)
                if new is not part or target is not value:
                    put(target, key, new)
        return target
    old = children(value)
    changed = {key: rebuilt(part, (*path, key), choose, instead) for key, part in old.items()}
    if all(changed[key] is part for key, part in old.items()):
        return value
    if isinstance(value, UnescapedList):
        return getattr(value, "__rebuilt__", type(value))(changed.values())
    if not isinstance(value, tuple):
        return with_fields(value, changed)
    return type(value)(*changed.values()) if hasattr(value, "_fields") else tuple(changed.values())


def fits(container: Any, value: Any) -> bool:
    """Return whether two containers have the same class and the same keys."""
    return type(container) is type(value) and parts(container).keys() == parts(value).keys()


def drawn(value: Any, is_older: Callable[[Any], bool]) -> Any:
    """Return a copy of a pytree: new containers with the same leaves.

    An object with fields is copied only if `is_older` is true of an object in it. The backend may share other
    objects, since these are new.
    """

    def choose(path: Path, container: Any) -> tuple[Any, bool]:
        inner = (part for _, part in objects((container,)))
        is_own = has_fields(container) and not any(map(is_older, inner))
        return (container, False) if is_own else (copied(container), True)

    return rebuilt(value, (), choose)


def holds(container: Any, saved: dict[Any, Any]) -> bool:
    """Return whether a container has exactly the parts `saved`; a leaf has no parts."""
    now = parts(container) if is_mutable(container) else {}
    return now.keys() == saved.keys() and all(same(part, saved[key]) for key, part in now.items())


def contents(value: Any) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Return the parts of a container, and its attributes that are no parts."""
    return (parts(value) if is_mutable(value) else {}), attributes(value)
