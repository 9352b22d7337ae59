"""Converted code of one function, from which functions are made that replace the original.

    def f(x): …   ==>   ConvertedCode(code of f).function(f)     the same globals, cells, defaults and attributes

*Straight* code has nothing to convert: neither control flow nor calls nor assignments of items.
"""

from __future__ import annotations

import opcode
import sys
from types import CodeType, FunctionType


class ConvertedCode:
    """The converted code of one code object, from which functions can be made."""

    def __init__(self, code: CodeType, original: CodeType, has_original: bool) -> None:
        self.code = code
        self.has_original = has_original  # whether it runs the user's own code while nothing is staged
        # For each cell of the new function, its index among those of the original.
        self._cells = [original.co_freevars.index(name) for name in code.co_freevars]

    def function(self, f: FunctionType) -> FunctionType:
        """Return the converted twin of `f`, which shares the closure cells and the attributes of `f`."""
        cells = f.__closure__ or ()
        closure = tuple(cells[number] for number in self._cells) or None
        twin = FunctionType(self.code, f.__globals__, f.__name__, f.__defaults__, closure)
        twin.__kwdefaults__ = f.__kwdefaults__
        twin.__dict__ = f.__dict__
        twin.__qualname__, twin.__module__, twin.__doc__ = f.__qualname__, f.__module__, f.__doc__
        _share_annotations(f, twin)
        return twin


def _share_annotations(f: FunctionType, twin: FunctionType) -> None:
    if sys.version_info >= (3, 14):
        twin.__annotate__ = f.__annotate__  # evaluated lazily, as for the original
    else:
        twin.__annotations__ = f.__annotations__
    if sys.version_info >= (3, 12):
        twin.__type_params__ = f.__type_params__


def is_straight(code: CodeType) -> bool:
    """Return whether conversion would leave a function as it is.

    >>> is_straight((lambda x: x * 2 + 1).__code__), is_straight((lambda x: x or 1).__code__)
    (True, False)
    """
    return (
        is_leaf(code)
        and not code.co_exceptiontable
        and "f_back" not in code.co_names
        and _DECISIONS.isdisjoint(code.co_code[::2])
    )


def is_leaf(code: CodeType) -> bool:
    """Return whether a function runs no other code: it has no calls, assigned items, functions, `with` or `yield`.

    With plain values it does what its converted form does.

    >>> is_leaf((lambda x: x if x > 0 else -x).__code__), is_leaf((lambda x: abs(x)).__code__)
    (True, False)
    """
    return not code.co_flags & _SUSPENDED and _OTHERS.isdisjoint(code.co_code[::2])


def _numbers(*prefixes: str) -> frozenset[int]:
    return frozenset(number for name, number in opcode.opmap.items() if name.startswith(prefixes))


_SUSPENDED = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE and CO_ASYNC_GENERATOR
_OTHERS = _numbers("CALL", "STORE_SUBSCR", "STORE_SLICE", "MAKE_FUNCTION", "BEFORE_", "LOAD_BUILD_CLASS")
_DECISIONS = _numbers("JUMP_IF", "POP_JUMP", "FOR_ITER", "UNARY_NOT", "CONTAINS_OP", "SEND", "MATCH_")
