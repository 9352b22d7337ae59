"""Emits index arithmetic and addresses: each sum once, and outside of the loops that it does not depend on.

    for i:                                    for i:
      for j:                                    s = 448 i
        load x[(i * 14 + j) * 32 + 1]   ==>     p = x + s
        load x[(i * 14 + j) * 32 + 2]           for j:
                                                  q = p + 32 j
                                                  load q[1]
                                                  load q[2]

LLVM would find the same, but takes longer. It cannot move loads of indices out of loops that write to memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .affine import INFINITE, Affine, Term, combined, divided, is_natural, limit, split
from .dynamic_sizes import Size
from .llvm_types import Register, ir, word
from .scalar_builder import Arithmetic


class LoopLevel:
    """The code of a loop's body between its inner loops, or of the function between its nests.

    `block` is its last basic block, and `known` has the instructions that are valid there. A parallel loop has the
    access group of its nest.
    """

    __slots__ = ("block", "blocks", "group", "known")

    def __init__(self, block: Any, group: Any = None) -> None:
        self.block, self.group = block, group
        self.blocks = {block}
        self.known: dict[Any, Register] = {}

    def go_on(self, block: Any, keep: bool) -> None:
        """Continue in another block; with `keep`, the instructions so far are valid there."""
        self.block = block
        self.blocks.add(block)
        if not keep:
            self.known = {}


@functools.cache
def _class() -> Any:
    class SettlingBuilder(ir().IRBuilder):  # type: ignore[misc]
        """llvmlite's builder, with instructions that accept affine expressions as operands."""

        settle: Callable[[Register], Register]

        def _insert(self, instr: Any) -> None:
            if Affine in map(type, instr.operands):
                instr.operands = list(map(self.settle, instr.operands))
                if instr.opname == "getelementptr":
                    instr.indices = instr.operands[1:]
            super()._insert(instr)

    return SettlingBuilder


def settling_builder(block: Any) -> Any:
    """Return a builder at the end of a block; the emitter sets its `settle`."""
    return _class()(block)


