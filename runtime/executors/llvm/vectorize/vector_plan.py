"""Classify the instructions of a single-block loop over elements, before anything is changed.

loop:
  i   = phi [0, before], [next, loop]                 counts: induction variable
  p   = gep float, x, i                               follows: an address with a constant stride
  v   = load p                                        lanes: vectorized
  q   = gep float, x, v                               each: scalarized, one instruction per lane
  s   = load scale                                    same: loop-invariant
  w   = v * s                                         lanes
  sum = load slot; sum' = sum + w; store slot         gathered: a reduction, in vector accumulators
  next = i + 1
  branch next < n, loop, after
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..codegen.llvm_types import Register, ir
from ..codegen.outlining import is_slot
from .stride_analysis import moved_by
from .widen_instructions import ALONE, can_be_in_lanes, is_how, is_number, is_slow, width

SAME, COUNTS, FOLLOWS, LANES, EACH = "same", "counts", "follows", "lanes", "each"

NEAR = 4
"""The largest stride that is read with whole vector loads and shuffles."""


class NotVectorizedError(Exception):
    """The reason why a loop is left to LLVM."""


class LoopReduction(NamedTuple):
    """A reduction into a slot: `slot ← slot ∘ value`."""

    slot: Register
    join: Any
    """The instruction that combines the slot's content with the value."""
    value: Register


NEUTRAL: dict[str, Any] = {
    "fadd": -0.0, "fmul": 1.0, "add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0,
}  # fmt: skip
"""The neutral elements. Minimum and maximum have none here; their accumulators begin with the slot's content."""

_EXTREMES = frozenset(
    {
        "llvm.maximum",
        "llvm.maxnum",
        "llvm.minimum",
        "llvm.minnum",
        "llvm.smax",
        "llvm.smin",
        "llvm.umax",
        "llvm.umin",
    }
)


