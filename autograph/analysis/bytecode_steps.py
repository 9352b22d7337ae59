"""Steps of bytecode: instructions in terms that analyses use, alike in all versions of Python.

self.log.append(1)      fast self, attribute log, attribute append, constant 1, other
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

from ..introspection.code_objects import CodeMap

if TYPE_CHECKING:
    import dis

# Kinds of step. `x[i] += 1` and `x.n += 1` copy their base, because they use it twice.
_KINDS = {"STORE_SUBSCR": "item", "STORE_ATTR": "set", "COPY": "copy", "IS_OP": "is"}
_ONE = re.compile(r"(?:LOAD|STORE)_FAST(?:_BORROW)?")  # the parts of `STORE_FAST_LOAD_FAST`
READS = frozenset({"variable", "fast", "attribute"})
_NOISE = frozenset({
    "CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "MAKE_CELL", "NOP", "NOT_TAKEN", "PRECALL", "PUSH_NULL", "RESUME",
})  # fmt: skip


class Step(NamedTuple):
    """An instruction: reading a variable, an attribute, an item, a constant, or assigning one."""

    # variable, fast (a local variable), attribute, constant, subscript, item (assigned item), copy,
    # set (assigned attribute), is or other
    kind: str
    value: object
    line: int
    offset: int


_steps: CodeMap[list[Step]] = CodeMap()


def instructions(code: CodeType) -> Iterator[dis.Instruction]:
    """Yield the instructions of `code` that compute. A superinstruction on two variables yields two."""
    import dis  # imported here because programs that stage nothing do not need it

    for instruction in dis.get_instructions(code):
        if instruction.opname in _NOISE:
            continue
        names = _ONE.findall(instruction.opname) if type(instruction.argval) is tuple else None
        if not names:
            yield instruction
            continue
        for name, value in zip(names, instruction.argval, strict=True):
            yield instruction._replace(opname=name, argval=value)


def kind_at(steps: list[Step], at: int) -> str:
    """Return the kind of a step; "other" after the last one."""
    return steps[at].kind if at < len(steps) else "other"


def steps_of(code: CodeType) -> list[Step]:
    """Return the steps of one code object; they are read once."""
    known = _steps.get(code)
    if known is None:
        known = _steps[code] = list(_read(code))
    return known


def _read(code: CodeType) -> Iterator[Step]:
    line = code.co_firstlineno
    for instruction in instructions(code):
        if instruction.positions is not None and instruction.positions.lineno is not None:
            line = instruction.positions.lineno
        yield Step(
            _kind_of(instruction.opname, instruction.argrepr), instruction.argval, line, instruction.offset
        )


def _kind_of(opname: str, shown: str) -> str:
    if opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return "attribute"
    if opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
        return "constant"
    if opname == "LOAD_FAST_AND_CLEAR":  # saves a variable that a comprehension hides
        return "other"
    if opname.startswith("LOAD_FAST"):
        return "fast"
    if opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
        return "variable"
    if opname in _KINDS:
        return _KINDS[opname]
    return "subscript" if opname == "BINARY_SUBSCR" or (opname == "BINARY_OP" and shown == "[]") else "other"