class IndexArithmetic(Arithmetic):
    """Emitter of index arithmetic. `_levels` are those of the open loops, after that of the function."""

    def __init__(self, module: Any, function: Any, b: Any) -> None:
        super().__init__(module, b)
        b.settle = self.settled
        self.function = function
        self._levels = [LoopLevel(b.block)]
        self._first = 0  # the position of the first block of the open nest

    # Levels

    def enter_loop(self, body: Any, group: Any) -> None:
        """Begin a level: the builder's block branches to `body`."""
        if len(self._levels) == 1:
            self._first = len(self.function.blocks) - 1
        self._current()
        self._levels.append(LoopLevel(body, group))

    def leave_loop(self, after: Any) -> None:
        """End a level: the loop ends, and `after` follows."""
        self._levels.pop()
        self._levels[-1].go_on(after, keep=len(self._levels) > 1)

    def _current(self) -> LoopLevel:
        level = self._levels[-1]
        if level.block is not self.b.block:
            level.go_on(self.b.block, keep=False)
        return level

    def _depth(self, x: Register) -> int:
        """Return the index of the outermost level in which a register may be used."""
        last = len(self._levels) - 1
        if not last or not isinstance(x, ir().Instruction):
            return min(last, 1)
        for depth in range(last, 0, -1):
            if x.parent in self._levels[depth].blocks:
                return depth
        return last if x.parent in self.function.blocks[self._first :] else 1

    def _once(self, key: Any, depth: int, make: Callable[[], Register]) -> Register:
        """Emit an instruction at the end of a level, unless it is known there."""
        current = self._current()
        level = self._levels[depth]
        found = level.known.get(key)
        if found is None:
            if level is not current:
                self.b.position_before(level.block.terminator)
            found = level.known[key] = make()
            self.b.position_at_end(current.block)
        return found

    def before_loops(self, address: Register, make: Callable[[], Register]) -> Register:
        """Emit a load before the loops of the innermost parallel nest that its address does not depend on.

        LLVM does not see that these loops do not write what they read, and would load, or gather, in each iteration.
        """
        current, depth = self._current(), len(self._levels) - 1
        least, group = self._depth(address), self._levels[-1].group
        while depth > least and group is not None and self._levels[depth].group is group:
            if len(self._levels[depth].blocks) > 1:
                break
            depth -= 1
        if depth < len(self._levels) - 1:
            self.b.position_before(self._levels[depth].block.terminator)
        found = make()
        self.b.position_at_end(current.block)
        return found

    # Arithmetic

    def plus(self, x: Register, y: Register) -> Register:
        """Return the sum of two indices."""
        (terms, offset), (others, more) = split(x), split(y)
        return combined((*terms, *others), offset + more)

    def minus(self, x: Register, y: Register) -> Register:
        """Return the difference of two indices."""
        return self.plus(x, self.times(y, -1))

    def times(self, x: Register, factor: int) -> Register:
        """Return the product of an index and a constant or dynamic size."""
        if isinstance(factor, Size):
            if not isinstance(x, ir().Constant):
                return self.b.mul(x, self.word(factor), flags=("nsw",))
            return self.word(x.constant * factor)
        terms, offset = split(x)
        return combined(((register, each * factor) for register, each in terms), offset * factor)

    def over(self, x: Register, divisor: int) -> tuple[Register, Register]:
        """Return quotient and remainder of a non-negative index."""
        if divisor == 0:  # only in loops with zero iterations
            return self.word(0), self.word(0)
        terms, offset = split(x)
        if isinstance(divisor, Size):
            if not terms and not offset:
                return self.word(0), self.word(0)
            x, size = self.settled(x), self.word(divisor)
            return self.b.udiv(x, size), self.b.urem(x, size)
        if not terms:
            return self.word(offset // divisor), self.word(offset % divisor)
        if divisor == 1:
            return x, self.word(0)
        if not is_natural(terms, offset):
            return self._divided(x, divisor)
        quotient, rest, is_remainder = divided(terms, offset, divisor)
        if is_remainder:
            return quotient, rest
        more, remainder = self._divided(rest, divisor)
        return self.plus(quotient, more), remainder

    def _divided(self, x: Register, divisor: int) -> tuple[Register, Register]:
        below = limit(*split(x))
        x = self.settled(x)
        depth, size = self._depth(x), word(divisor)
        quotient = self._once(("udiv", id(x), divisor), depth, lambda: self.b.udiv(x, size))
        quotient.below = INFINITE if below is None else (below - 1) // divisor + 1
        remainder = self._once(("urem", id(x), divisor), depth, lambda: self.b.urem(x, size))
        remainder.below = divisor
        return quotient, remainder

    def settled(self, x: Register) -> Register:
        """Return an index as a register or constant."""
        if not isinstance(x, Affine):
            return x
        total = word(0)
        for depth, terms in self._by_level(x.terms):
            for term in terms:
                total = self._sum(total, term, depth)
        return self._sum(total, (word(x.offset), 1), depth)

    def _sum(self, total: Register, term: Term, depth: int) -> Register:
        """Emit `total` plus a term in a level."""
        register, factor = term
        constant = getattr(register, "constant", None)
        if constant == 0:
            return total
        is_first = getattr(total, "constant", None) == 0
        if factor == -1 and not is_first:
            key: Any = "sub", id(total), id(register)
            return self._once(key, depth, lambda: self.b.sub(total, register, flags=("nsw",)))
        if factor != 1:
            size, whole = word(factor), register
            key = "mul", id(whole), factor
            register = self._once(key, depth, lambda: self.b.mul(whole, size, flags=("nsw",)))
        if is_first:
            return register
        key = "add", id(total), id(register) if constant is None else ("constant", constant)
        return self._once(key, depth, lambda: self.b.add(total, register, flags=("nsw",)))

    def _by_level(self, terms: Sequence[Term]) -> list[tuple[int, list[Term]]]:
        """Return the terms of each level, from the outermost level."""
        found: dict[int, list[Term]] = {}
        for term in terms:
            found.setdefault(self._depth(term[0]), []).append(term)
        return sorted(found.items())

    # Addresses

    def place(self, kind: Any, address: Register, index: Register) -> Register:
        """Emit the address of an element of a type."""
        terms, offset = split(index)
        inbounds = is_natural(terms, offset)
        depth = 0
        for level, some in self._by_level(terms):
            depth = max(level, self._depth(address))
            total = word(0)
            for term in some:
                total = self._sum(total, term, level)
            address = self._element(kind, address, total, inbounds, depth)
        if offset or not terms:
            depth = max(depth, self._depth(address))
            address = self._element(kind, address, word(offset), inbounds or not terms, depth)
        return address

    def _element(self, kind: Any, address: Register, index: Register, inbounds: bool, depth: int) -> Register:
        number = getattr(index, "constant", None)
        key = "gep", str(kind), id(address), id(index) if number is None else ("constant", number), inbounds
        made = lambda: self.b.gep(address, [index], inbounds=inbounds, source_etype=kind)  # noqa: E731
        return self._once(key, depth, made)
