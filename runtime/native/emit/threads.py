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
from .liveness import BORN, operands_of
from .types import Register, integer, ir, pointer

WORTH = 1 << 18
"""Elements of a loop from which on threads pay."""


def count() -> int:
    """How many threads run a loop."""
    if sys.platform == "win32":
        return 1  # there is no pthread_create
    return min(threads_within(), 16)


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
    slots = _own_slots(blocks, outside, set(shared))
    if any(_meets_others(each, slots) for block in blocks for each in block.instructions):
        return None
    part = ir().Function(
        emitter.module,
        ir().FunctionType(ir().VoidType(), [pointer(), integer(64), integer(64)]),
        emitter.module.get_unique_name("part"),
    )
    part.linkage = "internal"
    part.scope = function.scope  # the names of what moves here are taken there
    for argument, name in zip(part.args, ("around", "begin", "end"), strict=True):
        argument.name = name
    around, begin, end = part.args
    entry = part.append_basic_block("entry")
    leave = part.append_basic_block("leave")
    _move(slots, outside, entry)
    captured = _captured(blocks, inside, slots)
    b = ir().IRBuilder(entry)
    replaced = {}
    for place, value in enumerate(captured):
        address = b.gep(around, [integer(64)(8 * place)], source_etype=integer(8))
        replaced[value] = b.load(address, typ=value.type)
    b.branch(blocks[0])
    for block in blocks:
        function.blocks.remove(block)
        block.parent = part
        part.blocks.append(block)
        for instruction in block.instructions:
            redirect(instruction, replaced, {before: entry, after: leave})
    _bound(number, before, entry, begin, end, rounds)
    ir().IRBuilder(leave).ret_void()
    part.blocks.remove(leave)
    part.blocks.append(leave)
    before.instructions.pop()
    before.terminator = None
    b = ir().IRBuilder(before)
    memory = emitter.slot(integer(64), max(len(captured), 1))
    for place, value in enumerate(captured):
        b.store(value, b.gep(memory, [integer(64)(8 * place)], source_etype=integer(8)))
    run = b.call(_runner(emitter.module), [part, memory, integer(64)(rounds)])
    b.branch(after)
    return run


def _own_slots(blocks: list[Any], outside: list[Any], shared: set[Any]) -> set[Any]:
    """Memory on the stack that only the loop uses: it belongs to each thread."""
    used = {operand for block in blocks for each in block.instructions for operand in operands_of(each)}
    kept = shared | {
        operand for block in outside for each in block.instructions for operand in operands_of(each)
    }
    return {value for value in used - kept if getattr(value, "opname", None) == "alloca"}


def _meets_others(instruction: Any, slots: set[Any]) -> bool:
    """Whether threads would meet: in a slot that is used around the loop, or in a buffer that each round has anew."""
    if instruction.opname == "store":
        target = instruction.operands[1]
        return getattr(target, "opname", None) == "alloca" and target not in slots
    return bool(instruction.opname == BORN)


def _move(slots: set[Any], outside: list[Any], entry: Any) -> None:
    for block in outside:
        for instruction in [each for each in block.instructions if each in slots]:
            block.instructions.remove(instruction)
            instruction.parent = entry
            entry.instructions.append(instruction)


def _captured(blocks: list[Any], inside: set[Any], slots: set[Any]) -> list[Any]:
    """The values from around a loop that it uses, in the order in which it does."""
    found: dict[Any, None] = {}
    for block in blocks:
        for instruction in block.instructions:
            for operand in operands_of(instruction):
                if isinstance(operand, (ir().Function, ir().GlobalVariable, ir().Constant, ir().Block)):
                    continue
                if operand in slots or getattr(operand, "parent", None) in inside:
                    continue
                if isinstance(operand, (ir().Instruction, ir().Argument)):
                    found[operand] = None
    return list(found)


