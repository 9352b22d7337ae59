"""Load a compiled unit: fill its table of host addresses, and make its kernel.

kernel.code([array, …])  ->  (array, …)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arena import NAME, KeptMemory
from .call.kernel import Kernel
from .call.native_call import kernel_entry
from .llvm_engine import LinkedCode


class Loader:
    """Fills the host table of a unit's code."""

    def __init__(self, unit: Any, code: LinkedCode):
        self.unit = unit
        self.code = code
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

    def kernel(
        self,
        mismatch: Callable[[Any], Any],
        failed: Callable[[Any], Any],
        fail: Callable[[Sequence[Any]], Any],
    ) -> Kernel:
        """Return the kernel of the code, with its entry from Python."""
        kernel = Kernel(self.unit, self.code.function("run"), self.unit.inputs, self.needed, fail)
        kernel.code = kernel_entry(kernel, mismatch, failed)
        return kernel

    def _address(self, name: str) -> int:
        unit = self.unit
        if name == NAME:
            return self._data(KeptMemory(unit.kept))
        if unit.meter is not None and name == unit.meter.name:
            unit.meter.table = np.zeros(2 * len(unit.meter.rows), np.int64)
            return self._data(unit.meter)
        if name in self.callbacks:
            self.needed.append(self.callbacks[name])
            return id(self.callbacks[name])
        array = unit.host.arrays[name]
        self.needed.append(array)
        return int(array.ctypes.data)

    def _data(self, holder: Any) -> int:
        """Return the address of the numbers in `holder.table`, and keep the object alive."""
        table: np.ndarray[Any, Any] = holder.table
        self.needed += [holder, table]
        return table.ctypes.data
