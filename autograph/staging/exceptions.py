"""Exceptions that a block raises during a trace, for backends.

    if x < 0:                               def if_true():
        raise ValueError(f"bad {x}")   ==>      raise ValueError(f"bad {x}")
                                            ag__.cond(x < 0, if_true, ag__.keep)

The `raise` stays unchanged, so plain Python is not affected. A backend that traces `if_true` catches the exception.
`raised_by_user` returns whether user code raised it deliberately. Then the block never completes, its results are
those of the other branch, and the graph fails with that exception when it reaches the block. `surroundings` finds the
user code that would have caught the exception, or the `finally` blocks that it would have run.
"""

from __future__ import annotations

import bisect
import builtins
import functools
import linecache
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DiagnosticError, Where, is_own_file
from ..policy import is_library_file, is_own_class

if TYPE_CHECKING:
    import ast

Position = tuple[int, int]  # line, from 1, and column in bytes, from 0

NEVER_STAGED = (DiagnosticError, KeyboardInterrupt, GeneratorExit)


def raised_by_user(error: BaseException) -> bool:
    """Return whether a `raise`, an `assert` or a call of `sys.exit` in user code created the exception.

    Errors raised by Python, a library or a backend do not count, and neither do exceptions that wrap a
    backend's error. `exit()` and `quit()` raise SystemExit in Python's own code, but only on request.

    >>> try:
    ...     int("x")
    ... except ValueError as error:
    ...     raised_by_user(error)
    False
    """
    if isinstance(error, NEVER_STAGED) or not _states(error):
        return False
    reason = error.__cause__ or error.__context__
    while reason is not None:
        if isinstance(reason, DiagnosticError) or (is_own_class(type(reason)) and not _states(reason)):
            return False
        reason = reason.__cause__ or reason.__context__
    return True


def _states(error: BaseException) -> bool:
    """Return whether the exception is an exit, or comes from a `raise` with an operand or an `assert` in user code."""
    if isinstance(error, SystemExit):
        return True
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if _is_raise(code, entry.tb_lasti) and _is_users(entry.tb_frame):
            return True
        entry = entry.tb_next
    return False


def _is_raise(code: CodeType, offset: int) -> bool:
    # A `raise` without an operand re-raises an exception.
    return offset >= 0 and code.co_code[offset] == _raise_opcode() and code.co_code[offset + 1] > 0


@functools.cache
def _raise_opcode() -> int:
    import opcode

    return opcode.opmap["RAISE_VARARGS"]


def _is_users(frame: FrameType) -> bool:
    # A test runner may be __main__ for the examples that it runs; they are still user code.
    module = frame.f_globals.get("__name__")
    return not is_library_file(frame.f_code.co_filename, None if module == "__main__" else module)


def caught_at(error: BaseException) -> Where | None:
    """Return the line of user code whose `except` caught `error`; None if none did, or other code.

    The traceback of an exception begins with the function that caught it, at a line of the body of its `try`.

    >>> caught_at(ValueError()) is None  # nothing has raised it
    True
    """
    entry = error.__traceback__
    if entry is None or is_own_file(entry.tb_frame.f_code.co_filename) or not _is_users(entry.tb_frame):
        return None
    code = entry.tb_frame.f_code
    return Where(code.co_filename, entry.tb_lineno, function=code.co_name)


class Surroundings(NamedTuple):
    """The handlers around the running line, innermost first.

    >>> Surroundings(None, ()).catching is None
    True
    """

    # The `except` (or `with suppress(…)`) that would catch the exception, or the jump that would discard it.
    catching: Where | None
    cleaning: tuple[tuple[str, range], ...]  # the `finally` blocks on the way: file and lines


def surroundings(error: BaseException, until: FrameType | None) -> Surroundings:
    """Return the handlers that `error` would meet if it were raised at the running line, up to the frame
    `until`.

    >>> surroundings(ValueError(), until=sys._getframe())
    Surroundings(catching=None, cleaning=())
    """
    cleaning: list[tuple[str, range]] = []
    for frame in running(until):
        file = frame.f_code.co_filename
        for attempt in _attempts_around(frame):
            catches = _catches(attempt.node) if attempt.in_body else []
            taken = next((node for node, kind in catches if _matches(kind, error, frame)), None)
            taken = taken or _jump_out_of(getattr(attempt.node, "finalbody", ()))
            if taken is not None:
                where = Where(file, taken.lineno, function=frame.f_code.co_name)
                return Surroundings(where, tuple(cleaning))
            final = getattr(attempt.node, "finalbody", None)
            if final:
                lines = range(final[0].lineno, (final[-1].end_lineno or final[-1].lineno) + 1)
                cleaning.append((file, lines))
    return Surroundings(None, tuple(cleaning))


