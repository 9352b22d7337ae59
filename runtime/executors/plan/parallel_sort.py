"""Run heavy independent operations in parallel, in the thread pool.

    a = sort x : float32[1000000]                 a, b = op_beside(
    b = sort y : float32[1000000]       ==>           lambda: op_sort(x, …),
                                                      lambda: op_sort(y, …),
                                                  )

The operations are sorts: their kernels release the GIL and use one thread. Matrix products already use all
processors. Two Fourier transforms in parallel take as long as one after the other. Each result is computed by
one thread, so it does not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ...config.threading import threads_between
from ...core.fp_errors import SILENCE, begin, end
from ...ir.graph import Graph, Operand, Operation
from ...ir.value_types import TensorType
from ...ops.framework import narrow_floats
from .fusion.thread_pool import run_in_pool

PAYS = 150_000.0
"""The least time of each operation in nanoseconds; to wake a thread takes some ten thousand."""

_NANOSECONDS = {"sort": 5.0, "argsort": 20.0}
"""The approximate time of one element, for arrays that fit into the cache."""


def is_heavy(operation: Operation) -> bool:
    """Return whether an operation is worth a thread of its own; operations of unknown size are not."""
    each = _NANOSECONDS.get(operation.type)
    if each is None or narrow_floats.is_used_by(operation):
        return False
    sizes = [
        size for x in operation.inputs if isinstance(x.spec, TensorType) for size in (x.shape or (None,))
    ]
    return (
        None not in sizes and math.prod(size or 0 for size in operation.inputs[0].shape or ()) * each >= PAYS
    )


def independent_operations(graph: Graph) -> dict[Operation, list[Operation]]:
    """Return, by live operation, later operations that can run in parallel with it.

    The operations between them cannot fail, so the first failure of the program remains the first.
    """
    if _NANOSECONDS.keys().isdisjoint(op.name for op in graph.ops):
        return {}
    live = graph.live_operations()
    heavy = [position for position, operation in enumerate(live) if is_heavy(operation)]
    if len(heavy) < 2:
        return {}
    from ...optimize.speculation import (
        is_speculatable,  # imported at first use: importing the runtime needs no optimizer
    )

    made: dict[Operand, int] = {
        value: position for position, operation in enumerate(live) for value in operation.outputs
    }
    found: dict[Operation, list[Operation]] = {}
    taken: set[int] = set()
    for number, first in enumerate(heavy):
        others = []
        for other in heavy[number + 1 :] if first not in taken else ():
            between = (each for each in live[first + 1 : other] if not is_heavy(each))
            if not all(map(is_speculatable, between)):
                break
            if other not in taken and all(made.get(x, -1) < first for x in live[other].inputs):
                taken.add(other)
                others.append(live[other])
        if others:
            found[live[first]] = others
    return found


class _Works:
    """Tasks to run, with the results and failures of those that are done."""

    def __init__(self, works: Sequence[Callable[[], Any]]) -> None:
        self.works = works
        self.results: list[Any] = [None] * len(works)
        self.failures: dict[int, Exception] = {}
        self.numbers = itertools.count()

    def work(self) -> None:
        """Run tasks that no other thread has started, until there are none left."""
        before = begin(SILENCE)
        try:
            for number in self.numbers:
                if number >= len(self.works):
                    return
                try:
                    self.results[number] = self.works[number]()
                except Exception as error:
                    self.failures[number] = error
        finally:
            end(before)


def beside(*works: Callable[[], Any]) -> list[Any]:
    """Return the results of all functions, run in parallel; raise the failure of the first that fails."""
    threads = min(len(works), threads_between())
    if threads < 2:
        return [work() for work in works]
    run = _Works(works)
    run_in_pool(run.work, threads)
    if run.failures:
        raise run.failures[min(run.failures)]
    return run.results
