"""Class traits: how a heap walk treats the instances of a class; computed once per walk.

class Net: ...           an object of the user's: its attributes, and those that its `__slots__` name
class OrderedSet: ...    of the library `collections`: a container, all of whose parts are visited
class Variable: ...      of a library that registers it as stateful: likewise
class Path: ...          of another library: nothing is visited
"""

from __future__ import annotations

import functools
import types
from collections import deque
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, NamedTuple

from .. import policy
from ..staging import PYTHON, backends, stateful

ATOMS: frozenset[type] = frozenset({
    int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range, slice, object, CodeType,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
})  # fmt: skip
# These modules define containers: code reaches the items without naming attributes.
_CONTAINERS = frozenset({"collections", "weakref", "_weakrefset", "_thread", "types", "queue", "threading"})
_NAMED_BY_USERS = frozenset({"types", "_thread"})  # their attributes have names that the user chooses
_BUILT_IN = frozenset({list, dict, set, tuple, frozenset, deque})
_PLAIN_KINDS = (FunctionType, MethodType, ModuleType, type)
_CACHE = type(functools.lru_cache(len))


_KNOWN = _BUILT_IN | {*_PLAIN_KINDS}


class ClassTraits(NamedTuple):
    """The treatment of the instances of a class in a heap walk."""

    is_open: bool  # instances may contain something mutable
    is_object: bool  # instances may have attributes
    is_users: bool
    is_container: bool
    is_cache: bool
    attribute: str  # kind of access to attributes: "." by name in user code, "@" by the methods of a library
    slots: tuple[tuple[str, Any], ...]  # attributes that the user's `__slots__` name


_OPEN = ClassTraits(True, False, False, False, False, ".", ())
_OBJECT = ClassTraits(True, True, False, False, False, ".", ())
_CLOSED = ClassTraits(False, False, False, False, False, ".", ())


def kind_of(cls: type) -> ClassTraits:
    """Return the traits of a class.

    >>> kind_of(int).is_open, kind_of(list).is_object, kind_of(type("Net", (), {"__module__": "user"})).is_users
    (False, False, True)
    """
    if cls in _KNOWN:
        return _OPEN
    if cls is functools.partial:  # operators create these
        return _OBJECT
    if cls in ATOMS or backends[cls] is not PYTHON:
        return _CLOSED
    bases = policy.bases_of(cls)
    is_users = policy.is_user_class(cls)
    slots = tuple(
        (name, member)
        for base in bases
        if base in stateful or policy.is_user_class(base)
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType)
    )
    containers = {base.__module__ for base in bases if _is_container(base)}
    return ClassTraits(
        is_open=True,
        is_object=cls not in _BUILT_IN and not issubclass(cls, _PLAIN_KINDS),
        is_users=is_users,
        is_container=bool(containers),
        is_cache=cls is _CACHE,
        attribute="@" if containers - _NAMED_BY_USERS and not is_users else ".",
        slots=slots,
    )


def _is_container(cls: type) -> bool:
    top = str(cls.__module__).partition(".")[0]
    return cls.__module__ in _CONTAINERS or cls in stateful or (top == "numpy" and cls.__dictoffset__ != 0)


class Kinds(dict[type, ClassTraits]):
    """class → its traits, computed on first access."""

    def __missing__(self, cls: type) -> ClassTraits:
        kind = self[cls] = kind_of(cls)
        return kind
