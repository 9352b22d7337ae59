"""Functions of native code that tests write by hand: they read and write buffers whose places are to be decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agc.runtime.executors.llvm.codegen.buffer_assignment import ElementwiseNest, assign_buffers, pairs
from agc.runtime.executors.llvm.codegen.liveness import Addresses, born, promised
from agc.runtime.executors.llvm.codegen.llvm_types import integer, ir, pointer


class Code:
    """A function that is written by hand: it reads and writes buffers of one size."""

    def __init__(self) -> None:
        nothing = ir().VoidType()
        self.module = ir().Module()
        kind = ir().FunctionType(nothing, [pointer(), integer(64)])
        self.function = ir().Function(self.module, kind, "f")
        self.somewhere, self.number = self.function.args
        self.entry = self.function.append_basic_block("entry")
        self.b = ir().IRBuilder(self.entry)
        self.promises: list[Any] = []

    def buffer(self) -> Any:
        """A new buffer, born here."""
        made = promised(self.entry, 64)
        self.promises.append(made)
        self.b._insert(born(self.b.block, made))
        return made

    def blocks(self, *names: str) -> list[Any]:
        return [self.function.append_basic_block(name) for name in names]

    def slot(self) -> Any:
        made = self.b.alloca(integer(64))
        made.type = pointer()
        return made

    def call(self, *operands: Any) -> Any:
        """Something that may read and write whatever it reaches."""
        kinds = [operand.type for operand in operands]
        name = self.module.get_unique_name("other")
        return self.b.call(
            ir().Function(self.module, ir().FunctionType(pointer(), kinds), name), list(operands)
        )

    def read(self, address: Any) -> Any:
        return self.b.load(address, typ=integer(64))

    def write(self, address: Any) -> None:
        self.b.store(integer(64)(1), address)

    def met(self, a: Any, b: Any) -> Any:
        """One of two addresses, by which way it is come to."""
        one, other, behind = self.blocks("one", "other", "behind")
        self.b.cbranch(self.b.icmp_signed("<", self.number, integer(64)(1)), one, other)
        for block in (one, other):
            self.b.position_at_end(block)
            self.b.branch(behind)
        self.b.position_at_end(behind)
        found = self.b.phi(pointer())
        found.add_incoming(a, one)
        found.add_incoming(b, other)
        return found

    def nest(self, write: Callable[[Any], None]) -> ElementwiseNest:
        """A loop over elements, of which this writes the body for the number of the round."""
        before = self.b.block
        body, behind = self.blocks("body", "behind")
        self.b.branch(body)
        self.b.position_at_end(body)
        i = self.b.phi(integer(64))
        i.add_incoming(integer(64)(0), before)
        write(i)
        following = self.b.add(i, integer(64)(1))
        i.add_incoming(following, self.b.block)
        self.b.cbranch(self.b.icmp_unsigned("<", following, self.number), body, behind)
        blocks = self.function.blocks[self.function.blocks.index(body) :]
        blocks.remove(behind)
        self.b.position_at_end(behind)
        return ElementwiseNest(before, behind, pairs(blocks), None)

    def element(self, address: Any, i: Any, bits: int = 64) -> Any:
        """Load the element at a position of a buffer."""
        return self.b.load(self.b.gep(address, [i], source_etype=integer(bits)), typ=integer(bits))

    def put(self, value: Any, address: Any, i: Any) -> None:
        """Store a number at a position of a buffer."""
        self.b.store(value, self.b.gep(address, [i], source_etype=value.type))

    def meet(self, *nests: ElementwiseNest) -> list[list[int]]:
        """The buffers by their numbers, those together that share a place."""
        addresses = Addresses(self.function.blocks, self.promises)
        found = assign_buffers(self.function.blocks, self.entry, self.promises, nests, 0, addresses)
        return sorted([self.promises.index(each) for each in place.promises] for place in found)
