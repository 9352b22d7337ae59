"""Classes whose instances a backend takes as one value, although they look like something that has parts.

    @dataclass                           a dataclass has fields, which a graph could carry one by one
    class Net(tf.Module):       ==>      a module is one object with an identity: it says so by a mark
        weight: object

Lists, tuples, dicts and dataclasses are taken apart into their parts otherwise, by a backend and by what keeps
track of the objects that a block changes; both have to agree on that."""

from __future__ import annotations

from typing import Any

_MARKS = (
    "_is_leaf_of_nests",  # a stateful object, such as a module: its attributes are changed in place
    "__components__",  # a tensor made of several, which is a value like any other
)


def is_opaque_leaf(kind: type) -> bool:
    """Whether instances of a class are not taken apart, whatever else the class is.

    >>> is_opaque_leaf(list), is_opaque_leaf(type("Rows", (list,), {"_is_leaf_of_nests": True}))
    (False, True)
    """
    return any(hasattr(kind, mark) for mark in _MARKS)


def is_chosen(kind: type) -> bool:
    """Whether instances of a class stand for one of several objects, as a graph decides: see
    `aliasing/select_proxy.py`."""
    return hasattr(kind, "__chosen_from__")


def settled(value: Any) -> Any:
    """An ordinary object with what such an instance holds now."""
    return value.__chosen_copy__()
