"""Operations that fail at run time: for exceptions of user code, and for `assert` (see exceptions.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc.autograph import staging
from agc.autograph.api import Where

from ..core.conversion import convert_to_tensor, is_tensor_like
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import Tensor
from ..ir.builder import Builder
from ..ir.op_def import OpDef
from ..ir.source_location import raised_at
from ..ops.assertions.assert_op import require
from ..ops.framework.region_ops import COND
from ..ops.state.print_and_assert import GraphAssertionError, assert_true
from ..ops.state.raise_op import Blueprint, Filled, Slot, is_known, raise_error
from ..ops.state.variable_ops import read_variable
from .diagnostics import staging_error
from .regions import active, close_regions
from .uncaught import refused, uncaught, where_of

_SKIPPED = raise_error, assert_true, read_variable
"""Operations that count as stateful, but need not run after a failure."""


def fail(error: BaseException) -> None:
    """Record an operation that raises `error`, at the line of user code that raised it."""
    _look_around(error, where_of(error))
    _record(error, type(error).__name__, None if is_plain(error) else error)
    active().operations[-1].origin = raised_at(error)


def is_plain(error: BaseException) -> bool:
    """Return whether the exception consists of its class and, at most, a message."""
    return (
        is_known(type(error))
        and len(error.args) <= 1
        and all(type(part) is str for part in error.args)
        and not (error.__cause__ or error.__context__)
        and vars(error).keys() <= {"message", "op"}
    )


def check(test: Tensor, message: Callable[[], Any] | None) -> None:
    """Record `assert test, message()`; a message with tensors is computed if the test is false."""
    outer = active()
    then, orelse = Builder("then", outer), Builder("else", outer)
    with orelse:
        said = None if message is None else message()
        if is_tensor_like(said):
            said = convert_to_tensor(said)
    error = said if isinstance(said, BaseException) else AssertionError(said)
    _look_around(error, None)
    if not orelse.operations and not _is_filled(said):
        require(test, "" if said is None else str(said), error=type(error).__name__)
        return
    with orelse:
        _record(error, GraphAssertionError.__name__, None)
    regions, captured = close_regions((then, orelse), ([], []))
    outer.add(COND, [outer.operand(test), *captured], {}, [], regions, [])


def _is_filled(said: Any) -> bool:
    """Return whether a message contains tensors."""
    return isinstance(said, Tensor) or bool(_Mentions().text(str(said)).numbers)


def _record(error: BaseException, name: str, whole: BaseException | None) -> None:
    """Record the operation that raises; `whole` is the exception if it is more than its class and message."""
    mentions = _Mentions()
    message = mentions.text(_message(error))
    blueprint = None if whole is None else mentions.blueprint(whole)
    mentioned = [mentions.tensors[number] for number in message.numbers]
    values = mentioned if blueprint is None else mentions.tensors
    pieces = message.pieces if error.args or blueprint is not None else ()
    raise_error(values, name, pieces, message.forms, blueprint)


def _message(error: BaseException) -> str:
    said = error.args[0] if len(error.args) == 1 else None
    return f"{said}" if isinstance(said, (str, Tensor)) else str(error)


def _look_around(error: BaseException, where: Where | None) -> None:
    """Refuse an exception that an enclosing `except` would catch; observe the `finally` blocks that it passes."""
    root = active().root
    found = staging.surroundings(error, root.entered)
    if found.catching is not None:
        refusal = uncaught(
            error,
            where,
            found.catching,
            "the graph raises it",
            why="it is raised when the graph runs; by then Python has left the `try` statement",
            fix="let the branch return a value that signals the error, and test it; or catch the exception around "
            "the call of the traced function",
        )
        raise refused(refusal) from None
    if found.cleaning:
        root.cleaning.update(found.cleaning)
        root.watch = _watch


def _watch(op: OpDef) -> None:
    """Refuse an effect in a `finally` that would not run after a failing branch."""
    if op in _SKIPPED:
        return
    root = active().root
    for frame in staging.running(root.entered):
        location = frame.f_code.co_filename, frame.f_lineno
        if any(name == location[0] and location[1] in lines for name, lines in root.cleaning):
            raise refused(
                staging_error(
                    "AGC261",
                    "this `finally` has an effect in the graph, and a branch of its `try` raises before it",
                    why="when the graph raises, the rest of it does not run, so the effect would be missing",
                    fix="let the branch return a value, and raise after the `finally`",
                )
            )


class _Mentions:
    """The tensors that the parts of an exception mention, numbered."""

    def __init__(self) -> None:
        self.tensors: list[Any] = []
        self._shown = active().shown

    def number(self, tensor: Any) -> int:
        for number, known in enumerate(self.tensors):
            if known is tensor:
                return number
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def text(self, message: str) -> Filled:
        pieces, mentions = self._shown.split(message)
        numbers = tuple(self.number(mention.tensor) for mention in mentions)
        return Filled(tuple(pieces), numbers, tuple(mention.form for mention in mentions))

    def blueprint(self, error: BaseException) -> Blueprint:
        made = Blueprint(type(error))
        made.args = self.part(error.args)
        made.attributes = self.part(vars(error))
        made.cause, made.context = self.part(error.__cause__), self.part(error.__context__)
        made.suppresses_context = error.__suppress_context__
        return made

    def part(self, value: Any) -> Any:
        """Return a part of an exception with slots in place of tensors."""
        kind = type(value)
        if kind is str:
            found = self.text(value)
            return found if found.numbers else value
        if isinstance(value, Tensor):
            return Slot(self.number(value)) if isinstance(value, SymbolicTensor) else value
        if isinstance(value, BaseException):
            return self.blueprint(value)
        if kind in (tuple, list):
            return kind(map(self.part, value))
        return {key: self.part(item) for key, item in value.items()} if kind is dict else value
