"""Memory that a compiled function keeps from one call to the next: what is new must be cleared by the system first.

    take(slot, size)       ==>   address ← exchange(slot, none);  none there: address ← malloc(size)
    give(slot, address)    ==>   other ← exchange(slot, address);  free(other)        where it is not too large

A call takes what is kept, so that calls at the same time do not meet: the second one gets memory of its own, and the
last to give it back frees what is there.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .emit.types import Register, integer, ir, pointer

SPARE = "spare"
"""What the table of arrays is called that wait to become results."""

HEAD = 64
"""Bytes at the beginning of memory that grows, of which the first say how much fits; 0 in new memory."""

LARGEST = 64 << 20
"""Bytes that are kept in one piece."""

NAME = "kept"
"""What the table of a module is called among what is known only when the code is loaded."""


class Kept:
    """The places where the memory of a module is kept between calls."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.count = 0

    def slot(self, b: Any) -> Register:
        """The address of a new place."""
        host = self._module.host
        place = b.gep(host.variable, [integer(64)(host.number(NAME))], source_etype=pointer())
        self.count += 1
        return b.gep(b.load(place, typ=pointer()), [integer(64)(self.count - 1)], source_etype=integer(64))

    def take(self, b: Any, slot: Register, size: int) -> Register:
        """So many bytes, or null."""
        return b.call(self._taking(), [slot, integer(64)(size)])

    def give(self, b: Any, slot: Register, address: Register, size: Register) -> None:
        """Keep memory of so many bytes for the next call, or free it."""
        b.call(self._giving(), [slot, address, size])

    def fit(self, b: Any, slot: Register, size: Register) -> Register:
        """The address behind the head of memory that a slot holds, of so many bytes at least; or null."""
        return b.call(self._fitting(), [slot, size])

    def _fitting(self) -> Any:
        found = self._module.globals.get("agc_fit")
        if found is not None:
            return found
        word = integer(64)
        found = self._function("agc_fit", pointer(), [pointer(), word])
        b = ir().IRBuilder(found.append_basic_block("entry"))
        slot, size = found.args
        fits, small, made, lacking = (
            found.append_basic_block(name) for name in ("fits", "small", "made", "lacking")
        )
        old = b.load(slot, typ=pointer())
        b.cbranch(b.icmp_unsigned(">=", b.load(old, typ=word), size), fits, small)
        b.position_at_end(fits)
        b.ret(b.gep(old, [word(HEAD)], source_etype=integer(8)))
        b.position_at_end(small)
        wanted = b.add(size, b.lshr(size, word(2)))
        new = b.call(self._outside("PyMem_RawMalloc", pointer(), [word]), [b.add(wanted, word(HEAD))])
        b.cbranch(b.icmp_unsigned("!=", new, ir().Constant(pointer(), None)), made, lacking)
        b.position_at_end(made)
        b.call(self._outside("PyMem_RawFree", ir().VoidType(), [pointer()]), [old])
        b.store(wanted, new)
        b.store(new, slot)
        b.ret(b.gep(new, [word(HEAD)], source_etype=integer(8)))
        b.position_at_end(lacking)
        b.ret(ir().Constant(pointer(), None))
        return found

    def _taking(self) -> Any:
        found = self._module.globals.get("agc_take")
        if found is None:
            found = self._function("agc_take", pointer(), [pointer(), integer(64)])
            found.return_value.add_attribute("noalias")
            b = ir().IRBuilder(found.append_basic_block("entry"))
            slot, size = found.args
            kept = b.atomic_rmw("xchg", slot, integer(64)(0), "acquire")
            lacking, there = (found.append_basic_block(name) for name in ("lacking", "there"))
            b.cbranch(b.icmp_unsigned("==", kept, integer(64)(0)), lacking, there)
            b.position_at_end(there)
            b.ret(b.inttoptr(kept, pointer()))
            b.position_at_end(lacking)
            b.ret(
                b.call(self._outside("PyMem_RawCalloc", pointer(), [integer(64)] * 2), [integer(64)(1), size])
            )
        return found

    def _giving(self) -> Any:
        found = self._module.globals.get("agc_give")
        if found is None:
            found = self._function("agc_give", ir().VoidType(), [pointer(), pointer(), integer(64)])
            b = ir().IRBuilder(found.append_basic_block("entry"))
            slot, address, size = found.args
            large, small = (found.append_basic_block(name) for name in ("large", "small"))
            b.cbranch(b.icmp_unsigned(">", size, integer(64)(LARGEST)), large, small)
            b.position_at_end(large)
            b.call(self._outside("PyMem_RawFree", ir().VoidType(), [pointer()]), [address])
            b.ret_void()
            b.position_at_end(small)
            other = b.atomic_rmw("xchg", slot, b.ptrtoint(address, integer(64)), "release")
            free = self._outside("PyMem_RawFree", ir().VoidType(), [pointer()])
            b.call(free, [b.inttoptr(other, pointer())])
            b.ret_void()
        return found

    def _function(self, name: str, result: Any, kinds: list[Any]) -> Any:
        made = ir().Function(self._module, ir().FunctionType(result, kinds), name)
        made.linkage = "internal"
        made.attributes.add("noinline")
        return made

    def _outside(self, name: str, result: Any, kinds: list[Any]) -> Any:
        found = self._module.globals.get(name)
        return found or ir().Function(self._module, ir().FunctionType(result, kinds), name)


class Memory:
    """The table of what a function keeps, which is freed with it. It belongs to Python, for it outlives the code."""

    def __init__(self, count: int) -> None:
        self.table = np.zeros(max(count, 1), np.int64)

    def __del__(self) -> None:
        for address in self.table.tolist():
            ctypes.pythonapi.PyMem_RawFree(ctypes.c_void_p(address))


class Spares:
    """The arrays that a function keeps for its next results."""

    def __init__(self, count: int) -> None:
        self.table = np.zeros(count, np.int64)

    def __del__(self) -> None:
        for address in self.table.tolist():
            ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(address))
