"""Load a compiled unit: fill its table of host addresses, and make its kernel.

kernel.code([array, …])  ->  (array, …)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.value_types import TensorType
from .arena import NAME, KeptMemory
from .call.native_call import kernel_entry
from .codegen.instrumentation import TABLE
from .compilation_unit import CompilationUnit, content
from .llvm_engine import LinkedCode


class Kernel:
    """Native code for inputs of given shapes. `address` is a function of the addresses of inputs and results.

    `code` is its entry from Python. `fail` runs the plan, which reports the error, after a check has failed.
    """

    def __init__(
        self,
        loader: Loader,
        mismatch: Callable[[Any], Any],
        failed: Callable[[Any], Any],
        fail: Callable[[Sequence[Any]], Any],
    ) -> None:
        unit = loader.unit
        self.address = loader.code.function("run")
        self.inputs: Sequence[TensorType] = loader.inputs
        self.results: Sequence[TensorType] = unit.results
        self.assigned: Sequence[int] = (
            unit.assigned
        )  # the variable inputs whose new values are the last results
        self.is_long = unit.is_long  # whether the kernel runs without the GIL
        self.fail = fail
        self._needed = loader.needed
        self.code: Callable[[Any], Any] = kernel_entry(self, mismatch, failed)

    def kernel_for(self, arguments: Sequence[Any]) -> Kernel:
        """Return the kernel of `code` (runners.py)."""
        return self


class Loader:
    """Fills the host table of a unit's code."""

    def __init__(self, unit: CompilationUnit, code: LinkedCode):
        self.unit = unit
        self.code = code
        self.inputs = [content(value.spec) for value in unit.graph.inputs]
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

    def _address(self, name: str) -> int:
        unit = self.unit
        if name == NAME:
            return self._data(KeptMemory(unit.module.kept.count))
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
