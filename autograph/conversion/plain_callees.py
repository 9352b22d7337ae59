"""Callees of code that runs while nothing is staged.

    step(x)   ==>   ag__.callee(step)(x)

This runs at each call, so it is quick for callables that plain values do not need converted: built-in functions and
methods, functions that are converted already, and leaves (`function_code.is_leaf`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..introspection.frames import STAND_INS

Callee = Callable[[Any], Callable[..., Any]]


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

    def clear(self) -> None:
        self._functions.clear()
        self._codes.clear()

    def operator(self, converted: Callee, operators: ModuleType) -> Callee:
        """Return the operator `callee`, whose results are called at once."""
        functions, codes = self._functions, self._codes

        def callee(f: Any) -> Callable[..., Any]:
            kind = type(f)
            if kind is FunctionType:
                if (f in functions or id(f.__code__) in codes) and not operators.building:
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

        return callee
