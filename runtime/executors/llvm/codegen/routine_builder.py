"""Emits functions with dynamic trip counts, such as the random numbers of a stream.

    r = Routine(module, "agc_fill", [pointer(), integer(64)])       define void @agc_fill(ptr, i64)
    with r.counting(r.word(0), r.arguments[1]) as number:           for number from 0 to the argument:
        r.store(real, r.arguments[0], number, zero)                     address[number] ← 0
    r.finish()

Mutable values are cells, which LLVM promotes to registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .llvm_types import Register, ir, pointer, word


class StackSlot:
    """A mutable value in a stack slot."""

    def __init__(self, r: Routine, kind: Any, start: Register) -> None:
        self._r, self._kind = r, kind
        self._slot = r.top.alloca(kind)
        self._slot.type = pointer()
        self.set(start)

    def get(self) -> Register:
        return self._r.b.load(self._slot, typ=self._kind)

    def set(self, value: Register) -> None:
        self._r.b.store(value, self._slot)


class Routine:
    """A function that is being emitted; it returns void unless `result` is given. `b` is llvmlite's IRBuilder."""

    def __init__(self, module: Any, name: str, kinds: Sequence[Any], result: Any = None) -> None:
        kind = ir().FunctionType(result or ir().VoidType(), kinds)
        self.function = ir().Function(module, kind, name)
        self.module = module
        self.function.linkage = "internal"
        self.function.attributes.add("noinline")
        self.function.attributes.add("nounwind")
        self.arguments = self.function.args
        entry, start = (self.function.append_basic_block(title) for title in ("entry", "start"))
        self.top = ir().IRBuilder(entry)
        self.b = ir().IRBuilder(start)
        self._start = start

    def word(self, value: int) -> Register:
        return word(value)

    def cell(self, start: Register) -> StackSlot:
        return StackSlot(self, start.type, start)

    def at(self, kind: Any, address: Register, index: Register) -> Register:
        """Emit the address of an element."""
        return self.b.gep(address, [index], inbounds=True, source_etype=kind)

    def load(self, kind: Any, address: Register, index: Register) -> Register:
        return self.b.load(self.at(kind, address, index), typ=kind)

    def store(self, address: Register, index: Register, value: Register) -> None:
        self.b.store(value, self.at(value.type, address, index))

    @contextmanager
    def loop(self, holds: Callable[[], Register]) -> Iterator[None]:
        """Emit a loop that runs while `holds()` is true."""
        test, body, after = (self.function.append_basic_block(title) for title in ("test", "body", "after"))
        self.b.branch(test)
        self.b.position_at_end(test)
        self.b.cbranch(holds(), body, after)
        self.b.position_at_end(body)
        yield
        self.b.branch(test)
        self.b.position_at_end(after)

    @contextmanager
    def counting(self, start: Register, stop: Register, step: int | Register = 1) -> Iterator[Register]:
        """Emit a loop from `start` to `stop`; yield the induction variable."""
        number = self.cell(start)
        stride = self.word(step) if isinstance(step, int) else step
        with self.loop(lambda: self.b.icmp_signed("<", number.get(), stop)):
            now = number.get()
            yield now
            number.set(self.b.add(now, stride, flags=("nsw",)))

    @contextmanager
    def where(self, holds: Register) -> Iterator[None]:
        """Emit a block that runs if `holds` is true."""
        body, after = (self.function.append_basic_block(title) for title in ("then", "onward"))
        self.b.cbranch(holds, body, after)
        self.b.position_at_end(body)
        yield
        if not self.b.block.is_terminated:
            self.b.branch(after)
        self.b.position_at_end(after)

    def finish(self) -> Any:
        """Complete a function that returns void."""
        self.b.ret_void()
        return self.close()

    def close(self) -> Any:
        """Complete a function that already has its returns."""
        self.top.branch(self._start)
        return self.function
