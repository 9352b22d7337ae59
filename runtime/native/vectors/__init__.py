"""Loops over elements are written in lanes before LLVM sees them, which need not find out then how to do that.

    for i < 1000: y[i] ← tanh(x[i])    ==>    for i < 1000 by 8: y[i … i+7] ← tanh(x[i … i+7])

LLVM's own way costs more time than all else that it does, and leaves more code to be compiled: tests whether a loop is
long enough, rounds of one, two and four vectors. Where all loops of a module are such loops, or may stay as they are,
it goes through few passes (levels.py). Where one is not, nothing is changed, and LLVM does all.

lanes.py    instructions and our own functions, in lanes
plans.py    what a loop does in lanes, or why it is left to LLVM
writing.py  the loop in lanes
cycles.py   the loops of a function
"""

from __future__ import annotations

import functools
from typing import Any

from ..emit.liveness import operands_of
from .cycles import Cycle, cycles
from .lanes import can_be_in_lanes
from .plans import Plan, RefusedError, known_rounds, told, told_number
from .writing import Writer

__all__ = ["RefusedError", "widen"]

_MANY = 4
"""Vectors of a round of sums that wait for nothing else."""

_SHORT = 48
"""Loops that are written out are of so few instructions, all vectors together, and of a few vectors."""

_LONG = 64
"""Vectors from which on it matters little how many are left in the end."""

_LITTLE = 24
"""Instructions, so few of which are done several times in a round."""


def widen(module: Any) -> bool:
    """Write all loops of a module in lanes, if there are some, and all can be; else nothing has changed."""
    own = [each for each in module.functions if each.blocks and not each.name.startswith("agc.")]
    try:
        plans = [plan for function in own for plan in _plans(function)]
    except RefusedError:
        return False
    for plan, lanes, count in plans:
        Writer(plan, lanes, count).write()
    if plans:
        _finish(module)
    return bool(plans)


def _finish(module: Any) -> None:
    """What LLVM would find out by itself, or needs only for vectors of its own."""
    for each in module.functions:
        if each.name.endswith(".apart") and "noinline" not in each.attributes:
            each.attributes.add("alwaysinline")
        if each.linkage == "weak_odr":  # maths/rare.py
            each.linkage = "internal"


def _plans(function: Any) -> list[tuple[Plan, int, int]]:
    """The loops of a function that are to be written in lanes: how many lanes, and how many vectors a round."""
    found = []
    fine: set[Any] = set()
    for cycle in cycles(function):
        if len(cycle.blocks) > 1:
            if cycle.blocks.isdisjoint(fine) and not _works_elsewhere(cycle):
                raise RefusedError("a loop of several blocks")
            continue
        plan = _planned(cycle.head)
        if plan is not None:
            found.append(plan)
        fine.add(cycle.head)
    _demand_alone(function, {plan.block for plan, _, _ in found})
    return found


def _works_elsewhere(cycle: Cycle) -> bool:
    """Whether what a loop does is done by functions of other modules, as products are."""
    return any(
        each.opname == "call" and getattr(each.callee, "is_declaration", False) and _is_work(each.callee.name)
        for block in cycle.blocks
        for each in block.instructions
    )


def _is_work(name: str) -> bool:
    return name.startswith("agc_") and name != "agc_interrupted"


def _demand_alone(function: Any, loops: set[Any]) -> None:
    """Refuse loops whose values are used behind them."""
    for block in function.blocks:
        for each in block.instructions:
            for operand in operands_of(each):
                parent = getattr(operand, "parent", None)
                if parent is not block and parent in loops:
                    raise RefusedError("a value of the last round is used")


def _planned(block: Any) -> tuple[Plan, int, int] | None:
    """A loop in lanes; None where it shall stay as it is."""
    known = told(block)
    if told_number(known, "vectorize.width") == 1:
        return None
    if "llvm.loop.vectorize.followup_vectorized" in known:
        raise RefusedError("it is to be written out, round by round")
    plan = Plan(block)
    lanes = register_bits() // plan.widest
    rounds = known_rounds(plan)
    while rounds is not None and lanes > max(rounds, 2):
        lanes //= 2
    while lanes > 1 and not all(
        can_be_in_lanes(each, lanes) for each in plan.written if each.opname == "call"
    ):
        lanes //= 2
    if rounds is None and lanes > 1:
        return plan, lanes, _most(plan, _size(plan))
    if rounds is None or (lanes == 1 and rounds > _MANY):
        raise RefusedError("a function has no form in lanes")
    return (plan, lanes, _count(plan, rounds // lanes)) if 1 < lanes <= rounds else None


def _count(plan: Plan, vectors: int) -> int:
    """How many vectors a round of so many computes."""
    size = _size(plan)
    if vectors <= _MANY and size * vectors <= _SHORT:
        return vectors
    return max(
        count
        for count in range(1, _most(plan, size) + 1)
        if count == 1 or vectors % count == 0 or vectors > _LONG
    )


def _most(plan: Plan, size: int) -> int:
    """The most vectors of a round."""
    return told_number(plan.told, "interleave.count") or (_MANY if plan.gathered and size <= _LITTLE else 1)


def _size(plan: Plan) -> int:
    """How many instructions a loop is, when all functions are inlined."""
    calls = [each.callee for each in plan.written if each.opname == "call"]
    return len(plan.written) + sum(len(block.instructions) for callee in calls for block in callee.blocks)


@functools.cache
def register_bits() -> int:
    """How wide the vectors are that this machine computes with at full speed."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return 256 if features.get("avx2") else 128
