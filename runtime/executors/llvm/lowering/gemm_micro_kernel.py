"""Building blocks of small GEMM micro-kernels: vector loads, splats, and loops with accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .... import dtypes
from ..codegen.llvm_types import Register, integer, ir, memory_type, pointer
from ..codegen.routine_builder import Routine
from ..codegen.scalar_builder import is_known
from .gemm_packing import tile


class Vectors(Routine):
    """A function under construction. `takes` has an `a` for each pointer parameter, and a `w` for each integer."""

    def __init__(self, module: Any, name: str, dtype: dtypes.DType, takes: str) -> None:
        super().__init__(module, name, [pointer() if each == "a" else integer(64) for each in takes])
        self.dtype = dtype
        self.element = memory_type(dtype)
        self.width = tile().vector // dtype.size

    # Integers

    def times(self, x: Register, factor: int) -> Register:
        return self.b.mul(x, self.word(factor))

    def is_less(self, x: Register, y: Register) -> Register:
        return self.b.icmp_signed("<", x, y)

    # Memory

    def index(self, row: Register, columns: Register, column: Register) -> Register:
        """Return the row-major index of an element of a matrix."""
        return self.b.add(self.b.mul(row, columns), column)

    def on(self, address: Register, by: int | Register) -> Register:
        """Return the address `by` elements after `address`."""
        return self.at(self.element, address, self.word(by) if isinstance(by, int) else by)

    def vector(self, where: Register, width: int) -> Register:
        """Load a vector of `width` elements."""
        kind = ir().VectorType(self.element, width)
        return self.b.load(where, align=self.dtype.size, typ=kind)

    def number(self, where: Register, width: int) -> Register:
        """Load one element and splat it."""
        unknown = ir().Constant(ir().VectorType(self.element, width), ir().Undefined)
        first = self.b.insert_element(unknown, self.b.load(where, typ=self.element), integer(32)(0))
        return self.shuffled(first, unknown, [0] * width)

    def put(self, value: Register, where: Register) -> None:
        """Store a vector."""
        self.b.store(value, where, align=self.dtype.size)

    # Accumulators

    def nothing(self, width: int) -> Register:
        """Return a zero accumulator."""
        return ir().Constant(ir().VectorType(self.element, width), None)

    def added(self, total: Register, x: Register, y: Register) -> Register:
        """Emit `total + x * y`."""
        if self.dtype.kind != "f":
            return self.b.add(total, self.b.mul(x, y))
        kind = total.type
        name = f"llvm.fmuladd.v{kind.count}{self.element.intrinsic_name}"
        fused = self.module.globals.get(name)
        if fused is None:
            fused = ir().Function(self.module, ir().FunctionType(kind, [kind] * 3), name)
        return self.b.call(fused, [x, y, total])

    @contextmanager
    def summing(
        self, count: Register, starts: Sequence[Register]
    ) -> Iterator[tuple[Register, list[Register], list[Register]]]:
        """Emit a loop of at least one iteration: its index, its accumulators, and a list for their next values.

        A single iteration emits no loop.
        """
        if is_known(count) and count.constant == 1:
            yield self.word(0), list(starts), []
            return
        before = self.b.block
        body, after = (self.function.append_basic_block(title) for title in ("sum", "after"))
        self.b.branch(body)
        self.b.position_at_end(body)
        number = self.b.phi(integer(64))
        sums = [self.b.phi(start.type) for start in starts]
        following: list[Register] = []
        yield number, sums, following
        end, next_number = self.b.block, self.b.add(number, self.word(1), flags=("nuw", "nsw"))
        first, last = [self.word(0), *starts], [next_number, *following]
        for phi, start, value in zip([number, *sums], first, last, strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(value, end)
        self.b.cbranch(self.is_less(next_number, count), body, after)
        self.b.position_at_end(after)

    # Shuffles

    def shuffled(self, x: Register, y: Register, order: Sequence[int]) -> Register:
        """Return a shuffle of two vectors."""
        mask = ir().Constant(ir().VectorType(integer(32), len(order)), list(order))
        return self.b.shuffle_vector(x, y, mask)
