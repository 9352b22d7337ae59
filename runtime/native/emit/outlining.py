"""Blocks of a function become a function of their own: what they use from around them, and what stands for it there.

x = …                                      def part(x):
for i: y[i] ← x * i          ==>               for i: y[i] ← x * i
                                           part(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .liveness import operands_of
from .types import ir


def own_slots(blocks: Sequence[Any], outside: Sequence[Any], shared: set[Any]) -> set[Any]:
    """Memory on the stack that only these blocks use."""
    used = {operand for block in blocks for each in block.instructions for operand in operands_of(each)}
    kept = shared | {
        operand for block in outside for each in block.instructions for operand in operands_of(each)
    }
    return {value for value in used - kept if is_slot(value)}


def is_slot(value: Any) -> bool:
    """Whether a value is the address of memory on the stack."""
    return getattr(value, "opname", None) == "alloca"


def captured(blocks: Sequence[Any], slots: set[Any]) -> list[Any]:
    """The values from around blocks that they use, in the order in which they do."""
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


def move_slots(slots: set[Any], outside: Sequence[Any], entry: Any) -> None:
    """Let slots be memory of the function that begins with this block."""
    for block in outside:
        for instruction in [each for each in block.instructions if each in slots]:
            block.instructions.remove(instruction)
            instruction.parent = entry
            entry.instructions.append(instruction)


def move_blocks(blocks: Sequence[Any], part: Any, values: dict[Any, Any], others: dict[Any, Any]) -> None:
    """Let blocks be those of a function, where other values and blocks stand for some of those around."""
    for block in blocks:
        block.parent.blocks.remove(block)
        block.parent = part
        part.blocks.append(block)
        for instruction in block.instructions:
            redirect(instruction, values, others)


def new_part(module: Any, scope: Any, kinds: Sequence[Any], name: str) -> Any:
    """A function for blocks; the names of what moves there are taken in this scope."""
    part = ir().Function(module, ir().FunctionType(ir().VoidType(), kinds), module.get_unique_name(name))
    part.linkage = "internal"
    part.scope = scope
    return part


def replace_by(before: Any) -> Any:
    """A builder at the end of a block, instead of its jump."""
    before.instructions.pop()
    before.terminator = None
    return ir().IRBuilder(before)


def redirect(instruction: Any, values: dict[Any, Any], blocks: dict[Any, Any]) -> None:
    """Let an instruction refer to what stands for values and blocks."""
    if instruction.opname == "phi":
        instruction.incomings = [
            (values.get(value, value), blocks.get(block, block)) for value, block in instruction.incomings
        ]
        return
    instruction.operands = [
        each if isinstance(each, ir().Constant) else values.get(each) or blocks.get(each, each)
        for each in instruction.operands
    ]
    if instruction.opname == "getelementptr":
        instruction.pointer, *instruction.indices = instruction.operands
