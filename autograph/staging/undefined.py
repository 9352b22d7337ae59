"""Markers for variables that are unbound or may be unbound.

Undefined('y')                 unbound: any use raises Python's own error
Maybe('y', value, defined)     bound if `defined` is true when the graph runs
Pending('result')              always assigned before it is read
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, NoReturn

from ..errors import is_own_file, leave_no_trace
from .registry import backend_of

CO_OPTIMIZED = 1  # not set for the code of class bodies; `inspect` is slow to import
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class Undefined:
    """A marker for an unbound variable; any use raises Python's own error.

    >>> y = Undefined("y")
    >>> y
    <undefined variable 'y'>
    >>> y + 1
    Traceback (most recent call last):
    UnboundLocalError: cannot access local variable 'y' where it is not associated with a value
    """

    __slots__ = ("__name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_Undefined__name", name)

    def __repr__(self) -> str:
        return f"<undefined variable {name_of(self)!r}>"

    def __copy__(self) -> Undefined:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Undefined:
        return self

    def __getattr__(self, attribute: str) -> NoReturn:
        raise unbound(name_of(self))


def unbound(name: str) -> UnboundLocalError:
    """Return the error that Python raises when an unbound local variable is read.

    >>> unbound("x")
    UnboundLocalError("cannot access local variable 'x' where it is not associated with a value")
    """
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def free(name: str) -> NameError:
    """Return the error of a read in a class body or, before Python 3.12, in a comprehension."""
    return NameError(
        f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    )


def _is_in_scope(frame: FrameType) -> bool:
    """Return whether user code runs in a scope nested in the function that owns its variables."""
    while is_own_file(frame.f_code.co_filename) or frame.f_code.co_name == "<lambda>":
        if frame.f_back is None:
            return False
        frame = frame.f_back
    code = frame.f_code
    return code.co_name in COMPREHENSIONS or not code.co_flags & CO_OPTIMIZED


def name_of(value: Undefined) -> str:
    """Return the name of the variable that `value` marks as unbound.

    >>> name_of(Undefined("x"))
    'x'
    """
    name: str = object.__getattribute__(value, "_Undefined__name")
    return name


# fmt: off
_BINARY = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow",
    "lshift", "rshift", "and", "xor", "or",
)
_USES = (
    *_BINARY, *(f"r{op}" for op in _BINARY), *(f"i{op}" for op in _BINARY if op != "divmod"),
    "neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc", "floor", "ceil",
    "eq", "ne", "lt", "le", "gt", "ge", "bool", "hash", "str", "bytes", "format", "dir",
    "len", "iter", "next", "reversed", "contains", "getitem", "setitem", "delitem", "setattr", "delattr",
    "call", "enter", "exit", "await", "aiter", "anext", "aenter", "aexit",
)
# fmt: on


def _complain(self: Undefined, *args: Any, **kwargs: Any) -> NoReturn:
    raise unbound(name_of(self))


for _use in _USES:
    setattr(Undefined, f"__{_use}__", _complain)


class Pending(Undefined):
    """A generated variable that is always assigned before it is read, such as a function's result.

    A backend may use any value of the right type for it, and needs no flag.

    >>> Pending("result")
    <undefined variable 'result'>
    """

    __slots__ = ()


class Maybe(Undefined):
    """A variable that a staged block may have left unbound: its value, and whether it is bound.

    Backends create these for variables that are bound on one path only, or in a loop that may not run. A read
    (`ag__.ld`) checks `defined` when the staged code runs. `defined` and `value` are the backend's values.

    >>> ld(Maybe("x", 5, True), "x")
    5
    """

    __slots__ = ("defined", "name", "value")

    def __init__(self, name: str, value: Any, defined: Any) -> None:
        super().__init__(name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "defined", defined)


def ld(value: Any, name: str) -> Any:
    """Return the value of a variable that may be unbound; raise Python's error if it is.

    >>> ld(5, "x")
    5
    """
    kind = type(value)
    if kind is Maybe:
        backend_of(value.defined).check(value.defined, lambda: unbound(name))
        return value.value
    if kind is Undefined:
        try:
            raise free(name) if _is_in_scope(sys._getframe(1)) else unbound(name)
        except NameError as error:
            leave_no_trace(error)
            raise
    return value
