"""Copy elision: a buffer that is copied to a result at the end is computed in the result's memory.

    loop: write a                   loop: write result
    copy a to result        ==>
    leave                           leave

This requires that nothing else writes to the result, and that the buffer is not touched after the copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from .liveness import BORN, PROMISE, Addresses, operands_of, targets_of
from .outlining import instructions_of


def in_results(blocks: Sequence[Any], arguments: Sequence[Any], addresses: Addresses) -> dict[Any, Any]:
    """Return the buffers to place in a result's memory, mapped to its address, and remove their copies."""
    copies = [(block, each) for block in blocks for each in block.instructions if _is_copy(each, arguments)]
    users = _users(blocks) if copies else {}
    found: dict[Any, Any] = {}
    for block, copy in copies:
        _, result, source, size, _ = copy.operands
        buffer = _whole(source, size.constant, users, addresses)
        if buffer is None or buffer in found or len(users[id(result)]) > 1:
            continue
        if not _comes_back(block, copy, buffer, addresses):
            found[buffer] = result
            block.instructions.remove(copy)
    return found


def _users(blocks: Sequence[Any]) -> dict[int, list[Any]]:
    """Map the `id` of each value to the instructions that use it; constants would be compared by their text."""
    found: dict[int, list[Any]] = defaultdict(list)
    for each in instructions_of(blocks):
        for operand in operands_of(each):
            found[id(operand)].append(each)
    return found


def _is_copy(each: Any, arguments: Sequence[Any]) -> bool:
    """Return whether an instruction copies a constant number of bytes to an argument of the function."""
    if each.opname != "call" or not each.callee.name.startswith("llvm.memcpy."):
        return False
    return each.operands[1] in arguments and hasattr(each.operands[3], "constant")


def _whole(source: Any, size: int, users: dict[int, list[Any]], addresses: Addresses) -> Any:
    """Return the buffer of `size` bytes that `source` points to, or None if that is not certain."""
    buffer = _kept(source.operands[0], users) if getattr(source, "opname", "") == "load" else source
    if getattr(buffer, "opname", "") != PROMISE or buffer.size != size:
        return None
    return None if addresses.lost >> addresses.number[buffer] & 1 else buffer


def _kept(slot: Any, users: dict[int, list[Any]]) -> Any:
    """Return the only value ever stored in `slot`, or None if there may be others."""
    of_slot = users.get(id(slot), [])
    stored = [each.operands[0] for each in of_slot if each.opname == "store"]
    is_slot = all(each.opname in ("load", "store") for each in of_slot) and slot not in stored
    return stored[0] if is_slot and len(stored) == 1 else None


def _comes_back(block: Any, copy: Any, buffer: Any, addresses: Addresses) -> bool:
    """Return whether `buffer` is touched or born again after `copy`."""
    bit = 1 << addresses.number[buffer]

    def is_touched(each: Any) -> bool:
        return bool(addresses.touched(each) & bit) or (each.opname == BORN and each.promise is buffer)

    later = block.instructions[block.instructions.index(copy) + 1 :]
    if any(map(is_touched, later)):
        return True
    seen: set[Any] = set()
    pending = targets_of(block)
    while pending:
        following = pending.pop()
        if following not in seen:
            seen.add(following)
            if any(map(is_touched, following.instructions)):
                return True
            pending += targets_of(following)
    return False
