"""Outlining: blocks of a function move into a new function, and values from outside become its parameters.

x = …                                      def part(x):
for i: y[i] ← x * i          ==>               for i: y[i] ← x * i
                                           part(x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .liveness import operands_of
from .llvm_types import ir


class OutermostLoopNest(NamedTuple):
    """A loop nest that is in no other loop nest: the block before it, its blocks, and the block after it."""

    before: Any
    blocks: Sequence[Any]
    after: Any


class SlotUses:
    """The stack slots that blocks use. A block is searched again only if it has grown."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[int, set[Any]]] = {}

    def of(self, blocks: Iterable[Any]) -> set[Any]:
        """Return the stack slots that some blocks use."""
        return set().union(*map(self._of_block, blocks))

    def _of_block(self, block: Any) -> set[Any]:
        size, used = self._known.get(block, (0, set()))
        if size != len(block.instructions):
            used = {value for each in block.instructions for value in operands_of(each) if is_slot(value)}
            self._known[block] = len(block.instructions), used
        return used


def is_slot(value: Any) -> bool:
    """Return whether a value is the address of a stack slot."""
    return getattr(value, "opname", None) == "alloca"


def captured(blocks: Sequence[Any], slots: set[Any]) -> list[Any]:
    """Return the live-in values of `blocks`, in the order of their first use."""
    inside = set(blocks)
    found: dict[Any, None] = {}
    for block in blocks:
        for instruction in block.instructions:
            for operand in operands_of(instruction):
                if isinstance(operand, (ir().Function, ir().GlobalVariable, ir().Constant, ir().Block)):
                    continue
                if operand in slots or getattr(operand, "parent", None) in inside:
                    continue
                if isinstance(operand, (ir().Instruction, ir().Argument)):
                    found[operand] = None
    return list(found)


def move_slots(slots: set[Any], entry: Any) -> None:
    """Move stack slots to the block `entry` of another function."""
    for block in {slot.parent for slot in slots}:
        for instruction in [each for each in block.instructions if each in slots]:
            block.instructions.remove(instruction)
            instruction.parent = entry
            entry.instructions.append(instruction)


def move_blocks(blocks: Sequence[Any], part: Any, values: dict[Any, Any], others: dict[Any, Any]) -> None:
    """Move blocks to the function `part`, and replace references to outside values and blocks."""
    for block in blocks:
        block.parent.blocks.remove(block)
        block.parent = part
        part.blocks.append(block)
    redirect(instructions_of(blocks), values | others)


def fill(
    part: Any,
    whole: OutermostLoopNest,
    slots: set[Any],
    first: Callable[[Any], dict[Any, Any]],
) -> None:
    """Make blocks the body of `part`, together with the slots that only these blocks use.

    `first` emits the code before them, and returns the replacements of live-in values.
    """
    entry, leave = part.append_basic_block("entry"), part.append_basic_block("leave")
    move_slots(slots, entry)
    b = ir().IRBuilder(entry)
    values = first(b)
    b.branch(whole.blocks[0])
    move_blocks(whole.blocks, part, values, {whole.before: entry, whole.after: leave})
    ir().IRBuilder(leave).ret_void()
    part.blocks.append(part.blocks.pop(part.blocks.index(leave)))


def new_part(module: Any, scope: Any, kinds: Sequence[Any], name: str) -> Any:
    """Create a function for outlined blocks; names are made unique in `scope`."""
    part = ir().Function(module, ir().FunctionType(ir().VoidType(), kinds), module.get_unique_name(name))
    part.linkage = "internal"
    part.scope = scope
    return part


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
    return (each for block in blocks for each in block.instructions)