class VectorPlan:
    """A single-block loop and the kind of each of its instructions."""

    def __init__(self, block: Any) -> None:
        self.block = block
        self.number, self.start, self.following, self.end = _counter(block)
        self.before, self.after = _around(block)
        self.told = loop_metadata(block)
        self.kinds: dict[Any, str] = {self.number: COUNTS}
        self.steps: dict[Any, int] = {self.number: 1}  # strides of "counts" and "follows" values
        self.gathered: list[LoopReduction] = []
        self._read: set[Any] = set()  # slots that the loop only reads
        self._users: dict[Any, list[Any]] = defaultdict(list)
        for each in block.instructions:
            for operand in each.operands:
                self._users[operand].append(each)
        self._skipped: set[Any] = {self.number, block.terminator, block.terminator.operands[0]}
        self._find_gathered()
        self._for_addresses = self._only_for_addresses()
        for each in block.instructions:
            if each not in self._skipped:
                self.kinds[each] = self._kind(each)
        for one in self.gathered:
            if self.kind(one.value) == FOLLOWS:
                raise NotVectorizedError("an address is reduced")
        self.written = [each for each in block.instructions if each not in self._skipped]
        """The instructions to be emitted in the vector loop, in order."""
        self.widest = self._widest()

    @property
    def stores(self) -> list[Any]:
        """Instructions that write elements."""
        return [each for each in self.written if each.opname == "store"]

    @property
    def is_beside(self) -> bool:
        """Return whether all vector loads and stores have stride 1 and nothing is scalarized."""
        return EACH not in self.kinds.values() and all(
            self.steps[each.operands[-1]] == 1
            for each in self.written
            if each.opname in ("load", "store") and self.kind(each) == LANES
        )

    def kind(self, value: Register) -> str:
        """Return the kind of a value; values from outside the loop are loop-invariant."""
        return self.kinds.get(value, SAME)

    def _widest(self) -> int:
        """Return the bit width of the widest elements: loaded, stored, reduced or floating-point."""
        in_lanes = [each for each, kind in self.kinds.items() if kind in (LANES, EACH)]
        kinds = [
            each.type for each in in_lanes if each.opname == "load" or not isinstance(each.type, ir().IntType)
        ]
        kinds += [each.operands[0].type for each in self.stores]
        kinds += [one.join.type for one in self.gathered]
        widths = list(filter(None, map(width, kinds)))
        if not widths:
            raise NotVectorizedError("no value is computed")
        return max(widths)

    # Reductions

    def _find_gathered(self) -> None:
        slots = dict.fromkeys(
            place
            for each in self.block.instructions
            if each.opname in ("load", "store")
            and is_slot(place := each.operands[-1])
            and "llvm.access.group" not in each.metadata
        )
        for slot in slots:
            if all(each.opname == "load" for each in self._users[slot]):
                self._read.add(slot)
            else:
                users = self._users[slot]
                found = [self._gathered(slot, *two) for two in zip(users[::2], users[1::2], strict=False)]
                if len(users) % 2 or len({one.join.opname for one in found}) > 1:
                    raise NotVectorizedError("a slot is used in other ways than a reduction")
                self.gathered += found

    def _gathered(self, slot: Register, load: Any, store: Any) -> LoopReduction:
        if (load.opname, store.opname) != ("load", "store"):
            raise NotVectorizedError("a slot is used in other ways than a reduction")
        join = store.operands[0]
        of_join: Sequence[Any] = (
            join.args if getattr(join, "opname", "") == "call" else getattr(join, "operands", ())
        )
        if (
            getattr(join, "parent", None) is not self.block
            or self._users[load] != [join]
            or self._users[join] != [store]
            or store.operands[1] is not slot
            or len(of_join) != 2
            or not (_is_sum(join) or _is_extreme(join))
        ):
            raise NotVectorizedError("the reduction in a slot depends on the order")
        self._skipped |= {load, store, join}
        return LoopReduction(slot, join, of_join[1] if of_join[0] is load else of_join[0])

    # Kinds

    def _only_for_addresses(self) -> set[Any]:
        """Return the instructions used only for addresses. Their lanes would only be extracted again."""
        found: set[Any] = set()
        for each in reversed(self.block.instructions):
            users = self._users[each]
            if users and all(user.opname == "getelementptr" or user in found for user in users):
                found.add(each)
        return found

    def _kind(self, each: Any) -> str:
        kinds = [self.kind(operand) for operand in each.operands]
        rule: Callable[[Any, list[str]], str] = getattr(self, f"_kind_of_{each.opname}", self._kind_of_number)
        return rule(each, kinds)

    def _kind_of_phi(self, each: Any, kinds: list[str]) -> str:
        raise NotVectorizedError("an iteration uses a value of the one before")

    def _kind_of_getelementptr(self, each: Any, kinds: list[str]) -> str:
        if all(kind == SAME for kind in kinds):
            return SAME
        if kinds == [SAME, COUNTS]:
            self.steps[each] = self.steps[each.operands[1]]
            return FOLLOWS
        if len(kinds) == 2:
            return EACH
        raise NotVectorizedError("elements are structures")

    def _kind_of_load(self, each: Any, kinds: list[str]) -> str:
        self._demand_apart(each)
        if kinds == [SAME]:
            return SAME
        self._demand_number(each.type)
        return (
            EACH if each in self._for_addresses else self._kind_of_access(each.operands[0], each.type, True)
        )

    def _kind_of_store(self, each: Any, kinds: list[str]) -> str:
        self._demand_apart(each)
        if kinds[1] == SAME or kinds[0] == FOLLOWS:
            raise NotVectorizedError("all iterations write the same element")
        self._demand_number(each.operands[0].type)
        return self._kind_of_access(each.operands[1], each.operands[0].type, False)

    def _kind_of_access(self, address: Any, kind: Any, is_read: bool) -> str:
        """Return `LANES` if elements are adjacent, or near enough for whole vector loads; otherwise `EACH`."""
        if self.kind(address) != FOLLOWS or address.source_etype != kind:
            return EACH
        step = self.steps[address]
        return LANES if abs(step) == 1 or (is_read and 1 < step <= NEAR) else EACH

    def _kind_of_number(self, each: Any, kinds: list[str]) -> str:
        operands = each.args if each.opname == "call" else each.operands
        kinds = kinds[-len(operands) :] if each.opname == "call" else kinds
        if FOLLOWS in kinds:
            raise NotVectorizedError("addresses are compared")
        if all(kind == SAME for kind in kinds) and (each.opname in ALONE or can_be_in_lanes(each, 4)):
            return SAME
        if each.type == self.number.type and (step := moved_by(each, [self._step(x) for x in operands])):
            self.steps[each] = step
            return COUNTS
        is_address = each in self._for_addresses and (LANES not in kinds or is_slow(each))
        if each.opname in ALONE and (is_address or not can_be_in_lanes(each, 4)):
            return EACH
        if not can_be_in_lanes(each, 4):
            raise NotVectorizedError(f"{each.opname} has no vector form")
        if any(is_how(each, i) and kind != SAME for i, kind in enumerate(kinds)):
            raise NotVectorizedError(f"{each.opname} varies")
        return LANES

    def _step(self, value: Register) -> int | None:
        """Return the stride of a value, if it is known."""
        return 0 if self.kind(value) == SAME else self.steps.get(value)

    def _demand_apart(self, each: Any) -> None:
        """Check that no iteration depends on another through memory.

        Host variables and slots that the loop only reads are never written.
        """
        place = each.operands[-1]
        if place in self._read or getattr(place, "pointer", None) is each.module.host.variable:
            return
        group = each.metadata.get("llvm.access.group")
        if group is None or group is not self.told.get("llvm.loop.parallel_accesses"):
            raise NotVectorizedError("iterations may access the same memory")

    def _demand_number(self, kind: Any) -> None:
        if not is_number(kind) or width(kind) < 8:
            raise NotVectorizedError("elements are not numbers")


