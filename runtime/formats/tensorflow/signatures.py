"""The signatures of TensorFlow's operations, from the table `signatures.txt`.

AddN(inputs: N*T) -> sum: T; N: int; T: type

>>> add = signature("AddN")
>>> add.inputs
(NodeArgument(name='inputs', kind='T', number='N', is_list=False),)
>>> signature("Roll").attributes["Tshift"]
NodeAttribute(kind='type', default=None)
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_TABLE = Path(__file__).parent / "signatures.txt"
_LINE = re.compile(r"(!?)(\w+)\((.*?)\)(?: -> ([^;]*))?(?:; (.*))?")
_ATTRIBUTE = re.compile(r"(\w+): ([\w()]+)(?: = (.*))?")


class NodeArgument(NamedTuple):
    """An input or output: one tensor, `number` tensors of one dtype, or a list of any tensors."""

    name: str
    kind: str
    """A dtype, or the attribute that holds the dtype, or the list of dtypes if `is_list`."""
    number: str
    """The attribute that holds the number of tensors; "" for one tensor."""
    is_list: bool


class NodeAttribute(NamedTuple):
    """An attribute: `kind` is as in `list(int)`; `default` is None if there is none."""

    kind: str
    default: Any


class NodeSignature(NamedTuple):
    """An operation: its inputs, outputs and attributes in TensorFlow's order."""

    name: str
    is_stateful: bool
    inputs: tuple[NodeArgument, ...]
    outputs: tuple[NodeArgument, ...]
    attributes: Mapping[str, NodeAttribute]


@functools.cache
def signature(name: str) -> NodeSignature | None:
    """Return the signature of an operation; None for an operation that the table lacks."""
    line = _lines().get(name)
    return None if line is None else _parsed(line)


@functools.cache
def _lines() -> dict[str, str]:
    lines = _TABLE.read_text(encoding="utf-8").split("\n\n", 2)[2].splitlines()
    return {line.partition("(")[0].lstrip("!"): line for line in lines}


def _parsed(line: str) -> NodeSignature:
    match = _LINE.fullmatch(line)
    assert match is not None, line
    stateful, name, inputs, outputs, attributes = match.groups()
    parts = [_ATTRIBUTE.fullmatch(part) for part in _split(attributes or "", "; ")]
    found = {
        part[1]: NodeAttribute(part[2], json.loads(part[3]) if part[3] else None) for part in parts if part
    }
    return NodeSignature(name, bool(stateful), _arguments(inputs), _arguments(outputs or ""), found)


def _split(text: str, separator: str) -> list[str]:
    return text.split(separator) if text else []


def _arguments(text: str) -> tuple[NodeArgument, ...]:
    return tuple(_argument(*part.split(": ")) for part in _split(text, ", "))


def _argument(name: str, kind: str) -> NodeArgument:
    if kind.startswith("["):
        return NodeArgument(name, kind[1:-1], "", True)
    number, _, dtype = kind.rpartition("*")
    return NodeArgument(name, dtype, number, False)
