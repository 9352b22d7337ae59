"""Copy an LLVM instruction with other operands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codegen.llvm_types import Register, ir


def copied(b: Any, each: Any, values: Mapping[Any, Register]) -> Register:
    """Emit a copy of the instruction `each`, with its operands mapped by `values`."""
    llvm, block = ir().instructions, b.block
    operands = [x if isinstance(x, ir().Constant) else values.get(x, x) for x in each.operands]
    if each.opname == "call":
        made = llvm.CallInstr(block, operands[0], operands[1:], fastmath=each.fastmath)
    elif each.opname in ("icmp", "fcmp"):
        made = type(each)(block, each.op, *operands, flags=each.flags)
    elif each.opname == "select":
        made = llvm.SelectInstr(block, *operands, flags=each.flags)
    elif each.opname == "getelementptr":
        made = llvm.GEPInstr(
            block, operands[0], operands[1:], each.inbounds, "", source_etype=each.source_etype
        )
    elif each.opname == "load":
        made = llvm.LoadInstr(block, operands[0], typ=each.type)
        made.align = each.align
    elif each.opname == "store":
        made = llvm.StoreInstr(block, *operands)
        made.align = each.align
    elif isinstance(each, llvm.CastInstr):
        made = llvm.CastInstr(block, each.opname, operands[0], each.type)
    else:
        made = llvm.Instruction(block, each.type, each.opname, operands, flags=each.flags)
    b._insert(made)
    return made
