"""Text to graph: the inverse of `text.show`.

GraphSyntaxError: `k` is not defined here
  --> line 4, column 15
 4 |   m.1 = add m, k
   |                ^
"""

from __future__ import annotations

import ast
import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from .. import dtypes
from ..ops.declare import REGISTRY, Op
from .graph import Constant, Graph, Operand, Operation, Value
from .literals import decode, make_constant
from .specs import AnySpec, ArraySpec, RefSpec, Spec
from .text import LABELS, defaults, expected_specs


class GraphSyntaxError(ValueError):
    """The text is no graph; `line` and `column` count from one."""

    def __init__(self, reason: str, line: int, column: int, text: str) -> None:
        gutter = " " * len(str(line))
        super().__init__(
            f"{reason}\n {gutter}--> line {line}, column {column}\n {line} | {text}\n {gutter} | {' ' * (column - 1)}^"
        )
        self.reason, self.line, self.column = reason, line, column


def parse(text: str, ops: Mapping[str, Op] = REGISTRY) -> Graph:
    """The graph that `text` shows. Raises GraphSyntaxError."""
    return _Module(text, ops).main()


_NUMBER = r"(?:\d+\.?\d*(?:[eE][+-]?\d+)?|inf\b|nan\b)"
_TOKENS = re.compile(
    rf"""(?P<space>[ ]+)
    | (?P<complex>[+-]?{_NUMBER}[+-](?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)j)
    | (?P<number>[+-]?{_NUMBER})
    | (?P<string>b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))
    | (?P<name>[^\W\d][\w/]*(?:\.\d+)*)
    | (?P<data>\$\d+)
    | (?P<mark>->|\.\.\.|[][(),:=?@<>])""",
    re.VERBOSE,
)
_BOOLS = {"true": True, "false": False}
_PYTHON = {"True": True, "False": False, "None": None}


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


class _Line:
    """A line of text as tokens, with a place in it."""

    def __init__(self, number: int, text: str) -> None:
        self.number, self.text = number, text
        self.depth = (len(text) - len(text.lstrip(" "))) // 2
        self.tokens = self._scan()
        self.place = 0

    def _scan(self) -> list[_Token]:
        tokens = []
        position = 0
        while position < len(self.text):
            found = _TOKENS.match(self.text, position)
            if found is None:
                self.fail(f"{self.text[position]!r} does not belong here", position + 1)
            if found.lastgroup != "space":
                tokens.append(_Token(str(found.lastgroup), found.group(), position + 1))
            position = found.end()
        tokens.append(_Token("end", "", len(self.text) + 1))
        return tokens

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def take(self) -> _Token:
        token = self.tokens[self.place]
        self.place += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        """Step over a mark if it is the next token."""
        found = self.next.kind == "mark" and self.next.text == text
        self.place += found
        return found

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected `{text}`")

    def name(self, what: str) -> str:
        if self.next.kind != "name":
            self.fail(f"expected {what}")
        return self.take().text

    def end(self) -> None:
        if self.next.kind != "end":
            self.fail("this does not belong here")

    def at_end(self) -> bool:
        return self.next.kind == "end"

    def holds(self, mark: str) -> bool:
        return any(token.kind == "mark" and token.text == mark for token in self.tokens)

    def fail(self, reason: str, column: int | None = None) -> NoReturn:
        raise GraphSyntaxError(reason, self.number, column or self.next.column, self.text)


class _Module:
    """All graphs and constants of a text. Callees stand after their callers, so they are read when called."""

    def __init__(self, text: str, ops: Mapping[str, Op]) -> None:
        self.ops = ops
        self._headers: dict[str, int] = {}
        self._graphs: dict[str, Graph | None] = {}
        self.constants: dict[str, Constant] = {}
        self._rows = text.split("\n")
        data = self._rows.index("constants") if "constants" in self._rows else len(self._rows)
        self.lines = [_Line(i + 1, row) for i, row in enumerate(self._rows[:data]) if row.strip()]
        self._read_data(data + 1)
        for position, line in enumerate(self.lines):
            if line.depth == 0:
                if line.name("`graph`") != "graph":
                    line.fail("expected `graph`", 1)
                self._headers.setdefault(line.name("the graph's name"), position)

    def main(self) -> Graph:
        if not self.lines:
            raise GraphSyntaxError("there is no graph", 1, 1, "")
        line = self.lines[0]
        if line.depth:
            line.fail("expected `graph`", 1)
        return self.graph(line.tokens[1].text, line)

    def graph(self, name: str, caller: _Line) -> Graph:
        """The graph called `name`, read at most once: calls of the same name share it."""
        if name not in self._headers:
            caller.fail(f"there is no graph `{name}` in this text")
        if name not in self._graphs:
            self._graphs[name] = None
            self._graphs[name] = _Reader(self, self._headers[name]).function(name)
        graph = self._graphs[name]
        if graph is None:
            caller.fail(f"`{name}` calls itself")
        return graph

    def _read_data(self, start: int) -> None:
        line: _Line | None = None
        content: list[str] = []
        for number, row in enumerate(self._rows[start:], start + 1):
            if row.startswith("    "):
                content.append(row)
            elif row.strip():
                self._finish_data(line, content)
                line, content = _Line(number, row), []
        self._finish_data(line, content)

    def _finish_data(self, line: _Line | None, content: list[str]) -> None:
        if line is None:
            return
        if line.next.kind != "data":
            line.fail("expected a constant such as `$1`")
        name = line.take().text
        line.expect(":")
        spec = read_spec(line)
        line.end()
        if not isinstance(spec, Spec) or spec.shape is None or None in spec.shape:
            line.fail("a constant is a tensor of known shape")
        shape: tuple[int, ...] = spec.shape  # type: ignore[assignment]
        if not content and math.prod(shape):
            line.fail(f"the data of {name} were left out of this text")
        try:
            array = decode(base64.b64decode("".join(content), validate=False), spec.dtype, shape)
        except (ValueError, binascii.Error) as error:
            line.fail(f"the data of {name} cannot be read: {error}", 1)
        self.constants[name] = Constant(array)


