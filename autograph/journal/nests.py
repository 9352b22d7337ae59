"""The mutable objects in nests of values: where they are, what they hold, and nests with other objects in their places.

    ([x, {"n": y}], z)         a way           the object there
                               (0,)            the list
                               (0, 1)          the dict in it

A nest is a tuple, a dataclass, a list, ...; what is not taken apart is a leaf. See `mutables.py`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from ..staging import Maybe, OwnList, Undefined
from .mutables import (
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
from .sameness import same

Path = tuple[Any, ...]
Choose = Callable[[Path, Any], tuple[Any, bool]]
"""The object that stands for one of a nest's, and whether it is to be filled with what that one holds."""


def objects(values: Sequence[Any]) -> Iterator[tuple[Path, Any]]:
    """The mutable objects among values and in them, the outer before the inner, each with its way.

    >>> list(objects(([{"n": [1]}], 2)))
    [((0,), [{'n': [1]}]), ((0, 0), {'n': [1]}), ((0, 0, 'n'), [1])]
    """
    for number, value in enumerate(values):
        if not is_leaf(value):
            yield from _objects(value, (number,), ())


def _objects(value: Any, path: Path, inside: tuple[Any, ...]) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Maybe):
        value = value.value
    if is_mutable(value):
        if any(value is outer for outer in inside):
            return
        yield path, value
        inside = (*inside, value)
    for key, part in children(value).items():
        if not is_leaf(part):
            yield from _objects(part, (*path, key), inside)


def is_leaf(value: Any) -> bool:
    """Whether a value is not taken apart."""
    kind: Any = type(value)
    return _is_leaf_kind(kind)


@functools.lru_cache(maxsize=1024)
def _is_leaf_kind(kind: Any) -> bool:
    """Whether the values of a class have no parts: most are tensors and numbers."""
    return not (issubclass(kind, (tuple, OwnList, Maybe)) or has_parts(kind))


def children(value: Any) -> Mapping[Any, Any]:
    """The parts of a nest, mutable or not; none of a leaf."""
    if is_mutable(value):
        return parts(value)
    return dict(enumerate(value)) if isinstance(value, (tuple, OwnList)) else fixed_fields(value)


def at(values: Any, path: Path) -> Any:
    """What is at the end of a way; None where the way leads nowhere."""
    for key in path:
        value = values.value if isinstance(values, Maybe) else values
        values = children(value).get(key)
    return values


def rebuilt(value: Any, path: Path, choose: Choose) -> Any:
    """A nest in which other objects stand for its own, filled with what these hold."""
    if is_leaf(value):
        return value
    if isinstance(value, Maybe):
        return Maybe(value.name, rebuilt(value.value, path, choose), value.defined)
    if is_mutable(value):
        target, is_filled = choose(path, value)
        if is_filled:
            for key, part in parts(value).items():
                new = part if is_leaf(part) else rebuilt(part, (*path, key), choose)
                if new is not part or target is not value:
                    put(target, key, new)
        return target
    old = children(value)
    changed = {key: rebuilt(part, (*path, key), choose) for key, part in old.items()}
    if all(changed[key] is part for key, part in old.items()):
        return value
    if isinstance(value, OwnList):
        return getattr(value, "__rebuilt__", type(value))(changed.values())
    if not isinstance(value, tuple):
        return with_fields(value, changed)
    return type(value)(*changed.values()) if hasattr(value, "_fields") else tuple(changed.values())


def fits(container: Any, value: Any) -> bool:
    """Whether the items of one container can become those of another of the same structure."""
    return type(container) is type(value) and parts(container).keys() == parts(value).keys()


def drawn(value: Any, knows: Callable[[Any], bool]) -> Any:
    """A copy of a nest: other containers, the same items.

    Of objects with fields only those are copied in which `knows` is true of a part: a backend may know new ones as
    they are.
    """

    def choose(path: Path, container: Any) -> tuple[Any, bool]:
        inner = (part for _, part in objects((container,)))
        is_own = has_fields(container) and not any(map(knows, inner))
        return (container, False) if is_own else (copied(container), True)

    return rebuilt(value, (), choose)


def holds(container: Any, kept: dict[Any, Any]) -> bool:
    """Whether a container holds just these parts."""
    now = parts(container)
    return now.keys() == kept.keys() and all(same(part, kept[key]) for key, part in now.items())


def contents(value: Any) -> tuple[dict[Any, Any], dict[str, Any]]:
    """What a container holds, and attributes of it that are no parts."""
    return parts(value), attributes(value)


def names_of(variables: Mapping[str, Any], container: Any) -> Iterator[str]:
    """The variables, or attributes of one, that are the container, or in which it is.

    >>> d = {}
    >>> list(names_of({"d": d, "e": [1], "all": [d], "far": ({"d": [d]},)}, d))
    ['d', 'all', 'far']
    """
    for name, value in variables.items():
        if isinstance(value, (type, Undefined)):  # to ask a variable without a value is an error
            continue
        parts_of = (*children(value).values(), *_shared(value))
        if value is container or any(_is_in(part, container, 3) for part in parts_of):
            yield name
        for key, part in attributes(value).items():
            if _is_in(part, container, 3):
                yield f"{name}.{key}"


def _is_in(value: Any, sought: Any, depth: int) -> bool:
    """Whether a value is an object, or one in which it is."""
    if value is sought:
        return True
    if not depth or isinstance(value, (type, Undefined)):
        return False
    held = (*children(value).values(), *attributes(value).values(), *_shared(value))
    return any(_is_in(part, sought, depth - 1) for part in held)


def _shared(value: Any) -> Iterator[Any]:
    """What a function shares with the functions around it, or a method with its object."""
    for cell in getattr(value, "__closure__", None) or () if isinstance(value, FunctionType) else ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue
    if isinstance(value, MethodType):
        yield value.__self__
