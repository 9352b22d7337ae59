"""The operators `converted` and `receiver`, which are quick while nothing is staged.

    step(x)         ==>   ag__.converted(step)(x)
    xs.append(x)    ==>   ag__.receiver(xs, "append").append(x)

This runs at each call, so it is quick for callables that plain values do not need converted: built-in functions and
methods, classes, functions that are converted already, and leaves (`function_code.is_leaf`). The C extension
native_callees.c does the same in less time, and looks results of conversions up, too. `receiver` returns an object
with methods in C as it is: the call then needs no bound method.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

from ..introspection.frames import STAND_INS

Operator = Callable[[Any], Callable[..., Any]]
Receiver = Callable[[Any, str], Any]
NATIVE = frozenset({list, dict, set})
"""Types with methods in C, which no conversion changes."""
Permanent = dict[FunctionType, tuple[FunctionType, CodeType, Any, Any, FunctionType]]
"""A function → its converted form, the code and defaults for which that is valid, and its form for plain values."""


class PlainCallees:
    """The functions that need no conversion as long as nothing is staged."""

    def __init__(self) -> None:
        self._functions: set[FunctionType] = set()  # those that live as long as their modules, found soonest
        self._codes: dict[int, weakref.ref[CodeType]] = {}  # by id; an entry goes before its id is used again

    def note(self, f: FunctionType, is_permanent: bool) -> None:
        code, codes = f.__code__, self._codes
        key = id(code)
        if key not in codes:
            codes[key] = weakref.ref(code, lambda dead: codes.pop(key, None))
        if is_permanent and len(self._functions) < 10_000:
            self._functions.add(f)

    def has(self, f: FunctionType) -> bool:
        return id(f.__code__) in self._codes

    def clear(self) -> None:
        self._functions.clear()
        self._codes.clear()

    def operators(
        self, converted: Operator, operators: ModuleType, permanent: Permanent
    ) -> tuple[Operator, Receiver]:
        """Return the operators of a converter, whose results are called at once; `converted` does the rest."""
        try:
            from . import _native_callees  # type: ignore[attr-defined, unused-ignore]
        except ImportError:  # there was no C compiler at installation
            return self.in_python(converted, operators)
        arguments = converted, vars(operators), permanent, self._codes, STAND_INS
        return _native_callees.operators(*arguments)  # type: ignore[no-any-return]

    def in_python(self, converted: Operator, operators: ModuleType) -> tuple[Operator, Receiver]:
        """Return the operators without the C extension."""
        functions, codes = self._functions, self._codes

        def quick(f: Any) -> Callable[..., Any]:
            kind = type(f)
            if kind is FunctionType:
                if (f in functions or id(f.__code__) in codes) and not operators.building:
                    return f  # type: ignore[no-any-return]
            elif kind is type:
                if not operators.building:
                    return f  # type: ignore[no-any-return]
            elif kind is BuiltinFunctionType:
                if not operators.building:
                    return STAND_INS.get(f, f)  # type: ignore[no-any-return]
            elif (
                kind is MethodType
                and type(f.__func__) is FunctionType
                and id(f.__func__.__code__) in codes
                and not operators.building
            ):
                return f  # type: ignore[no-any-return]
            return converted(f)

        def receiver(value: Any, name: str) -> Any:
            if type(value) in NATIVE:
                return value
            return SimpleNamespace(**{name: quick(getattr(value, name))})

        return quick, receiver
