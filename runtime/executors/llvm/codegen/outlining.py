"""Outlining: blocks of a function move into a new function, and values from outside become its parameters.

x = …                                      def part(x):
for i: y[i] ← x * i          ==>               for i: y[i] ← x * i
                                           part(x)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..background_compiler import pausing
from .liveness import operands_of, targets_of
from .llvm_types import integer, ir, pointer
from .value_names import ValueNames

LARGE = 250
"""Number of instructions from which the nests of a function become functions."""


class OutermostLoopNest(NamedTuple):
    """A loop nest that is in no other loop nest: the block before it, its blocks, and the block after it.

    `cost` is the number of instructions that it runs, where the nest runs once.
    """

    before: Any
    blocks: Sequence[Any]
    after: Any
    cost: float = math.inf

    @property
    def jumps(self) -> list[Any]:
        """The branches to earlier blocks."""
        passed: set[Any] = set()
        found = []
        for block in self.blocks:
            passed.add(block)
            found += [block.terminator] if not passed.isdisjoint(targets_of(block)) else []
        return found


class SlotUses:
    """The stack slots that the blocks of a function use. A block is searched again only if it has grown."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._used: dict[Any, set[Any]] = defaultdict(set)  # by block
        self._users: dict[Any, set[Any]] = defaultdict(set)  # by slot
        self._sizes: dict[Any, int] = defaultdict(int)
        self._open: list[Any] = []  # known blocks that may grow
        self._count = 0  # of the known blocks

    def of(self, blocks: Iterable[Any]) -> set[Any]:
        """Return the stack slots that some blocks use."""
        self._update()
        return set().union(*(self._used[block] for block in blocks))

    def only_in(self, blocks: Iterable[Any]) -> set[Any]:
        """Return the stack slots that some blocks use, and no others."""
        blocks = set(blocks)
        return {slot for slot in self.of(blocks) if self._users[slot] <= blocks}

    def forget(self, first: int) -> None:
        """Forget all blocks from a position on, except the last: they have moved to another function."""
        self._function.blocks[first:-1] = []
        self._count = len(self._function.blocks)

    def _update(self) -> None:
        blocks = [*self._open, *self._function.blocks[self._count :]]
        for block in blocks:
            for each in block.instructions[self._sizes[block] :]:
                for value in filter(is_slot, operands_of(each)):
                    self._used[block].add(value)
                    self._users[value].add(block)
            self._sizes[block] = len(block.instructions)
        self._open = [block for block in blocks if not block.is_terminated]
        self._count = len(self._function.blocks)


def is_slot(value: Any) -> bool:
    """Return whether a value is the address of a stack slot."""
    return getattr(value, "opname", None) == "alloca"


def captured(blocks: Sequence[Any], slots: set[Any]) -> list[Any]:
    """Return the live-in values of `blocks`, in the order of their first use."""
    inside, kinds = set(blocks), (ir().Instruction, ir().Argument)
    found = {
        operand: None
        for instruction in instructions_of(blocks)
        for operand in operands_of(instruction)
        if isinstance(operand, kinds) and operand.parent not in inside and operand not in slots
    }
    return list(found)


def move_slots(slots: Iterable[Any], entry: Any) -> None:
    """Move stack slots to the block `entry` of another function; see `without_moved`."""
    for slot in slots:
        slot.parent = entry
        entry.instructions.append(slot)


def move_blocks(blocks: Sequence[Any], part: Any, values: dict[Any, Any], others: dict[Any, Any]) -> None:
    """Move blocks to the function `part`, and replace references to outside values and blocks; see `without_moved`."""
    for block in blocks:
        block.parent = part
        part.blocks.append(block)
    redirect(instructions_of(blocks), values | others)


def without_moved(function: Any) -> None:
    """Remove the blocks and stack slots that have moved to other functions, all at once."""
    function.blocks[:] = [block for block in function.blocks if block.parent is function]
    entry = function.blocks[0]
    entry.instructions[:] = [each for each in entry.instructions if each.parent is entry]


def fill(
    part: Any, whole: OutermostLoopNest, slots: Sequence[Any], first: Callable[[Any], dict[Any, Any]]
) -> None:
    """Make blocks the body of `part`, together with the slots that only these blocks use.

    `first` emits the code before them, and returns the replacements of live-in values. Other slots whose values
    the blocks change are copied, so that LLVM can keep the copies in registers.
    """
    entry, leave = part.append_basic_block("entry"), part.append_basic_block("leave")
    move_slots(slots, entry)
    b, end = ir().IRBuilder(entry), ir().IRBuilder(leave)
    values = first(b)
    for slot in _variables(whole.blocks, values):
        copy, address = b.alloca(slot.allocated_type), values[slot]
        copy.type = pointer()
        b.store(b.load(address, typ=slot.allocated_type), copy)
        end.store(end.load(copy, typ=slot.allocated_type), address)
        values[slot] = copy
    b.branch(whole.blocks[0])
    move_blocks(whole.blocks, part, values, {whole.before: entry, whole.after: leave})
    end.ret_void()
    part.blocks.append(part.blocks.pop(part.blocks.index(leave)))


