"""What a loop over elements does in lanes: found in its one block, before anything is changed.

loop:
  i   = phi [0, before], [next, loop]                 counts
  p   = gep float, x, i                               follows: an address that goes on by one element
  v   = load p                                        lanes
  s   = load scale                                    same: it is what it is in all rounds
  w   = v * s                                         lanes
  sum = load slot; sum' = sum + w; store slot         gathered: in lanes, until the loop is left
  next = i + 1
  branch next < n, loop, after
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..emit.outlining import is_slot
from ..emit.types import Register, ir
from .lanes import ALONE, can_be_in_lanes, is_how, is_number

SAME, COUNTS, FOLLOWS, LANES = "same", "counts", "follows", "lanes"


class RefusedError(Exception):
    """Why a loop is left to LLVM."""


class Gathered(NamedTuple):
    """Numbers that are taken together in a slot: `slot ← slot ∘ value`."""

    slot: Register
    join: Any
    """The instruction, of what the slot holds and the value."""
    value: Register


NEUTRAL: dict[str, Any] = {
    "fadd": -0.0, "fmul": 1.0, "add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0,
}  # fmt: skip
"""What changes no number; the least and the greatest of numbers begin with what is there."""

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


class Plan:
    """A loop of one block, and what each of its instructions is."""

    def __init__(self, block: Any) -> None:
        self.block = block
        self.before, self.after = _around(block)
        self.number, self.start, self.following, self.end = _counter(block)
        self.told = told(block)
        self.kinds: dict[Any, str] = {self.number: COUNTS}
        self.gathered: list[Gathered] = []
        self._read: set[Any] = set()  # slots that are not written
        self._users: dict[Any, list[Any]] = defaultdict(list)
        for each in block.instructions:
            for operand in each.operands:
                self._users[operand].append(each)
        self._skipped: set[Any] = {self.number, block.terminator, block.terminator.operands[0]}
        self._find_gathered()
        for each in block.instructions:
            if each not in self._skipped:
                self.kinds[each] = self._kind(each)
        for one in self.gathered:
            if self.kind(one.value) == FOLLOWS:
                raise RefusedError("an address is taken together")
        widths = [_width(each.type) for each, kind in self.kinds.items() if kind == LANES]
        widths += [_width(each.operands[0].type) for each in self.stores]
        if not widths:
            raise RefusedError("nothing is computed")
        self.widest = max(widths)

    @property
    def stores(self) -> list[Any]:
        """The instructions that write elements."""
        return [each for each in self.written if each.opname == "store"]

    @property
    def written(self) -> list[Any]:
        """The instructions that are there once more in lanes, in their order."""
        return [each for each in self.block.instructions if each not in self._skipped]

    def kind(self, value: Register) -> str:
        """What a value is; what comes from outside is the same in all rounds."""
        return self.kinds.get(value, SAME)

    # Sums and their like

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
                self.gathered.append(self._gathered(slot))

    def _gathered(self, slot: Register) -> Gathered:
        users = self._users[slot]
        if [each.opname for each in users] != ["load", "store"]:
            raise RefusedError("a slot is used in another way")
        load, store = users
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
            raise RefusedError("what is taken together in a slot depends on the order")
        self._skipped |= {load, store, join}
        return Gathered(slot, join, of_join[1] if of_join[0] is load else of_join[0])

    # Kinds

    def _kind(self, each: Any) -> str:
        kinds = [self.kind(operand) for operand in each.operands]
        rule: Callable[[Any, list[str]], str] = getattr(self, f"_kind_of_{each.opname}", self._kind_of_number)
        return rule(each, kinds)

    def _kind_of_phi(self, each: Any, kinds: list[str]) -> str:
        raise RefusedError("a value goes from round to round")

    def _kind_of_getelementptr(self, each: Any, kinds: list[str]) -> str:
        if all(kind == SAME for kind in kinds):
            return SAME
        if kinds == [SAME, COUNTS]:
            return FOLLOWS
        raise RefusedError("elements do not follow each other")

    def _kind_of_load(self, each: Any, kinds: list[str]) -> str:
        self._demand_apart(each)
        if kinds == [FOLLOWS]:
            self._demand_elements(each.operands[0], each.type)
            return LANES
        if kinds == [SAME]:
            return SAME
        raise RefusedError("an address is looked up")

    def _kind_of_store(self, each: Any, kinds: list[str]) -> str:
        self._demand_apart(each)
        if kinds[1] != FOLLOWS or kinds[0] == FOLLOWS:
            raise RefusedError("all rounds write the same element")
        self._demand_elements(each.operands[1], each.operands[0].type)
        return LANES

    def _kind_of_number(self, each: Any, kinds: list[str]) -> str:
        operands = each.args if each.opname == "call" else each.operands
        kinds = kinds[-len(operands) :] if each.opname == "call" else kinds
        if FOLLOWS in kinds:
            raise RefusedError("addresses are compared")
        if all(kind == SAME for kind in kinds) and (each.opname in ALONE or can_be_in_lanes(each, 4)):
            return SAME
        if not can_be_in_lanes(each, 4):
            raise RefusedError(f"{each.opname} has no form in lanes")
        if any(is_how(each, i) and kind != SAME for i, kind in enumerate(kinds)):
            raise RefusedError(f"{each.opname} varies")
        moves = each.opname == "add" or (each.opname == "sub" and kinds[1] == SAME)
        if moves and sorted(kinds) == [COUNTS, SAME] and each.type == self.number.type:
            return COUNTS
        return LANES

    def _demand_apart(self, each: Any) -> None:
        """Rounds may not meet in memory; nobody writes what the host has told, or a slot that the loop only reads."""
        place = each.operands[-1]
        if place in self._read or getattr(place, "pointer", None) is each.module.host.variable:
            return
        group = each.metadata.get("llvm.access.group")
        if group is None or group is not self.told.get("llvm.loop.parallel_accesses"):
            raise RefusedError("rounds may meet in memory")

    def _demand_elements(self, address: Any, kind: Any) -> None:
        if address.source_etype != kind or not is_number(kind) or _width(kind) < 8:
            raise RefusedError("elements are not beside each other")


def _is_sum(join: Any) -> bool:
    real = join.opname in ("fadd", "fmul")
    return join.opname in NEUTRAL and (not real or "reassoc" in join.flags) and is_number(join.type)


def _is_extreme(join: Any) -> bool:
    return join.opname == "call" and join.callee.name.rpartition(".")[0] in _EXTREMES


def _around(block: Any) -> tuple[Any, Any]:
    """The block before a loop, and the one behind it."""
    phi = block.instructions[0]
    jump = block.terminator
    before = [other for _, other in phi.incomings if other is not block]
    if len(before) != 1 or jump.operands[1] is not block:
        raise RefusedError("it is no loop over counts")
    after = jump.operands[2]
    if after.instructions and after.instructions[0].opname == "phi":
        raise RefusedError("what follows depends on where it came from")
    return before[0], after


def _counter(block: Any) -> tuple[Any, Any, Any, Any]:
    """What counts the rounds, where that begins, the number of the next round, and the end."""
    phi = block.instructions[0]
    ((start,), (following,)) = (
        [value for value, other in phi.incomings if (other is block) is inside] for inside in (False, True)
    )
    again = block.terminator.operands[0]
    if (
        getattr(again, "opname", "") != "icmp"
        or again.op != "ult"
        or again.operands[0] is not following
        or getattr(following, "opname", "") != "add"
        or following.operands[0] is not phi
        or following.operands[1].get_reference() != "1"
        or getattr(again.operands[1], "parent", None) is block
    ):
        raise RefusedError("it is no loop over counts")
    return phi, start, following, again.operands[1]


def known_rounds(plan: Plan) -> int | None:
    """How many rounds a loop has, if that is known."""
    ends = plan.start, plan.end
    if all(isinstance(each, ir().Constant) for each in ends):
        return int(plan.end.constant - plan.start.constant)
    return None


def told(block: Any) -> dict[str, Any]:
    """What LLVM is told about a loop."""
    node = block.terminator.metadata.get("llvm.loop")
    found = {}
    for each in node.operands[1:] if node is not None else ():
        name, value = each.operands
        found[name.string] = value
    return found


def told_number(found: dict[str, Any], name: str) -> int:
    """A number that LLVM is told about a loop; 0 where it is told none."""
    value = found.get(f"llvm.loop.{name}")
    return 0 if value is None else int(value.constant)


def _width(kind: Any) -> int:
    if isinstance(kind, ir().IntType):
        return int(kind.width)
    return {"float": 32, "double": 64}.get(str(kind), 0)
