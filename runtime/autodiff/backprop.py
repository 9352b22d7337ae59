"""The backward sweep: gradients of sources from those of targets, through the records in reverse order.

    x ──square──▶ y ──sin──▶ z          records: square, sin
    dx ◀───────── dy ◀────── 1          cotangents of one value are added

The sweep visits only records on a path from a source to a target. The C extension native_sweep.h has the same for
records of eager operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.devices import placement
from ..ir.builder import is_plain
from ..ops.framework.eager_calls import native
from ..ops.math.arithmetic import add
from .eager_gradients import GradientPlan, planned
from .sparse_gradients import HANDING_ON, dense, public, total
from .tape_records import Grads, Key, Record, carries_gradient, key_of


class CotangentAccumulator:
    """The cotangents of each key; they are added when they are read."""

    def __init__(self) -> None:
        self._parts: dict[Key, list[Any]] = {}

    def add(self, key: Key, grad: Any) -> None:
        self._parts.setdefault(key, []).append(grad)

    def get(self, key: Key) -> Any:
        """Return the sum of the cotangents; None if there are none."""
        parts = self._parts.get(key)
        if parts is None:
            return None
        if len(parts) > 1:
            parts[:] = [total(parts[::-1])]  # in program order
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
    """Return the gradient of each source, None if no target depends on it.

    `targets` are pairs of a tensor and its cotangent. `since` maps a source to the first record in which it counts.
    The tensors in `stops` are constants. With `in_parts` a gradient may be IndexedSlices or a `ScatteredGradient`.
    """
    is_eager = (
        native is not None and type(records) is list and not stops and is_plain() and not placement.observed
    )
    result = native.sweep(records, list(targets), list(sources), since or {}) if is_eager else None
    if result is None:
        result = _swept(records, targets, sources, since or {}, stops)
    return result if in_parts else list(map(public, result))


def _swept(
    records: Sequence[Record],
    targets: Sequence[tuple[Any, Any]],
    sources: Sequence[Any],
    since: Mapping[Key, int],
    stops: Sequence[Any],
) -> list[Any]:
    """Return the sum of the cotangents of each source."""
    wanted = {key_of(source) for source in sources}
    stopped = {key_of(x) for x in stops}
    on_the_way = _depending(records, wanted, since, stopped)
    sums = CotangentAccumulator()
    for target, grad in targets:
        sums.add(key_of(target), grad)
    for i in range(len(records) - 1, -1, -1):
        flags = on_the_way.get(i)
        if flags is None:
            continue
        record = records[i]
        grads = [
            None if key in stopped else sums.get(key) if key in wanted else sums.pop(key)
            for key in record.output_keys()
        ]
        if all(grad is None for grad in grads):
            continue
        keys = record.input_keys()  # before the VJP of the operation adds inputs to it
        if record.op in HANDING_ON:
            sums.add(keys[0], grads[0])
            continue
        grads = list(map(dense, grads))
        for key, grad in zip(keys, _pulled(record, grads, flags), strict=True):
            if grad is not None:
                sums.add(key, grad)
    return [sums.get(key_of(source)) for source in sources]


def _pulled(record: Record, grads: Grads, wanted: Sequence[bool]) -> Grads:
    """Return the cotangents of the inputs of a record, given those of its outputs."""
    return planned(record, grads, wanted) or record.back(grads, wanted)


def _depending(
    records: Sequence[Record], sources: set[Key], since: Mapping[Key, int], stops: set[Key]
) -> dict[int, list[bool]]:
    """Return the records that depend on the sources, by index, with a flag for each of their inputs."""
    active = set(sources)
    found = {}
    for i, record in enumerate(records):
        flags = [
            key in active and since.get(key, 0) <= i and carries_gradient(x)
            for key, x in zip(record.input_keys(), record.inputs, strict=True)
        ]
        if any(flags):
            found[i] = flags
            active.update(set(record.output_keys()) - stops)
    return found


if native is not None:
    native.register(
        gradient_plan=GradientPlan, add=add, total=total, dense=dense, pulled=_pulled, handing_on=HANDING_ON
    )
