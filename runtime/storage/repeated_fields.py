"""The values of the fields of messages of protocol buffers (see `messages`): scalars, lists and maps.

value: [1, 2]               Scalars: an array of numbers, or a list of bytes
feature { … }               Messages: a list, whose `add` returns a new message
feature["x"]                MessageMap: a dict that makes an entry when it is read
"""

from __future__ import annotations

import array
import operator
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any

import numpy as np

from .protobuf import field, varint, varints

CODES = {
    "float": "f", "double": "d", "int64": "q", "int32": "i", "uint32": "I", "uint64": "Q", "bool": "B",
    "fixed32": "I", "sint64": "q",
}  # fmt: skip
"""The codes of arrays of numbers, by the types of fields; "fixed32" and "sint64" have single values only."""

_FLOATS = frozenset({"float", "double"})
_FIXED = {"float": "<f", "double": "<d", "fixed32": "<I"}
_TEXTS: dict[str, Any] = {"bytes": bytes, "string": str}
SCALARS = frozenset({*CODES, *_TEXTS})


def checked(kind: str, values: Iterable[Any]) -> Any:
    """Return numbers as an array, bytes and strings as a list; TypeError or ValueError for values of other types."""
    if kind in _TEXTS:
        items = list(values)
        for item in items:
            if not isinstance(item, _TEXTS[kind]):
                raise TypeError(f"expected {kind}, {type(item).__name__} found")
        return [_TEXTS[kind](item) for item in items]
    if kind not in _FLOATS and kind != "bool":
        values = list(values)
        if any(isinstance(value, (bool, np.bool_)) for value in values):
            raise TypeError("Expected an int, got a boolean.")
        values = map(operator.index, values)
    try:
        return array.array(CODES[kind], values)
    except OverflowError as error:
        raise ValueError(f"Value out of range: {error}") from None


def checked_scalar(kind: str, value: Any) -> Any:
    """Return one number, bytes or a string; TypeError or ValueError as `checked`."""
    return value if type(value) is _TEXTS.get(kind) else checked(kind, [value])[0]


def encoded(number: int, kind: str, value: Any) -> bytes:
    """Return the field with this number, of a scalar type, in the wire format."""
    if kind in _FIXED:
        return varint(number << 3 | (1 if kind == "double" else 5)) + struct.pack(_FIXED[kind], value)
    return field(number, (value << 1 ^ value >> 63) if kind == "sint64" else value)


def fits(kind: Any, value: int | bytes) -> bool:
    """Return whether a value in the wire format may be of this `Field`; others are dropped."""
    if kind.keyed or kind.type not in CODES:
        return isinstance(value, bytes)
    if kind.type in _FIXED:
        return isinstance(value, bytes) and (kind.many or len(value) == struct.calcsize(_FIXED[kind.type]))
    return kind.many or isinstance(value, int)


def decoded(kind: str, value: Any) -> Any:
    """Return the scalar of a type from a value in the wire format, which `fits`."""
    if kind in _FIXED:
        return struct.unpack(_FIXED[kind], value)[0]
    if kind in _TEXTS:
        return value.decode() if kind == "string" else value
    if kind == "bool":
        return bool(value)
    if kind == "sint64":
        return value >> 1 ^ -(value & 1)
    size = 1 << (32 if kind.endswith("32") else 64)
    value %= size
    return value - size if kind.startswith("int") and value >= size >> 1 else value


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
        if self._kind in _TEXTS:
            return b"".join(field(number, item) for item in self._items)
        if self._kind in _FLOATS:
            return field(number, _little_endian(self._items).tobytes())
        return field(number, b"".join(map(varint, self._items)))

    def decode(self, content: int | bytes) -> None:
        """Add what a field in the wire format holds: an element, or several packed ones."""
        if self._kind in _TEXTS:
            self._items.append(decoded(self._kind, content))
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
        made = self._kind(**value) if isinstance(value, Mapping) else value
        self._items.insert(index, self._kind.FromString(made.SerializeToString()))
        self._added()

    def add(self, **values: Any) -> Any:
        """Add a new message with these values of its fields, and return it."""
        self._items.append(self._kind(**values))
        self._added()
        return self._items[-1]

    def adopt(self, messages: Iterable[Any]) -> None:
        """Add messages of this class themselves; `extend` adds copies, as in protobuf."""
        self._items.extend(messages)
        self._added()

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sort in place, as a list."""
        self._items.sort(key=key, reverse=reverse)


class _Map(MutableMapping[str, Any]):
    """A map from strings that a field of a message holds; a change makes the field present."""

    def __init__(self, owner: Any, name: str, kind: Any) -> None:
        self._owner, self._name, self._kind = owner, name, kind
        self._items: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise TypeError(f"bad argument type for built-in operation: a key is a string, not {key!r}")
        if key not in self._items:
            self._items[key] = self._kind() if isinstance(self._kind, type) else ""
            self._owner._mark(self._name)
        return self._items[key]

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

    def __repr__(self) -> str:
        return repr(self._items)

    def parts(self, number: int, deterministic: bool) -> Iterator[bytes]:
        """Yield the entries in the wire format, each a field with this number."""
        for key, value in sorted(self._items.items()) if deterministic else self._items.items():
            yield field(number, field(1, key) + field(2, self._content(value, deterministic)))

    def _content(self, value: Any, deterministic: bool) -> bytes | str:
        raise NotImplementedError


class MessageMap(_Map):
    """Messages of one class by strings; reading a missing key makes an empty message, as in protobuf."""

    def __setitem__(self, key: str, value: Any) -> None:
        raise ValueError("Message objects may not be assigned; use CopyFrom of the entry")

    def get_or_create(self, key: str) -> Any:
        """Return the message of a key, a new one for a missing key."""
        return self[key]

    def merge(self, entries: Any) -> None:
        """Add messages, or dicts of their fields, to those of the same keys."""
        for key, value in dict(entries).items():
            self[key].MergeFrom(value)

    def decode(self, key: str, content: bytes) -> None:
        """Replace the entry of a key by the message of bytes."""
        self._items[key] = self._kind.FromString(content)

    def _content(self, value: Any, deterministic: bool) -> bytes:
        content: bytes = value.SerializeToString(deterministic)
        return content


class StringMap(_Map):
    """Strings by strings."""

    def __setitem__(self, key: str, value: str) -> None:
        self._items[key] = checked("string", [value])[0]
        self._owner._mark(self._name)

    def merge(self, entries: Any) -> None:
        """Set the entries of a dict."""
        for key, value in dict(entries).items():
            self[key] = value

    def decode(self, key: str, content: bytes) -> None:
        """Replace the entry of a key by the string of bytes."""
        self._items[key] = content.decode()

    def _content(self, value: str, deterministic: bool) -> str:
        return value
