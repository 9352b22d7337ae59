"""The mutable objects in nests of values: where they are, what they hold, and nests with other objects in their places.

    ([x, {"n": y}], z)         a way           the object there
                               (0,)            the list
                               (0, 1)          the dict in it

A nest is a tuple, a dataclass, a list, ...; what is not taken apart is a leaf. See `mutable_values.py`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ... import policy
from ...staging import PYTHON, Maybe, MutableValue, UnescapedList, backends, is_chosen
from ..class_traits import ATOMS
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


class OpaqueLeaf:
    """What a backend gets in place of an object that it shall not look into."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@functools.lru_cache(maxsize=1024)
def behind(kind: Any) -> type[OpaqueLeaf]:
    """A `OpaqueLeaf` with the name of the user's class, for messages."""
    return type(kind.__name__, (OpaqueLeaf,), {"__slots__": ()})


Path = tuple[Any, ...]
NOTHING_ELSE: Mapping[Path, Any] = MappingProxyType({})
Choose = Callable[[Path, Any], tuple[Any, bool]]
"""The object that stands for one of a nest's, and whether it is to be filled with what that one holds."""


def objects(values: Sequence[Any]) -> Iterator[tuple[Path, Any]]:
    """The mutable objects among values and in them, the outer before the inner, each with its way.

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


def references(values: Sequence[Any]) -> Iterator[tuple[Path, Any]]:
    """The objects in values that are not taken apart, each with its way: users' own, and lists of a backend."""
    if not are_plain(values):
        for number, value in enumerate(values):
            yield from _references(value, (number,), ())


def are_plain(values: Sequence[Any]) -> bool:
    """Whether there are no objects among values and in them: most are tensors and numbers.

    >>> are_plain((1, "a", None)), are_plain((1, [2]))
    (True, False)
    """
    return all(map(_is_plain_kind, map(type, values)))


@functools.lru_cache(maxsize=1024)
def _is_plain_kind(kind: Any) -> bool:
    return _is_leaf_kind(kind) and not _is_reference_kind(kind)


def _references(value: Any, path: Path, inside: tuple[Any, ...]) -> Iterator[tuple[Path, Any]]:
    if is_leaf(value):
        kind: Any = type(value)
        if _is_reference_kind(kind):
            yield path, value
    elif isinstance(value, Maybe):
        yield from _references(value.value, path, inside)
    elif not any(value is outer for outer in inside):
        for key, part in children(value).items():
            yield from _references(part, (*path, key), (*inside, value))


@functools.lru_cache(maxsize=1024)
def _is_reference_kind(kind: Any) -> bool:
    if is_chosen(kind) or issubclass(kind, (OpaqueLeaf, MutableValue)):
        return True
    return kind not in ATOMS and backends[kind] is PYTHON and policy.is_user_class(kind)


def is_within(path: Path, way: Path) -> bool:
    """Whether a way leads to the end of another, or beyond it.

    >>> is_within((0, "n", 1), (0, "n")), is_within((0,), (0, "n"))
    (True, False)
    """
    return path[: len(way)] == way


def circular(found: Mapping[Path, Any]) -> list[Path]:
    """Which of these objects, with all that are in them, contain themselves.

    >>> items = ["a"]; items.append([items])
    >>> circular(dict(objects([items])))
    [(0,)]
    """
    ways = dict.fromkeys(
        path[:length]
        for path, value in found.items()
        for part in _mutable_parts(value)
        for length in range(1, len(path) + 1)
        if found.get(path[:length]) is part
    )
    return [path for path in ways if not any(is_within(path, way) and way != path for way in ways)]


def _mutable_parts(value: Any) -> Iterator[Any]:
    for part in children(value).values():
        if is_mutable(part):
            yield part
        elif not is_leaf(part):
            yield from _mutable_parts(part.value if isinstance(part, Maybe) else part)


def is_leaf(value: Any) -> bool:
    """Whether a value is not taken apart."""
    kind: Any = type(value)
    return _is_leaf_kind(kind)


@functools.lru_cache(maxsize=1024)
def _is_leaf_kind(kind: Any) -> bool:
    """Whether the values of a class have no parts: most are tensors and numbers."""
    return not (issubclass(kind, (tuple, UnescapedList, Maybe)) or has_parts(kind))


def children(value: Any) -> Mapping[Any, Any]:
    """The parts of a nest, mutable or not; none of a leaf."""
    if is_mutable(value):
        return parts(value)
    return dict(enumerate(value)) if isinstance(value, (tuple, UnescapedList)) else fixed_fields(value)


def at(values: Any, path: Path) -> Any:
    """What is at the end of a way; None where the way leads nowhere."""
    for key in path:
        value = values.value if isinstance(values, Maybe) else values
        values = children(value).get(key)
    return values


def rebuilt(value: Any, path: Path, choose: Choose, instead: Mapping[Path, Any] = NOTHING_ELSE) -> Any:
    """A nest in which other objects stand for its own, filled with what these hold; `instead` is what stands there."""
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
    """Whether the items of one container can become those of another of the same structure."""
    return type(container) is type(value) and parts(container).keys() == parts(value).keys()


def drawn(
    value: Any,
    knows: Callable[[Any], bool],
    path: Path = (),
    instead: Mapping[Path, Any] = NOTHING_ELSE,
) -> Any:
    """A copy of a nest: other containers, the same items, or what stands there `instead`.

    Of objects with fields only those are copied in which `knows` is true of a part: a backend may know new ones as
    they are.
    """

    def choose(path: Path, container: Any) -> tuple[Any, bool]:
        inner = (part for _, part in objects((container,)))
        is_own = has_fields(container) and not any(map(knows, inner))
        is_own = is_own and not any(is_within(way, path) for way in instead)
        return (container, False) if is_own else (copied(container), True)

    return rebuilt(value, path, choose, instead)


def holds(container: Any, kept: dict[Any, Any]) -> bool:
    """Whether a container holds just these parts; what is not taken apart holds none."""
    now = parts(container) if is_mutable(container) else {}
    return now.keys() == kept.keys() and all(same(part, kept[key]) for key, part in now.items())


def contents(value: Any) -> tuple[dict[Any, Any], dict[str, Any]]:
    """What a container holds, and attributes of it that are no parts."""
    return (parts(value) if is_mutable(value) else {}), attributes(value)
