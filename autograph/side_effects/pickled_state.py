"""Observable state of objects written in C, from the standard library and NumPy.

    object                        source of the state
    io.BytesIO()                  `__reduce_ex__`: the bytes and the position
    queue.SimpleQueue()           `qsize()`
    array.flat                    its attributes: `index`
    threading.Lock()              its `repr`

A change of that state can be detected, but neither carried nor undone. Objects that compare by value, such as
`Decimal` and `Path`, are immutable.
"""

from __future__ import annotations

import functools
import operator
import sys
import types
import warnings
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .. import policy
from .class_traits import ATOMS
from .snapshots import AccessPath, ObjectSnapshot, StructuralChange

_STATUS = "qsize", "locked", "tell", "closed", "__len__", "__length_hint__"
_DEPTH = 12  # a generator's state is a dict in the second of two nested results of `__reduce_ex__`
# A heap walk visits instances of these classes by other means.
_OTHERWISE = (
    *(
        list,
        dict,
        set,
        deque,
        bytearray,
        array,
        type,
        weakref.ref,
        weakref.ProxyType,
        weakref.CallableProxyType,
    ),
    *(
        types.FunctionType,
        types.MethodType,
        types.ModuleType,
        types.BuiltinFunctionType,
        types.MappingProxyType,
    ),
    *(property, staticmethod, classmethod, functools.cached_property, functools.partial),
)
_HASHES: tuple[Any, ...] = (memoryview.__hash__,)  # mutable although it is compared by value
_POINTERS = 16  # bytes that every instance of a class written in Python has
_LARGEST = 1 << 20  # bytes of a state that is compared; a larger one is compared by identity

Reader = Callable[[Any], Any]


class ObjectState(ObjectSnapshot):
    """An object of a library, with a snapshot of its observable state."""

    def __init__(self, owner: Any, path: AccessPath) -> None:
        super().__init__(owner, path)
        self.saved = state_of(owner)

    def has_changed(self) -> bool:
        return bool(self.saved != state_of(self.owner))

    def changes(self) -> Iterator[StructuralChange]:
        if self.has_changed():
            yield StructuralChange(self, False, f"(a `{type(self.owner).__qualname__}`) changes")

    def restore(self) -> None:
        """Do nothing: the state of a library's object cannot be restored."""


class _Identity:
    """An object compared by identity; it is kept alive, so that no other object gets its id."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]


def has_state(cls: Any) -> bool:
    """Return whether the instances of a class have a state that this module can read.

    >>> import io, decimal
    >>> has_state(io.BytesIO), has_state(decimal.Decimal), has_state(decimal.Context)
    (True, False, True)
    """
    return bool(_readers(cls))


def state_of(value: Any, depth: int = _DEPTH) -> tuple[Any, ...]:
    """Return the state of an object, for comparison with a later state.

    >>> import random
    >>> numbers = random.Random(1)
    >>> before = state_of(numbers)
    >>> before == state_of(numbers), numbers.random() and before == state_of(numbers)
    (True, False)
    """
    found = []
    kind: Any = type(value)
    for read in _readers(kind):
        try:
            with warnings.catch_warnings(action="ignore"):
                found.append(_frozen(read(value), depth))
        except Exception:  # a closed file, or an object that cannot be copied
            found.append(None)
    return tuple(found)


def _frozen(value: Any, depth: int) -> Any:
    """Return an immutable form of a part of a state."""
    kind: Any = type(value)
    if kind in ATOMS:
        return kind, repr(value) if kind in (float, complex) else value
    if not depth:  # a container may be made anew by each reading, so its identity says nothing
        return (kind, len(value)) if kind in (tuple, list, dict) else _Identity(value)
    if kind is dict and not value:  # for example the attributes of an object that had none
        return type(None), None
    if kind in (tuple, list):
        return kind, tuple(_frozen(part, depth - 1) for part in value)
    if kind is dict:
        return tuple((_frozen(key, depth - 1), _frozen(part, depth - 1)) for key, part in value.items())
    if isinstance(value, (types.BuiltinFunctionType, types.MethodType)):
        return _Identity(value.__self__), value.__name__
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.nbytes <= _LARGEST:
        return value.tobytes()
    return (_Identity(value), state_of(value, depth - 1)) if has_state(kind) else _Identity(value)


@functools.lru_cache(maxsize=1024)
def _readers(cls: Any) -> tuple[Reader, ...]:
    """Return the functions that read the state of instances of a class.

    There are none if the instances are immutable, or if the state may be large.
    """
    if issubclass(cls, _OTHERWISE):
        return ()
    bases = policy.bases_of(cls)
    own = next((base for base in bases if not policy.is_user_class(base)), object)
    if own is object or not _is_known(own) or own.__hash__ not in (object.__hash__, None, *_HASHES):
        return ()
    is_small = own.__basicsize__ <= object.__basicsize__ + _POINTERS
    if is_small and own.__module__ != "_thread":  # written in Python: attributes are the whole state
        return ()
    return tuple(_found(own))


def _is_known(cls: type) -> bool:
    top = str(cls.__module__).partition(".")[0]
    return (top == "numpy" and cls.__name__ != "ndarray") or top in sys.stdlib_module_names


def _found(cls: type) -> Iterator[Reader]:
    yield _reduced
    for base in policy.bases_of(cls)[:-1]:
        for name, member in vars(base).items():
            is_plain = isinstance(member, (types.GetSetDescriptorType, types.MemberDescriptorType))
            if is_plain and not name.startswith("__"):
                yield _plain(operator.attrgetter(name))
    if hasattr(cls, "items") and hasattr(cls, "keys"):
        yield lambda value: list(value.items())
    if cls.__module__ == "_thread":
        yield repr
    for name in _STATUS:
        found = getattr(cls, name, None)
        if found is not None and not isinstance(found, FunctionType) and callable(found):
            yield operator.methodcaller(name)


def _reduced(value: Any) -> Any:
    """Return what `pickle` saves, without attributes if there are none: an exception has a dict of them once read."""
    found = value.__reduce_ex__(2)
    while isinstance(found, tuple) and (found[-1] is None or (type(found[-1]) is dict and not found[-1])):
        found = found[:-1]
    return found


def _plain(read: Reader) -> Reader:
    """Return a reader that returns the value of an attribute if it is a number or a text, else None."""
    return lambda value: found if type(found := read(value)) in ATOMS else None
