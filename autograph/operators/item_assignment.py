"""Operators for `x[key] = value` where `x` may be a backend's immutable value.

    x[i] = f(a)           x = ag__.put(f(a), x, i)
    x[a:b] = 0            x = ag__.put(0, x, ag__.at[a:b])
    x[i] += 1             x = ag__.put_updated('+=', lambda: 1, x, i)
    self.w[i] = v         ag__.within(self, 'w')[i] = v

In plain Python each is just the assignment.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..staging import PYTHON, backends, unbound
from ..traceback_filter import leaves_no_trace


class _Key:
    """The class of `at`: `at[1:3]` is the key that Python creates for the expression in brackets."""

    def __getitem__(self, key: Any) -> Any:
        return key


at = _Key()


@leaves_no_trace
def put(value: Any, target: Any, key: Any, *keys: Any) -> Any:
    """Assign `target[key]… = value`; return the new value of the variable, in plain Python the same object.

    >>> names = ["a", "b"]
    >>> put("c", names, 1) is names, names
    (True, ['a', 'c'])
    """
    backend = backends[type(target)]
    if keys:
        inner = target[key]
        value = put(value, inner, *keys)
        if value is inner:
            return target  # changed in place, so no need to store it again
    if backend is PYTHON:
        target[key] = value
        return target
    return backend.set_item(target, key, value)


_UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "@=": operator.imatmul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
    "&=": operator.iand,
    "^=": operator.ixor,
    "|=": operator.ior,
}


@leaves_no_trace
def put_updated(symbol: str, operand: Callable[[], Any], target: Any, key: Any, *keys: Any) -> Any:
    """Run `target[key]… += operand()`, for each of these symbols; return the same as `put`.

    >>> put_updated("+=", lambda: 5, [10, 20], 1)
    [10, 25]
    """
    inner = target
    for later in (key, *keys)[:-1]:
        inner = inner[later]
    last = keys[-1] if keys else key
    value = _UPDATES[symbol](inner[last], _value_of(operand, sys._getframe(1).f_code))
    if backends[type(inner)] is PYTHON:
        inner[last] = value
        return target
    return put(value, target, key, *keys)


def _value_of(operand: Callable[[], Any], caller: CodeType) -> Any:
    """Return `operand()`; an unbound variable raises UnboundLocalError, as a local of the caller."""
    try:
        return operand()
    except NameError as error:
        found = error
    inside = found.__traceback__ and found.__traceback__.tb_next
    is_read_here = inside is not None and inside.tb_next is None
    if is_read_here and type(found) is NameError and found.name in caller.co_cellvars:
        raise unbound(found.name).with_traceback(inside)
    raise found


def within(base: Any, name: str, *keys: Any) -> Any:
    """Return `base.name[…]`, an item of which will be assigned, or for a backend a wrapper that assigns.

    >>> class Box: items = [1, 2]
    >>> within(Box, "items") is Box.items
    True
    """
    return _within(getattr(base, name), base, name, *keys)


@leaves_no_trace
def _within(value: Any, base: Any, name: str, *keys: Any) -> Any:
    target = value
    for key in keys:
        target = target[key]
    backend = backends[type(target)]
    return target if backend is PYTHON else _Within(base, name, value, target, keys)


try:
    from ..conversion import _native_callees  # type: ignore[attr-defined, unused-ignore]
except ImportError:  # there was no C compiler at installation
    within = leaves_no_trace(within)
else:
    within = _native_callees.within(_within)


class _Within:
    """A backend's value in an attribute: assigning an item assigns the attribute."""

    def __init__(self, base: Any, name: str, value: Any, target: Any, keys: tuple[Any, ...]) -> None:
        self._base, self._name, self._value = base, name, value
        self._target, self._keys = target, keys

    @leaves_no_trace
    def __getitem__(self, key: Any) -> Any:
        return self._target[key]

    @leaves_no_trace
    def __setitem__(self, key: Any, value: Any) -> None:
        new = put(value, self._value, *self._keys, key)
        if new is not self._value:
            setattr(self._base, self._name, new)
