"""Parallel loops: the body of a large loop is outlined, and each thread of a pool runs a range of the iterations.

    for i in 0 … n: body              part(around, first, last):  for i in first … last: body
                              ==>     run part on 0 … n/2 here, and on n/2 … n in a thread; wait

Live-in values are passed in memory. The loop is outlined after it has been emitted: its blocks move into the
function, and live-in values are replaced by loads. The threads are a pool (kernels/native_pool.h);
without that extension, the loop stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.thread_counts import threads_within
from ....kernels import native_pool
from .liveness import BORN, operands_of
from .llvm_types import Register, integer, ir, pointer
from .outlining import OutermostLoopNest, captured, fill, instructions_of, is_slot, new_part, replace_by

WORTH = 1 << 15
"""Elements from which a loop is shared with idle threads that are spinning."""

WAKES = 1 << 17
"""Elements from which a loop also wakes sleeping threads. Inside another loop, they are soon awake anyway."""

LIGHT = 16
"""The instructions for each element of a light loop. An element with more of them counts as several elements."""

_MOST = 16
"""The maximum number of threads that run a loop."""


def count() -> int:
    """Return the number of threads that run a loop."""
    return min(threads_within(), _MOST) if native_pool.extension() is not None else 1


def instructions_run(blocks: Sequence[Any]) -> int:
    """Return the number of instructions in some blocks, and in the functions that they call."""
    called = (each.callee for each in instructions_of(blocks) if each.opname == "call")
    inlined = (block for callee in called for block in callee.blocks)
    return sum(len(block.instructions) for block in (*blocks, *inlined))


def runner(emitter: Any) -> Any:
    """Return the function that runs a part in the thread pool."""
    kinds = [pointer(), pointer(), *[integer(64)] * 3]
    return emitter.function_named("agc_run_parts", ir().VoidType(), kinds)


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
    """Outline a loop for the thread pool. Return the call that runs it, or None if the loop is not parallel.

    `before` is the block that jumps to the loop, `first` the position of its first block in the function.
    `number` is its induction variable, `rounds` its trip count, and `after` the block after it. Slots in
    `shared` stay in the function, which may read them later. `wakes` says whether sleeping threads are woken.
    """
    function = emitter.function
    assert function.blocks[-1] is after
    blocks = function.blocks[first:-1]
    slots = emitter.slot_uses.only_in(blocks) - set(shared)
    if any(_meets_others(each, slots) for block in blocks for each in block.instructions):
        return None
    part = new_part(emitter.module, function.scope, [pointer(), integer(64), integer(64)], "part")
    for argument, name in zip(part.args, ("around", "begin", "end"), strict=True):
        argument.name = name
    around, begin, end = part.args
    around_them = captured(blocks, slots)

    def read(b: Any) -> dict[Any, Any]:
        slots = [
            b.gep(around, [integer(64)(8 * i)], source_etype=integer(8)) for i in range(len(around_them))
        ]
        return {value: b.load(slot, typ=value.type) for value, slot in zip(around_them, slots, strict=True)}

    operands = (value for each in instructions_of(blocks if slots else ()) for value in operands_of(each))
    used = dict.fromkeys(filter(is_slot, operands))
    fill(part, OutermostLoopNest(before, blocks, after), [slot for slot in used if slot in slots], read)
    emitter.slot_uses.forget(first)
    _bound(number, part.blocks[0], begin, end)
    b = replace_by(before)
    memory = emitter.slot(integer(64), max(len(around_them), 1))
    for position, value in enumerate(around_them):
        b.store(value, b.gep(memory, [integer(64)(8 * position)], source_etype=integer(8)))
    arguments = [part, memory, *map(integer(64), (rounds, count(), int(wakes)))]
    run = b.call(runner(emitter), arguments)
    b.branch(after)
    return run


def _meets_others(instruction: Any, slots: set[Any]) -> bool:
    """Return whether threads would race on a slot of the outer function, or on a buffer of one iteration."""
    if instruction.opname == "store":
        target = instruction.operands[1]
        return is_slot(target) and target not in slots
    return bool(instruction.opname == BORN)


def _bound(number: Register, entry: Any, begin: Register, end: Register) -> None:
    """Make the loop run from `begin` to `end`."""
    number.incomings = [(begin if block is entry else value, block) for value, block in number.incomings]
    following = next(value for value, block in number.incomings if block is not entry)
    for instruction in following.parent.instructions:
        if instruction.opname == "icmp" and instruction.operands[0] is following:
            instruction.operands = [following, end]
