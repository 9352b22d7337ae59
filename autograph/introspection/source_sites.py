"""Source locations in user code: the expression that is running, and the line that assigns a variable.

    if loss < best:            line 12      running()                    the `if`, when its branches disagree
        step = 1               line 13      assigned_in(then, 'step')    line 13
    else:
        step = 0.5             line 15      assigned_in(orelse, 'step')  line 15

The locations are read from code objects, for error messages only. Generated code has the user's lines and
columns.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain
from types import CodeType, FrameType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from ..errors import Where, is_own_file

if TYPE_CHECKING:
    from dis import Instruction

_STORES = ("STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL", "STORE_ATTR")


def running() -> Where:
    """Return the location of the user's expression that is being executed, up to the end of its line."""
    frame = _user_frame()
    return (
        Where("<unknown>") if frame is None else at_instruction(frame.f_code, frame.f_lineno, frame.f_lasti)
    )


def at_instruction(code: CodeType, line: int, offset: int) -> Where:
    """Return the location of the expression of an instruction, up to the end of its line."""
    return _where(code, line, list(code.co_positions())[offset // 2])


def assigned_before(name: str) -> Where | None:
    """Return the line above the running one at which the user's running function last assigned a variable.

    If a branch or loop assigned the variable, this is the line in that block.
    """
    frame = _user_frame()
    if frame is None:
        return None
    code, here = frame.f_code, frame.f_lasti
    found = [store for store in _stores(code, name) if store.offset < here]
    if not found:
        return None
    start = found[-2].offset if len(found) > 1 else -1
    inner = [
        (block, store)
        for block in chain.from_iterable(map(_blocks_in, _made(code, start, found[-1].offset)))
        for store in _stores(block, name)
    ]
    return _location(*inner[-1]) if inner else _location(code, found[-1])


def assigned_in(block: Any, name: str) -> Where | None:
    """Return the line at which a staged branch or loop body last assigns a variable.

    The result is None if the variable keeps its value.

    A generated variable, such as the result of a function, is assigned at the block's return.
    """
    found = None
    for code in chain.from_iterable(map(_blocks_in, codes_of(block))):
        stores = _stores(code, name)
        if stores:
            found = _location(code, stores[-1])
        elif found is None and name.isidentifier() and not _reads(code, name):
            found = _returned(code)
    return found


def _user_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_machinery(frame):
        frame = frame.f_back
    return frame


def _is_machinery(frame: FrameType) -> bool:
    """Return whether a frame is one of this package, or of a library that calls the blocks which a backend stages."""
    top = str(frame.f_globals.get("__name__")).partition(".")[0]
    return top in ("jax", "torch") or is_own_file(frame.f_code.co_filename)


def codes_of(block: Any) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions that it wraps or that partial application binds."""
    if isinstance(block, MethodType):
        yield from codes_of(block.__func__)
    elif isinstance(block, partial):
        yield from codes_of(block.func)
        yield from codes_of(block.args)
    elif isinstance(block, tuple):
        for part in block:
            yield from codes_of(part)
    elif isinstance(block, FunctionType):
        inner = getattr(block, "__wrapped__", None)
        if inner is not None:
            yield from codes_of(inner)
        elif not is_own_file(block.__code__.co_filename):
            yield block.__code__


def _blocks_in(code: CodeType) -> Iterator[CodeType]:
    """Yield the code, and that of the blocks inside it, which have the name of the same function."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_name == code.co_name:
            yield from _blocks_in(inner)


def _made(code: CodeType, start: int, stop: int) -> list[CodeType]:
    """Return the blocks of a function that its instructions between two offsets create."""
    import dis

    return [
        instruction.argval
        for instruction in dis.get_instructions(code)
        if start < instruction.offset < stop
        and isinstance(instruction.argval, CodeType)
        and instruction.argval.co_name == code.co_name
    ]


def _stores(code: CodeType, name: str) -> list[Instruction]:
    """Return the instructions that assign `name`, or the attribute of `self.name`, in program order."""
    import dis

    base, _, last = name.rpartition(".")
    return [
        instruction
        for instruction in dis.get_instructions(code)
        if last in _stored(instruction)
        and (instruction.opname == "STORE_ATTR") == bool(base)
        and _line(instruction) is not None
    ]


def _stored(instruction: Instruction) -> tuple[str, ...]:
    """Return the names that an instruction assigns.

    Some instructions of Python 3.13 store two names, or store one and load another.
    """
    if not instruction.opname.startswith(_STORES):
        return ()
    value = instruction.argval
    if not isinstance(value, tuple):
        return (value,)
    return value if instruction.opname == "STORE_FAST_STORE_FAST" else value[:1]


def _reads(code: CodeType, name: str) -> bool:
    import dis

    return any(
        instruction.opname.startswith("LOAD_")
        and name in (instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,))
        for instruction in dis.get_instructions(code)
    )


def _returned(code: CodeType) -> Where | None:
    import dis

    # The value has its own line also in a lambda, where the `return` has the line of the whole lambda.
    *_, value, end = [None, *dis.get_instructions(code)]
    # Python 3.12 leaves a NOP in place of a constant.
    has_value = value is not None and (end.opname == "RETURN_VALUE" or value.opname == "NOP")
    found = value if has_value else end
    return _location(code, found) if _line(found) is not None else None


def _line(instruction: Instruction) -> int | None:
    positions = instruction.positions
    return None if positions is None else positions.lineno


def _location(code: CodeType, instruction: Instruction) -> Where:
    return Where(code.co_filename, _line(instruction) or 0, function=code.co_name)


def _where(code: CodeType, line: int, positions: tuple[int | None, ...]) -> Where:
    first, last, column, end = positions
    where = Where(code.co_filename, line, function=code.co_name)
    text = where.text()
    if first != line or column is None or text is None:
        return where
    encoded = text.encode()
    start = len(encoded[:column].decode(errors="ignore"))
    stop = len(encoded[:end].decode(errors="ignore")) if last == line and end else len(text)
    return where._replace(column=start + 1, end_column=stop + 1)
