"""The way back: gradients of sources from those of targets, through records in the reverse of their order.

    x ──square──▶ y ──sin──▶ z          records: square, sin
    dx ◀───────── dy ◀────── 1          gradients that meet are added

Only records on a way from a source to a target are looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ops.lists import tensor_array_gradients  # noqa: F401  (the gradients of lists are told)
from .sparse_gradients import HANDING_ON, dense, public, total
from .tape_records import Key, Record, carries_gradient, key_of


class CotangentAccumulator:
    """Gradients by key, added up when they are asked for."""

    def __init__(self) -> None:
        self._parts: dict[Key, list[Any]] = {}

    def add(self, key: Key, grad: Any) -> None:
        self._parts.setdefault(key, []).append(grad)

    def get(self, key: Key) -> Any:
        """The sum; None where nothing was added."""
        parts = self._parts.get(key)
        if parts is None:
            return None
        if len(parts) > 1:
            parts[:] = [total(parts[::-1])]  # in the order of the program
        return parts[0]

    def pop(self, key: Key) -> Any:
        found = self.get(key)
        self._parts.pop(key, None)
        return found


def gradients(
    records: Sequence[Record],
    targets: Sequence[tuple[Any, Any]],
    sources: Sequence[Any],
    since: Mapping[Key, int] | None = None,
    stops: Sequence[Any] = (),
    in_parts: bool = False,
) -> list[Any]:
    """The gradient of each source, None where no target depends on it.

    `targets` come with their own gradients; `since` says from which record on a source counts. What is in `stops`
    counts as constant. Gradients of which only some parts are there are handed out so when they may be `in_parts`.
    """
    wanted = {key_of(source) for source in sources}
    stopped = {key_of(x) for x in stops}
    on_the_way = _depending(records, wanted, since or {}, stopped)
    sums = CotangentAccumulator()
    for target, grad in targets:
        sums.add(key_of(target), grad)
    for i in range(len(records) - 1, -1, -1):
        flags = on_the_way.get(i)
        if flags is None:
            continue
        record = records[i]
        keys = [key_of(output) for output in record.outputs]
        grads = [
            None if key in stopped else sums.get(key) if key in wanted else sums.pop(key) for key in keys
        ]
        if record.name not in HANDING_ON:
            grads = list(map(dense, grads))
        if all(grad is None for grad in grads):
            continue
        inputs = record.inputs  # before the way back gives the operation more of them
        for x, grad in zip(inputs, record.back(grads, flags), strict=True):
            if grad is not None:
                sums.add(key_of(x), grad)
    found = [sums.get(key_of(source)) for source in sources]
    return found if in_parts else list(map(public, found))


def _depending(
    records: Sequence[Record], sources: set[Key], since: Mapping[Key, int], stops: set[Key]
) -> dict[int, list[bool]]:
    """The records that depend on the sources, by number, and which of their inputs do."""
    active = set(sources)
    found = {}
    for i, record in enumerate(records):
        flags = [
            (key := key_of(x)) in active and since.get(key, 0) <= i and carries_gradient(x)
            for x in record.inputs
        ]
        if any(flags):
            found[i] = flags
            active.update({key_of(output) for output in record.outputs} - stops)
    return found
