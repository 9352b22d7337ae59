"""The values of fields that are repeated, or maps, in messages of protocol buffers (see `messages`).

value: [1, 2]               Scalars: an array of numbers, or a list of bytes
feature { … }               Messages: a list, whose `add` returns a new message
feature["x"]                MessageMap: a dict that makes an entry when it is read
"""

from __future__ import annotations

import array
import operator
import sys
from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence
from typing import Any

import numpy as np

from .protobuf import field, varint, varints

CODES = {"float": "f", "double": "d", "int64": "q", "int32": "i", "uint32": "I", "uint64": "Q", "bool": "B"}
"""The codes of arrays of numbers, by the types of fields."""

_FLOATS = frozenset({"float", "double"})


def checked(kind: str, values: Iterable[Any]) -> Any:
    """Return numbers as an array, bytes as a list; TypeError or ValueError for values of other types."""
    if kind == "bytes":
        items = list(values)
        for item in items:
            if not isinstance(item, bytes):
                raise TypeError(f"expected bytes, {type(item).__name__} found")
        return [bytes(item) for item in items]
    if kind not in _FLOATS and kind != "bool":
        values = list(values)
        if any(isinstance(value, (bool, np.bool_)) for value in values):
            raise TypeError("Expected an int, got a boolean.")
        values = map(operator.index, values)
    try:
        return array.array(CODES[kind], values)
    except OverflowError as error:
        raise ValueError(f"Value out of range: {error}") from None


class _Sequence(MutableSequence[Any]):
    """A list that a field of a message holds; a change makes the field present."""

    _items: Any

    def __init__(self, owner: Any, name: str, kind: Any) -> None:
        self._owner, self._name, self._kind = owner, name, kind

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        found = self._items[index]
        return list(found) if isinstance(index, slice) else found

    def __delitem__(self, index: Any) -> None:
        del self._items[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Iterable) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self._items))

    def _added(self) -> None:
        self._owner._mark(self._name)

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sort in place, as a list."""
        self[:] = sorted(self, key=key, reverse=reverse)


class Scalars(_Sequence):
    """Numbers or bytes."""

    def __init__(self, owner: Any, name: str, kind: str) -> None:
        super().__init__(owner, name, kind)
        self._items = checked(kind, ())

    def __setitem__(self, index: Any, value: Any) -> None:
        self._items[index] = (
            checked(self._kind, value) if isinstance(index, slice) else checked(self._kind, [value])[0]
        )
        self._added()

    def insert(self, index: int, value: Any) -> None:
        self._items[index:index] = checked(self._kind, [value])
        self._added()

    def extend(self, values: Any) -> None:
        self._items.extend(checked(self._kind, values))
        self._added()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._items, dtype)

    def packed(self, number: int) -> bytes:
        """Return the field with this number in the wire format."""
        if not self._items:
            return b""
        if self._kind == "bytes":
            return b"".join(field(number, item) for item in self._items)
        if self._kind in _FLOATS:
            return field(number, _little_endian(self._items).tobytes())
        return field(number, b"".join(map(varint, self._items)))

    def decode(self, content: int | bytes) -> None:
        """Add what a field in the wire format holds: an element, or several packed ones."""
        if self._kind == "bytes":
            self._items.append(content)
        elif self._kind in _FLOATS:
            numbers = array.array(self._items.typecode, content if isinstance(content, bytes) else b"?")
            self._items.extend(_little_endian(numbers))
        else:
            words = varints(content).astype(np.dtype(self._items.typecode))
            self._items.frombytes(words.tobytes())


def _little_endian(numbers: Any) -> Any:
    """Return numbers with their bytes swapped between the order of the machine and little-endian order."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers


class Messages(_Sequence):
    """Messages of one class."""

    def __init__(self, owner: Any, name: str, kind: Any) -> None:
        super().__init__(owner, name, kind)
        self._items = []

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("a repeated field of messages does not support assignment")

    def insert(self, index: int, value: Any) -> None:
        self._items.insert(index, self._kind.FromString(value.SerializeToString()))
        self._added()

    def add(self, **values: Any) -> Any:
        """Add a new message with these values of its fields, and return it."""
        self._items.append(self._kind(**values))
        self._added()
        return self._items[-1]

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sort in place, as a list."""
        self._items.sort(key=key, reverse=reverse)


class MessageMap(MutableMapping[str, Any]):
    """Messages of one class by strings; reading a missing key makes an empty message, as in protobuf."""

    def __init__(self, owner: Any, name: str, kind: Any) -> None:
        self._owner, self._name, self._kind = owner, name, kind
        self._items: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise TypeError(f"bad argument type for built-in operation: a key is a string, not {key!r}")
        if key not in self._items:
            self._items[key] = self._kind()
            self._owner._mark(self._name)
        return self._items[key]

    def __setitem__(self, key: str, value: Any) -> None:
        raise ValueError("Message objects may not be assigned; use CopyFrom of the entry")

    def __delitem__(self, key: str) -> None:
        del self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: str, default: Any = None) -> Any:
        return self._items.get(key, default)

    def get_or_create(self, key: str) -> Any:
        """Return the message of a key, a new one for a missing key."""
        return self[key]

    def __repr__(self) -> str:
        return repr(self._items)

    def decode(self, key: str, content: bytes) -> None:
        """Replace the entry of a key by the message of bytes."""
        self._items[key] = self._kind.FromString(content)
