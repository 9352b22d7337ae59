"""Inline recorded calls for explanations: replace the record of a call by the records of its operations.

rounded  v → y           ==>       multiply  v → a       each at its own line
                                   round     a → b
                                   rounded   b → y
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir.graph import Graph
from .replay import Located
from .tape_records import Grads, Key, Pullback, Record, carries_gradient


class CallRecord(Pullback):
    """A call of a graph without effects, so that it can be run again.

    Variables are then read with their current contents.
    """

    __slots__ = ("graph",)

    def __init__(
        self,
        graph: Graph,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        function: Callable[[Grads, Sequence[bool]], Grads],
    ) -> None:
        super().__init__(inputs, outputs, function)
        self.graph = graph


def opened(records: Sequence[Record], since: Mapping[Key, int]) -> tuple[list[Record], dict[Key, int]]:
    """Return the records with calls inlined, and `since` with the new indices."""
    found: list[Record] = []
    indices = []
    for record in records:
        indices.append(len(found))
        found += _inside(record) if isinstance(record, CallRecord) else [record]
    indices.append(len(found))
    return found, {key: indices[number] for key, number in since.items()}


def _inside(call: CallRecord) -> list[Record]:
    from .tape import GradientTape

    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        for x in call.inputs:
            if carries_gradient(x):
                tape.watch(x)
        outputs = Located([tape]).outputs(call.graph, call.inputs)
    handed_out = Pullback(outputs, call.outputs, lambda grads, wanted: grads)
    handed_out.site = call.site
    return [*(tape._records or ()), handed_out]
