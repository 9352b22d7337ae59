"""Messages of protocol buffers as Python objects, from the declarations of their fields; `tf.train.Example` is one.

class Int64List(Message):
    FIELDS = "repeated int64 value = 1;"

Int64List(value=[3])    ⇄    b"\\n\\x01\\x03"

The methods are those of the package protobuf that programs for TensorFlow call. Fields that a class lacks are
dropped when a message is read.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .message_fields import Field, declared
from .protobuf import field, fields
from .repeated_fields import (
    SCALARS,
    MessageMap,
    Messages,
    Scalars,
    StringMap,
    checked_scalar,
    decoded,
    encoded,
    fits,
)

_classes: dict[str, type[Message]] = {}


class Message:
    """A message of protocol buffers; a subclass lists its fields."""

    FIELDS: ClassVar[str] = ""
    """The fields in the language of protocol buffers, with the names of classes of messages as types.

    Messages that only fields hold are declared inside: `message Pair { string key = 1; }`.
    """
    _fields: ClassVar[Mapping[str, Field]]
    _choice: ClassVar[str]
    _members: ClassVar[frozenset[str]]
    _numbers: ClassVar[Mapping[int, str]]
    _is_linked: ClassVar[bool]
    _owner: tuple[Message, str] | None
    _present: set[str]
    _values: dict[str, Any]
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, **values: Any) -> None:
        if not self._is_linked:
            self._link()
        self.__dict__.update(_owner=None, _present=set(), _values={})
        for name, value in values.items():
            self._check_name(name)
            if value is not None:
                self._assign(name, value)

    def __init_subclass__(cls) -> None:
        _classes[cls.__name__] = cls
        cls._fields, cls._choice, cls._members, messages = declared(cls.FIELDS)
        for name, text in messages.items():
            place = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.{name}"}
            setattr(cls, name, type(name, (Message,), {"FIELDS": text, **place}))
        cls._numbers = {kind.number: name for name, kind in cls._fields.items()}
        cls._is_linked = False
        for name in cls._fields:
            setattr(cls, name, property(functools.partial(cls._read, name=name)))

    @classmethod
    def _link(cls) -> None:
        """Replace the names of classes, which may contain each other, by the classes."""
        own = vars(sys.modules[cls.__module__])
        cls._fields = {
            name: kind
            if kind.type in SCALARS
            else kind._replace(type=own.get(kind.type) or _classes[kind.type])
            for name, kind in cls._fields.items()
        }
        cls._is_linked = True

    if TYPE_CHECKING:  # fields are properties

        def __getattr__(self, name: str) -> Any: ...

    def _read(self, name: str) -> Any:
        found = self._values.get(name)
        if found is None:
            kind = self._fields[name]
            if kind.keyed:
                found = (MessageMap if isinstance(kind.type, type) else StringMap)(self, name, kind.type)
            elif kind.many:
                found = (Messages if isinstance(kind.type, type) else Scalars)(self, name, kind.type)
            elif isinstance(kind.type, type):
                found = kind.type()
                object.__setattr__(found, "_owner", (self, name))
            else:
                return {"bytes": b"", "string": ""}.get(kind.type, 0)
            self._values[name] = found
        return found

    def _assign(self, name: str, value: Any) -> None:
        kind, current = self._fields[name], self._read(name)
        if kind.keyed:
            current.merge(value)
        elif kind.many:
            if not isinstance(value, Iterable):
                raise TypeError("must assign iterable")
            current.extend(value)
        elif isinstance(kind.type, type):
            current.MergeFrom(_as_message(value, kind.type))
        else:
            self._values[name] = checked_scalar(kind.type, value)
        self._mark(name)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._fields.get(name)
        label = type(self).__name__
        if kind is None:
            raise AttributeError(f"Protocol message {label} has no {name!r} field.")
        if kind.many or kind.keyed or isinstance(kind.type, type):
            raise AttributeError(
                f"Assignment not allowed to message, map, or repeated field {name!r} in protocol message object."
            )
        self._assign(name, value)

    def _mark(self, name: str) -> None:
        """Make a field present, and with it this message in its owner."""
        if name in self._members and name not in self._present:
            for other in [other for other in self._values if other != name and other in self._members]:
                self.ClearField(other)
        self._present.add(name)
        self.SetInParent()

    def SetInParent(self) -> None:
        """Make this message present in the message that it is a field of, even if it is empty."""
        if self._owner is not None:
            owner, name = self._owner
            owner._mark(name)

    def _check_name(self, name: str) -> None:
        if name not in self._fields:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')

    def HasField(self, name: str) -> bool:
        """Return whether a field that is a message, or the choice, is present."""
        if self._choice and name == self._choice:
            return self.WhichOneof(name) is not None
        self._check_name(name)
        kind = self._fields[name]
        if kind.many or kind.keyed or not (isinstance(kind.type, type) or name in self._members):
            raise ValueError(f"Field {type(self).__name__}.{name} does not have presence.")
        return name in self._present

    def WhichOneof(self, name: str) -> str | None:
        """Return the name of the field that is present, of a choice of several."""
        if not self._choice or name != self._choice:
            raise ValueError(f'Protocol message {type(self).__name__} has no oneof "{name}" field.')
        return next(iter(self._present & self._members), None)

    def ClearField(self, name: str) -> None:
        """Remove the value of a field; the object that was read from it before is no part of this message."""
        self._check_name(name)
        self._present.discard(name)
        old = self._values.pop(name, None)
        if old is not None and hasattr(old, "_owner"):
            object.__setattr__(old, "_owner", None)

    def Clear(self) -> None:
        """Remove the values of all fields."""
        for name in list(self._values):
            self.ClearField(name)

    def CopyFrom(self, other: Self) -> None:
        """Replace the content by that of another message of this class."""
        if other is not self:
            content = _as_message(other, type(self)).SerializeToString()
            self.Clear()
            self.MergeFromString(content)

    def MergeFrom(self, other: Self) -> None:
        """Add the content of another message of this class: lists are extended, other values replaced."""
        self.MergeFromString(_as_message(other, type(self)).SerializeToString())

    def IsInitialized(self) -> bool:
        """Return True: no field is required."""
        return True

    def ByteSize(self) -> int:
        """Return the number of bytes of the message."""
        return len(self.SerializeToString())

    def SerializeToString(self, deterministic: bool = False) -> bytes:
        """Return the message as bytes; maps are in the order of their keys if `deterministic`."""
        return b"".join(self._parts(deterministic))

    SerializePartialToString = SerializeToString

    def _parts(self, deterministic: bool) -> Iterator[bytes]:
        for name, kind in self._fields.items():
            value = self._values.get(name)
            if value is None:
                continue
            if kind.keyed:
                yield from value.parts(kind.number, deterministic)
            elif kind.many and isinstance(kind.type, type):
                for message in value:
                    yield field(kind.number, message.SerializeToString(deterministic))
            elif kind.many:
                yield value.packed(kind.number)
            elif isinstance(value, Message):
                if name in self._present:
                    yield field(kind.number, value.SerializeToString(deterministic))
            elif value or name in self._members:
                yield encoded(kind.number, kind.type, value)

    @classmethod
    def FromString(cls, serialized: bytes) -> Self:
        """Return the message of bytes; ValueError for bytes that are no such message."""
        message = cls()
        message.MergeFromString(serialized)
        return message

    def ParseFromString(self, serialized: bytes) -> int:
        """Replace the content by that of bytes, and return their number; ValueError for invalid bytes."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Add the content of bytes, and return their number; ValueError for invalid bytes."""
        if not isinstance(serialized, (bytes, bytearray, memoryview)):
            raise TypeError(f"expected bytes, {type(serialized).__name__} found")
        content = bytes(serialized)
        try:
            self._merge(content)
        except ValueError as error:
            raise ValueError(f"Error parsing message with type {type(self).__name__!r}: {error}") from None
        self.SetInParent()
        return len(content)

    def _merge(self, content: bytes) -> None:
        numbers = self._numbers
        for number, value in fields(content):
            if number in numbers:
                self._decode(numbers[number], value)

    def _decode(self, name: str, value: Any) -> None:
        """Add a value from bytes to a field; one of another kind is dropped, as a field that is not known."""
        kind = self._fields[name]
        if not fits(kind, value):
            return
        current = self._read(name)
        if kind.keyed:
            entry = dict(fields(value))
            if not any(isinstance(part, int) for part in entry.values()):
                current.decode(entry.get(1, b"").decode(), entry.get(2, b""))
        elif kind.many and isinstance(kind.type, type):
            current.add()._merge(value)
        elif kind.many:
            current.decode(value)
        elif isinstance(kind.type, type):
            current._merge(value)
        else:
            self._values[name] = decoded(kind.type, value)
        self._mark(name)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.SerializeToString(True) == other.SerializeToString(True)

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self).FromString(self.SerializeToString())

    def __repr__(self) -> str:
        return "".join(f"{line}\n" for line in text_lines(self))


