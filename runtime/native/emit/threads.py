"""Large loops run on several processors: their body becomes a function, and each thread runs a part of the rounds.

    for i in 0 … n: body              part(around, first, last):  for i in first … last: body
                              ==>     run part on 0 … n/2 in a thread, and on n/2 … n here; wait

What the body uses from around it is passed in memory. A loop is taken apart after it has been written: its blocks move
into the function, and what they refer to is replaced by what is loaded there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ...config.threading import threads_within
from .arithmetic import Callee
from .liveness import BORN
from .outlining import captured, is_slot, move_blocks, move_slots, new_part, own_slots, replace_by
from .routines import Routine
from .shared import declared, outside, shared
from .types import Register, integer, ir, null, pointer

WORTH = 1 << 18
"""Elements of a loop from which on threads pay."""

HAVE_THREADS = sys.platform != "win32"  # where there is no pthread_create

MOST = 16
"""Threads that run a loop."""

_JOB = 32  # bytes of what a thread is told


def count() -> int:
    """How many threads run a loop."""
    return min(threads_within(), MOST) if HAVE_THREADS else 1


def taken_apart(
    emitter: Any, before: Any, first: int, number: Register, rounds: int, after: Any, shared: Sequence[Any]
) -> Any:
    """Make threads run a loop that has just been written: the call that does so; None where they would meet.

    `before` is the block that jumps to it, `first` the place of its first block in the function, `number` counts its
    rounds, of which there are `rounds`, and `after` is the block that follows. What is `shared` stays the function's,
    which may go on to read it.
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
    entry = part.append_basic_block("entry")
    leave = part.append_basic_block("leave")
    move_slots(slots, outside, entry)
    around_them = captured(blocks, slots)
    b = ir().IRBuilder(entry)
    replaced = {}
    for place, value in enumerate(around_them):
        address = b.gep(around, [integer(64)(8 * place)], source_etype=integer(8))
        replaced[value] = b.load(address, typ=value.type)
    b.branch(blocks[0])
    move_blocks(blocks, part, replaced, {before: entry, after: leave})
    _bound(number, before, entry, begin, end, rounds)
    ir().IRBuilder(leave).ret_void()
    part.blocks.remove(leave)
    part.blocks.append(leave)
    b = replace_by(before)
    memory = emitter.slot(integer(64), max(len(around_them), 1))
    for place, value in enumerate(around_them):
        b.store(value, b.gep(memory, [integer(64)(8 * place)], source_etype=integer(8)))
    arguments = [part, memory, integer(64)(rounds), integer(64)(count())]
    run = b.call(declared(emitter.module, "agc_run_part"), arguments)
    b.branch(after)
    return run


def _meets_others(instruction: Any, slots: set[Any]) -> bool:
    """Whether threads would meet: in a slot that is used around the loop, or in a buffer that each round has anew."""
    if instruction.opname == "store":
        target = instruction.operands[1]
        return is_slot(target) and target not in slots
    return bool(instruction.opname == BORN)


def _bound(number: Register, before: Any, entry: Any, begin: Register, end: Register, rounds: int) -> None:
    """Let the loop go from `begin` to `end`."""
    number.incomings = [(begin if block is entry else value, block) for value, block in number.incomings]
    following = next(value for value, block in number.incomings if block is not entry)
    for instruction in following.parent.instructions:
        if instruction.opname == "icmp" and instruction.operands[0] is following:
            instruction.operands = [following, end]


@shared("agc_thread", "address", "address", where=HAVE_THREADS)
def _(r: Routine) -> None:
    """What a thread runs: the part that its job names."""
    (job,) = r.arguments
    kinds = (pointer(), pointer(), integer(64), integer(64))
    part, *arguments = [
        r.b.load(r.at(integer(8), job, integer(64)(8 * i)), typ=kind) for i, kind in enumerate(kinds)
    ]
    r.b.call(Callee(part, ir().FunctionType(ir().VoidType(), kinds[1:])), arguments)
    r.b.ret(null())


@shared("agc_run_part", "nothing", "address", "address", "word", "word", where=HAVE_THREADS)
def _(r: Routine) -> None:
    """Run a part in threads: each gets a share of the rounds, this one the last."""
    b, word, code = r.b, integer(64), integer(32)
    part, around, rounds, threads = r.arguments
    ids, jobs = (r.top.alloca(word, code(count)) for count in (MOST, 4 * MOST))
    ids.type = jobs.type = pointer()
    create = outside(r.module, "pthread_create", code, *[pointer()] * 4)
    join = outside(r.module, "pthread_join", code, word, pointer())
    kind = ir().FunctionType(ir().VoidType(), [pointer(), word, word])
    last = b.sub(threads, word(1))

    def bound(number: Register) -> Register:
        return b.udiv(b.mul(rounds, number), threads)

    def run(number: Register) -> None:
        bounds = [bound(number), bound(b.add(number, word(1)))]
        b.call(Callee(part, kind), [around, *bounds])

    with r.counting(word(0), last) as number:
        job = r.at(integer(8), jobs, b.mul(number, word(_JOB)))
        for place, value in enumerate((part, around, bound(number), bound(b.add(number, word(1))))):
            b.store(value, r.at(integer(8), job, word(8 * place)))
        start = declared(r.module, "agc_thread")
        failed = b.call(create, [r.at(word, ids, number), null(), start, job])
        with r.where(b.icmp_signed("!=", failed, code(0))):
            r.store(job, word(0), word(0))
    run(last)
    with r.counting(word(0), last) as number:
        job = r.at(integer(8), jobs, b.mul(number, word(_JOB)))
        is_running = b.icmp_unsigned("!=", r.load(word, job, word(0)), word(0))
        with r.where(is_running):
            b.call(join, [r.load(word, ids, number), null()])
        with r.where(b.not_(is_running)):
            run(number)
    b.ret_void()
