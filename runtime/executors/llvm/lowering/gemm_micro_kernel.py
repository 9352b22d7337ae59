"""Writes what products of small matrices are made of: vectors of elements, and loops that carry sums."""

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
    """A function that is being written. It takes an `a` for each address in `takes`, and a `w` for each number."""

    def __init__(self, module: Any, name: str, dtype: dtypes.DType, takes: str) -> None:
        super().__init__(module, name, [pointer() if each == "a" else integer(64) for each in takes])
        self.dtype = dtype
        self.element = memory_type(dtype)
        # As NumPy does it, half floats are added up as single ones.
        self.summed = ir().FloatType() if dtype is dtypes.float16 else self.element
        self.width = tile().vector // max(dtype.size, 4 if dtype.kind == "f" else 1)

    # Numbers

    def times(self, x: Register, factor: int) -> Register:
        return self.b.mul(x, self.word(factor))

    def is_less(self, x: Register, y: Register) -> Register:
        return self.b.icmp_signed("<", x, y)

    # Memory

    def index(self, row: Register, columns: Register, column: Register) -> Register:
        """The number of an element among all of a matrix."""
        return self.b.add(self.b.mul(row, columns), column)

    def on(self, address: Register, by: int | Register) -> Register:
        """The address that is so many elements farther on."""
        return self.at(self.element, address, self.word(by) if isinstance(by, int) else by)

    def vector(self, where: Register, width: int) -> Register:
        """So many elements that stand here."""
        kind = ir().VectorType(self.element, width)
        return self.b.load(where, align=self.dtype.size, typ=kind)

    def number(self, where: Register, width: int) -> Register:
        """The element that stands here, in all places of a vector."""
        unknown = ir().Constant(ir().VectorType(self.element, width), ir().Undefined)
        first = self.b.insert_element(unknown, self.b.load(where, typ=self.element), integer(32)(0))
        return self.shuffled(first, unknown, [0] * width)

    def put(self, value: Register, where: Register) -> None:
        """Let a vector stand here."""
        self.b.store(value, where, align=self.dtype.size)

    # Sums

    def nothing(self, width: int) -> Register:
        """A vector of sums of nothing."""
        return ir().Constant(ir().VectorType(self.summed, width), None)

    def widened(self, value: Register) -> Register:
        """A vector of elements as one of sums."""
        if self.summed is self.element:
            return value
        return self.b.fpext(value, ir().VectorType(self.summed, value.type.count))

    def narrowed(self, value: Register) -> Register:
        """A vector of sums as one of elements."""
        if self.summed is self.element:
            return value
        return self.b.fptrunc(value, ir().VectorType(self.element, value.type.count))

    def added(self, total: Register, x: Register, y: Register) -> Register:
        """`total + x * y`, of sums."""
        if self.dtype.kind != "f":
            return self.b.add(total, self.b.mul(x, y))
        kind = total.type
        name = f"llvm.fmuladd.v{kind.count}{self.summed.intrinsic_name}"
        fused = self.module.globals.get(name)
        if fused is None:
            fused = ir().Function(self.module, ir().FunctionType(kind, [kind] * 3), name)
        return self.b.call(fused, [x, y, total])

    @contextmanager
    def summing(
        self, count: Register, starts: Sequence[Register]
    ) -> Iterator[tuple[Register, list[Register], list[Register]]]:
        """A loop of one round at least: its number, the sums that it carries, and a list for the next ones.

        One round alone is no loop.
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
        """The elements with these numbers, of two vectors one after the other."""
        places = ir().Constant(ir().VectorType(integer(32), len(order)), list(order))
        return self.b.shuffle_vector(x, y, places)
