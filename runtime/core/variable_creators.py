"""`tf.variable_creator_scope`: functions that take part in the creation of variables.

with tf.variable_creator_scope(creator):
    v = tf.Variable(1.0)                    ==>    v = creator(next_creator, initial_value=1.0, trainable=None, …)
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .export import export

Creator = Callable[..., Any]


class _Creators(threading.local):
    def __init__(self) -> None:
        self.stack: list[Creator] = []


creators = _Creators()


@export("variable_creator_scope")
@contextlib.contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Let a function create the variables of a block: it is called in the place of `tf.Variable`.

    Args:
        variable_creator: `creator(next_creator, **kwargs)` returns a variable. `next_creator(**kwargs)` calls the
            creator of the enclosing block, or makes the variable. `kwargs` are all arguments of `tf.Variable` by
            name.

    >>> from agc.runtime import Variable
    >>> def frozen(next_creator, **kwargs):
    ...     return next_creator(**{**kwargs, "trainable": False})
    >>> with variable_creator_scope(frozen):
    ...     Variable(1.0).trainable
    False
    """
    creators.stack.append(variable_creator)
    try:
        yield
    finally:
        creators.stack.pop()


def is_active(variable_creator: Creator) -> bool:
    """Return whether a scope of this creator encloses the running code."""
    return variable_creator in creators.stack


class CreatedByScope(type):
    """The class of `Variable`: a call of it goes through the creators of the enclosing blocks."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not creators.stack or not vars(cls).get("_is_made_by_creators"):
            return super().__call__(*args, **kwargs)
        bound = inspect.signature(cls.__init__).bind(None, *args, **kwargs)  # type: ignore[misc]
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        arguments.pop("self")
        return _created(super().__call__, list(creators.stack))(**arguments)


def _created(make: Creator, creators: list[Creator]) -> Creator:
    """Return the function that calls the innermost creator, with the rest as its `next_creator`."""
    following = make
    for creator in creators:
        following = _before(creator, following)
    return following


def _before(creator: Creator, following: Creator) -> Creator:
    return lambda **kwargs: creator(following, **kwargs)
