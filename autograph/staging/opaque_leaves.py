"""Classes with instances that a backend treats as one leaf, although they seem to be pytree nodes.

    @dataclass                           a dataclass has fields, which a graph could carry one by one
    class Net(tf.Module):       ==>      a module is one object with an identity, declared by a mark
        weight: object

Other lists, tuples, dicts and dataclasses are flattened by backends, and by the search for objects that a block
changes; both must agree. The search also visits objects of libraries that hold state, which their backend registers.
"""

from __future__ import annotations

from collections.abc import Collection

_MARKS = (
    "_is_leaf_of_nests",  # a stateful object, such as a module: its attributes are changed in place
    "__components__",  # a composite tensor, which is a value
)


def is_opaque_leaf(kind: type) -> bool:
    """Return whether instances of a class are leaves, whatever else the class is.

    >>> is_opaque_leaf(list), is_opaque_leaf(type("Rows", (list,), {"_is_leaf_of_nests": True}))
    (False, True)
    """
    return any(hasattr(kind, mark) for mark in _MARKS)


def untracked_attributes(kind: type | None) -> Collection[str]:
    """Return the attributes that a class's library sets while a graph is built, in no way that the graph repeats.

    A class names them as `_untracked_attributes`, such as the mark of Keras's layers that they have been built.

    >>> untracked_attributes(type("Layer", (), {"_untracked_attributes": ("built",)}))
    ('built',)
    """
    found: Collection[str] = getattr(kind, "_untracked_attributes", ())
    return found


stateful: set[type] = set()
"""Classes of libraries whose instances hold state, such as the variables of Flax."""


def register_stateful(*kinds: type) -> None:
    """Declare classes of libraries whose attributes change: what a staged block assigns to them is state of the block.

    Objects of users' classes are always treated so. Subclasses are meant, too.

    >>> class Variable: ...
    >>> register_stateful(Variable)
    >>> Variable in stateful
    True
    """
    stateful.update(kinds)
