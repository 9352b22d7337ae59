"""Collapse nested loops over consecutive elements into one loop with a larger trip count.

    for i < 24: for j < 32: y[i * 32 + j] ← …      ==>      for k < 768: y[k] ← …

Operations that read with strides, or that broadcast along axes, emit one loop per axis.
Collapsing leaves fewer loops to compile, and larger trip counts fill more vectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from typing import Any, NamedTuple

from ..codegen.liveness import operands_of
from ..codegen.llvm_types import ir
from ..codegen.outlining import redirect

Users = dict[Any, list[Any]]


class Count(NamedTuple):
    """A loop that counts from 0 to a constant: its induction variable, its exit test and the adjacent blocks."""

    number: Any
    following: Any
    test: Any
    before: Any
    latch: Any
    after: Any

    @property
    def rounds(self) -> int:
        return int(self.test.operands[1].constant)


def merge(function: Any, but: Container[Any] = ()) -> None:
    """Collapse pairs of perfectly nested loops, outer loops first, except loops that begin in a block of `but`."""
    around = [block for block in function.blocks if _is_around(block) and block not in but]
    if not around:
        return
    users: Users = defaultdict(list)
    for block in function.blocks:
        for each in block.instructions:
            for operand in operands_of(each):
                users[operand].append(each)
    for block in around:
        outer = _count(block, users)
        if outer is not None and len(outer.latch.instructions) == 3:
            inner = _count(block.terminator.operands[0], users)
            if inner is not None and inner.before is block and inner.after is outer.latch:
                _merge(function, outer, inner, users)


def _is_around(head: Any) -> bool:
    """Return whether the loop that begins at `head` seems to contain only another loop."""
    return (
        len(head.instructions) == 2
        and head.instructions[0].opname == "phi"
        and head.terminator.opname == "br"
        and len(head.terminator.operands) == 1
        and head.terminator.operands[0].instructions[0].opname == "phi"
    )


def _count(head: Any, users: Users) -> Count | None:
    """Return the counted loop that begins at `head`; None if there is none."""
    number, *others = head.instructions
    if number.opname != "phi" or len(number.incomings) != 2 or others[0].opname == "phi":
        return None
    (start, before), (following, latch) = number.incomings
    jump = latch.terminator
    test: Any = jump.operands[0]
    if (
        not _is_constant(start, 0)
        or getattr(following, "opname", "") != "add"
        or following.operands[0] is not number
        or not _is_constant(following.operands[1], 1)
        or getattr(test, "opname", "") != "icmp"
        or test.op != "ne"
        or test.operands[0] is not following
        or set(users[following]) != {number, test}
        or not isinstance(test.operands[1], ir().Constant)
        or jump.operands[1] is not head
    ):
        return None
    return Count(number, following, test, before, latch, jump.operands[2])


def _is_constant(value: Any, number: int) -> bool:
    return isinstance(value, ir().Constant) and value.constant == number


def _merge(function: Any, outer: Count, inner: Count, users: Users) -> None:
    """Give the inner loop the trip count of both, if both induction variables are used only for the linear index."""
    scaled = [each for each in users[outer.number] if each is not outer.following]
    sums = [each for each in users[inner.number] if each is not inner.following]
    if (
        not all(each.opname == "mul" and _is_constant(each.operands[1], inner.rounds) for each in scaled)
        or not all(each.opname == "add" and each.operands[0] in scaled for each in sums)
        or {each for product in scaled for each in users[product]} != set(sums)
        or outer.after.instructions[0].opname == "phi"
    ):
        return
    inner.number.incomings[0] = (inner.number.incomings[0][0], outer.before)
    users[inner.number] = [inner.following]
    inner.test.operands = [inner.following, inner.number.type(outer.rounds * inner.rounds)]
    redirect([outer.before.terminator], {outer.number.parent: inner.number.parent})
    redirect([inner.latch.terminator], {outer.latch: outer.after})
    for each in sums:
        redirect(users[each], {each: inner.number})
        users[inner.number] += users[each]
    for each in [*scaled, *sums]:
        each.parent.instructions.remove(each)
    function.blocks.remove(outer.number.parent)
    function.blocks.remove(outer.latch)
