"""Parse the text form of graphs: the inverse of `printer.print_graph`."""

from __future__ import annotations

import base64
from collections.abc import Callable

from ..core import late_binding, shapes
from .checked_graph import checked_graph, checked_operation
from .graph import Constant, Graph, Operand, Operation, Value
from .lexer import GraphSyntaxError, Line, Token
from .literal_parser import BOOLS, attributes_next, read_attributes, read_constant, read_spec, read_specs
from .literal_printer import decode
from .op_def import OpDef
from .printer import expected_specs
from .structured import region_labels
from .value_types import AnySpec, TensorType

__all__ = ["GraphSyntaxError", "parse"]


def parse(text: str, ops: Callable[[str], OpDef | None] | None = None, check: bool = True) -> Graph:
    """Return the graph that `text` describes.

    Raises GraphSyntaxError, also for violations of the operations' declarations.

    Args:
        check: False skips the check of declarations, for text that the program itself has printed.
    """
    try:
        graph = _Module(text, ops, check).main()
        return checked_graph(graph) if check else graph
    except RecursionError:
        raise GraphSyntaxError("the graph is nested too deeply", 1, 1, "") from None
    except GraphSyntaxError:
        raise
    except ValueError as error:
        raise GraphSyntaxError(str(error), 1, 1, "") from None


class _Module:
    """All graphs and constants of a text. Callees follow their callers, so the first call parses them."""

    def __init__(self, text: str, ops: Callable[[str], OpDef | None] | None, check: bool) -> None:
        self.ops = ops or late_binding.op_registry.find
        self.check = check
        self._headers: dict[str, int] = {}
        self._graphs: dict[str, Graph | None] = {}
        self.constants: dict[str, Constant] = {}
        self._rows = text.split("\n")
        data = self._rows.index("constants") if "constants" in self._rows else len(self._rows)
        self.lines = [Line(i + 1, row) for i, row in enumerate(self._rows[:data]) if row.strip()]
        self._read_data(data + 1)
        for position, line in enumerate(self.lines):
            if line.depth == 0:
                if line.name("`graph`") != "graph":
                    raise line.error("expected `graph`", 1)
                self._headers.setdefault(line.name("the graph's name"), position)

    def main(self) -> Graph:
        if not self.lines:
            raise GraphSyntaxError("there is no graph", 1, 1, "")
        line = self.lines[0]
        if line.depth:
            raise line.error("expected `graph`", 1)
        return self.graph(line.tokens[1].text, line, 1)

    def graph(self, name: str, caller: Line, column: int) -> Graph:
        """Return the graph called `name`, parsed once: calls of the same name share it."""
        if name not in self._headers:
            raise caller.error(f"there is no graph `{name}` in this text", column)
        if name not in self._graphs:
            self._graphs[name] = None
            self._graphs[name] = _Reader(self, self._headers[name]).function(name)
        graph = self._graphs[name]
        if graph is None:
            raise caller.error(f"`{name}` calls itself", column)
        return graph

    def _read_data(self, start: int) -> None:
        line: Line | None = None
        content: list[str] = []
        for number, row in enumerate(self._rows[start:], start + 1):
            if row.startswith("    "):
                content.append(row.strip())
            elif row.strip():
                self._finish_data(line, content)
                line, content = Line(number, row), []
        self._finish_data(line, content)

    def _finish_data(self, line: Line | None, content: list[str]) -> None:
        if line is None:
            return
        if line.next.kind != "data":
            raise line.error("expected a constant such as `$1`")
        name = line.take().text
        line.expect(":")
        spec = read_spec(line)
        line.end()
        sizes = spec.shape if isinstance(spec, TensorType) else None
        if not isinstance(spec, TensorType) or sizes is None or None in sizes:
            raise line.error("a constant is a tensor of known shape", 1)
        shape = tuple(int(size or 0) for size in sizes)
        if not content and shapes.num_elements(shape):
            raise line.error(f"the text does not contain the data of {name}")
        try:
            array = decode(base64.b64decode("".join(content), validate=True), spec.dtype, shape)
        except ValueError as error:  # includes binascii.Error
            raise line.error(f"the data of {name} cannot be read: {error}", 1) from None
        self.constants[name] = Constant(array)


