"""Structural keys of lazy values and lowering rules: what decides the code that they emit, but for registers.

    sum of (a * b), a and b in memory at %1 and %2      ==>      key (sum, (multiply, buffer 0, buffer 1)), [%1, %2]
    sum of (c * d), c and d in memory at %3 and %4               the same key,                              [%3, %4]

Rules are functions: the key of a function has its code and the values that it captured.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from .... import dtypes
from .function_builder import Emitter
from .lazy_values import Buffer, ConstantArray, LazyElementwise, LazyValue
from .llvm_types import Register, ir

_SMALL = 64
"""The size in bytes up to which arrays are compared by content."""

_CACHES = frozenset({"storage", "memory", "maker", "size", "depth", "_address", "_is_whole"})
"""Attributes of lazy values that follow from others, or that do not decide about code."""


_ATOMS = frozenset({int, str, bool, bytes, type(None)})

_KNOWN = (dtypes.DType, type, np.ufunc, types.BuiltinFunctionType)
"""Objects that are compared by identity."""


class Described:
    """An object whose attributes are all that decides about code."""


class UnknownStructureError(Exception):
    """An object may decide about code in an unknown way."""


class _Same:
    """A key that equals only that of the same object, which lives as long as the key."""

    __slots__ = ("_object",)

    def __init__(self, x: Any) -> None:
        self._object = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._object is self._object

    def __hash__(self) -> int:
        return id(self._object)


class Description:
    """The description of objects, and the registers in them, in the order in which they are found."""

    def __init__(self, e: Emitter) -> None:
        self._e = e
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # objects must live: their numbers are found by `id`
        self.registers: list[Register] = []

    def of(self, x: Any) -> Hashable:
        """Return the key of an object. Objects that occur again have a number."""
        kind = type(x)
        if kind in _ATOMS:
            return kind, x
        if kind is float or kind is complex:
            return kind, np.asarray(x).tobytes()
        if isinstance(x, (tuple, list)):
            if set(map(type, x)) == {int}:
                return kind, int, tuple(x)  # these are no numbers of objects
            return kind, tuple([self.of(each) for each in x])
        if isinstance(x, Mapping):
            return kind, tuple([(key, self.of(value)) for key, value in x.items()])
        if isinstance(x, _KNOWN) or (kind is types.FunctionType and not (x.__closure__ or x.__defaults__)):
            return x  # type: ignore[no-any-return]
        number = self._numbers.get(id(x))
        if number is not None:
            return number
        self._numbers[id(x)] = len(self._numbers)
        self._kept.append(x)
        return kind, self._content(x)

    def _content(self, x: Any) -> Hashable:
        if isinstance(x, LazyValue):
            return self._lazy(x)
        if isinstance(x, ir().Value):
            return self._register(x)
        if isinstance(x, types.FunctionType):
            return self._function(x)
        if isinstance(x, types.MethodType):
            return self.of(x.__func__), self.of(x.__self__)
        if isinstance(x, functools.partial):
            return self.of(x.func), self.of(x.args), self.of(x.keywords)
        if isinstance(x, Described):
            return self._attributes(x)
        if isinstance(x, np.ndarray):
            return x.dtype.str, x.shape, x.tobytes() if x.nbytes <= _SMALL else _Same(x)
        if x is self._e:
            return "emitter"
        raise UnknownStructureError(type(x).__name__)

    def _lazy(self, x: LazyValue) -> Hashable:
        if x.storage is not None:
            return self.of(x.storage)
        if isinstance(x, Buffer):
            return x.dtype, x.shape, x.stays, x.in_list, self.of(x.address), self.of(x.slot)
        if isinstance(x, ConstantArray):
            return self.of(x.array)
        if isinstance(x, LazyElementwise):
            given = tuple([self.of(each) for each in x.operands])
            return x.dtype, self.of(x.shape), self.of(x.rule), self._site(x.site), x.own_cost, x.cost, given
        return self._attributes(x)

    def _site(self, site: Any) -> Hashable:
        attributes = self.of(site.attrs) if site.attrs else None
        return site.type, site.dtype, site.result, site.may_fail, attributes

    def _attributes(self, x: Any) -> Hashable:
        return tuple([(name, self.of(value)) for name, value in vars(x).items() if name not in _CACHES])

    def _register(self, x: Register) -> Hashable:
        if isinstance(x, ir().Constant):
            return str(x)
        if id(x) in self._e.remainders:
            raise UnknownStructureError("remainder")
        self.registers.append(x)
        return str(x.type), getattr(x, "below", None)

    def _function(self, x: types.FunctionType) -> Hashable:
        captured = [cell.cell_contents for cell in x.__closure__ or ()]
        return _Same(x.__code__), self.of(captured), self.of(x.__defaults__), self.of(x.__kwdefaults__)


def emitted(e: Emitter, what: Sequence[Any], emit: Callable[[], None]) -> None:
    """Emit code by `emit`, or by a copy of code that was emitted before, if `what` determines the code."""
    if not e.copies:
        return emit()
    description = Description(e)
    try:
        key = description.of(what)
    except UnknownStructureError:
        return emit()
    return e.emitted(key, description.registers, emit)
