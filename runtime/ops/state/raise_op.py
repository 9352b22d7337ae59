"""The operation that raises an exception of the user's class, and the construction of that exception at run time."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ... import errors
from ...core.tensor import EagerTensor
from ...ir.traits import IDEMPOTENT, KEEPS_VARIABLES, RAISES
from ..framework.attribute_parsers import READERS, Texts, read_object
from ..framework.op import Name, Tensors, op
from .print_and_assert import demand_ordinary, exception_named, written_as


class Filled(NamedTuple):
    """A text with tensors in it: their indices among the operation's inputs, and their format specifiers."""

    pieces: tuple[str, ...]
    numbers: tuple[int, ...]
    forms: tuple[str, ...]

    def text(self, values: Sequence[Any]) -> str:
        chosen = [values[number] for number in self.numbers]
        return filled(self.pieces, chosen, self.forms)


class Slot(NamedTuple):
    """The index of a tensor that is an argument or attribute of an exception."""

    number: int


class Blueprint:
    """A template of an exception, instantiated at each failure.

    Its parts hold `Filled` and `Slot` in place of tensors.
    """

    def __init__(self, kind: type[BaseException]) -> None:
        self.kind = kind
        self.__name__ = kind.__name__
        self.args: tuple[Any, ...] = ()
        self.attributes: dict[str, Any] = {}
        self.cause: Any = None
        self.context: Any = None
        self.suppresses_context = False

    def built(self, values: Sequence[Any]) -> BaseException:
        args = complete(self.args, values)
        error = self.kind.__new__(self.kind, *args)
        # Skip the user's `__init__`: its arguments are unknown. That of the built-in base class sets its
        # fields.
        base = next(c for c in self.kind.__mro__ if getattr(builtins, c.__name__, None) is c)
        base.__init__(error, *args)
        error.args = args
        error.__dict__.update(complete(self.attributes, values))
        error.__cause__ = complete(self.cause, values)
        error.__context__ = complete(self.context, values)
        error.__suppress_context__ = self.suppresses_context
        return error


def complete(part: Any, values: Sequence[Any]) -> Any:
    """Return a part of an exception with the tensors replaced by their values."""
    kind = type(part)
    if kind is Filled:
        return part.text(values)
    if kind is Slot:
        return EagerTensor(np.asarray(values[part.number]))
    if kind is Blueprint:
        return part.built(values)
    if kind in (tuple, list):
        return kind(complete(item, values) for item in part)
    if kind is dict:
        return {key: complete(item, values) for key, item in part.items()}
    return part


def filled(pieces: Sequence[str], values: Sequence[Any], forms: Sequence[str]) -> str:
    """Join the pieces with the formatted values between them.

    >>> filled(("x = ", " of ", ""), (np.float32(0.5), np.array([1, 2])), (":.2f", ""))
    'x = 0.50 of [1 2]'
    """
    written = [written_as(value, form) for value, form in zip(values, forms, strict=True)]
    return pieces[0] + "".join(text + piece for text, piece in zip(written, pieces[1:], strict=True))


def is_known(kind: type[BaseException]) -> bool:
    """Return whether the class is identified by its name alone.

    Classes outside Exception, such as SystemExit, are excluded: files contain such names as well.
    """
    return issubclass(kind, Exception) and any(
        getattr(module, kind.__name__, None) is kind for module in (builtins, errors)
    )


READERS["Blueprint | None"] = read_object


@op(name="raise", stateful=True, traits=KEEPS_VARIABLES | IDEMPOTENT | RAISES)
def raise_error(
    values: Tensors,
    error: str,
    pieces: Texts,
    forms: Texts,
    blueprint: Blueprint | None = None,
    name: Name = None,
) -> tuple[()]:
    """Raise the exception class `error` with `pieces` and the values between them as its message.

    Without pieces, the exception has no argument.

    >>> raise_error([3], "NotFoundError", ["no ", " there"], [":03d"])
    Traceback (most recent call last):
    agc.runtime.errors.NotFoundError: no 003 there
    """
    if blueprint is None:  # a blueprint holds the class itself
        demand_ordinary(error)
        if not len(values) == len(forms) == max(len(pieces) - 1, 0):
            raise ValueError(
                f"{len(values)} values, {len(forms)} forms and {len(pieces)} pieces do not make a message"
            )
    return ()


@raise_error.kernel
def _(
    values: list[Any], error: str, pieces: tuple[str, ...], forms: tuple[str, ...], blueprint: Any = None
) -> NoReturn:
    if blueprint is not None:
        raise blueprint.built(values)
    kind = exception_named(error)
    raise kind(filled(pieces, values, forms)) if pieces else kind()
