"""Arena: memory that a compiled function keeps between calls, since the system must clear new memory first.

    take(slot, size, l)    ==>   address ← exchange(slot, null);  if null: address ← calloc(size), or l ← 1
    give(slot, address)    ==>   other ← exchange(slot, address);  free(other)        if it is not too large

A call takes ownership of the kept memory, so concurrent calls never share memory. The second call allocates
its own, and the last call to give memory back frees the memory that is in the slot.
"""

from __future__ import annotations

import ctypes
import math
import weakref
from typing import Any

import numpy as np

from ...ir.value_types import TensorType
from .codegen.llvm_types import Register, integer, ir, pointer

HEAD = 64
"""Bytes of the header of growing memory, which begins with the capacity; 0 in new memory."""

LARGEST = 64 << 20
"""The maximum size in bytes of memory that is kept."""

_SMALL = 4096  # bytes of a result below which two arrays are kept

NAME = "kept"
"""The name of a module's arena table among the host objects that are bound when the code is loaded."""


class Arena:
    """The slots that keep the memory of a module between calls."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.count = 0

    def table(self, b: Any) -> Register:
        """Emit the address of the table of slots."""
        host = self._module.host
        address = b.gep(host.variable, [integer(64)(host.number(NAME))], source_etype=pointer())
        return b.load(address, typ=pointer())

    def slot(self, b: Any, table: Register) -> Register:
        """Emit the address of a new slot."""
        self.count += 1
        return b.gep(table, [integer(64)(self.count - 1)], source_etype=integer(64))

    def take(self, b: Any, slot: Register, size: int, lacking: Register) -> Register:
        """Emit code that takes `size` bytes; if out of memory, it stores 1 at `lacking`."""
        function = self._declared("agc_take", pointer(), pointer(), integer(64), pointer())
        function.return_value.add_attribute("noalias")
        return b.call(function, [slot, integer(64)(size), lacking])

    def give(self, b: Any, slot: Register, address: Register, size: Register) -> None:
        """Emit code that keeps memory of `size` bytes for the next call, or frees it."""
        function = self._declared("agc_give", ir().VoidType(), pointer(), pointer(), integer(64))
        b.call(function, [slot, address, size])

    def fit(self, b: Any, slot: Register, size: Register) -> Register:
        """Emit the address after the header of growing memory with at least `size` bytes; null if out of memory."""
        return b.call(self._declared("agc_fit", pointer(), pointer(), integer(64)), [slot, size])

    def _declared(self, name: str, result: Any, *kinds: Any) -> Any:
        """Declare a function of the runtime library in the module."""
        found = self._module.globals.get(name)
        return found or ir().Function(self._module, ir().FunctionType(result, kinds), name)


def kept_arrays(spec: TensorType) -> int:
    """Return how many arrays of a result are kept for later calls.

    A small array is used by the call after the next one, so that y = f(y) finds a free array.
    """
    size = size_of(spec)
    return 0 if size > LARGEST else 1 if size >= _SMALL else 2


def size_of(spec: TensorType) -> int:
    """Return the bytes of a tensor."""
    return math.prod(length or 0 for length in spec.shape or ()) * spec.dtype.size


tables: weakref.WeakSet[KeptMemory] = weakref.WeakSet()
"""The tables of all functions."""


class KeptMemory:
    """The table of a function's kept memory. It is owned by Python, since it outlives the code."""

    def __init__(self, count: int) -> None:
        self.table = np.zeros(max(count, 1), np.int64)
        tables.add(self)

    def __del__(self) -> None:
        for address in self.table.tolist():
            ctypes.pythonapi.PyMem_RawFree(ctypes.c_void_p(address))
