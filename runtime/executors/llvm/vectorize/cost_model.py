"""Cost model of the vectorizer: compares the cost of a scalar loop with the cost per vector.

y[i] ← x[3 i] * 2     8 scalars: 8 loads, products, stores      a vector: 3 loads, 2 shuffles, 1 product, 1 store
y[i] ← x[j[i]]        8 scalars: 16 loads, 8 stores             a vector: 16 loads, 8 inserts, 1 store
"""

from __future__ import annotations

import math
from typing import Any

from ..llvm_engine import vector_bytes
from .vector_plan import EACH, LANES, VectorPlan
from .widen_instructions import is_slow, width

_ROUND = 2
"""The number of instructions that increment the induction variable and branch back."""

_SLOW = 5
"""The cost of a vector instruction that many targets scalarize."""

_GAIN = 4 / 3
"""The least ratio of scalar to vector cost. It is above 1 because vectorizing adds code."""


def is_worth(plan: VectorPlan, lanes: int) -> bool:
    """Return whether a loop is faster with `lanes` lanes."""
    if all(plan.kind(each) != EACH and not is_slow(each) for each in plan.written):
        return True
    return _in_lanes(plan, lanes) * _GAIN <= _alone(plan) * lanes


def _alone(plan: VectorPlan) -> int:
    """Return the cost of a scalar iteration."""
    joined = len(plan.gathered)
    return _ROUND + joined + sum(_inlined(each) for each in plan.written if plan.kind(each) in (EACH, LANES))


def _in_lanes(plan: VectorPlan, lanes: int) -> int:
    """Return the cost of an iteration that computes one vector."""
    cost = _ROUND + len(plan.gathered)
    moved = set()  # values that need extracts or inserts
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
    """Return the number of machine instructions of `each`; a `getelementptr` is folded into its load or store."""
    if each.opname == "getelementptr":
        return 0
    if each.opname == "call" and each.callee.blocks:
        return len(each.callee.blocks[0].instructions)
    return 1


def _registers(each: Any, lanes: int) -> int:
    """Return the number of registers that a vector takes, times the cost of the instruction per register."""
    kind = each.operands[0].type if each.opname == "store" else each.type
    return math.ceil(max(width(kind), 1) * lanes / (8 * vector_bytes())) * (_SLOW if is_slow(each) else 1)
