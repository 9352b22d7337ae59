"""Why a gradient is None or zero: the operations from a source to a target, and the place where the way is cut.

the gradient of <tensor, shape ()> with respect to <tensor, shape ()> is None
  square          train.py:4, in loss        float32[]
  cast            train.py:5, in loss        int32[]      cut: int32 has no derivatives
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..tensor import EagerTensor, Tensor
from ..variable import Variable
from .records import Key, Record, carries_gradient, key_of
from .slices import dense
from .sweep import gradients

Step = tuple[Record, Any]
"""An operation, and the result of it by which the way goes on."""


def explained(
    records: Sequence[Record], seed: tuple[Any, Any], source: Any, is_watched: bool, since: Mapping[Key, int]
) -> str:
    """The text."""
    target = seed[0]
    head = f"the gradient of {_named(target)} with respect to {_named(source)}"
    if not is_watched:
        return f"{head} is None: {_unwatched(source)}"
    if key_of(target) == key_of(source):
        return f"{head} is that of a tensor by itself: one"
    arrivals = _arrivals(records, source, since.get(key_of(source), 0))
    if not arrivals:
        return f"{head} is None: no operation that the tape recorded reads the source"
    way = _way(arrivals, key_of(target))
    if way is None:
        return "\n".join(
            [f"{head} is None: no recorded operations lead from the one to the other", *_ends(arrivals)]
        )
    return _along(head, way, records, seed, source, since)


def _named(x: Any) -> str:
    kind = f"variable {x.name!r}" if isinstance(x, Variable) else "tensor"
    return f"<{kind}, {x.dtype.name}, shape {x.shape}>"


def _unwatched(source: Any) -> str:
    if not carries_gradient(source):
        return f"{source.dtype.name} has no derivatives"
    if isinstance(source, Variable):
        why = "it was not read while the tape recorded" if source.trainable else "it is not trainable"
        return f"the tape does not watch the variable: {why}. tape.watch(variable) makes it do so"
    return "the tape does not watch the tensor. Call tape.watch(tensor) before computing with it"


def _arrivals(records: Sequence[Record], source: Any, start: int) -> dict[Key, tuple[Step, Key]]:
    """For each result that depends on the source: the operation it comes from, and the input that depends on it."""
    reached: dict[Key, tuple[Step, Key]] = {}
    origin = key_of(source)
    for record in records[start:]:
        inputs = [key_of(x) for x in record.inputs]
        before = next((key for key in inputs if key == origin or key in reached), None)
        if before is None:
            continue
        for y in record.outputs:
            if key_of(y) != origin:
                reached.setdefault(key_of(y), ((record, y), before))
    return reached


def _way(arrivals: Mapping[Key, tuple[Step, Key]], target: Key) -> list[Step] | None:
    if target not in arrivals:
        return None
    steps = []
    key = target
    while key in arrivals:
        step, key = arrivals[key]
        steps.append(step)
    return steps[::-1]


def _ends(arrivals: Mapping[Key, tuple[Step, Key]]) -> list[str]:
    """The last results that depend on the source; those where the way is cut, if there are any."""
    used = {before for _, before in arrivals.values()}
    last = [step for key, (step, _) in arrivals.items() if key not in used]
    cuts = [step for step in last if _cut(*step)]
    lines = []
    for _, y in cuts or last:
        way = _way(arrivals, key_of(y)) or []
        lines += [_line(*step, note=_cut(*step)) for step in way] + [""]
    if not cuts:
        lines.append(
            "The last lines are where the recorded operations end. What is computed from their results with NumPy, "
            "from Python numbers, while the tape does not record, or through a variable that they are assigned to, "
            "is not recorded."
        )
    return lines


def _along(
    head: str,
    way: list[Step],
    records: Sequence[Record],
    seed: tuple[Any, Any],
    source: Any,
    since: Mapping[Key, int],
) -> str:
    """The way that was found, with what the gradient is at each place of it."""
    places = [source, *(y for _, y in way)]
    found = [dense(grad) for grad in gradients(records, [seed], places, since)]
    lines = []
    for place, (record, y) in enumerate(way):
        is_cut = _is_nothing(found[place]) and not _is_nothing(found[place + 1])
        note = _cut(record, y) or f"its derivative is {_state(found[place])} here" if is_cut else ""
        lines.append(_line(record, y, note))
    return "\n".join([f"{head} is {_state(found[0])}", *lines])


def _is_nothing(grad: Any) -> bool:
    return grad is None or (isinstance(grad, EagerTensor) and not np.any(grad._array))


def _state(grad: Any) -> str:
    return "None" if grad is None else "zero" if _is_nothing(grad) else "there"


def _cut(record: Record, y: Any) -> str:
    """Why nothing comes back through an operation; empty where something may."""
    if record.op is not None and record.op.has_no_gradient is not None:
        return record.op.has_no_gradient
    if record.name == "stop_gradient":
        return "stop_gradient makes it a constant"
    if not carries_gradient(y):
        return f"{y.dtype.name if isinstance(y, Tensor) else 'it'} has no derivatives"
    return ""


def _line(record: Record, y: Any, note: str) -> str:
    kind = f"{y.dtype.name}{y.shape}" if isinstance(y, Tensor) else str(y.spec)
    name = record.name or "a function"
    where = record.origin or ""
    return f"  {name:<16} {kind:<20} {where!s}{f'    cut: {note}' if note else ''}".rstrip()
