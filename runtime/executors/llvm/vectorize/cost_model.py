"""Whether a loop is quicker in lanes: what it costs for one number after another, and for a vector of them.

y[i] ← x[3 i] * 2     8 numbers: 8 loads, products, stores      a vector: 8 loads, 8 are put together, 1, 1
y[i] ← x[j[i]]        8 numbers: 16 loads, 8 stores             a vector: 16 loads, 8 are put together, 1
"""

from __future__ import annotations

import math
from typing import Any

from ..llvm_engine import vector_bytes
from .vector_plan import EACH, LANES, VectorPlan
from .widen_instructions import is_slow, width

_ROUND = 2
"""Instructions that count a round and jump back."""

_SLOW = 5
"""What an instruction costs that many machines do number by number all the same."""

_GAIN = 4 / 3
"""How much less it must be, for lanes are more code as well."""


def is_worth(plan: VectorPlan, lanes: int) -> bool:
    """Whether a loop is quicker in so many lanes."""
    if all(plan.kind(each) != EACH and not is_slow(each) for each in plan.written):
        return True
    return _in_lanes(plan, lanes) * _GAIN <= _alone(plan) * lanes


def _alone(plan: VectorPlan) -> int:
    """What a round costs, number by number."""
    joined = len(plan.gathered)
    return _ROUND + joined + sum(_inlined(each) for each in plan.written if plan.kind(each) in (EACH, LANES))


def _in_lanes(plan: VectorPlan, lanes: int) -> int:
    """What a round costs that computes a vector."""
    cost = _ROUND + len(plan.gathered)
    moved = set()  # values that go from lanes to numbers, or the other way
    for each in plan.written:
        kind = plan.kind(each)
        if kind not in (EACH, LANES):
            continue
        cost += lanes * _inlined(each) if kind == EACH else _registers(each, lanes) * _inlined(each)
        if each.opname == "load" and kind == LANES:
            cost += 2 * (plan.steps[each.operands[0]] - 1)
        for operand in each.operands:
            of_operand = plan.kind(operand)
            if of_operand != kind and of_operand in (EACH, LANES) and each.opname != "load":
                moved.add(operand)
    moved |= {one.value for one in plan.gathered if plan.kind(one.value) == EACH}
    return cost + lanes * len(moved)


def _inlined(each: Any) -> int:
    """How many instructions one is for the machine; addresses are part of those that read or write there."""
    if each.opname == "getelementptr":
        return 0
    if each.opname == "call" and each.callee.blocks:
        return len(each.callee.blocks[0].instructions)
    return 1


def _registers(each: Any, lanes: int) -> int:
    """How many registers the lanes take, times what the instruction costs in one that is not done there at once."""
    kind = each.operands[0].type if each.opname == "store" else each.type
    return math.ceil(max(width(kind), 1) * lanes / (8 * vector_bytes())) * (_SLOW if is_slow(each) else 1)
