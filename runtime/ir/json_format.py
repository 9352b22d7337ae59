"""Graphs as JSON: complete, readable, and read back into an identical graph.

    {"format": "agc graph", "version": 1,
     "graphs": [
       {"name": "scaled",
        "inputs": [{"name": "x", "spec": "float32[?]"}],
        "operations": [
          {"op": "multiply", "inputs": ["x", {"value": 2.0, "dtype": "float32"}],
           "outputs": [{"name": "y", "spec": "float32[?]"}], "at": ["scaled.py", 3, "scaled"]}],
        "outputs": ["y"]}],
     "constants": []}

The first graph is the serialized one. The others are its callees, referred to by number under "callees".
Regions are nested in their operation. Small constants are written inline; big ones are written once, under
"constants". The text form (printer.py) is for people. This form loses nothing: it has name hints, source
lines and attributes of every kind. json_reader.py reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .attribute_json import array_data, attribute_data, attribute_from
from .graph import Graph, Operand, Operation, Value
from .literal_printer import data_key
from .names import Names
from .structured import is_call

FORMAT = "agc graph"
VERSION = 1
PLAIN = {"int32": int, "float32": float, "bool": bool, "string": str}
"""The dtypes of scalars that are written inline as JSON values."""

_WIDTH = 110


def serialize(graph: Graph, portable: bool = False, with_origins: bool = True) -> dict[str, Any]:
    """Return `graph` as JSON data.

    Args:
        portable: raise a ValueError for attributes that cannot be read back. It names the operation and its
        line.
        with_origins: write the line of each operation.
    """
    return _Writer(portable, with_origins).module(graph)


def as_text(data: Any) -> str:
    """Return JSON data as text, with short items on one line, so that an operation takes one line."""
    return "".join(_pieces(data, 0))


def _pieces(data: Any, depth: int) -> Iterator[str]:
    flat = None if _is_big(data) else json.dumps(data, ensure_ascii=False)
    if not isinstance(data, (dict, list)) or not data or (flat is not None and len(flat) + depth <= _WIDTH):
        yield json.dumps(data, ensure_ascii=False) if flat is None else flat
        return
    opening, closing = "{}" if isinstance(data, dict) else "[]"
    yield opening
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for number, (key, item) in enumerate(items):
        yield (",\n" if number else "\n") + " " * (depth + 1)
        if isinstance(data, dict):
            yield f"{json.dumps(key)}: "
        yield from _pieces(item, depth + 1)
    yield f"\n{' ' * depth}{closing}"


def _is_big(data: Any) -> bool:
    """Return whether data hold operations, and so never fit on a line."""
    return isinstance(data, dict) and ("operations" in data or "regions" in data or "graphs" in data)


class _Writer:
    def __init__(self, portable: bool, with_origins: bool) -> None:
        self.portable = portable
        self.with_origins = with_origins
        self.numbers: dict[Graph, int] = {}
        self.pending: list[Graph] = []
        self.constants: dict[Any, int] = {}
        self.arrays: list[Any] = []

    def module(self, graph: Graph) -> dict[str, Any]:
        self.callee(graph)
        graphs = [self.graph(each) for each in self.pending]  # grows while callees are found
        constants = [array_data(array) for array in self.arrays]
        return {"format": FORMAT, "version": VERSION, "graphs": graphs, "constants": constants}

    def callee(self, graph: Graph) -> int:
        if graph not in self.numbers:
            self.numbers[graph] = len(self.pending)
            self.pending.append(graph)
        return self.numbers[graph]

    def graph(self, graph: Graph) -> dict[str, Any]:
        names = Names()
        scope: dict[Value, str] = {}
        inputs = [_defined(value, scope, names) for value in graph.inputs]
        operations = [self.operation(operation, scope, names) for operation in graph.operations]
        outputs = [self.operand(operand, scope) for operand in graph.outputs]
        return {"name": graph.name, "inputs": inputs, "operations": operations, "outputs": outputs}

    def operation(self, operation: Operation, scope: dict[Value, str], names: Names) -> dict[str, Any]:
        data: dict[str, Any] = {"op": operation.op.name}
        data["inputs"] = [self.operand(operand, scope) for operand in operation.inputs]
        if operation.attrs:
            data["attrs"] = {name: self.attribute(name, operation) for name in sorted(operation.attrs)}
        if operation.regions and is_call(operation):
            data["callees"] = [self.callee(region) for region in operation.regions]
        elif operation.regions:
            data["regions"] = [self.graph(region) for region in operation.regions]
        data["outputs"] = [_defined(value, scope, names) for value in operation.outputs]
        if operation.device:
            data["device"] = operation.device
        if self.with_origins and operation.origin is not None:
            data["at"] = list(operation.origin)
        return data

    def attribute(self, name: str, operation: Operation) -> Any:
        data = attribute_data(operation.attrs[name])
        if self.portable:
            try:
                attribute_from(data)
            except ValueError as error:
                location = f" at {operation.origin}" if operation.origin else ""
                raise ValueError(
                    f"the operation {operation.type!r}{location} cannot be saved: its `{name}`, {error}"
                ) from None
        return data

    def operand(self, operand: Operand, scope: dict[Value, str]) -> Any:
        if isinstance(operand, Value):
            return scope[operand]
        dtype = operand.dtype.name
        if dtype in PLAIN and operand.value.ndim == 0:
            item = operand.value.item()
            plain = _as_plain(item)
            if plain is not None:
                return {"value": plain, "dtype": dtype}
        key = data_key(operand.value)
        if key not in self.constants:
            self.constants[key] = len(self.arrays)
            self.arrays.append(operand.value)
        return {"constant": self.constants[key]}


def _as_plain(item: Any) -> Any:
    """Return a scalar as a JSON value; None if JSON cannot represent it exactly."""
    if isinstance(item, bytes):
        try:
            return item.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(item, float) and (item != item or item in (float("inf"), -float("inf"))):
        return None
    return item


def _defined(value: Value, scope: dict[Value, str], names: Names) -> dict[str, Any]:
    name = scope[value] = names.unique(value.name)
    data: dict[str, Any] = {"name": name, "spec": str(value.spec)}
    if value.name != name:
        data["wish"] = value.name
    if value.elements is not None and value.dtype.is_integer:
        data["elements"] = list(value.elements)
    return data
