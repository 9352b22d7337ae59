"""Emit the vector loop before the scalar loop. The scalar loop runs the remainder, or is removed.

before ──► ahead: loop-invariant instructions
             │
           wide: `count` vectors per iteration ◄─┐   skipped if the trip count is too small,
             │  └────────────────────────────────┘   which is checked at run time
           joined: a short remainder as one vector; reductions of lanes are stored to their slots
             │
           loop: the rest of the remainder, if it is long or has a dynamic length ──► after
"""

from __future__ import annotations

import functools
from collections import ChainMap
from typing import Any

from ..codegen.llvm_types import Register, integer, ir
from ..codegen.outlining import replace_by
from .clone import copied
from .masked_tail import can_be_few, few_loaded, few_of, few_stored
from .vector_plan import (
    COUNTS,
    EACH,
    FOLLOWS,
    LANES,
    NEUTRAL,
    SAME,
    LoopReduction,
    VectorPlan,
    known_divisor,
    known_rounds,
)
from .widen_instructions import (
    counted,
    deinterleave,
    in_lanes,
    is_formula,
    is_how,
    put_together,
    reverse_lanes,
    spread,
    taken_together,
    vector,
    widened,
    width,
)


class VectorWriter:
    """Emits the vector loop of a plan, with `count` vectors of `lanes` lanes per iteration."""

    def __init__(self, plan: VectorPlan, lanes: int, count: int) -> None:
        self.plan, self.lanes, self.count = plan, lanes, count
        self.function = plan.block.parent
        self.ahead, self.wide, self.joined = (self._block(name) for name in ("ahead", "wide", "joined"))
        self.outer, self.b = ir().IRBuilder(self.ahead), ir().IRBuilder(self.wide)
        self._same: dict[Any, Register] = {}
        self._begins: Register = None  # run-time check: at least one full vector iteration
        self._few = 0  # used lanes of the remainder's vector; 0 if all are used
        self._spread = functools.cache(functools.partial(spread, self.outer, count=lanes))
        self._copies: list[dict[Any, Register]] = [{} for _ in range(count)]
        self._in_lanes: list[dict[Any, Register]] = [{} for _ in range(count)]
        self._alone: list[dict[tuple[Any, int], Register]] = [{} for _ in range(count)]

    def _block(self, name: str) -> Any:
        """Create a block before the loop."""
        blocks = self.function.blocks
        made = self.function.append_basic_block(name)
        blocks.insert(blocks.index(self.plan.block), blocks.pop())
        return made

    def write(self) -> None:
        """Emit the vector loop and its remainder."""
        plan, b = self.plan, self.b
        _turn(plan.before, plan.block, self.ahead)
        rounds, end = self._rounds()
        is_once = rounds is not None and rounds // self._step == 1
        number = plan.start if is_once else self._phi("i", plan.start)
        sums = [[self._begun(one, is_once) for _ in range(self.count)] for one in plan.gathered]
        for i, copy in enumerate(self._copies):
            copy[plan.number] = self._moved(number, i * self.lanes)
        for each in plan.written:
            self._write(each)
        joined = []
        for one, begun in zip(plan.gathered, sums, strict=True):
            values = [self._lane_of(one.value, i) for i in range(self.count)]
            joined.append([_join(one)(b, sum_, value) for sum_, value in zip(begun, values, strict=True)])
        if is_once:
            b.branch(self.joined)
        else:
            following = self._moved(number, self._step)
            for phis, values in zip([[number], *sums], [[following], *joined], strict=True):
                for phi, value in zip(phis, values, strict=True):
                    phi.add_incoming(value, self.wide)
            b.cbranch(b.icmp_unsigned("!=", following, end), self.wide, self.joined)
        left = 0 if rounds is None else rounds % self._step
        if left < self.lanes and can_be_few(left) and self.plan.is_beside:
            for of_one, value in zip(joined, self._write_few(left, end), strict=True):
                of_one.append(value)
            left = 0
        self._leave(joined, end, left)

    @property
    def _step(self) -> int:
        """Scalar iterations per vector iteration."""
        return self.lanes * self.count

    def _phi(self, name: str, first: Register) -> Register:
        """Emit a phi of the vector loop with the initial value `first`."""
        made = ir().instructions.PhiInstr(self.wide, first.type, name)
        self.b._insert(made)
        made.add_incoming(first, self.ahead)
        return made

    def _rounds(self) -> tuple[int | None, Register]:
        """Emit the loop-invariant instructions; return a constant trip count or None, and the vector loop's end."""
        plan, outer, step = self.plan, self.outer, self._step
        kind = plan.number.type
        for each in plan.written:
            if plan.kind(each) == SAME:
                self._same[each] = copied(outer, each, self._same)
        if rounds := known_rounds(plan):
            end = kind(plan.start.constant + rounds // step * step)
            return rounds, end
        if known_divisor(plan) % step == 0:
            return None, plan.end
        some = outer.and_(outer.sub(plan.end, plan.start), kind(-step))
        end = outer.add(plan.start, some)
        self._begins = outer.icmp_unsigned("!=", some, kind(0))
        return None, end

    def _write_few(self, few: int, begin: Register) -> list[Register]:
        """Emit a remainder of `few` iterations as one vector; return its operands of the reductions."""
        self._few, self.b = few, ir().IRBuilder(self.joined)
        self._copies, self._in_lanes, self._alone = [{self.plan.number: begin}], [{}], [{}]
        for each in self.plan.written:
            self._write(each)
        return [
            few_of(self.b, self._lane_of(one.value, 0), few, self._neutral(one)) for one in self.plan.gathered
        ]

    def _neutral(self, one: LoopReduction) -> Register | None:
        """Return the neutral element in all lanes; None for minimum and maximum, which may repeat lanes."""
        how = one.join.opname
        return self._spread(ir().Constant(one.join.type, NEUTRAL[how])) if how in NEUTRAL else None

    def _leave(self, sums: list[list[Register]], end: Register, left: int) -> None:
        """Emit the blocks after the vector loop, for `left` scalar iterations or a dynamic number of them."""
        plan = self.plan
        if self._begins is not None:
            self.outer.cbranch(self._begins, self.wide, plan.block)
        else:
            self.outer.branch(self.wide)
        b = ir().IRBuilder(self.joined)
        for one, values in zip(plan.gathered, sums, strict=True):
            join = _join(one)
            total = values[0]
            for other in values[1:]:
                total = join(b, total, other)
            number = taken_together(b, join, total)
            b.store(join(b, b.load(one.slot, typ=number.type), number), one.slot)
        inside = [(value, other) for value, other in plan.number.incomings if other is plan.block]
        skipped = [(plan.start, self.ahead)] if self._begins is not None else []
        plan.number.incomings = [*skipped, (end, self.joined), *inside]
        if self._begins is not None:
            b.cbranch(b.icmp_unsigned("<", end, plan.end), plan.block, plan.after)
        elif left:
            b.branch(plan.block)
            if left == 1:
                plan.number.incomings = [(end, self.joined)]
                replace_by(plan.block).branch(plan.after)
        else:
            b.branch(plan.after)
            self.function.blocks.remove(plan.block)

    # One instruction

    def _write(self, each: Any) -> None:
        kind = self.plan.kind(each)
        if kind == SAME:
            return
        if kind == LANES and len(self._copies) > 1 and is_formula(each):
            self._write_formula(each)
            return
        for i, copy in enumerate(self._copies):
            if kind == LANES:
                self._write_in_lanes(each, i)
            elif kind == EACH:
                self._write_alone(each, i)
            else:
                copy[each] = copied(self.b, each, ChainMap(copy, self._same))

    def _write_formula(self, call: Any) -> None:
        """Emit one call of a branch-free function of the project, for all vectors of an iteration."""
        given = [self._lane_of(value, i) for i in range(self.count) for value in call.args]
        function = in_lanes(self.b.module, call.callee, self.lanes, self.count)
        together = self.b.call(function, given)
        for i in range(self.count):
            self._in_lanes[i][call] = self.b.extract_value(together, i)

    def _write_in_lanes(self, each: Any, i: int) -> None:
        b = self.b
        if each.opname == "load":
            self._in_lanes[i][each] = self._read(each.operands[0], each.type, i)
        elif each.opname == "store":
            value, address = each.operands
            given = self._in_order(self._lane_of(value, i), address)
            given = few_stored(b, given, self._few) if self._few else given
            b.store(given, self._first_of(address, i), align=width(value.type) // 8)
        else:
            operands = each.args if each.opname == "call" else each.operands
            given = [
                self._same.get(x, x) if is_how(each, place) else self._lane_of(x, i)
                for place, x in enumerate(operands)
            ]
            self._in_lanes[i][each] = widened(b, each, given, self.lanes)

    def _read(self, address: Register, kind: Any, i: int) -> Register:
        """Emit the loads of a vector of elements with a constant stride."""
        step, lanes = self.plan.steps[address], self.lanes
        first = self._first_of(address, i)
        if self._few:
            return few_loaded(self.b, first, kind, self._few, lanes, width(kind) // 8)
        begins = [*(n * lanes for n in range(step - 1)), (lanes - 1) * step + 1 - lanes] if step > 1 else [0]
        parts = []
        for begin in begins:
            place = self.b.gep(first, [integer(64)(begin)], source_etype=kind) if begin else first
            parts.append(self.b.load(place, typ=vector(kind, lanes)))
            parts[-1].align = width(kind) // 8
        return deinterleave(self.b, parts, step) if step > 1 else self._in_order(parts[0], address)

    def _first_of(self, address: Register, i: int) -> Register:
        """Return the address of the first element in memory. Vectors with stride -1 end at `address`."""
        return self._alone_of(address, i, self.lanes - 1 if self.plan.steps[address] < 0 else 0)

    def _in_order(self, value: Register, address: Register) -> Register:
        """Reverse the lanes if the address has a negative stride."""
        return reverse_lanes(self.b, value) if self.plan.steps[address] < 0 else value

    def _write_alone(self, each: Any, i: int) -> None:
        """Emit the instruction once per lane."""
        operands = dict.fromkeys(x for x in each.operands if self.plan.kind(x) != SAME)
        for lane in range(self.lanes):
            values = {x: self._alone_of(x, i, lane) for x in operands}
            self._alone[i][each, lane] = copied(self.b, each, ChainMap(values, self._same))

    def _alone_of(self, value: Register, i: int, lane: int) -> Register:
        """Return the scalar of one lane."""
        found = self._alone[i].get((value, lane))
        if found is not None:
            return found
        kind, by = self.plan.kind(value), self.plan.steps.get(value, 0) * lane
        if kind == SAME:
            return self._same.get(value, value)
        if kind == LANES:
            made = self.b.extract_element(self._in_lanes[i][value], integer(32)(lane))
        elif not by:
            return self._copies[i][value]
        elif kind == FOLLOWS:
            made = self.b.gep(self._copies[i][value], [integer(64)(by)], source_etype=value.source_etype)
        else:
            made = self.b.add(self._copies[i][value], value.type(by))
        self._alone[i][value, lane] = made
        return made

    def _lane_of(self, value: Register, i: int) -> Register:
        """Return a value as vector number `i` of an iteration."""
        found = self._in_lanes[i].get(value)
        if found is not None:
            return found
        kind = self.plan.kind(value)
        if kind == COUNTS:
            first, step = self._copies[i][value], self.plan.steps[value]
            made = self._in_lanes[i][value] = counted(self.b, first, self.lanes, step)
            return made
        if kind == EACH:
            alone = [self._alone[i][value, lane] for lane in range(self.lanes)]
            made = self._in_lanes[i][value] = put_together(self.b, alone)
            return made
        assert kind == SAME, kind
        return self._spread(self._same.get(value, value))

    def _moved(self, number: Register, by: int) -> Register:
        if isinstance(number, ir().Constant):
            return number.type(number.constant + by)
        return self.b.add(number, number.type(by), flags=("nuw", "nsw")) if by else number

    def _begun(self, one: LoopReduction, is_once: bool) -> Register:
        """Return the initial value of an accumulator."""
        kind = one.join.type
        if one.join.opname in NEUTRAL:
            first = self._spread(ir().Constant(kind, NEUTRAL[one.join.opname]))
        else:
            first = spread(self.outer, self.outer.load(one.slot, typ=kind), self.lanes)
        return first if is_once else self._phi("sum", first)


def _join(one: LoopReduction) -> Any:
    """Return a function that emits the reduction's operation on two vectors or scalars."""

    def join(b: Any, x: Register, y: Register) -> Register:
        if isinstance(x.type, ir().VectorType):
            return widened(b, one.join, [x, y], x.type.count)
        operands = one.join.operands if one.join.opname != "call" else one.join.args
        return copied(b, one.join, dict(zip(operands, (x, y), strict=True)))

    return join


def _turn(block: Any, old: Any, new: Any) -> None:
    """Redirect the branch of `block` from `old` to `new`."""
    block.terminator.operands = [new if each is old else each for each in block.terminator.operands]
