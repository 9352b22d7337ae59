"""Control flow of bytecode: which instructions may run after another one.

    if ag__.live:
        (z,) = ag__.for_loop(…)     after this call, only `return x` may run
        return x
    for i in xs: z = i              the user's own version never runs after it

The analysis needs no source. Every instruction of a `try` may continue at its handlers.
"""

from __future__ import annotations

import dis
from bisect import bisect_right
from types import CodeType

from ..introspection.code_objects import CodeMap, nested_code_objects

_ALWAYS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE")
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")


class BytecodeFlow:
    """The basic blocks of one code object, and the blocks that each may lead to."""

    def __init__(self, code: CodeType) -> None:
        instructions = list(dis.get_instructions(code))
        tries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
        jumps = {
            one.offset: one.argval
            for one in instructions
            if one.opcode in dis.hasjrel or one.opcode in dis.hasjabs
        }
        starts = {
            0,
            *jumps.values(),
            *(offset for row in tries for offset in (row.start, row.end, row.target)),
        }
        before = None
        for one in instructions:
            if before is not None and (before.offset in jumps or before.opname in _ENDS):
                starts.add(one.offset)
            before = one
        self._starts = sorted(starts)
        self._next: list[set[int]] = [set() for _ in self._starts]
        self._reached: dict[int, set[int]] = {}
        self._made: dict[int, list[int]] = {}  # id of a nested code object → where its function is made
        for number, one in enumerate(instructions):
            block = self._block(one.offset)
            if one.offset in jumps:
                self._next[block].add(self._block(jumps[one.offset]))
            if one.opname not in (*_ALWAYS, *_ENDS) and number + 1 < len(instructions):
                following = self._block(instructions[number + 1].offset)
                if following != block:
                    self._next[block].add(following)
            if isinstance(one.argval, CodeType):
                for inner in nested_code_objects(one.argval):
                    self._made.setdefault(id(inner), []).append(one.offset)
        for row in tries:
            for block in range(self._block(row.start), self._block(row.end - 1) + 1):
                self._next[block].add(self._block(row.target))

    def _block(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _after(self, block: int) -> set[int]:
        """Return the blocks that may run after `block`; itself if it is in a loop."""
        known = self._reached.get(block)
        if known is None:
            known = self._reached[block] = set()
            pending = [*self._next[block]]
            while pending:
                one = pending.pop()
                if one not in known:
                    known.add(one)
                    pending += self._next[one]
        return known

    def leads_to(self, position: int, offset: int) -> bool:
        """Return whether the instruction at `offset` may run after the one at `position`."""
        if position < 0:  # nothing has run yet
            return True
        block, target = self._block(position), self._block(offset)
        return (block == target and offset > position) or target in self._after(block)

    def may_call(self, inner: CodeType, position: int) -> bool:
        """Return whether a nested function may run after `position`: it is made after that, or was made before."""
        made = self._made.get(id(inner), ())
        return not made or any(self.leads_to(position, at) or self.leads_to(at, position) for at in made)


_flows: CodeMap[BytecodeFlow] = CodeMap()


def flow_of(code: CodeType) -> BytecodeFlow:
    """Return the control flow of one code object; it is computed once."""
    known = _flows.get(code)
    if known is None:
        known = _flows[code] = BytecodeFlow(code)
    return known
