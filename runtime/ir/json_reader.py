"""Read graphs from JSON data: the inverse of `json_format.serialize`.

Data are untrusted: the type of every field is checked, and unknown fields are errors. Each operation is
checked against its declaration (checked_graph.py) as soon as it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import late_binding
from .attribute_json import array_from, attribute_from
from .checked_graph import checked_graph, checked_operation, entered
from .graph import Constant, Graph, Operand, Operation, Value
from .json_format import FORMAT, PLAIN, VERSION
from .lexer import Line
from .literal_parser import read_spec
from .op_def import OpDef
from .source_location import Origin
from .structured import CALL, CUSTOM_GRADIENT, WHILE
from .value_types import AnySpec

_LONGEST_NAME = 1 << 16
_LAST_LINE = 1 << 31

_MODULE = frozenset({"format", "version", "graphs", "constants"})
_GRAPH = frozenset({"name", "inputs", "operations", "outputs"})
_OPERATION = frozenset({"op", "inputs", "outputs"})
_OPERATION_MAY = frozenset({"attrs", "regions", "callees", "device", "at"})
_VALUE = frozenset({"name", "spec"})
_VALUE_MAY = frozenset({"wish", "elements"})


class GraphFormatError(ValueError):
    """The data do not describe a graph: they are damaged, of another format, or of a newer version."""


def deserialize(data: Any) -> Graph:
    """Return the graph that `data` describes. Raises GraphFormatError if `data` describes none."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise GraphFormatError("this is not a graph of agc: the field `format` is missing")
    version = data.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise GraphFormatError(f"the graph has version {version!r}; this agc reads up to {VERSION}")
    try:
        _check_fields(data, _MODULE)
        return checked_graph(_Reader(data).graph(0))
    except GraphFormatError:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise GraphFormatError(f"the graph is damaged: {type(error).__name__}: {error}") from error
    except RecursionError:
        raise GraphFormatError("the graph is damaged: it is nested too deeply") from None


class _Reader:
    def __init__(self, data: dict[str, Any]) -> None:
        self.graphs = _list(data["graphs"])
        self.constants = [Constant(array_from(entry)) for entry in _list(data["constants"])]
        self.read: dict[int, Graph | None] = {}
        self.specs: dict[str, AnySpec] = {}

    def graph(self, number: int) -> Graph:
        if number not in self.read:
            self.read[number] = None
            self.read[number] = self.body(self.graphs[_index(number, self.graphs)])
        found = self.read[number]
        if found is None:
            raise GraphFormatError(f"the graph number {number} calls itself")
        return found

    def body(self, data: Any, given: Sequence[Operand] = (), changing: int = 0) -> Graph:
        _check_fields(data, _GRAPH)
        scope: dict[str, Value] = {}
        stated = [self.value(entry, scope) for entry in _list(data["inputs"])]
        inputs, operations = entered(stated, given, changing)
        for entry in _list(data["operations"]):
            operations += self.operation(entry, scope)
        outputs = tuple([self.operand(entry, scope) for entry in _list(data["outputs"])])
        return Graph(_name(data["name"]), tuple(inputs), tuple(operations), outputs)

    def operation(self, data: Any, scope: dict[str, Value]) -> list[Operation]:
        _check_fields(data, _OPERATION, _OPERATION_MAY)
        name = _name(data["op"])
        op = late_binding.op_registry.find(name)
        if op is None:
            raise GraphFormatError(f"this agc has no operation {name!r}")
        origin = _origin(data["at"]) if "at" in data else None
        try:
            inputs = [self.operand(entry, scope) for entry in _list(data["inputs"])]
            attrs = {
                each: _attribute(each, entry, op) for each, entry in _dict(data.get("attrs", {})).items()
            }
            if "callees" in data and op.name != CALL:
                raise ValueError(f"{op.name} calls no graphs")
            regions = [self.graph(_index(number, self.graphs)) for number in _list(data.get("callees", []))]
            changing = _changing(op, attrs, data)
            for entry in _list(data.get("regions", [])):
                regions.append(self.body(entry, inputs, changing))
            results = [self.value(entry, scope) for entry in _list(data["outputs"])]
            device = _name(data.get("device", ""))
            return checked_operation(op, inputs, attrs, regions, results, origin, device)
        except GraphFormatError:
            raise
        except ValueError as error:
            location = f" at {origin}" if origin is not None else ""
            raise GraphFormatError(f"the operation {name!r}{location} is invalid: {error}") from None

    def operand(self, data: Any, scope: Mapping[str, Value]) -> Operand:
        if isinstance(data, str):
            if data not in scope:
                raise GraphFormatError(f"the value {data!r} is used, but not defined before")
            return scope[data]
        if isinstance(data, dict) and data.keys() == {"constant"}:
            return self.constants[_index(data["constant"], self.constants)]
        _check_fields(data, frozenset({"value", "dtype"}))
        return Constant(_scalar(data["value"], _name(data["dtype"])))

    def value(self, data: Any, scope: dict[str, Value]) -> Value:
        _check_fields(data, _VALUE, _VALUE_MAY)
        name = _name(data["name"])
        if name in scope:
            raise GraphFormatError(f"the value {name!r} is defined twice")
        spec = self.spec(_name(data["spec"]))
        value = scope[name] = Value(_name(data.get("wish", name)), spec)  # its elements are inferred again
        return value

    def spec(self, text: str) -> AnySpec:
        if text not in self.specs:
            line = Line(1, text)
            self.specs[text] = read_spec(line)
            line.end()
        return self.specs[text]


