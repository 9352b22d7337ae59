"""Keys of loop nests, by which equal nests are found before any code is emitted for them.

    for i < 64: y[i] ← x[i] + b        key: the code of the body; [64]; add, float32; given 0, 1, 2       given: x, b, y
    for i < 64: v[i] ← u[i] + c        the same key                                                      given: u, c, v

The key of a nest is that of the function that emits its body: the function's code, and all that it refers to. Registers
from outside are numbered in the order in which they are found. They are what the code of the nest is given.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .... import dtypes
from .dynamic_sizes import Size
from .lazy_values import ConstantArray, LazyValue
from .liveness import PROMISE
from .llvm_types import Register, ir

_PLAIN = frozenset({int, str, bool, bytes, type(None), dtypes.DType})

_NAMED = (type, types.BuiltinFunctionType, types.ModuleType, np.ufunc)

_PACKAGE = __name__.rpartition(".codegen")[0]

_UNREAD = frozenset(
    {"storage", "maker", "memory", "cost", "own_cost", "fails", "depth", "once", "size", "work"}
    | {"is_own", "addresses", "slot", "_find_cuts"}
)
"""The attributes of lazy values that the code of an element does not depend on."""

_LARGEST = 1024
"""The bytes up to which the elements of an array are part of a key. A larger array equals itself only."""


class NoKeyError(Exception):
    """Error of a body that refers to an object of an unknown kind: no other nest is equal to it."""


class NestKey:
    """The `key` of something that emits code with the emitter `e`, and the registers that it is `given`."""

    def __init__(self, e: Any, content: Any) -> None:
        self.given: list[Register] = []
        self.arrays: list[Any] = []  # arrays in the key by their addresses, which must stay alive
        self._e = e
        self._seen: dict[int, int] = {}
        self.key: Hashable = self._of(content)

    def _of(self, x: Any) -> Hashable:
        kind = type(x)
        if kind in _PLAIN:
            return kind, x
        if kind is tuple or kind is list:
            return kind, *map(self._of, x)
        number = self._seen.setdefault(id(x), len(self._seen))
        if number < len(self._seen) - 1:
            return "seen", number
        return self._of_new(kind, x)

    def _of_new(self, kind: type, x: Any) -> Hashable:
        """Return the key of an object that is not part of the key yet."""
        if isinstance(x, LazyValue):
            return self._of_node(kind, x)
        if kind is types.FunctionType:
            values = [cell.cell_contents for cell in x.__closure__ or ()]
            defaults = x.__kwdefaults__ or {}
            return id(x.__code__), self._of([*values, *(x.__defaults__ or ()), *defaults.values()])
        if kind is types.MethodType:
            return kind, self._of(x.__func__), self._of(x.__self__)
        if kind is functools.partial:
            return kind, self._of([x.func, *x.args]), self._of(x.keywords)
        if isinstance(x, tuple):
            return kind, *map(self._of, x)
        if isinstance(x, (ir().Instruction, ir().Argument)):
            return self._of_register(x)
        if isinstance(x, dict):
            return kind, *map(self._of, x.items())
        if isinstance(x, range):
            return kind, x.start, x.stop, x.step
        return self._of_other(kind, x)

    def _of_node(self, kind: type, node: LazyValue) -> Hashable:
        if node.storage is not None:
            return "stored", self._of(node.dtype), self._of(node.shape), self._of(node.storage)
        if isinstance(node, ConstantArray):
            array = node.array.ravel()[:1] if node.is_uniform else node.array
            return kind, self._of(node.dtype), self._of(node.shape), self._of_array(array)
        return kind, *(self._of(value) for name, value in vars(node).items() if name not in _UNREAD)

    def _of_register(self, x: Register) -> Hashable:
        """Return the key of a register: its type, and what the code may depend on."""
        self.given.append(x)
        origin = getattr(x, "opname", "argument")
        is_known = origin in (PROMISE, "argument") or getattr(x, "is_buffer", False)
        return str(x.type), origin if is_known else "", getattr(x, "below", None)

    def _of_array(self, array: Any) -> Hashable:
        if array.nbytes <= _LARGEST:
            return str(array.dtype), array.shape, array.tobytes()
        self.arrays.append(array)
        return "array", id(array)

    def _of_other(self, kind: type, x: Any) -> Hashable:
        if x is self._e:
            return "emitter"
        if kind is float:
            return kind, x.hex()
        if isinstance(x, np.generic):
            return str(x.dtype), x.tobytes()
        if isinstance(x, np.ndarray):
            return self._of_array(x)
        if isinstance(x, ir().Constant):
            return "constant", str(x.type), repr(x.constant)
        if isinstance(x, ir().NamedValue):  # a function or variable of the module
            return "global", x.name
        if isinstance(x, _NAMED):
            return x
        if isinstance(x, Size) or not (kind.__module__.startswith(_PACKAGE) and hasattr(x, "__dict__")):
            raise NoKeyError
        return kind, *map(self._of, vars(x).items())


def key_of(e: Any, content: Sequence[Any]) -> NestKey | None:
    """Return the key of something, or None if it has none."""
    try:
        return NestKey(e, content)
    except NoKeyError:
        return None
    except ValueError:  # an empty cell
        return None