def redirect(instruction: Any, values: dict[Any, Any], blocks: dict[Any, Any]) -> None:
    """Let an instruction refer to what stands for values and blocks in the function of the part."""
    if instruction.opname == "phi":
        instruction.incomings = [
            (values.get(value, value), blocks.get(block, block)) for value, block in instruction.incomings
        ]
        return
    for old in dict.fromkeys(operands_of(instruction)):
        new = values.get(old) or (blocks.get(old) if isinstance(old, ir().Block) else None)
        if new is not None:
            instruction.operands = [new if each is old else each for each in instruction.operands]
    if instruction.opname == "getelementptr":
        instruction.pointer, *instruction.indices = instruction.operands


def _bound(number: Register, before: Any, entry: Any, begin: Register, end: Register, rounds: int) -> None:
    """Let the loop go from `begin` to `end`."""
    number.incomings = [(begin if block is entry else value, block) for value, block in number.incomings]
    following = next(value for value, block in number.incomings if block is not entry)
    for instruction in following.parent.instructions:
        if instruction.opname == "icmp" and instruction.operands[0] is following:
            instruction.operands = [following, end]


def _runner(module: Any) -> Any:
    """The function that runs a part in threads: each gets a share of the rounds, this one the last."""
    known = module.globals.get("agc_run_part")
    if known is not None:
        return known
    kind = ir().FunctionType(ir().VoidType(), [pointer(), pointer(), integer(64)])
    run = ir().Function(module, kind, "agc_run_part")
    run.linkage = "internal"
    run.attributes.add("noinline")
    part, around, rounds = run.args
    start = _starter(module)
    b = ir().IRBuilder(run.append_basic_block("entry"))
    threads = count()
    ids = b.alloca(integer(64), integer(32)(threads))
    jobs = b.alloca(integer(64), integer(32)(4 * threads))
    ids.type = jobs.type = pointer()
    create = _outer(module, "pthread_create", integer(32), [pointer()] * 4)
    join = _outer(module, "pthread_join", integer(32), [integer(64), pointer()])
    null = ir().Constant(pointer(), None)
    call = ir().FunctionType(ir().VoidType(), [pointer(), integer(64), integer(64)])
    bounds = [b.udiv(b.mul(rounds, integer(64)(i)), integer(64)(threads)) for i in range(threads + 1)]
    started = []
    for i in range(threads - 1):
        job = b.gep(jobs, [integer(64)(32 * i)], source_etype=integer(8))
        for place, value in enumerate((part, around, bounds[i], bounds[i + 1])):
            b.store(value, b.gep(job, [integer(64)(8 * place)], source_etype=integer(8)))
        identity = b.gep(ids, [integer(64)(8 * i)], source_etype=integer(8))
        failed = b.call(create, [identity, null, start, job])
        started.append((identity, b.icmp_signed("==", failed, integer(32)(0)), i))
    _indirect(b, part, call, [around, bounds[threads - 1], bounds[threads]])
    for identity, is_running, i in started:
        with b.if_else(is_running) as (then, otherwise):
            with then:
                b.call(join, [b.load(identity, typ=integer(64)), null])
            with otherwise:
                _indirect(b, part, call, [around, bounds[i], bounds[i + 1]])
    b.ret_void()
    return run


def _starter(module: Any) -> Any:
    """What a thread runs: the part that its job names."""
    start = ir().Function(module, ir().FunctionType(pointer(), [pointer()]), "agc_thread")
    start.linkage = "internal"
    b = ir().IRBuilder(start.append_basic_block("entry"))
    kinds = (pointer(), pointer(), integer(64), integer(64))
    part, *arguments = [
        b.load(b.gep(start.args[0], [integer(64)(8 * i)], source_etype=integer(8)), typ=kind)
        for i, kind in enumerate(kinds)
    ]
    _indirect(b, part, ir().FunctionType(ir().VoidType(), list(kinds[1:])), arguments)
    b.ret(ir().Constant(pointer(), None))
    return start


def _indirect(b: Any, address: Register, kind: Any, arguments: list[Register]) -> None:
    b.call(Callee(address, kind), arguments)


def _outer(module: Any, name: str, result: Any, kinds: list[Any]) -> Any:
    return module.globals.get(name) or ir().Function(module, ir().FunctionType(result, kinds), name)