def running(until: FrameType | None) -> Iterator[FrameType]:
    """Yield the running frames of user code, innermost first.

    >>> list(running(until=sys._getframe()))
    []
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not until:
        if not is_own_file(frame.f_code.co_filename) and _is_users(frame):
            yield frame
        frame = frame.f_back


class _Attempt(NamedTuple):
    """A `try` (or `with`) around a line, and whether its handlers cover the line, or only its `finally`."""

    node: ast.Try | ast.With
    in_body: bool


def _catches(node: Any) -> list[tuple[Any, ast.expr | None]]:
    """Return the nodes of a statement that catch exceptions, with the exception types."""
    import ast

    if not isinstance(node, ast.With):
        return [(handler, handler.type) for handler in node.handlers]
    calls = [item.context_expr for item in node.items]
    return [(call, kind) for call in calls if _is_suppress(call) for kind in call.args]  # type: ignore[attr-defined]


def _jump_out_of(body: Iterable[ast.AST], in_loop: bool = False) -> Any:
    """Return a jump that leaves a `finally` block, and so discards an exception; None if there is none."""
    import ast

    for node in body:
        if isinstance(node, ast.Return) or (isinstance(node, (ast.Break, ast.Continue)) and not in_loop):
            return node
        found = None
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            found = _jump_out_of(node.body, True) or _jump_out_of(node.orelse, in_loop)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            found = _jump_out_of(ast.iter_child_nodes(node), in_loop)
        if found is not None:
            return found
    return None


def _is_suppress(manager: Any) -> bool:
    called = getattr(manager, "func", None)
    return "suppress" in (getattr(called, "id", None), getattr(called, "attr", None))


def _attempts_around(frame: FrameType) -> list[_Attempt]:
    """Return the `try` statements of the running function around its running line, innermost first."""
    here = _position(frame)
    attempts = _attempts_of(frame.f_code.co_filename)
    owner = attempts.function_at(here)
    found = []
    for node in attempts.by_function.get(id(owner), ()):
        if _spans(node.body, here):
            found.append(_Attempt(node, True))
        elif any(_spans(part, here) for part in _unwatched(node)):
            found.append(_Attempt(node, False))
    return found[::-1]


def _unwatched(node: Any) -> list[list[Any]]:
    """Return the parts of a `try` that its own handlers do not cover."""
    return [node.orelse, *(handler.body for handler in node.handlers)] if hasattr(node, "handlers") else []


def _position(frame: FrameType) -> Position:
    positions = list(frame.f_code.co_positions())
    line, _, column, _ = positions[frame.f_lasti // 2] if frame.f_lasti >= 0 else (None,) * 4
    return (line or frame.f_lineno, column or 0)


def _spans(body: Sequence[Any], here: Position) -> bool:
    if not body:
        return False
    first, last = body[0], body[-1]
    start = (first.lineno, 0 if here[1] == 0 else first.col_offset)
    return start <= here < (last.end_lineno or last.lineno, last.end_col_offset or 0)


class _Attempts:
    """The functions of a file, and the `try` statements of each, outer ones first."""

    def __init__(self, tree: ast.AST | None) -> None:
        import ast

        self.functions: list[Any] = []
        self.by_function: dict[int, list[Any]] = {}
        pending: list[tuple[Any, Any]] = [] if tree is None else [(tree, None)]
        while pending:
            node, owner = pending.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                self.functions.append(node)
                owner = node
            elif isinstance(node, (ast.Try, ast.TryStar, ast.With)):
                self.by_function.setdefault(id(owner), []).append(node)
            pending.extend((child, owner) for child in ast.iter_child_nodes(node))
        self.functions.sort(key=lambda node: (node.lineno, node.col_offset))
        self.starts = [(node.lineno, node.col_offset) for node in self.functions]
        for attempts in self.by_function.values():
            attempts.sort(key=lambda node: (node.lineno, node.col_offset))

    def function_at(self, here: Position) -> Any:
        """Return the innermost function with this location in its body; None for the module."""
        last = bisect.bisect_right(self.starts, here)
        return next((f for f in reversed(self.functions[:last]) if _spans(_body_of(f), here)), None)


def _body_of(function: Any) -> list[Any]:
    return function.body if isinstance(function.body, list) else [function.body]


def _attempts_of(filename: str) -> _Attempts:
    return _parsed("".join(linecache.getlines(filename)))


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> _Attempts:
    import ast

    try:
        return _Attempts(ast.parse(text))
    except (SyntaxError, ValueError):  # the source is not that of the running code, such as a template's
        return _Attempts(None)


def _matches(kind: ast.expr | None, error: BaseException, frame: FrameType) -> bool:
    """Return whether an `except` clause matches the exception; an unresolved type may match."""
    if kind is None:
        return True
    import ast

    if isinstance(kind, ast.Tuple):
        return any(_matches(part, error, frame) for part in kind.elts)
    found = _named(kind, frame)
    return not isinstance(found, (type, tuple)) or isinstance(error, found)


def _named(kind: ast.expr, frame: FrameType) -> Any:
    """Return the object that a name or a chain of attributes refers to in a frame; None if it is not known."""
    import ast

    if isinstance(kind, ast.Attribute):
        return getattr(_named(kind.value, frame), kind.attr, None)
    if not isinstance(kind, ast.Name):
        return None
    for names in (frame.f_locals, frame.f_globals, vars(builtins)):
        if kind.id in names:
            return names[kind.id]
    return None
