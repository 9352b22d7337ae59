"""Trackable objects and their children: the graph of variables, modules, lists and dicts that checkpoints follow.

    model.layers[0].w    ==>    model ── layers ── 0 ── w

The children of an object are its attributes, items or entries that can hold variables. A class may define its
children with a method `__children__() -> dict[str, object]`. Children are found by name, never by type.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from .variable import Variable

Children = dict[str, Any]


def children(parent: Any) -> Children:
    """Return the trackable children of an object by name.

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
    """Return whether a value can be saved: a variable, an object with `__children__`, or a nest with one of these."""
    return _is_trackable(value, set())


def _is_trackable(value: Any, seen: set[int]) -> bool:
    if isinstance(value, Variable) or hasattr(type(value), "__children__"):
        return True
    if not isinstance(value, (list, tuple, Mapping)) or id(value) in seen:
        return False
    seen.add(id(value))
    return any(_is_trackable(part, seen) for _, part in _parts(value))


def tracked(variable: Variable, known: Container[int]) -> Variable:
    """Return a variable, for the component of a replica the whole one, that is among those with these `id`s.

    Raises AssertionError for one that is not: no object that is saved leads to it.
    """
    whole: Variable = getattr(variable, "_distributed_container", lambda: variable)()
    if id(whole) not in known:
        raise AssertionError(
            f"Tried to export a function which references an 'untracked' resource: the variable {whole.name!r} "
            "must be an attribute of the object that is saved, or of an object that this one leads to"
        )
    return whole


Arrival = Callable[[str, Any], None]
_WAITING = "_waiting_for_children"


def attributes(owner: Any) -> Children:
    """Return the attributes of an object as its children, in the order of their creation."""
    return {name: value for name, value in vars(owner).items() if name != _WAITING}


def await_children(owner: Any, arrival: Arrival) -> None:
    """Call `arrival(name, child)` for each child that `owner` gets from now on. `owner` must call `announce`."""
    vars(owner).setdefault(_WAITING, []).append(arrival)


def announce(owner: Any, name: str, child: Any) -> None:
    """Call the waiting functions: `owner` has a new attribute."""
    for arrival in vars(owner).get(_WAITING, ()):
        arrival(name, child)
