"""Parse types, literals and attributes of the text form."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from .lexer import NUMBER, Line, Token
from .literal_printer import make_constant
from .op_def import OpDef
from .value_types import AnySpec, ListType, TensorType, VariableType

_SIZE = re.compile("[0-9]{1,18}")  # less than 2**63

BOOLS = {"true": True, "false": False}
_PYTHON = {"True": True, "False": False, "None": None}


def attributes_next(line: Line) -> bool:
    """Return whether the next `[` opens attributes, not an array."""
    return [token.text for token in line.tokens[line.position : line.position + 3 : 2]] == ["[", "="]


def read_constant(line: Line, typed: bool) -> np.ndarray[Any, Any]:
    """Parse a literal, in parentheses after its dtype if `typed`."""
    token = line.next
    dtype = _read_dtype(line) if typed else None
    if typed:
        line.expect("(")
    literal = _read_nested(line, "[", "]", _read_scalar)
    if typed:
        line.expect(")")
    try:
        return make_constant(literal, dtype)
    except ValueError as error:
        raise line.error(str(error), token.column) from None


def _read_nested(line: Line, opening: str, closing: str, read: Callable[[Line], Any]) -> Any:
    """Parse a scalar or a nested list of scalars, without recursion, so that the depth has no limit."""
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
            raise line.error(f"expected `,` or `{closing}`")


def _read_scalar(line: Line) -> Any:
    token = line.next
    if token.kind == "number":
        line.take()
        return int(token.text) if re.fullmatch(r"[+-]?\d+", token.text) else float(token.text)
    if token.kind == "complex":
        line.take()
        split = re.fullmatch(rf"([+-]?{NUMBER})([+-].*)j", token.text)
        assert split is not None, token
        return complex(float(split[1]), float(split[2]))
    if token.kind == "string":
        line.take()
        content = _string(line, token)
        return content.encode() if isinstance(content, str) else content
    if token.text in BOOLS:
        line.take()
        return BOOLS[token.text]
    raise line.error("expected a value")


def read_attributes(line: Line, op: OpDef) -> dict[str, Any]:
    readers = {name: reader for _, name, reader in op.attribute_parameters}
    attrs = {}
    while True:
        token = line.next
        name = line.name("the name of an attribute")
        line.expect("=")
        value = _tuples(_read_nested(line, "(", ")", _read_plain))
        try:
            attrs[name] = readers[name](value) if name in readers else value
        except (TypeError, ValueError) as error:
            raise line.error(f"{name}: {error}", token.column) from None
        if not line.accept(","):
            line.expect("]")
            return attrs


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _read_plain(line: Line) -> Any:
    token = line.next
    if token.text in _PYTHON:
        line.take()
        return _PYTHON[token.text]
    if token.kind == "name":
        return _read_dtype(line)
    if token.text == "<":
        raise line.error("this attribute exists only while the program runs")
    if token.kind == "string":
        return _string(line, line.take())
    return _read_scalar(line)


def _string(line: Line, token: Token) -> Any:
    """Return the content of a string token.

    Raises GraphSyntaxError for null characters, surrogates and invalid escapes.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            content = ast.literal_eval(token.text)
        if isinstance(content, str):
            content.encode()  # raises an error for lone surrogates
        return content
    except (SyntaxError, SyntaxWarning, DeprecationWarning, ValueError):
        raise line.error("this is not a Python string literal", token.column) from None


def _read_dtype(line: Line) -> dtypes.DType:
    token = line.next
    for dtype in (*dtypes.ALL, *dtypes.NARROW_FLOATS):
        if dtype.name == token.text:
            line.take()
            return dtype
    raise line.error("expected a dtype")


def read_specs(line: Line) -> list[AnySpec]:
    """Parse types separated by commas."""
    specs = [read_spec(line)]
    while line.accept(","):
        specs.append(read_spec(line))
    return specs


def read_spec(line: Line) -> AnySpec:
    """Parse `float32[2, ?]`, `ref float32[]` or `array float32[...]`; elements of a list may be lists."""
    kind = line.next.text
    if kind in ("ref", "array"):
        line.take()
    if kind == "array":
        return ListType(read_spec(line))
    dtype = _read_dtype(line)
    line.expect("[")
    spec = TensorType(dtype, None if line.accept("...") else _read_sizes(line))
    if spec.shape is None:
        line.expect("]")
    return VariableType(spec) if kind == "ref" else spec


def _read_sizes(line: Line) -> tuple[int | None, ...]:
    sizes: list[int | None] = []
    while not line.accept("]"):
        if line.accept("?"):
            sizes.append(None)
        elif line.next.kind == "number" and _SIZE.fullmatch(line.next.text):
            sizes.append(int(line.take().text))
        else:
            raise line.error("expected a size")
        if not line.accept(","):
            line.expect("]")
            break
    return tuple(sizes)