def _is_sum(join: Any) -> bool:
    real = join.opname in ("fadd", "fmul")
    return join.opname in NEUTRAL and (not real or "reassoc" in join.flags) and is_number(join.type)


def _is_extreme(join: Any) -> bool:
    return join.opname == "call" and join.callee.name.rpartition(".")[0] in _EXTREMES


def _around(block: Any) -> tuple[Any, Any]:
    """Return the block before the loop and the block after it."""
    phi = block.instructions[0]
    jump = block.terminator
    before = [other for _, other in phi.incomings if other is not block]
    if len(before) != 1 or jump.operands[1] is not block:
        raise NotVectorizedError("it is not a counted loop")
    after = jump.operands[2]
    if after.instructions and after.instructions[0].opname == "phi":
        raise NotVectorizedError("the block after the loop begins with a phi")
    return before[0], after


def counts(head: Any) -> bool:
    """Return whether a loop has one phi, and that phi is an induction variable with step 1."""
    phis = [each for each in head.instructions if each.opname == "phi"]
    if len(phis) != 1:
        return False
    for following, latch in phis[0].incomings:
        if getattr(following, "opname", "") == "add" and following.operands[0] is phis[0]:
            again = latch.terminator.operands[0]
            return (
                getattr(again, "opname", "") == "icmp"
                and again.op == "ne"
                and again.operands[0] is following
                and following.operands[1].get_reference() == "1"
                and getattr(again.operands[1], "parent", None) is not latch
            )
    return False


def _counter(block: Any) -> tuple[Any, Any, Any, Any]:
    """Return the induction variable, its start, its next value and its end."""
    if not counts(block) or len(block.instructions[0].incomings) != 2:
        raise NotVectorizedError("it is not a counted loop")
    phi = block.instructions[0]
    ((start,), (following,)) = (
        [value for value, other in phi.incomings if (other is block) is inside] for inside in (False, True)
    )
    return phi, start, following, block.terminator.operands[0].operands[1]


def known_rounds(plan: VectorPlan) -> int | None:
    """Return the trip count if it is constant."""
    ends = plan.start, plan.end
    if all(isinstance(each, ir().Constant) for each in ends):
        return int(plan.end.constant - plan.start.constant)
    return None


def known_divisor(plan: VectorPlan) -> int:
    """Return a known divisor of the trip count, which is at least 1; 1 if none is known."""
    begins_at_0 = isinstance(plan.start, ir().Constant) and plan.start.constant == 0
    if not begins_at_0 or getattr(plan.end, "opname", None) != "mul":
        return 1
    factor = plan.end.operands[1]
    return int(factor.constant) if isinstance(factor, ir().Constant) else 1


def loop_metadata(block: Any) -> dict[str, Any]:
    """Return the `llvm.loop` metadata of a loop."""
    node = block.terminator.metadata.get("llvm.loop")
    found = {}
    for each in node.operands[1:] if node is not None else ():
        name, value = each.operands
        found[name.string] = value
    return found


def told_number(found: dict[str, Any], name: str) -> int:
    """Return a number from the metadata of a loop; 0 if it is missing."""
    value = found.get(f"llvm.loop.{name}")
    return 0 if value is None else int(value.constant)
