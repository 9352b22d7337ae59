"""Loops over elements are written in lanes before LLVM sees them, which need not find out then how to do that.

    for i < 1000: y[i] ← tanh(x[i])    ==>    for i < 1000 by 8: y[i … i+7] ← tanh(x[i … i+7])

LLVM's own way costs more time than all else that it does, and leaves more code to be compiled: tests whether a loop is
long enough, rounds of one, two and four vectors. Where all loops of a module are such loops, or may stay as they are,
it goes through few passes (opt_levels.py). A loop of the program that works on numbers alone stays as it is,
and needs more of LLVM's passes, which then take less time, too.

widen_instructions.py    instructions and our own functions, in lanes
masked_tail.py      vectors of which some lanes count
vector_plan.py    what a loop does in lanes, or why it is left to LLVM
stride_analysis.py    by how much numbers and addresses go on from round to round
cost_model.py    whether the loop is quicker in lanes
vector_codegen.py  the loop in lanes
clone.py  instructions once more
loop_info.py   the loops of a function
loop_collapsing.py    loops within each other that are one
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..codegen.liveness import operands_of
from ..codegen.llvm_types import ir
from ..llvm_engine import vector_bytes
from .cost_model import is_worth
from .loop_collapsing import merge
from .loop_info import NaturalLoop, cycles, targets
from .vector_codegen import Writer
from .vector_plan import EACH, RefusedError, VectorPlan, counts, known_rounds, loop_metadata, told_number
from .widen_instructions import can_be_in_lanes

__all__ = ["RefusedError", "vectorize"]

_MANY = 4
"""Vectors of a round of sums that wait for nothing else."""

_SHORT = 48
"""Loops that are written out are of so few instructions, all vectors together, and of a few vectors."""

_LONG = 64
"""Vectors from which on it matters little how many are left in the end."""

_LITTLE = 24
"""Instructions, so few of which are done several times in a round."""

_TOLD = 10**6
"""From here on loops are numbered whose rests are told of."""


def vectorize(module: Any, alone: bool = True) -> bool:
    """Write the loops of a module in lanes that are worth it; gives whether nothing is left that LLVM does better.

    Loops of the program over numbers are left to LLVM; and unless loops that are in lanes matter `alone`, those around
    them as well, with all that is in them.
    """
    own = [each for each in module.functions if each.blocks and not each.name.startswith("agc.")]
    is_done = alone
    written = []
    for function in own:
        left = _left_to_llvm(function, alone)
        is_done = is_done and not left
        merge(function, left)
        for plan, lanes, count in _plans(function, left):
            Writer(plan, lanes, count).write()
            written.append(plan.block)
    if is_done:
        _finish(module)
    else:
        _tell_of(module, written)
    return is_done


def _tell_of(module: Any, rests: Sequence[Any]) -> None:
    """Let LLVM know that the rounds which fill no vector are all that is left of these loops."""
    known = module.add_metadata(["llvm.loop.isvectorized", ir().IntType(32)(1)])
    for i, block in enumerate(rests):
        if block.terminator.opname == "br" and len(block.terminator.operands) == 3:
            block.terminator.set_metadata("llvm.loop", module.add_metadata([f"loop{_TOLD + i}", known]))


def _finish(module: Any) -> None:
    """What LLVM would find out by itself, or needs only for vectors of its own."""
    for each in module.functions:
        if each.name.endswith(".apart") and "noinline" not in each.attributes:
            each.attributes.add("alwaysinline")
        if each.linkage == "weak_odr":  # libm/slow_paths.py
            each.linkage = "internal"


def _left_to_llvm(function: Any, alone: bool) -> set[Any]:
    """The blocks of loops that LLVM has to see as they are: those of the program, which work on numbers."""
    left: set[Any] = set()
    nests = set()
    for cycle in cycles(function):
        if len(cycle.blocks) == 1 and (_is_written(cycle.head) or _is_nest(cycle.head)):
            nests.add(cycle.head)
        elif (
            len(cycle.blocks) == 1
            or not cycle.blocks.isdisjoint(left)
            or not (_is_nest(cycle.head) or alone)
            or (cycle.blocks.isdisjoint(nests) and not _works_elsewhere(cycle))
        ):
            left |= cycle.blocks
    return left


def _plans(function: Any, left: set[Any]) -> list[tuple[VectorPlan, int, int]]:
    """The loops of a function that are to be written in lanes: how many lanes, and how many vectors a round."""
    found = []
    for block in function.blocks:
        if block in targets(block) and block not in left and not _is_written(block):
            with suppress(RefusedError):
                plan = _planned(block)
                if plan is not None:
                    found.append(plan)
    used = _used_behind(function, {plan.block for plan, _, _ in found})
    return [each for each in found if each[0].block not in used]


def _works_elsewhere(cycle: NaturalLoop) -> bool:
    """Whether what a loop does is in lanes already, or done by functions of other modules, as products are."""
    return any(map(_is_written, cycle.blocks)) or any(
        each.opname == "call" and getattr(each.callee, "is_declaration", False) and _is_work(each.callee.name)
        for block in cycle.blocks
        for each in block.instructions
    )


def _is_work(name: str) -> bool:
    return name.startswith("agc_") and name != "agc_interrupted"


def _used_behind(function: Any, loops: set[Any]) -> set[Any]:
    """The loops of which values are used behind them."""
    return {
        parent
        for block in function.blocks
        for each in block.instructions
        for operand in operands_of(each)
        if (parent := getattr(operand, "parent", None)) is not block and parent in loops
    }


def _is_written(block: Any) -> bool:
    """Whether a loop is in lanes already, as small products are (lowering/gemm_micro_kernel.py)."""
    return any(isinstance(each.type, ir().VectorType) for each in block.instructions)


def _is_nest(head: Any) -> bool:
    """Whether a loop goes through elements in memory, and is not to be written out to keep them in registers."""
    is_written_out = "llvm.loop.vectorize.followup_vectorized" in loop_metadata(head)
    return counts(head) and not is_written_out and not any(map(_finds_places, head.instructions))


def _finds_places(each: Any) -> bool:
    """Whether numbers of elements are divided, or chosen by what they are: LLVM knows how they go on all the same."""
    if each.type != ir().IntType(64):
        return False
    if each.opname == "select":
        test = each.operands[0]
        return getattr(test, "opname", "") == "icmp" and _is_moved(test.operands[0])
    return each.opname in ("udiv", "urem")


def _is_moved(value: Any) -> bool:
    """Whether a value is the number of a round, or so much more or less."""
    if getattr(value, "opname", "") in ("add", "sub"):
        value = value.operands[0]
    return getattr(value, "opname", "") == "phi"


def _planned(block: Any) -> tuple[VectorPlan, int, int] | None:
    """A loop in lanes; None where it shall stay as it is."""
    if told_number(loop_metadata(block), "vectorize.width") == 1:
        return None
    plan = VectorPlan(block)
    lanes = 8 * vector_bytes() // plan.widest
    rounds = known_rounds(plan)
    while rounds is not None and lanes > max(rounds, 2):
        lanes //= 2
    while lanes > 1 and not all(
        can_be_in_lanes(each, lanes) for each in plan.written if each.opname == "call"
    ):
        lanes //= 2
    if lanes == 1 or (rounds is not None and lanes > rounds) or not is_worth(plan, lanes):
        return None
    if rounds is None:
        return plan, lanes, _most(plan, _size(plan, lanes))
    return plan, lanes, _count(plan, lanes, rounds // lanes)


def _count(plan: VectorPlan, lanes: int, vectors: int) -> int:
    """How many vectors a round of so many computes."""
    size = _size(plan, lanes)
    if vectors <= _MANY and size * vectors <= _SHORT:
        return vectors
    return max(
        count
        for count in range(1, _most(plan, size) + 1)
        if count == 1 or vectors % count == 0 or vectors > _LONG
    )


def _most(plan: VectorPlan, size: int) -> int:
    """The most vectors of a round."""
    return told_number(plan.told, "interleave.count") or (_MANY if plan.gathered and size <= _LITTLE else 1)


def _size(plan: VectorPlan, lanes: int) -> int:
    """How many instructions a vector takes, when all functions are inlined."""
    calls = [each.callee for each in plan.written if each.opname == "call"]
    alone = sum(plan.kind(each) == EACH for each in plan.written)
    inlined = sum(len(block.instructions) for callee in calls for block in callee.blocks)
    return len(plan.written) + alone * (lanes - 1) + inlined
