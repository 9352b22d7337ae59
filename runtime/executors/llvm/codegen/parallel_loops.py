"""Large loops run on several processors: their body becomes a function, and each thread runs a part of the rounds.

    for i in 0 … n: body              part(around, first, last):  for i in first … last: body
                              ==>     run part on 0 … n/2 here, and on n/2 … n in a thread; wait

What the body uses from around it is passed in memory. A loop is taken apart after it has been written: its blocks move
into the function, and what they refer to is replaced by what is loaded there. The threads are a pool
(thread_pool_ir.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....config.threading import threads_within
from .liveness import BORN
from .llvm_types import Register, integer, ir, pointer
from .outlining import OutermostLoopNest, captured, fill, is_slot, new_part, own_slots, replace_by
from .thread_pool_ir import HAVE_THREADS, MOST, RUN

WORTH = 1 << 15
"""Elements of a loop from which on threads share it that look for something to do; …"""

WAKES = 1 << 17
"""… also those that sleep. In a loop around it they are soon awake."""


def count() -> int:
    """How many threads run a loop."""
    return min(threads_within(), MOST) if HAVE_THREADS else 1


def runner(emitter: Any) -> Any:
    """The function that runs a part in threads."""
    kinds = [pointer(), pointer(), *[integer(64)] * 3]
    return emitter.function_named(RUN, ir().VoidType(), kinds)


def taken_apart(
    emitter: Any,
    before: Any,
    first: int,
    number: Register,
    rounds: int,
    after: Any,
    shared: Sequence[Any],
    wakes: bool,
) -> Any:
    """Make threads run a loop that has just been written: the call that does so; None where they would meet.

    `before` is the block that jumps to it, `first` the place of its first block in the function, `number` counts its
    rounds, of which there are `rounds`, and `after` is the block that follows. What is `shared` stays the function's,
    which may go on to read it. It `wakes` threads that sleep, or leaves them alone.
    """
    function = emitter.function
    blocks = [block for block in function.blocks[first:] if block is not after]
    inside = set(blocks)
    outside = [block for block in function.blocks if block not in inside]
    slots = own_slots(blocks, outside, set(shared))
    if any(_meets_others(each, slots) for block in blocks for each in block.instructions):
        return None
    part = new_part(emitter.module, function.scope, [pointer(), integer(64), integer(64)], "part")
    for argument, name in zip(part.args, ("around", "begin", "end"), strict=True):
        argument.name = name
    around, begin, end = part.args
    around_them = captured(blocks, slots)

    def read(b: Any) -> dict[Any, Any]:
        places = [
            b.gep(around, [integer(64)(8 * i)], source_etype=integer(8)) for i in range(len(around_them))
        ]
        return {
            value: b.load(place, typ=value.type) for value, place in zip(around_them, places, strict=True)
        }

    fill(part, OutermostLoopNest(before, blocks, after), slots, outside, read)
    _bound(number, part.blocks[0], begin, end, rounds)
    b = replace_by(before)
    memory = emitter.slot(integer(64), max(len(around_them), 1))
    for place, value in enumerate(around_them):
        b.store(value, b.gep(memory, [integer(64)(8 * place)], source_etype=integer(8)))
    arguments = [part, memory, *map(integer(64), (rounds, count(), int(wakes)))]
    run = b.call(runner(emitter), arguments)
    b.branch(after)
    return run


def _meets_others(instruction: Any, slots: set[Any]) -> bool:
    """Whether threads would meet: in a slot that is used around the loop, or in a buffer that each round has anew."""
    if instruction.opname == "store":
        target = instruction.operands[1]
        return is_slot(target) and target not in slots
    return bool(instruction.opname == BORN)


def _bound(number: Register, entry: Any, begin: Register, end: Register, rounds: int) -> None:
    """Let the loop go from `begin` to `end`."""
    number.incomings = [(begin if block is entry else value, block) for value, block in number.incomings]
    following = next(value for value, block in number.incomings if block is not entry)
    for instruction in following.parent.instructions:
        if instruction.opname == "icmp" and instruction.operands[0] is following:
            instruction.operands = [following, end]