class _Reader:
    """Reads one graph, region within region."""

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
            wish = line.next
            line.name("the name of an input")
            line.expect(":")
            inputs.append(_define(scope, wish, read_spec(line), line))
            if not line.accept(","):
                line.expect(")")
                break
        column = line.next.column
        specs = read_specs(line) if line.accept("->") else []
        line.end()
        graph = self._body(name, tuple(inputs), scope, 1, "return")
        found = [value.spec for value in graph.outputs]
        if specs != found:
            line.fail(f"`return` gives {', '.join(map(str, found)) or 'nothing'}", column)
        return graph

    def _step(self) -> _Line:
        self.position += 1
        return self.lines[self.position - 1]

    def _body(
        self, name: str, inputs: tuple[Value, ...], scope: dict[str, Value], depth: int, last: str
    ) -> Graph:
        operations = []
        while True:
            if self.position == len(self.lines) or self.lines[self.position].depth < depth:
                self.lines[self.position - 1].fail(f"`{last}` is missing after this line", 1)
            line = self._step()
            if line.depth > depth:
                line.fail("this line is indented too far", 1)
            if line.next.text == last and not line.holds("="):
                line.take()
                outputs = [] if line.at_end() else self._operands(line, scope)
                line.end()
                return Graph(name, inputs, tuple(operations), tuple(outputs))
            operations.append(self._operation(line, scope, depth))

    def _operation(self, line: _Line, scope: dict[str, Value], depth: int) -> Operation:
        wishes = self._results(line)
        word = line.next
        op = self.module.ops.get(line.name("the name of an operation"))
        if op is None:
            line.fail(f"there is no operation `{word.text}`", word.column)
        callees = []
        while line.accept("@"):
            callees.append(self.module.graph(line.name("the name of a graph"), line))
        inputs = (
            []
            if line.at_end() or line.next.text == ":" or _attributes_next(line)
            else self._operands(line, scope)
        )
        attrs = dict(defaults(op)) | (_read_attributes(line, op) if line.accept("[") else {})
        specs = read_specs(line) if line.accept(":") else []
        line.end()
        if len(specs) != len(wishes):
            line.fail(f"{len(wishes)} results, but {len(specs)} types")
        regions = callees or self._regions(op, inputs, depth + 1)
        outputs = tuple(_define(scope, wish, spec, line) for wish, spec in zip(wishes, specs, strict=True))
        return Operation(op, tuple(inputs), attrs, outputs, tuple(regions))

    def _results(self, line: _Line) -> list[_Token]:
        """The names before `=`, if this is such a line."""
        second = line.tokens[line.place + 1 : line.place + 2]
        if not second or second[0].text not in (",", "="):
            return []
        wishes = []
        while True:
            wishes.append(line.next)
            line.name("the name of a result")
            if not line.accept(","):
                line.expect("=")
                return wishes

    def _regions(self, op: Op, operands: list[Operand], depth: int) -> list[Graph]:
        regions: list[Graph] = []
        while self.position < len(self.lines) and self.lines[self.position].depth == depth:
            line = self._step()
            labels = LABELS.get(op.name, ("branch",) * (len(regions) + 1))
            label = labels[len(regions)] if len(regions) < len(labels) else "nothing more"
            if line.next.text != label:
                line.fail(f"expected `{label}` in `{op.name}`")
            line.take()
            regions.append(self._region(label, line, operands, depth + 1))
        return regions

    def _region(self, label: str, line: _Line, operands: list[Operand], depth: int) -> Graph:
        wishes = []
        while line.next.kind == "name":
            wishes.append(line.take())
            if not line.accept(","):
                break
        given = read_specs(line) if line.accept(":") else expected_specs(operands, len(wishes))
        line.end()
        if given is None or len(given) != len(wishes):
            line.fail(f"the types of these {len(wishes)} inputs are not known: give them after `:`")
        scope: dict[str, Value] = {}
        inputs = tuple(_define(scope, wish, spec, line) for wish, spec in zip(wishes, given, strict=True))
        return self._body(label, inputs, scope, depth, "yield")

    def _operands(self, line: _Line, scope: dict[str, Value]) -> list[Operand]:
        operands = [self._operand(line, scope)]
        while line.accept(","):
            operands.append(self._operand(line, scope))
        return operands

    def _operand(self, line: _Line, scope: dict[str, Value]) -> Operand:
        token = line.next
        if token.kind == "data":
            constant = self.module.constants.get(line.take().text)
            return constant or line.fail(f"`{token.text}` is not among the constants", token.column)
        following = line.tokens[line.place + 1].text if token.kind == "name" else ""
        if token.kind == "name" and token.text not in _BOOLS and following != "(":
            value = scope.get(line.take().text)
            return value or line.fail(f"`{token.text}` is not defined here", token.column)
        dtype = _read_dtype(line) if following == "(" else None
        if dtype is not None:
            line.expect("(")
        literal = _read_literal(line)
        if dtype is not None:
            line.expect(")")
        try:
            return Constant(make_constant(literal, dtype))
        except ValueError as error:
            line.fail(str(error), token.column)


