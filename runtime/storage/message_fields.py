"""Read the fields of a message in the language of protocol buffers.

oneof kind { Bytes own = 1; }        {"own": Field(1, "Bytes"), "names": Field(2, "string", many=True)},
repeated string names = 2;      ==>  and the choice "kind" of `own`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .tensor_protos import TYPE_LABELS


class Field(NamedTuple):
    """A field of a message: its number, and a scalar type or a class of messages.

    Scalar types are those of `repeated_fields.CODES`, "bytes", "string", "fixed32" and "sint64".
    """

    number: int
    type: Any
    many: bool = False
    """Whether the field is repeated."""
    keyed: bool = False
    """Whether the field is a map from strings to messages, or to strings."""
    labels: Mapping[int, str] = MappingProxyType({})
    """The names of the values of an enumeration, for the text format."""


class Declaration(NamedTuple):
    """The fields of a message in the order of their numbers, its choice (or ""), and the fields of the choice.

    `messages` has the texts of the messages that are declared inside, by their names.
    """

    fields: dict[str, Field]
    choice: str
    members: frozenset[str]
    messages: dict[str, str]


_MESSAGE = re.compile(r"message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}")
_COMMENT = re.compile(r"//.*")
_FIELD = re.compile(r"(repeated )?(?:map<string, (\w+)>|(\w+)) (\w+) = (\d+);")
_ONEOF = re.compile(r"oneof (\w+) \{(.*?)\}", re.DOTALL)


def declared(text: str) -> Declaration:
    """Return the declaration in a text with at most one `oneof`; the only enumeration is `DataType`.

    >>> declared("repeated int64 value = 1;").fields["value"].many
    True
    >>> declared("message Pair { int32 key = 1; } Pair pair = 1;  // the only one").messages
    {'Pair': ' int32 key = 1; '}
    """
    text = _COMMENT.sub("", text)
    messages = dict(_MESSAGE.findall(text))
    text = _MESSAGE.sub("", text)
    choice = _ONEOF.search(text)
    found = {}
    for many, value, single, name, number in _FIELD.findall(text):
        is_enum = single == "DataType"
        kind = "int32" if is_enum else value or single
        found[name] = Field(int(number), kind, bool(many), bool(value), TYPE_LABELS if is_enum else {})
    fields = dict(sorted(found.items(), key=lambda item: item[1].number))
    if choice is None:
        return Declaration(fields, "", frozenset(), messages)
    members = frozenset(name for *_, name, _ in _FIELD.findall(choice[2]))
    return Declaration(fields, choice[1], members, messages)
