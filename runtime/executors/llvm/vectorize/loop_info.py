"""Find the natural loops of a function after its IR is complete."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple


class NaturalLoop(NamedTuple):
    """A natural loop: its header and all its blocks."""

    head: Any
    blocks: frozenset[Any]


def targets(block: Any) -> list[Any]:
    """Return the successors of a block."""
    end = block.terminator
    if end.opname == "br":
        return [each for each in end.operands if hasattr(each, "instructions")]
    if end.opname == "switch":
        return [end.default, *(each for _, each in end.cases)]
    return []


def cycles(function: Any) -> list[NaturalLoop]:
    """Return all natural loops of a function, inner loops first."""
    sources: dict[Any, list[Any]] = defaultdict(list)
    backward: dict[Any, list[Any]] = defaultdict(list)
    open_blocks: set[Any] = set()
    seen: set[Any] = set()
    stack = [(function.blocks[0], iter(targets(function.blocks[0])))]
    open_blocks.add(function.blocks[0])
    seen.add(function.blocks[0])
    while stack:
        block, following = stack[-1]
        other = next(following, None)
        if other is None:
            open_blocks.discard(block)
            stack.pop()
            continue
        sources[other].append(block)
        if other in open_blocks:
            backward[other].append(block)
        elif other not in seen:
            seen.add(other)
            open_blocks.add(other)
            stack.append((other, iter(targets(other))))
    found = [NaturalLoop(head, _between(head, ends, sources)) for head, ends in backward.items()]
    return sorted(found, key=lambda cycle: len(cycle.blocks))


def _between(head: Any, ends: list[Any], sources: dict[Any, list[Any]]) -> frozenset[Any]:
    inside, waiting = {head}, list(ends)
    while waiting:
        block = waiting.pop()
        if block not in inside:
            inside.add(block)
            waiting += sources[block]
    return frozenset(inside)