def _as_message(value: Any, kind: Any) -> Any:
    if isinstance(value, kind):
        return value
    if isinstance(value, Mapping):
        return kind(**value)
    raise TypeError(
        f"Parameter to initialize message field must be dict or instance of same class: expected {kind} got "
        f"{type(value)}."
    )


def text_lines(message: Message) -> Iterator[str]:
    """Yield the lines of the text format of a message."""
    for name, kind in message._fields.items():
        value = message._values.get(name)
        if kind.keyed:
            for key, one in sorted((value or {}).items()):
                shown = (
                    (f"value: {_quoted(one)}",) if isinstance(one, str) else ("value {", *_indented(one), "}")
                )
                inside = (f"key: {_quoted(key)}", *shown)
                yield from (f"{name} {{", *(f"  {line}" for line in inside), "}")
        elif value is not None and (name in message._present or not isinstance(value, Message)):
            for one in value if kind.many else [value] if value or name in message._members else []:
                if isinstance(one, Message):
                    yield from (f"{name} {{", *_indented(one), "}")
                else:
                    yield f"{name}: {kind.labels.get(one) or _shown(kind.type, one)}"


def _indented(message: Message) -> Iterator[str]:
    return (f"  {line}" for line in text_lines(message))


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def _quoted(text: str) -> str:
    return (
        '"'
        + "".join(_ESCAPES.get(char, char if char >= " " else f"\\{ord(char):03o}") for char in text)
        + '"'
    )


def _shown(kind: str, value: Any) -> str:
    if kind == "string":
        return _quoted(value)
    if kind == "bytes":
        chars = (chr(byte) for byte in value)
        return "".join(char if char < "\x7f" else f"\\{ord(char):03o}" for char in _quoted("".join(chars)))
    if kind == "bool":
        return "true" if value else "false"
    if kind not in ("float", "double"):
        return str(value)
    few, many, rounded = (6, 9, np.float32) if kind == "float" else (15, 17, float)
    text = f"{value:.{few}g}"
    return text if rounded(text) == value or value != value else f"{value:.{many}g}"
