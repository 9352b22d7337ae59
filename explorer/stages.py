"""Stages of a graph: as traced, after each optimizer pass, and as the plan runs it.

traced → inline → dce → constant_fold → … → fusion

A stage lists the changes since the stage before: [first, end) there and [first, end) here.
"""

from __future__ import annotations

import bisect
import difflib
from collections import Counter
from typing import Any, NamedTuple

from agc.runtime.ir.graph import Graph
from agc.runtime.optimize import batch_loop_matmul, delay_loop_matmul, fusion, optimize, tile_rows

from .graph_rows import RowTable

MOST_COMPARED = 100_000
"""The number of pairs of rows that are compared between two rows that are the same."""


class Stage(NamedTuple):
    name: str
    graph: Graph


def optimizer_stages(graph: Graph) -> list[Stage]:
    """Return the traced graph, the graph after each pass, and the graph that the plan runs.

    A pass that runs a second time is listed again if it changes something.
    """
    stages = [Stage("traced", graph)]

    def observe(name: str, after: Graph) -> None:
        seen = any(stage.name == name for stage in stages)
        if not seen or after is not stages[-1].graph:
            stages.append(Stage(f"{name} again" if seen else name, after))

    optimized = optimize(graph, observe=observe)
    for module in (batch_loop_matmul, delay_loop_matmul, tile_rows, fusion):
        optimized = module.run(optimized)
        observe(module.__name__.rpartition(".")[2], optimized)
    return stages


def stages_as_json(stages: list[Stage], table: RowTable) -> list[dict[str, Any]]:
    """Return the stages with their rows; one without changes has none of its own."""
    found: list[dict[str, Any]] = []
    before: list[int] | None = None
    for number, (name, graph) in enumerate(stages):
        if number and graph is stages[number - 1].graph:
            found.append({"name": name, "same": True})
            continue
        listing: dict[str, Any] = table.add(graph)
        rows = listing["rows"]
        changes = [] if before is None else changed(before, rows)
        if before is not None and not changes:
            found.append({"name": name, "same": True})
            continue
        found.append({"name": name, **listing, "changes": changes})
        before = rows
    return found


def changed(before: list[int], after: list[int]) -> list[list[int]]:
    """Return the ranges that differ, as [first, end, first, end].

    Rows that occur once in both lists are matched first, as in a patience diff: this takes time n log n.

    >>> changed([1, 2, 3, 4], [1, 3, 5, 4])
    [[1, 2, 1, 1], [3, 3, 2, 3]]
    """
    found: list[list[int]] = []
    row = new = 0
    for anchor, new_anchor in [*_anchors(before, after), (len(before), len(after))]:
        found += _between(before, after, (row, anchor), (new, new_anchor))
        row, new = anchor + 1, new_anchor + 1
    return found


def _anchors(before: list[int], after: list[int]) -> list[tuple[int, int]]:
    """Return the positions of common unique rows, in an order that increases in both lists and is the longest."""
    once, once_after = Counter(before), Counter(after)
    places = {row: place for place, row in enumerate(before) if once[row] == 1}
    pairs = [(places[row], at) for at, row in enumerate(after) if once_after[row] == 1 and row in places]
    tails: list[int] = []  # by length, the smallest last position of an increasing sequence
    last: list[int] = []  # the index of that pair
    previous: list[int] = []
    for index, (place, _) in enumerate(pairs):
        length = bisect.bisect_left(tails, place)
        tails[length : length + 1] = [place]
        last[length : length + 1] = [index]
        previous.append(last[length - 1] if length else -1)
    chosen: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = previous[index]
    return chosen[::-1]


def _between(
    before: list[int], after: list[int], old: tuple[int, int], new: tuple[int, int]
) -> list[list[int]]:
    """Return the differences between two anchors; large pieces differ as a whole."""
    (first, end), (start, stop) = old, new
    if (end - first) * (stop - start) > MOST_COMPARED:
        return [[first, end, start, stop]]
    matcher = difflib.SequenceMatcher(None, before[first:end], after[start:stop], autojunk=False)
    return [
        [a + first, b + first, c + start, d + start]
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]
