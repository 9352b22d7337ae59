"""Writes one function of LLVM: numbers, memory, loops over known counts, checks.

A check that fails ends the function with the code 1; the runner then runs the graph by the plan, which says what is
wrong. Inside a nest of loops a check only notes the failure, so that the loop stays free of branches and LLVM can
widen it; the note is looked at behind the nest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import dtypes
from .threads import WORTH, taken_apart
from .threads import count as count_of_threads
from .types import Element, Pair, Register, integer, ir, memory_type, pointer

FAILED = 1
INTERRUPTED = 2

WORD = 64
UNROLLED = 16
"""Tensors of so few elements are written out, element by element, so that LLVM can keep them in registers."""

_ON_STACK = 4096
_STACK = 1 << 16
_ALIGNED = 64

HEAD = 64
"""Bytes at the beginning of memory that grows."""
FIRST = 16
"""Elements that fit into it at first."""


class Emitter:
    """One function that is being written. `b` is llvmlite's builder."""

    def __init__(self, module: Any, function: Any) -> None:
        self.module = module
        self.function = function
        self._entry = function.append_basic_block("entry")
        start = function.append_basic_block("start")
        self._top = ir().IRBuilder(self._entry)
        self.b = ir().IRBuilder(start)
        self._start = start
        self._failure: Any = None
        self._noted: Register = None
        self._stack_used = 0
        self._on_stack: list[Any] = []
        self._owned: list[tuple[Register, Register, int]] = []
        self._growing: list[tuple[Register, Register, int]] = []
        self._lacking: list[Register] = []  # what is null where memory is
        self._groups: list[Any] = []
        self._ends: list[tuple[Any, int]] = []
        self._loops = 0
        self.work = 0  # elements that all nests together go through, as written so far
        self.memo: dict[Any, Any] = {}
        self.reasons: list[Any] = []  # why what was written cannot be used

    # Numbers

    def word(self, value: int) -> Register:
        """A 64-bit integer, which counts and indexes."""
        return ir().Constant(integer(WORD), value)

    def plus(self, x: Register, y: Register) -> Register:
        """The sum of two indexes."""
        if is_known(x) and is_known(y):
            return self.word(x.constant + y.constant)
        if is_known(x) and x.constant == 0:
            return y
        if is_known(y) and y.constant == 0:
            return x
        return self.b.add(x, y, flags=("nsw",))

    def minus(self, x: Register, y: Register) -> Register:
        """The difference of two indexes."""
        if is_known(y):
            return self.plus(x, self.word(-y.constant))
        return self.b.sub(x, y, flags=("nsw",))

    def times(self, x: Register, factor: int) -> Register:
        """An index times a known number."""
        if is_known(x):
            return self.word(x.constant * factor)
        return x if factor == 1 else self.b.mul(x, self.word(factor), flags=("nsw",))

    def over(self, x: Register, divisor: int) -> tuple[Register, Register]:
        """Quotient and remainder of an index, which is not negative."""
        if is_known(x):
            return self.word(x.constant // divisor), self.word(x.constant % divisor)
        if divisor == 1:
            return x, self.word(0)
        return self.b.udiv(x, self.word(divisor)), self.b.urem(x, self.word(divisor))

    def choose(self, test: Register, x: Element, y: Element) -> Element:
        """`x` where the test holds, else `y`."""
        if isinstance(x, Pair):
            return Pair(self.b.select(test, x.re, y.re), self.b.select(test, x.im, y.im))
        return self.b.select(test, x, y)

    def intrinsic(self, name: str, *arguments: Register) -> Register:
        """Call LLVM's function `llvm.NAME` for the type of its arguments."""
        kind = arguments[0].type
        suffix = f"i{kind.width}" if hasattr(kind, "width") else kind.intrinsic_name
        return self.call(f"llvm.{name}.{suffix}", kind, *arguments)

    def call(self, name: str, result: Any, *arguments: Register) -> Register:
        """Call a function by its name, declared here if it is not yet."""
        kinds = [argument.type for argument in arguments]
        return self.b.call(self.function_named(name, result, kinds), arguments)

    def function_named(self, name: str, result: Any, kinds: Sequence[Any]) -> Any:
        """A function of the module, declared now if it is not yet."""
        function = self.module.globals.get(name)
        if function is None:
            function = ir().Function(self.module, ir().FunctionType(result, kinds), name)
        return function

    # Memory

    def slot(self, kind: Any, count: int = 1) -> Register:
        """Memory for a value that changes, which LLVM makes a register of where it can."""
        return _opaque(self._top.alloca(kind, count))

    def buffer(self, size: int) -> Register:
        """Memory for so many bytes, as long as the function runs."""
        if size <= _ON_STACK and self._stack_used + size <= _STACK:
            self._stack_used += size
            made = _opaque(self._top.alloca(integer(8), max(size, 1)))
            made.align = _ALIGNED
            self._on_stack.append(made)
            return made
        slot = self.module.kept.slot(self._top)
        made = self.module.kept.take(self._top, slot, size)
        self._owned.append((slot, made, size))
        self._lacking.append(made)
        return made

    def held(self, size: int) -> Register:
        """A slot with the address of a buffer."""
        slot = self.slot(pointer())
        self._top.store(self.buffer(size), slot)
        return slot

    def growing(self, size: int) -> Register:
        """A slot with the address of memory that grows: how many elements of this size fit, and the elements."""
        kept = self.module.kept.slot(self._top)
        made = self.module.kept.take(self._top, kept, HEAD + FIRST * size)
        slot = self.slot(pointer())
        self._top.store(made, slot)
        self._lacking.append(made)
        self._growing.append((kept, slot, size))
        return slot

    def capacity(self, address: Register) -> Register:
        """How many elements fit into memory that grows. New memory is all zeros."""
        noted = self.b.load(address, typ=integer(WORD))
        return self.choose(self.b.icmp_signed("==", noted, self.word(0)), self.word(FIRST), noted)

    def host(self, name: str) -> Register:
        """The address of something of the host: it is written into a table when the code is loaded."""
        table = self.module.host
        place = self.b.gep(
            table.variable, [integer(32)(0), integer(32)(table.number(name))], source_etype=table.kind
        )
        return self.b.load(place, typ=pointer())

    def load(self, dtype: dtypes.DType, address: Register, index: Register) -> Element:
        """The element with this number."""
        kind = memory_type(dtype)
        if dtype.kind == "c":
            first = self.times(index, 2)
            return Pair(
                self._load(kind, address, first),
                self._load(kind, address, self.plus(first, self.word(1))),
            )
        found = self._load(kind, address, index)
        return self.b.trunc(found, integer(1)) if dtype.is_bool else found

    def store(self, dtype: dtypes.DType, address: Register, index: Register, value: Element) -> None:
        """Replace the element with this number."""
        if isinstance(value, Pair):
            first = self.times(index, 2)
            self._store(value.re, address, first)
            self._store(value.im, address, self.plus(first, self.word(1)))
        elif dtype.is_bool:
            self._store(self.b.zext(value, integer(8)), address, index)
        else:
            self._store(value, address, index)

    def _load(self, kind: Any, address: Register, index: Register) -> Register:
        place = self.b.gep(address, [index], inbounds=True, source_etype=kind)
        return self._grouped(self.b.load(place, typ=kind))

    def _store(self, value: Register, address: Register, index: Register) -> None:
        place = self.b.gep(address, [index], inbounds=True, source_etype=value.type)
        self._grouped(self.b.store(value, place))

    def _grouped(self, access: Register) -> Register:
        if self._groups and self._groups[-1] is not None:
            access.set_metadata("llvm.access.group", self._groups[-1])
        return access

    def copy(self, target: Register, source: Register, size: int) -> None:
        """Copy bytes."""
        if size:
            self.call(
                "llvm.memcpy.p0.p0.i64", ir().VoidType(), target, source, self.word(size), integer(1)(0)
            )

    def clear(self, target: Register, size: int) -> None:
        """Fill bytes with zeros."""
        arguments = [target, integer(8)(0), self.word(size), integer(1)(0)]
        self.call("llvm.memset.p0.i64", ir().VoidType(), *arguments)

    def copy_some(self, target: Register, source: Register, size: Register) -> None:
        """Copy so many bytes as there turn out to be."""
        self.call("llvm.memcpy.p0.p0.i64", ir().VoidType(), target, source, size, integer(1)(0))

    def clear_some(self, target: Register, size: Register) -> None:
        """Fill so many bytes with zeros."""
        self.call("llvm.memset.p0.i64", ir().VoidType(), target, integer(8)(0), size, integer(1)(0))

    # Loops and branches

    @contextmanager
    def nest(
        self, counts: Sequence[int], parallel: bool = True, threads: bool = True, inner: int = 1
    ) -> Iterator[list[Register]]:
        """Loops within each other, over known counts that are not 0; gives the numbers of the round.

        `parallel` says that no round reads what another one writes; with `threads` several may run it. A
        round goes through about `inner` elements.
        """
        outer_memo, self.memo = self.memo, {}
        outermost = not self._groups
        self._loops += 1
        group = self.module.add_metadata([f"group{self._loops}"]) if parallel else None
        self._groups.append(group if parallel else None)
        size = math.prod(counts) * inner
        if outermost:
            self.work += size
        before, first = self.b.block, len(self.function.blocks)
        shared = list(self._on_stack)  # memory that was there before a loop is that of all its threads
        opened: list[Any] = []
        numbers = [self._open(count, opened) for count in counts]
        yield numbers
        for entry in reversed(opened):
            self._close(entry, group)
        self._groups.pop()
        self.memo = outer_memo
        if outermost:
            if parallel and threads and opened and size >= WORTH and not self._is_noted:
                self._share(before, first, opened[0], shared)
            self._look_at_notes()

    def _share(self, before: Any, first: int, outermost: Any, shared: Sequence[Any]) -> None:
        number, rounds, _ = outermost
        if 1 < count_of_threads() <= rounds:
            taken_apart(self, before, first, number, rounds, self.b.block, shared)

    def _open(self, count: int, opened: list[Any]) -> Register:
        if count == 1:
            return self.word(0)
        before = self.b.block
        body = self.function.append_basic_block("loop")
        self.b.branch(body)
        self.b.position_at_end(body)
        number = self.b.phi(integer(WORD), "i")
        number.add_incoming(self.word(0), before)
        opened.append((number, count, body))
        return number

    def _close(self, entry: Any, group: Any) -> None:
        number, count, body = entry
        after = self.function.append_basic_block("after")
        following = self.b.add(number, self.word(1), flags=("nuw", "nsw"))
        number.add_incoming(following, self.b.block)
        again = self.b.icmp_unsigned("<", following, self.word(count))
        jump = self.b.cbranch(again, body, after)
        if group is not None:
            self._loops += 1
            accesses = self.module.add_metadata(["llvm.loop.parallel_accesses", group])
            jump.set_metadata("llvm.loop", self.module.add_metadata([f"loop{self._loops}", accesses]))
        self.b.position_at_end(after)

    @contextmanager
    def into(self, block: Any) -> Iterator[None]:
        """Go on in another block."""
        outer, self.memo = self.memo, {}
        self.b.position_at_end(block)
        yield
        self.memo = outer

    def block(self, name: str) -> Any:
        return self.function.append_basic_block(name)

    # Checks

    def demand(self, holds: Register) -> None:
        """Fail unless this holds."""
        if is_known(holds) and holds.constant:
            return
        if self._groups:
            if self._noted is None:
                self._noted = self.slot(integer(8))
                self._top.store(integer(8)(0), self._noted)
            broken = self.b.zext(self.b.not_(holds), integer(8))
            self.b.store(self.b.or_(self.b.load(self._noted, typ=integer(8)), broken), self._noted)
            self._is_noted = True
        else:
            self.fail_unless(holds)

    _is_noted = False

    def _look_at_notes(self) -> None:
        if self._is_noted:
            self._is_noted = False
            noted = self.b.load(self._noted, typ=integer(8))
            self.fail_unless(self.b.icmp_unsigned("==", noted, integer(8)(0)))

    def fail_unless(self, holds: Register) -> None:
        """Leave the function unless this holds."""
        onward = self.block("onward")
        self.b.cbranch(holds, onward, self.failure())
        self.b.position_at_end(onward)

    def failure(self) -> Any:
        """The block that leaves the function with `FAILED`."""
        if self._failure is None:
            self._failure = self.block("failure")
            self._ends.append((self._failure, FAILED))
        return self._failure

    def end_with(self, code: int) -> Any:
        """A new block that leaves the function with this code."""
        block = self.block("end")
        self._ends.append((block, code))
        return block

    def finish(self) -> None:
        """Complete the function: success where it stands now."""
        self._ends.append((self.b.block, 0))
        if self._lacking and self._failure is None:
            self.failure()
        leave = self.block("leave")
        for block, _ in self._ends:
            ir().IRBuilder(block).branch(leave)
        body = self._start
        if self._lacking:
            null = ir().Constant(pointer(), None)
            lacks = [self._top.icmp_unsigned("==", made, null) for made in self._lacking]
            lacking = lacks[0]
            for other in lacks[1:]:
                lacking = self._top.or_(lacking, other)
            self._top.cbranch(lacking, self._failure, body)
        else:
            self._top.branch(body)
        self.b.position_at_end(leave)
        code = self.b.phi(integer(32), "code")
        for block, number in self._ends:
            code.add_incoming(integer(32)(number), block)
        for kept, made, size in self._owned:
            self.module.kept.give(self.b, kept, made, self.word(size))
        for kept, slot, size in self._growing:
            address = self.b.load(slot, typ=pointer())
            self.module.kept.give(self.b, kept, address, self.times(self.capacity(address), size))
        self.b.ret(code)


def _opaque(address: Register) -> Register:
    """An address as LLVM has them, without the type of what stands there, which llvmlite still notes."""
    address.type = pointer()
    return address


def is_known(x: Register) -> bool:
    """Whether a register is a constant."""
    return isinstance(x, ir().Constant)
