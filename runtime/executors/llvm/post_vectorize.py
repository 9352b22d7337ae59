"""The last that is done to a module whose loops are in lanes, before LLVM has few passes left to do.

    run(addresses, thread state):                       run(addresses, thread state):
        kernel(addresses[0], …, thread state)               x, y = addresses
    kernel(x, y, thread state):                 ==>         a, b = take_pieces(slot, 98496, [0, 65600])
        a, b = take(slot, 65536), take(other, 32768)        …
        …

That pieces of memory are apart, and arguments as well, helps LLVM to change loops. Where it changes none, what says so
is only in its way.
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
"""Pieces from which on it takes less code to take them at once."""

Piece = tuple[Register, Register, int]
"""The slot where memory is kept between calls, what takes it from there, and the bytes."""


def addresses_read(b: Any, addresses: Register, count: int) -> list[Register]:
    """The addresses of inputs and outputs, which stand beside each other."""
    places = [b.gep(addresses, [word(i)], source_etype=pointer()) for i in range(count)]
    return [b.load(place, typ=pointer()) for place in places]


def finish(kernel: Any, run: Any, pieces: Sequence[Piece]) -> None:
    """Let `run` be all there is, and memory one piece."""
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
    """Pieces that may become one, in their order: what is too large is not kept."""
    some: list[Piece] = []
    for piece in [*pieces, None]:
        if piece is None or sum(map(_room, [*some, piece])) > LARGEST:
            if len(some) >= _MANY:
                yield some
            some = []
        some += [piece] if piece is not None else []


def _room(piece: Piece) -> int:
    """The bytes of a piece, and some before the next, lest all begin at the same lines of their pages."""
    return (piece[2] + 2 * LINE - 1) // LINE * LINE


def _joined(kernel: Any, pieces: Sequence[Piece]) -> dict[Register, Register]:
    """Take all pieces at once; gives what stands for each of them from now on.

    Their addresses are read from memory: LLVM shall not look what it could make of their distances.
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
    places = (b.gep(table, [word(i)], source_etype=pointer()) for i in range(count))
    found = {made: b.load(place, typ=pointer()) for (_, made, _), place in zip(pieces, places, strict=True)}
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
