"""A compiled unit in memory: the built-in function that takes arrays, and the kernel behind it.

entry([array, …])  ->  (array, …)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ir.specs import Spec
from .emit.metering import TABLE
from .engine import Code
from .entry import PACKED, is_worth_keeping
from .memory import NAME, SPARE, Memory, Spares
from .objects import Method
from .unit import Unit, content

_TAKES_ONE = 8  # METH_O


class Kernel(NamedTuple):
    """Machine code for inputs of some shapes: `address` is that of a function of their addresses and the results'."""

    address: int
    inputs: Sequence[Spec]
    results: Sequence[Spec]
    assigned: Sequence[int]
    """The inputs, variables, whose new values are the last results."""
    is_long: bool
    """Whether Python's lock is given up meanwhile."""
    spares: dict[int, int]
    """Where the array for the next result is kept, by the number of the result."""
    fail: Callable[[Sequence[Any]], Any]
    """What runs instead where a check fails, and says why."""
    needed: Sequence[Any]


class _Keeper:
    """What a built-in function needs as long as it lives."""

    def __init__(self, kernel: Kernel, *needed: Any) -> None:
        self.kernel = kernel
        self.needed = needed

    def kernel_for(self, arguments: Sequence[Any]) -> Kernel:
        return self.kernel


class Loader:
    """Fills the table of a unit's code with what is known only now."""

    def __init__(self, unit: Unit, code: Code, mismatch: Callable[[Any], Any], failed: Callable[[Any], Any]):
        self.unit = unit
        self.code = code
        self.objects = {"list": list, "ndarray": np.ndarray, "mismatch": mismatch, "failed": failed}
        self.needed: list[Any] = [code, mismatch, failed, *unit.host.callbacks]
        self.functions = {
            f"{kind} {i}": address
            for i, callback in enumerate(unit.host.callbacks)
            for kind, address in callback.functions()
        }
        self.spares: Spares | None = None
        numbers = unit.host.numbers
        table = (ctypes.c_void_p * max(len(numbers), 1)).from_address(code.variable("host"))
        for name, number in numbers.items():
            table[number] = self._address(name)

    def _address(self, name: str) -> int:
        unit = self.unit
        if name == NAME:
            return self._data(Memory(unit.module.kept.count))
        if name == SPARE:
            self.spares = Spares(len(unit.results))
            return self._data(self.spares)
        if name == TABLE:
            assert unit.meter is not None
            unit.meter.table = np.zeros(2 * len(unit.meter.rows), np.int64)
            return self._data(unit.meter)
        if name in self.functions:
            return self.functions[name]
        if name in unit.host.arrays:
            array = unit.host.arrays[name]
            self.needed.append(array)
            return array.ctypes.data
        thing = np.dtype(name[6:]) if name.startswith("dtype ") else self.objects[name]
        self.needed.append(thing)
        return id(thing)

    def _data(self, holder: Any) -> int:
        """Where the numbers are that belong to an object."""
        table: np.ndarray[Any, Any] = holder.table
        self.needed += [holder, table]
        return table.ctypes.data

    def kernel(self, assigned: Sequence[int], fail: Callable[[Sequence[Any]], Any]) -> Kernel:
        """The kernel of the unit, for those who call it themselves."""
        unit = self.unit
        inputs = [content(value.spec) for value in unit.graph.inputs]
        spares = {}
        if self.spares is not None:
            first = self.spares.table.ctypes.data
            spares = {i: first + 8 * i for i, spec in enumerate(unit.results) if is_worth_keeping(spec)}
        address = self.code.function(PACKED)
        return Kernel(address, inputs, unit.results, assigned, unit.is_long, spares, fail, self.needed)

    def entry(self, kernel: Kernel) -> Callable[[Any], Any]:
        """The built-in function."""
        method = Method(self.unit.graph.name.encode(), self.code.function("entry"), _TAKES_ONE, None)
        return builtin(method, _Keeper(kernel, method, *self.needed))


def builtin(method: Method, owner: Any) -> Callable[..., Any]:
    """A built-in function as the method of an object, which must keep what the machine code needs."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    made: Callable[..., Any] = make(ctypes.addressof(method), owner, None)
    return made