def _define(scope: dict[str, Value], wish: _Token, spec: AnySpec, line: _Line) -> Value:
    if wish.text in scope:
        line.fail(f"`{wish.text}` is defined already", wish.column)
    value = scope[wish.text] = Value(wish.text, spec)
    return value


def _attributes_next(line: _Line) -> bool:
    """Whether `[` opens attributes, not an array."""
    return [token.text for token in line.tokens[line.place : line.place + 3 : 2]] == ["[", "="]


def _read_literal(line: _Line) -> Any:
    return _read_nested(line, "[", "]", _read_scalar)


def _read_nested(line: _Line, opening: str, closing: str, read: Callable[[_Line], Any]) -> Any:
    """A scalar, or a list of such; without recursion, so that depth is no limit."""
    if not line.accept(opening):
        return read(line)
    stack: list[list[Any]] = [[]]
    while True:
        if line.accept(closing):
            done = stack.pop()
            if not stack:
                return done
            stack[-1].append(done)
        elif line.accept(opening):
            stack.append([])
            continue
        else:
            stack[-1].append(read(line))
        if not line.accept(",") and not (line.next.kind == "mark" and line.next.text == closing):
            line.fail(f"expected `,` or `{closing}`")


def _read_scalar(line: _Line) -> Any:
    token = line.next
    if token.kind == "number":
        line.take()
        return int(token.text) if re.fullmatch(r"[+-]?\d+", token.text) else float(token.text)
    if token.kind == "complex":
        line.take()
        split = re.fullmatch(rf"([+-]?{_NUMBER})([+-].*)j", token.text)
        assert split is not None, token
        return complex(float(split[1]), float(split[2]))
    if token.kind == "string":
        line.take()
        content = ast.literal_eval(token.text)
        return content.encode() if isinstance(content, str) else content
    if token.text in _BOOLS:
        line.take()
        return _BOOLS[token.text]
    line.fail("expected a value")


def _read_attributes(line: _Line, op: Op) -> dict[str, Any]:
    readers = {name: reader for _, name, reader in op._attributes}
    attrs = {}
    while True:
        token = line.next
        name = line.name("the name of an attribute")
        line.expect("=")
        value = _tuples(_read_nested(line, "(", ")", _read_plain))
        try:
            attrs[name] = readers[name](value) if name in readers else value
        except (TypeError, ValueError) as error:
            line.fail(f"{name}: {error}", token.column)
        if not line.accept(","):
            line.expect("]")
            return attrs


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _read_plain(line: _Line) -> Any:
    token = line.next
    if token.text in _PYTHON:
        line.take()
        return _PYTHON[token.text]
    if token.kind == "name":
        return _read_dtype(line)
    if token.text == "<":
        line.fail("this attribute exists in a running program only")
    if token.kind == "string":
        line.take()
        return ast.literal_eval(token.text)
    return _read_scalar(line)


def _read_dtype(line: _Line) -> dtypes.DType:
    token = line.next
    for dtype in dtypes.ALL:
        if dtype.name == token.text:
            line.take()
            return dtype
    line.fail("expected a dtype")


def read_specs(line: _Line) -> list[AnySpec]:
    """Types separated by commas."""
    specs = [read_spec(line)]
    while line.accept(","):
        specs.append(read_spec(line))
    return specs


def read_spec(line: _Line) -> AnySpec:
    """`float32[2, ?]`, `ref float32[]` or `array float32[...]`."""
    kind = line.next.text
    if kind in ("ref", "array"):
        line.take()
    dtype = _read_dtype(line)
    line.expect("[")
    spec = Spec(dtype, None if line.accept("...") else _read_sizes(line))
    if spec.shape is None:
        line.expect("]")
    return RefSpec(spec) if kind == "ref" else ArraySpec(spec) if kind == "array" else spec


def _read_sizes(line: _Line) -> tuple[int | None, ...]:
    sizes: list[int | None] = []
    while not line.accept("]"):
        if line.accept("?"):
            sizes.append(None)
        elif line.next.kind == "number" and line.next.text.isdigit():
            sizes.append(int(line.take().text))
        else:
            line.fail("expected a size")
        if not line.accept(","):
            line.expect("]")
            break
    return tuple(sizes)