class _Reader:
    """The parser of one graph and its nested regions."""

    def __init__(self, module: _Module, position: int) -> None:
        self.module = module
        self.lines = module.lines
        self.position = position

    def function(self, name: str) -> Graph:
        line = self._step()
        scope: dict[str, Value] = {}
        line.expect("(")
        inputs = []
        while not line.accept(")"):
            name_token = line.next
            line.name("the name of an input")
            line.expect(":")
            inputs.append(_define(scope, name_token, read_spec(line), line))
            if not line.accept(","):
                line.expect(")")
                break
        column = line.next.column
        specs = read_specs(line) if line.accept("->") else []
        line.end()
        graph = self._body(name, tuple(inputs), scope, 1, "return")
        found = [value.spec for value in graph.outputs]
        if specs != found:
            raise line.error(f"`return` returns {', '.join(map(str, found)) or 'nothing'}", column)
        return graph

    def _step(self) -> Line:
        self.position += 1
        return self.lines[self.position - 1]

    def _body(
        self, name: str, inputs: tuple[Value, ...], scope: dict[str, Value], depth: int, last: str
    ) -> Graph:
        operations: list[Operation] = []
        while True:
            if self.position == len(self.lines) or self.lines[self.position].depth < depth:
                raise self.lines[self.position - 1].error(f"`{last}` is missing after this line", 1)
            line = self._step()
            if line.depth > depth:
                raise line.error("this line is indented too far", 1)
            if line.next.text == last and not line.holds("="):
                line.take()
                outputs = self._operands(line, scope)
                line.end()
                return Graph(name, inputs, tuple(operations), tuple(outputs))
            operations += self._operation(line, scope, depth)

    def _operation(self, line: Line, scope: dict[str, Value], depth: int) -> list[Operation]:
        name_tokens = self._results(line)
        word = line.next
        op = self.module.ops(line.name("the name of an operation"))
        if op is None:
            raise line.error(f"there is no operation `{word.text}`", word.column)
        callees = []
        while line.accept("@"):
            callee = line.next
            callees.append(self.module.graph(line.name("the name of a graph"), line, callee.column))
        inputs = self._operands(line, scope)
        attrs = op.attribute_defaults | (read_attributes(line, op) if line.accept("[") else {})
        specs = read_specs(line) if line.accept(":") else []
        line.end()
        if len(specs) != len(name_tokens):
            raise line.error(f"{len(name_tokens)} results, but {len(specs)} types")
        regions = callees or self._regions(op, inputs, depth + 1)
        outputs = tuple(
            _define(scope, name_token, spec, line)
            for name_token, spec in zip(name_tokens, specs, strict=True)
        )
        if not self.module.check:
            return [Operation(op, tuple(inputs), attrs, outputs, tuple(regions))]
        try:
            return checked_operation(op, inputs, attrs, regions, outputs)
        except ValueError as error:
            raise line.error(str(error), word.column) from None

    def _results(self, line: Line) -> list[Token]:
        """Parse the names before `=`; return an empty list if there are none."""
        second = line.tokens[line.position + 1 : line.position + 2]
        if not second or second[0].text not in (",", "="):
            return []
        name_tokens = []
        while True:
            name_tokens.append(line.next)
            line.name("the name of a result")
            if not line.accept(","):
                line.expect("=")
                return name_tokens

    def _regions(self, op: OpDef, operands: list[Operand], depth: int) -> list[Graph]:
        regions: list[Graph] = []
        while self.position < len(self.lines) and self.lines[self.position].depth == depth:
            line = self._step()
            labels = region_labels(op.name, len(regions) + 1)
            label = labels[len(regions)] if len(regions) < len(labels) else "nothing more"
            if line.next.text != label:
                raise line.error(f"expected `{label}` in `{op.name}`")
            line.take()
            regions.append(self._region(label, line, operands, depth + 1))
        return regions

    def _region(self, label: str, line: Line, operands: list[Operand], depth: int) -> Graph:
        name_tokens = []
        while line.next.kind == "name":
            name_tokens.append(line.take())
            if not line.accept(","):
                break
        given = read_specs(line) if line.accept(":") else expected_specs(operands, len(name_tokens))
        line.end()
        if given is None or len(given) != len(name_tokens):
            raise line.error(
                f"the types of these {len(name_tokens)} inputs are not known: give them after `:`"
            )
        scope: dict[str, Value] = {}
        inputs = tuple(
            _define(scope, name_token, spec, line)
            for name_token, spec in zip(name_tokens, given, strict=True)
        )
        return self._body(label, inputs, scope, depth, "yield")

    def _operands(self, line: Line, scope: dict[str, Value]) -> list[Operand]:
        """Parse the operands up to the attributes or the types."""
        if line.at_end() or line.next.text == ":" or attributes_next(line):
            return []
        operands = [self._operand(line, scope)]
        while line.accept(","):
            operands.append(self._operand(line, scope))
        return operands

    def _operand(self, line: Line, scope: dict[str, Value]) -> Operand:
        token = line.next
        if token.kind == "data":
            constant = self.module.constants.get(line.take().text)
            if constant is None:
                raise line.error(f"`{token.text}` is not among the constants", token.column)
            return constant
        following = line.tokens[line.position + 1].text if token.kind == "name" else ""
        if token.kind == "name" and token.text not in BOOLS and following != "(":
            value = scope.get(line.take().text)
            if value is None:
                raise line.error(f"`{token.text}` is not defined here", token.column)
            return value
        return Constant(read_constant(line, following == "("))


def _define(scope: dict[str, Value], name_token: Token, spec: AnySpec, line: Line) -> Value:
    if name_token.text in scope:
        raise line.error(f"`{name_token.text}` is defined already", name_token.column)
    value = scope[name_token.text] = Value(name_token.text, spec)
    return value
