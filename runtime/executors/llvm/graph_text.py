"""Text of graphs for keys of the unit cache: equal texts have equal code. Each different operation is written once.

    a = tanh x        float32[2]             [["tanh", {}, [["float32[2]", null]]], …]
    b = tanh a        float32[2]    ==>      0 0 …    the operation 0, two times
    …                                        0 1 …    of the values 0 and 1

Names of values do not count. The text is shorter than JSON (../../ir/json_format.py), and no graph can be read from it.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Hashable, Iterable
from itertools import chain, count
from typing import Any

import numpy as np
from agc.autograph.disk_cache import digest

from ...ir import value_keys
from ...ir.attribute_json import array_data, attribute_data, attribute_from
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.operation_kinds import kinds_of
from ...ir.structured import is_call


def graph_text(graph: Graph, most: int) -> str:
    """Return the text of a graph. Raise ValueError for Python objects, and constants of more than `most` bytes."""
    writer = _Writer()
    writer.callee(graph)
    for each in writer.graphs:  # grows while callees are found
        writer.graph(each)
    if sum(each.nbytes for each in writer.constants.values()) > most:
        raise ValueError("the constants are large")
    numbers = digest(array("q", writer.numbers).tobytes()).hex()
    constants = [array_data(each) for each in writer.constants.values()]
    return json.dumps([writer.described, constants, numbers])


class _Writer:
    """The numbers that describe graphs one after another, and what they refer to."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.described: list[Any] = []
        self.constants: dict[Hashable, np.ndarray[Any, Any]] = {}
        self.graphs: list[Graph] = []
        self._kinds: dict[Hashable, int] = {}
        self._constants: dict[Hashable, int] = {}
        self._callees: dict[Graph, int] = {}

    def callee(self, graph: Graph) -> int:
        if graph not in self._callees:
            self._callees[graph] = len(self.graphs)
            self.graphs.append(graph)
        return self._callees[graph]

    def graph(self, graph: Graph) -> None:
        """Write the kinds of all operations, which have the numbers of operands, all operands, and all regions."""
        operations, write = graph.operations, self.numbers.extend
        write((len(graph.inputs), len(operations), len(graph.outputs)))
        write([self._kind(value_keys.of_type(value), value) for value in graph.inputs])
        kinds = kinds_of(graph)
        known = [self._kind(key, first) for key, first in zip(kinds.keys, kinds.first, strict=True)]
        write([known[kind] for kind in kinds.numbers])
        made = chain(graph.inputs, chain.from_iterable([each.outputs for each in operations]))
        read = chain(chain.from_iterable([each.inputs for each in operations]), graph.outputs)
        write(map(_Scope(self, zip(made, count())).__getitem__, read))  # without Python code for each operand
        for operation in operations if any(each.regions for each in kinds.first) else ():
            self._regions(operation)

    def _regions(self, operation: Operation) -> None:
        for region in operation.regions:
            if is_call(operation):
                self.numbers.append(self.callee(region))
            else:
                self.graph(region)

    def constant(self, constant: Constant) -> int:
        """Return the number of a constant, a negative one."""
        key = value_keys.of_constant(constant)
        self.constants.setdefault(key, constant.value)
        return -1 - self._constants.setdefault(key, len(self._constants))

    def _kind(self, key: Hashable, item: Operation | Value) -> int:
        """Return the number of a kind of operations or inputs."""
        number = self._kinds.setdefault(key, len(self._kinds))
        if number == len(self.described):
            self.described.append(_of_operation(item) if isinstance(item, Operation) else _of_value(item))
        return number


class _Scope(dict[Operand, int]):
    """The numbers of the values of a graph, and of the constants that it reads."""

    def __init__(self, writer: _Writer, values: Iterable[tuple[Operand, int]]) -> None:
        super().__init__(values)
        self._writer = writer

    def __missing__(self, operand: Operand) -> int:
        assert isinstance(operand, Constant)
        self[operand] = self._writer.constant(operand)
        return self[operand]


def _of_operation(operation: Operation) -> list[Any]:
    attrs = {name: attribute_data(operation.attrs[name]) for name in sorted(operation.attrs)}
    for data in attrs.values():
        attribute_from(data)  # Python objects raise ValueError
    results = [_of_value(value) for value in operation.outputs]
    sizes = len(operation.inputs), len(operation.regions)
    return [operation.op.name, attrs, results, sizes, operation.device]


def _of_value(value: Value) -> list[Any]:
    return [str(value.spec), value.elements]
