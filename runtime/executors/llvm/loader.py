"""Load a compiled unit: fill its table of host addresses, and make its entry and its kernel.

entry([array, …])  ->  (array, …)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir.value_types import TensorType
from . import runtime_library
from .arena import NAME, FreeList, Memory, is_worth_keeping
from .call.call_codegen import WORD, Words
from .call.cpython_layout import Method, builtin
from .call.ctypes_entry import CtypesEntry
from .call.entry_stub import ENTRY_HEADER
from .call.layout_check import unknown_layout
from .codegen.instrumentation import TABLE
from .compilation_unit import CompilationUnit, content
from .llvm_engine import Code

_TAKES_ONE = 8  # METH_O


class Kernel(NamedTuple):
    """Native code for inputs of given shapes. `address` is a function of the addresses of inputs and results."""

    address: int
    inputs: Sequence[TensorType]
    results: Sequence[TensorType]
    assigned: Sequence[int]
    """The variable inputs whose new values are the last results."""
    is_long: bool
    """Whether the kernel runs without the GIL."""
    spares: dict[int, int]
    """Addresses of the slots with arrays for the next results, by index of the result."""
    fail: Callable[[Sequence[Any]], Any]
    """The fallback that runs when a check fails, and reports the error."""
    needed: Sequence[Any]


class Table(np.ndarray[Any, Any]):
    """The table of an entry stub for one kernel. It keeps alive everything that the built-in function needs."""

    needed: Any
    kernel: Kernel

    def kernel_for(self, arguments: Sequence[Any]) -> Kernel:
        return self.kernel


class Loader:
    """Fills the host table of a unit's code."""

    def __init__(
        self, unit: CompilationUnit, code: Code, mismatch: Callable[[Any], Any], failed: Callable[[Any], Any]
    ):
        self.unit = unit
        self.code = code
        self.inputs = [content(value.spec) for value in unit.graph.inputs]
        self.functions = (mismatch, failed)
        self.needed: list[Any] = [code]
        self.callbacks = {
            f"{kind} {i}": function
            for i, callback in enumerate(unit.host.callbacks)
            for kind, function in callback.functions()
        }
        numbers = unit.host.numbers
        table = (ctypes.c_void_p * max(len(numbers), 1)).from_address(code.variable("host"))
        for name, number in numbers.items():
            table[number] = self._address(name)
        first = self._data(FreeList(len(unit.results)))
        self.spares = {i: first + WORD * i for i, spec in enumerate(unit.results) if is_worth_keeping(spec)}

    def _address(self, name: str) -> int:
        unit = self.unit
        if name == NAME:
            return self._data(Memory(unit.module.kept.count))
        if name == TABLE:
            assert unit.meter is not None
            unit.meter.table = np.zeros(2 * len(unit.meter.rows), np.int64)
            return self._data(unit.meter)
        if name in self.callbacks:
            self.needed.append(self.callbacks[name])
            return id(self.callbacks[name])
        array = unit.host.arrays[name]
        self.needed.append(array)
        return array.ctypes.data

    def _data(self, holder: Any) -> int:
        """Return the address of the numbers in `holder.table`, and keep the object alive."""
        table: np.ndarray[Any, Any] = holder.table
        self.needed += [holder, table]
        return table.ctypes.data

    def kernel(self, fail: Callable[[Sequence[Any]], Any]) -> Kernel:
        """Return the kernel of the unit, for callers without the entry."""
        unit, address = self.unit, self.code.function("run")
        return Kernel(
            address, self.inputs, unit.results, unit.assigned, unit.is_long, self.spares, fail, self.needed
        )

    def entry(self, kernel: Kernel) -> Callable[[Any], Any]:
        """Return the built-in function, or a ctypes entry if native code cannot read objects."""
        mismatch, failed = self.functions
        if unknown_layout():
            return CtypesEntry(kernel, mismatch, failed)
        words = Words()
        known = {**words.of_kernel(kernel, failed), "list": id(list), "mismatch": words.id(mismatch)}
        table = np.array([known[name] for name in ENTRY_HEADER], np.int64).view(Table)
        method = Method(self.unit.graph.name.encode(), runtime_library.address("agc_entry"), _TAKES_ONE, None)
        table.needed, table.kernel = (method, words), kernel
        return builtin(method, table)
