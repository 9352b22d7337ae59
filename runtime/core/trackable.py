"""Objects and what belongs to them: the graph of variables, modules, lists and dicts that saving and restoring follow.

    model.layers[0].w    ==>    model ── layers ── 0 ── w

The children of an object are its attributes, items or entries that can hold variables. A class of its own kind says
what its children are with a method `__children__() -> dict[str, object]`; everything is found by name, never by type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .variable import Variable

Children = dict[str, Any]


def children(parent: Any) -> Children:
    """The trackable parts of an object by their names.

    >>> children([Variable(1.0), 3, {"b": Variable(2.0)}]).keys()
    dict_keys(['0', '2'])
    """
    return {name: part for name, part in _parts(parent) if is_trackable(part)}


def _parts(parent: Any) -> list[tuple[str, Any]]:
    own = getattr(type(parent), "__children__", None)
    if own is not None:
        return list(own(parent).items())
    if isinstance(parent, (list, tuple)):
        return [(str(number), part) for number, part in enumerate(parent)]
    if isinstance(parent, Mapping):
        return [(key, part) for key, part in parent.items() if isinstance(key, str)]
    return []


def is_trackable(value: Any) -> bool:
    """Whether a value can be saved: a variable, what says what its children are, or a nest with one of these."""
    return _is_trackable(value, set())


def _is_trackable(value: Any, seen: set[int]) -> bool:
    if isinstance(value, Variable) or hasattr(type(value), "__children__"):
        return True
    if not isinstance(value, (list, tuple, Mapping)) or id(value) in seen:
        return False
    seen.add(id(value))
    return any(_is_trackable(part, seen) for _, part in _parts(value))


Arrival = Callable[[str, Any], None]
_WAITING = "_waiting_for_children"


def attributes(owner: Any) -> Children:
    """The attributes of an object as its children, in the order in which it got them."""
    return {name: value for name, value in vars(owner).items() if name != _WAITING}


def await_children(owner: Any, arrival: Arrival) -> None:
    """Call `arrival(name, child)` for each child that `owner`, an object that announces them, gets from now on."""
    vars(owner).setdefault(_WAITING, []).append(arrival)


def announce(owner: Any, name: str, child: Any) -> None:
    """Tell those who wait for it that `owner` has a new attribute."""
    for arrival in vars(owner).get(_WAITING, ()):
        arrival(name, child)
