"""The text form of graphs: made for reading, comparing and parsing (`parse`).

    graph scaled(n: int32[], x: float32[?]) -> float32[?]
      y = call @halve x                             : float32[?]      a callee is printed once, below
      z = reduce_sum y [axis=(0,)]                  : float32[]       attributes, unless they are the default
      z.1 = while z                                 : float32[]
        test z                                                        regions, with names of their own
          go = less z, 100.0                        : bool[]
          yield go
        body z
          ...
      return z.1

    graph halve(x: float32[?]) -> float32[?]
      ...

    constants
      $1: float32[1000]
        AACAPwAAgD8AAIA/...

Names are the values' name hints, made unique within a graph in the order of printing: `m`, `m.1`. An input of a
region is printed with its type if that differs from the operand's type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .graph import Constant, Graph, Operand, Operation, Value
from .literal_printer import data_key, data_lines, show_attribute, show_constant
from .names import Names, plain
from .structured import is_call, region_labels
from .value_types import AnySpec

COLUMN = 48
"""The column of the types."""


def print_graph(graph: Graph) -> str:
    """Return the text of `graph`."""
    printer = Printer()
    printer.add(graph)
    return "\n".join(printer.lines) + "\n"


class Printer:
    """Lines of text, and the line numbers of operations in them (of graphs: the number of the last line).

    `owners` has the operation or graph of each line, and the names of the values there.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.owners: dict[int, tuple[Operation | Graph, Mapping[Value, str]]] = {}
        self.line_numbers: dict[Operation | Graph, int] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], int] = {}
        self._callees: dict[Graph, str] = {}
        self._pending: list[Graph] = []
        self._graph_names = Names()

    def add(self, graph: Graph, data: bool = True) -> None:
        """Print `graph`, its callees and its constants. Without `data` the contents of big constants are left out."""
        self._callee(graph)
        for callee in self._pending:  # grows while callees are found
            if callee is not graph:
                self.lines.append("")
            self._function(callee, self._callees[callee])
        self._data(data)

    def _callee(self, graph: Graph) -> str:
        if graph not in self._callees:
            self._callees[graph] = self._graph_names.unique(graph.name)
            self._pending.append(graph)
        return self._callees[graph]

    def _function(self, graph: Graph, name: str) -> None:
        scope = _Scope()
        inputs = ", ".join(f"{scope.define(value)}: {value.spec}" for value in graph.inputs)
        outputs = ", ".join(str(value.spec) for value in graph.outputs)
        self.owners[len(self.lines)] = graph, scope.names
        self.lines.append(f"graph {name}({inputs})" + (f" -> {outputs}" if outputs else ""))
        self._operations(graph, scope, 1, "return")

    def _operations(self, graph: Graph, scope: _Scope, depth: int, last: str) -> None:
        for operation in graph.operations:
            self._operation(operation, scope, depth)
        self.line_numbers[graph] = len(self.lines)
        self.owners[len(self.lines)] = graph, scope.names
        self._line(depth, f"{last} {self._operands(graph.outputs, scope)}".rstrip())

    def _operation(self, operation: Operation, scope: _Scope, depth: int) -> None:
        self.line_numbers[operation] = len(self.lines)
        self.owners[len(self.lines)] = operation, scope.names
        called = is_call(operation)
        callees = [f"@{self._callee(region)}" for region in operation.regions] if called else []
        operands = self._operands(operation.inputs, scope)
        outputs = ", ".join(map(scope.define, operation.outputs))
        words = [operation.op.name, *callees, operands, _attributes(operation)]
        text = " ".join(word for word in words if word)
        specs = [value.spec for value in operation.outputs]
        self._line(depth, f"{outputs} = {text}" if outputs else text, specs)
        if not called:
            labels = region_labels(operation.op.name, len(operation.regions))
            for label, region in zip(labels, operation.regions, strict=False):
                self._region(label, region, operation, depth + 1)

    def _region(self, label: str, region: Graph, operation: Operation, depth: int) -> None:
        scope = _Scope()
        names = ", ".join(map(scope.define, region.inputs))
        self.owners[len(self.lines)] = region, scope.names
        specs = [value.spec for value in region.inputs]
        given = expected_specs(operation.inputs, len(specs))
        self._line(depth, f"{label} {names}".rstrip(), [] if specs == given else specs)
        self._operations(region, scope, depth + 1, "yield")

    def _operands(self, operands: Iterable[Operand], scope: _Scope) -> str:
        return ", ".join(self._constant(x) if isinstance(x, Constant) else scope.name_of(x) for x in operands)

    def _constant(self, constant: Constant) -> str:
        text = show_constant(constant.value)
        if text is None:
            key = data_key(constant.value)
            text = f"${self._constants.setdefault(key, len(self._constants) + 1)}"
        return text

    def _line(self, depth: int, text: str, specs: Sequence[AnySpec] = ()) -> None:
        line = "  " * depth + text
        if specs:
            line = f"{line:{COLUMN - 1}} : {', '.join(map(str, specs))}"
        self.lines.append(line)

    def _data(self, data: bool) -> None:
        if self._constants:
            self.lines += ["", "constants"]
        for (dtype, shape, content), number in self._constants.items():
            self.lines.append(f"  ${number}: {dtype}[{', '.join(map(str, shape))}]")
            if data:
                self.lines += [f"    {line}" for line in data_lines(content)]


class _Scope:
    """The names of one graph's values."""

    def __init__(self) -> None:
        self._unique = Names()
        self.names: dict[Value, str] = {}

    def define(self, value: Value) -> str:
        name = self.names[value] = self._unique.unique(value.name)
        return name

    def name_of(self, value: Value) -> str:
        """Return the name of a defined value; undefined ones, which `verify` rejects, get a question mark."""
        return self.names.get(value) or f"?{plain(value.name)}"


def expected_specs(operands: Sequence[Operand], count: int) -> list[AnySpec] | None:
    """Return the types of the last `count` operands, the default types of a region's inputs."""
    if count > len(operands):
        return None
    return [operand.spec for operand in operands[len(operands) - count :]]


def _attributes(operation: Operation) -> str:
    usual = operation.op.attribute_defaults
    texts = []
    for name, value in sorted(operation.attrs.items()):
        text = show_attribute(value)
        if name not in usual or text != show_attribute(usual[name]):
            texts.append(f"{name}={text}")
    return f"[{', '.join(texts)}]" if texts else ""
