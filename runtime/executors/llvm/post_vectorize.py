"""Simplify a module after its loops have been vectorized, so that LLVM needs few passes only.

    run(addresses, thread state):                       run(addresses, thread state):
        kernel(addresses[0], …, thread state)               x, y = addresses
    kernel(x, y, thread state):                 ==>         a, b = take_pieces(slot, 98496, [0, 65600])
        a, b = take(slot, 65536), take(other, 32768)        …
        …

Separate allocations and `noalias` arguments help LLVM to transform loops. If LLVM transforms none, they only
cost time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from .arena import LARGEST, LINE
from .codegen.llvm_types import Register, constant_at, integer, ir, pointer, word
from .codegen.outlining import instructions_of, redirect
from .codegen.shared_functions import declared

_MANY = 3
"""Number of allocations from which a joint allocation takes less code."""

Piece = tuple[Register, Register, int]
"""The slot of kept memory, the instruction that takes the memory, and the bytes."""


def addresses_read(b: Any, addresses: Register, count: int) -> list[Register]:
    """Load the addresses of inputs and outputs from consecutive memory."""
    slots = [b.gep(addresses, [word(i)], source_etype=pointer()) for i in range(count)]
    return [b.load(slot, typ=pointer()) for slot in slots]


def finish(kernel: Any, run: Any, pieces: Sequence[Piece]) -> None:
    """Inline the kernel into `run`, and join its allocations."""
    top = kernel.blocks[0]
    b = ir().IRBuilder(top)
    b.position_at_start(top)
    addresses, slot = run.args
    read = addresses_read(b, addresses, len(kernel.args) - 1)
    values: dict[Register, Register] = dict(zip(kernel.args, [*read, slot], strict=True))
    for some in fitting(pieces):
        values |= _joined(kernel, some)
    redirect(instructions_of(kernel.blocks), values)
    for block in kernel.blocks:
        block.parent = run
    run.blocks, kernel.blocks = kernel.blocks, []
    del run.module.globals[kernel.name]


def fitting(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield groups of consecutive pieces that may become one allocation: memory that is too large is not kept."""
    some: list[Piece] = []
    for piece in [*pieces, None]:
        if piece is None or sum(map(_room, [*some, piece])) > LARGEST:
            if len(some) >= _MANY:
                yield some
            some = []
        some += [piece] if piece is not None else []


def _room(piece: Piece) -> int:
    """Return the bytes for a piece, with padding, so that not all pieces start at the same offset in a page."""
    return (piece[2] + 2 * LINE - 1) // LINE * LINE


def _joined(kernel: Any, pieces: Sequence[Piece]) -> dict[Register, Register]:
    """Take all pieces in one allocation; return the replacement of each address.

    The addresses are loaded from memory, so that LLVM does not analyze their differences.
    """
    count = len(pieces)
    starts = list(itertools.accumulate(map(_room, pieces), initial=0))
    total = word(starts.pop() + LINE)
    _, first, _ = pieces[0]
    _, slot, _, lacking = first.operands
    b = ir().IRBuilder(kernel.blocks[0])
    b.position_before(first)
    table = b.alloca(ir().ArrayType(pointer(), count))
    table.type = pointer()
    function = declared(kernel.module, "agc_take_pieces")
    whole = b.call(function, [slot, total, _numbers(kernel.module, starts), word(count), table, lacking])
    slots = (b.gep(table, [word(i)], source_etype=pointer()) for i in range(count))
    found = {made: b.load(slot, typ=pointer()) for (_, made, _), slot in zip(pieces, slots, strict=True)}
    unused = {each for piece in pieces for each in piece[:2]} - {slot}
    for block in kernel.blocks:
        for each in [each for each in block.instructions if _gives(each) and each.operands[2] in found]:
            if each.operands[2] is first:
                each.operands = [*each.operands[:2], whole, total]
            else:
                unused.add(each)
        block.instructions = [each for each in block.instructions if each not in unused]
    return found


def _numbers(module: Any, numbers: Sequence[int]) -> Any:
    value = ir().Constant(ir().ArrayType(integer(64), len(numbers)), list(map(word, numbers)))
    return constant_at(module, module.get_unique_name("pieces"), value)


def _gives(instruction: Any) -> bool:
    return bool(instruction.opname == "call" and instruction.callee.name == "agc_give")
