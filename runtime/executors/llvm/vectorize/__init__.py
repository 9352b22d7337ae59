"""Vectorize the innermost loops over elements before LLVM sees the module.

    for i < 1000: y[i] ← tanh(x[i])    ==>    for i < 1000 by 8: y[i … i+7] ← tanh(x[i … i+7])

LLVM's own loop vectorizer takes more compile time than all its other passes. It also leaves more code to compile:
a trip count check and loops over one, two and four vectors. If all loops of a module are vectorized here,
or may stay scalar, the module needs few passes (opt_levels.py). A loop of user code that works on scalars
stays as it is, and its module runs more of LLVM's passes.

widen_instructions.py    vector forms of instructions and of the project's own functions
masked_tail.py           a remainder in one vector, of which only the first lanes are used
vector_plan.py           legality: the kind of each instruction of a loop, or the reason to leave the loop to LLVM
stride_analysis.py       strides of integers and addresses
cost_model.py            profitability
vector_codegen.py        emits the vector loop
clone.py                 copies of instructions
loop_info.py             the natural loops of a function
loop_collapsing.py       collapses a loop nest into one loop
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
from .vector_codegen import VectorWriter
from .vector_plan import (
    EACH,
    NotVectorizedError,
    VectorPlan,
    counts,
    known_rounds,
    loop_metadata,
    told_number,
)
from .widen_instructions import can_be_in_lanes

__all__ = ["NotVectorizedError", "vectorize"]

_MANY = 4
"""The largest number of vectors per iteration of a reduction. Each vector has its own accumulator."""

_SHORT = 48
"""The largest number of instructions, over all vectors, of a loop that is fully unrolled."""

_LONG = 64
"""The number of vectors above which the length of the remainder hardly matters."""

_LITTLE = 24
"""The largest number of instructions per vector of a reduction that is interleaved."""

_TOLD = 10**6
"""The first number in the metadata names of remainder loops."""


def vectorize(module: Any, alone: bool = True) -> bool:
    """Vectorize the loops of `module` that gain by it; return whether none is left for LLVM's vectorizer.

    Loops of user code over scalars are left to LLVM. Unless `alone`, so are loops around vectorized loops.
    """
    own = [each for each in module.functions if each.blocks and not each.name.startswith("agc.")]
    is_done = alone
    written = []
    for function in own:
        left = _left_to_llvm(function, alone)
        is_done = is_done and not left
        merge(function, left)
        for plan, lanes, count in _plans(function, left):
            VectorWriter(plan, lanes, count).write()
            written.append(plan.block)
    if is_done:
        _finish(module)
    else:
        _tell_of(module, written)
    return is_done


def _tell_of(module: Any, rests: Sequence[Any]) -> None:
    """Mark the remainder loops `rests` as already vectorized."""
    known = module.add_metadata(["llvm.loop.isvectorized", ir().IntType(32)(1)])
    for i, block in enumerate(rests):
        if block.terminator.opname == "br" and len(block.terminator.operands) == 3:
            block.terminator.set_metadata("llvm.loop", module.add_metadata([f"loop{_TOLD + i}", known]))


def _finish(module: Any) -> None:
    """Inline the wrappers of scalar calls, and internalize variants that only LLVM's vectorizer would call."""
    for each in module.functions:
        if each.name.endswith(".apart") and "noinline" not in each.attributes:
            each.attributes.add("alwaysinline")
        if each.linkage == "weak_odr":  # libm/slow_paths.py
            each.linkage = "internal"


def _left_to_llvm(function: Any, alone: bool) -> set[Any]:
    """Return the blocks of loops that are left to LLVM: loops of user code, which work on scalars."""
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
    """Return the loops to vectorize: the plan, the number of lanes, and the vectors per iteration."""
    found = []
    for block in function.blocks:
        if block in targets(block) and block not in left and not _is_written(block):
            with suppress(NotVectorizedError):
                plan = _planned(block)
                if plan is not None:
                    found.append(plan)
    used = _used_after(function, {plan.block for plan, _, _ in found})
    return [each for each in found if each[0].block not in used]


def _works_elsewhere(cycle: NaturalLoop) -> bool:
    """Return whether the work of a loop is already vectorized, or done in functions of other modules, as GEMM is."""
    return any(map(_is_written, cycle.blocks)) or any(
        each.opname == "call" and getattr(each.callee, "is_declaration", False) and _is_work(each.callee.name)
        for block in cycle.blocks
        for each in block.instructions
    )


def _is_work(name: str) -> bool:
    return name.startswith("agc_") and name != "agc_interrupted"


def _used_after(function: Any, loops: set[Any]) -> set[Any]:
    """Return the blocks among `loops` that define values used in other blocks."""
    return {
        parent
        for block in function.blocks
        for each in block.instructions
        for operand in operands_of(each)
        if (parent := getattr(operand, "parent", None)) is not block and parent in loops
    }


def _is_written(block: Any) -> bool:
    """Return whether a loop has vector instructions already, as small products do (lowering/gemm_micro_kernel.py)."""
    return any(isinstance(each.type, ir().VectorType) for each in block.instructions)


def _is_nest(head: Any) -> bool:
    """Return whether a loop runs over elements in memory and is not to be unrolled to keep them in registers."""
    is_written_out = "llvm.loop.vectorize.followup_vectorized" in loop_metadata(head)
    return counts(head) and not is_written_out and not any(map(_finds_places, head.instructions))


def _finds_places(each: Any) -> bool:
    """Return whether `each` divides an index, or selects by comparing one. LLVM still finds a stride."""
    if each.type != ir().IntType(64):
        return False
    if each.opname == "select":
        test = each.operands[0]
        return getattr(test, "opname", "") == "icmp" and _is_moved(test.operands[0])
    return each.opname in ("udiv", "urem")


def _is_moved(value: Any) -> bool:
    """Return whether a value is an induction variable plus or minus an offset."""
    if getattr(value, "opname", "") in ("add", "sub"):
        value = value.operands[0]
    return getattr(value, "opname", "") == "phi"


def _planned(block: Any) -> tuple[VectorPlan, int, int] | None:
    """Return the plan, the lanes and the vectors per iteration of a loop; None if the loop stays scalar."""
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
    """Return the number of vectors per iteration of a loop over `vectors` full vectors."""
    size = _size(plan, lanes)
    if vectors <= _MANY and size * vectors <= _SHORT:
        return vectors
    return max(
        count
        for count in range(1, _most(plan, size) + 1)
        if count == 1 or vectors % count == 0 or vectors > _LONG
    )


def _most(plan: VectorPlan, size: int) -> int:
    """Return the largest number of vectors per iteration: several for sums, where each waits for the one before."""
    return _MANY if plan.gathered and size <= _LITTLE else 1


def _size(plan: VectorPlan, lanes: int) -> int:
    """Return the number of instructions per vector, with all functions inlined."""
    calls = [each.callee for each in plan.written if each.opname == "call"]
    alone = sum(plan.kind(each) == EACH for each in plan.written)
    inlined = sum(len(block.instructions) for callee in calls for block in callee.blocks)
    return len(plan.written) + alone * (lanes - 1) + inlined
