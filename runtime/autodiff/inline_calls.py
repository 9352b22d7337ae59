"""Inline recorded calls for explanations: replace the record of a call by the records of its operations.

rounded  v → y           ==>       multiply  v → a       each at its own line
                                   round     a → b
                                   rounded   b → y
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.graph import Graph
from .call_gradient import CallRecord
from .replay import Located
from .tape_records import Key, Pullback, Record, carries_gradient


def opened(records: Sequence[Record], since: Mapping[Key, int]) -> tuple[list[Record], dict[Key, int]]:
    """Return the records with calls inlined, and `since` with the new indices."""
    found: list[Record] = []
    indices = []
    for record in records:
        indices.append(len(found))
        graph = record.graph if isinstance(record, CallRecord) else None
        found += [record] if graph is None else _inside(record, graph)
    indices.append(len(found))
    return found, {key: indices[number] for key, number in since.items()}


def _inside(call: Record, graph: Graph) -> list[Record]:
    from .tape import GradientTape

    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        for x in call.inputs:
            if carries_gradient(x):
                tape.watch(x)
        outputs = Located([tape]).outputs(graph, call.inputs)
    handed_out = Pullback(outputs, call.outputs[: len(outputs)], lambda grads, wanted: grads)
    handed_out.site = call.site
    return [*(tape._records or ()), handed_out]