def _check_fields(data: Any, wanted: frozenset[str], allowed: frozenset[str] = frozenset()) -> None:
    """Raise GraphFormatError unless the data are an object with these fields, and no others."""
    if not isinstance(data, dict):
        raise GraphFormatError(f"an object with {', '.join(sorted(wanted))} is missing")
    if data.keys() != wanted and not wanted <= data.keys() <= wanted | allowed:
        missing, unknown = wanted - data.keys(), data.keys() - wanted - allowed
        fault = f"lacks the field {min(missing)!r}" if missing else f"has an unknown field {min(unknown)!r}"
        raise GraphFormatError(f"an object {fault}")


def _list(data: Any) -> list[Any]:
    if type(data) is not list:
        raise GraphFormatError("a list is missing")
    return data


def _dict(data: Any) -> dict[str, Any]:
    if type(data) is not dict:
        raise GraphFormatError("an object is missing")
    return data


def _name(data: Any) -> str:
    """Return a name that can be printed and encoded: JSON escapes may hold lone surrogates."""
    if type(data) is not str or len(data) > _LONGEST_NAME:
        raise GraphFormatError("a name is missing, or too long")
    if not data.isascii():
        try:
            data.encode()
        except UnicodeEncodeError:
            raise GraphFormatError(f"the name {data!r} is not a string") from None
    return data


def _index(data: Any, of: list[Any]) -> int:
    if type(data) is not int or not 0 <= data < len(of):
        raise GraphFormatError(f"there is no graph or constant number {str(data)[:20]}")
    return data


def _origin(data: Any) -> Origin:
    filename, line, function = _list(data)
    if type(line) is not int or not 0 <= line < _LAST_LINE:
        raise GraphFormatError("a line is not a number")
    return Origin(_name(filename), line, _name(function))


def _changing(op: OpDef, attrs: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    """Return how many inputs of the operation's regions are new each time a region runs."""
    if op.name == WHILE:
        return len(_list(data["outputs"]))
    return max(int(attrs.get("results", 0)), 0) if op.name == CUSTOM_GRADIENT else 0


def _scalar(item: Any, dtype: str) -> Any:
    if type(item) is not PLAIN.get(dtype):
        raise GraphFormatError(f"{item!r} is not a scalar of {dtype}")
    return np.array(item.encode(), object) if isinstance(item, str) else np.array(item, dtype)


def _attribute(name: str, data: Any, op: OpDef) -> Any:
    try:
        return attribute_from(data)
    except (ValueError, TypeError) as error:
        raise GraphFormatError(f"{op.name}, `{name}`: {error}") from None