def _variables(blocks: Sequence[Any], values: Iterable[Any]) -> list[Any]:
    """Return the slots among `values` that blocks change, and only load and store as a whole."""
    slots = set(filter(is_slot, values))
    if not slots:
        return []
    uses = [
        (each, operand)
        for each in instructions_of(blocks)
        for operand in operands_of(each)
        if is_slot(operand) and operand in slots
    ]
    others = {slot for each, slot in uses if slot is not address_of(each)}
    changed = dict.fromkeys(slot for each, slot in uses if each.opname == "store")
    return [slot for slot in changed if slot not in others]


def address_of(instruction: Any) -> Any:
    """Return the address that a load or store accesses, else None."""
    position = {"load": 0, "store": 1}.get(instruction.opname)
    return None if position is None else instruction.operands[position]


def is_large(function: Any) -> bool:
    """Return whether nests of a function become functions, so that LLVM compiles them on several threads."""
    return sum(len(block.instructions) for block in function.blocks) >= LARGE


def outline(nest: OutermostLoopNest, slots: Sequence[Any]) -> Any:
    """Move a nest, with the slots that only it uses, to a new function that is called instead; return the function."""
    function = nest.before.parent
    given = captured(nest.blocks, set(slots))
    part = new_part(function.module, function.scope, [value.type for value in given], "nest")
    part.attributes.add("noinline")
    name_arguments(part, never_meet(given))
    b = replace_by(nest.before)
    b.call(part, given)
    b.branch(nest.after)
    fill(part, nest, slots, lambda _: dict(zip(given, part.args, strict=True)))
    return part


def name_arguments(part: Any, are_apart: bool) -> None:
    """Name the arguments of a function; with `are_apart`, none of its addresses aliases another one."""
    for argument in part.args:
        argument.name = "given"
        if argument.type == pointer() and are_apart:
            argument.add_attribute("noalias")


def never_meet(given: Iterable[Any]) -> bool:
    """Return whether all addresses are buffers, so that different addresses never alias."""
    return all(map(_is_buffer, (value for value in given if value.type == pointer())))


def _is_buffer(address: Any) -> bool:
    if isinstance(address, ir().Argument):
        return "noalias" in address.attributes
    if address.opname == "getelementptr":  # large buffers in the caller's memory
        return getattr(address, "is_buffer", False)
    return is_slot(address) or (address.opname == "call" and address.callee.name == "agc_take")


def new_part(module: Any, scope: Any, kinds: Sequence[Any], name: str) -> Any:
    """Create a function for outlined blocks; names are made unique in `scope`."""
    part = ir().Function(module, ir().FunctionType(ir().VoidType(), kinds), module.get_unique_name(name))
    part.linkage = "internal"
    part.scope = scope
    return part


def new_function(module: Any, name: str, arguments: int) -> Any:
    """Create a function that takes addresses, which never alias, and returns a code."""
    function = ir().Function(module, ir().FunctionType(integer(32), [pointer()] * arguments), name)
    function.linkage = "internal"
    function.scope = ValueNames(arguments)
    for argument in function.args:
        argument.add_attribute("noalias")
        argument.add_attribute("nonnull")
    function.attributes.add("noinline")  # facts about its arguments are expensive to keep
    return function


def replace_by(before: Any) -> Any:
    """Remove a block's terminator, and return a builder at the end of the block."""
    before.instructions.pop()
    before.terminator = None
    return ir().IRBuilder(before)


def redirect(instructions: Iterable[Any], stand_ins: Mapping[Any, Any]) -> None:
    """Replace values and blocks in the operands of instructions."""
    known = {id(old): new for old, new in stand_ins.items()}  # constants would be compared by their text
    for each in instructions:
        if each.opname == "phi":
            each.incomings = [(known.get(id(x), x), known.get(id(y), y)) for x, y in each.incomings]
        elif not known.keys().isdisjoint(map(id, each.operands)):
            each.operands = [known.get(id(x), x) for x in each.operands]
            if each.opname == "getelementptr":
                each.pointer, *each.indices = each.operands


def instructions_of(blocks: Iterable[Any]) -> Iterator[Any]:
    """Return all instructions of some blocks."""
    return (each for block in pausing(blocks) for each in block.instructions)
