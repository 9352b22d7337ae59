"""Explain a None or zero gradient: the path of operations from source to target, where it is cut, and a fix.

the gradient of <tensor, shape ()> with respect to <tensor, shape ()> is None
  square          train.py:4, in loss        float32[]
  cast            train.py:5, in loss        int32[]      cut: int32 has no derivatives
                  fix: compute with floating-point numbers from here on
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from ..ir.builder import current
from ..ops.arrays.sort import argsort
from ..ops.math import comparison, elementwise
from ..ops.math.cast import stop_gradient
from ..ops.reduce.argmax import argmax, argmin
from ..ops.state import variable_ops
from ..ops.state.variable_scatter import scatter_variable
from .backprop import gradients
from .inline_calls import opened
from .sparse_gradients import dense
from .tape_records import Key, Record, carries_gradient, key_of

Step = tuple[Record, Any]
"""An operation on a path, and its result that the next operation reads."""


JUMPS = frozenset({elementwise.ceil, elementwise.floor, elementwise.rint, elementwise.round})
CHOICES = frozenset({argmax, argmin, argsort})
COMPARISONS = frozenset({
    comparison.equal, comparison.greater, comparison.greater_equal,
    comparison.less, comparison.less_equal, comparison.not_equal,
})  # fmt: skip
ASSIGNMENTS = frozenset({
    variable_ops.assign_variable, variable_ops.assign_add_variable, variable_ops.assign_sub_variable, scatter_variable
})  # fmt: skip

UNSEEN = """\
After the last line nothing is recorded that leads to the target. What cuts the way there, and a fix:
  NumPy or Python numbers, as in x.numpy(), np.sin(x), float(x): use the functions of tf
  tape.stop_recording(), or the end of the `with` block: compute the target where the tape records
  another tensor of the same name: ask for the gradient of the one that was computed from these lines"""


def explained(
    records: Sequence[Record], seed: tuple[Any, Any], source: Any, unwatched: str, since: Mapping[Key, int]
) -> str:
    """Return the explanation; `unwatched` says why the tape does not watch the source, and is empty if it does."""
    target = seed[0]
    head = heading(target, source)
    if unwatched:
        return f"{head} is None: {unwatched}"
    if key_of(target) == key_of(source):
        return f"{head} is that of a tensor with respect to itself: 1"
    records, since = opened(records, since)
    arrivals = _arrivals(records, source, since.get(key_of(source), 0))
    if not arrivals:
        return f"{head} is None: no operation that the tape recorded reads the source{_of_no_use(records, source)}"
    path = _path(arrivals, key_of(target))
    if path is None:
        made = f"; the target is a result of {_made_by(records, target) or 'none'}"
        return "\n".join(
            [f"{head} is None: no recorded operations lead from the one to the other{made}", *_ends(arrivals)]
        )
    tensors = [source, *(y for record in records for y in record.outputs)]
    grads = dict(zip(map(key_of, tensors), gradients(records, [seed], tensors, since), strict=True))
    return _along(head, _open_way(records, grads, target, source, since) or path, source, grads)


def heading(target: Any, source: Any) -> str:
    return f"the gradient of {_named(target)} with respect to {_named(source)}"


def _named(x: Any) -> str:
    kind = f"variable {x.name!r}" if isinstance(x, Variable) else "tensor"
    return f"<{kind}, {x.dtype.name}, shape {x.shape}>"


def out_of_reach(x: Any) -> bool:
    """Return whether a tensor belongs to the graph of a function that is not being traced."""
    builder = current()
    while isinstance(x, SymbolicTensor) and builder is not None and builder is not x._builder:
        builder = builder.parent
    return isinstance(x, SymbolicTensor) and builder is None


def why_unwatched(source: Any, accessed_variables: bool) -> str:
    """Return the reason why the tape does not watch a source, and a fix."""
    if not carries_gradient(source):
        return f"{source.dtype.name} has no derivatives. Fix: make it of floating-point numbers"
    if not isinstance(source, Variable):
        return (
            "the tape does not watch the tensor. Fix: call tape.watch(tensor) before computing with it; if the name "
            "was rebound since, as in `x = x + 1`, pass the tensor that the computation used"
        )
    why = "it was not read while the tape recorded"
    if not source.trainable:
        why = "it is not trainable"
    elif not accessed_variables:
        why = "the tape was made with watch_accessed_variables=False"
    return f"the tape does not watch the variable: {why}. Fix: tape.watch(variable) makes it do so"


def _made_by(records: Sequence[Record], x: Any) -> str:
    """Return the name and line of the recorded operation that computed `x`; empty if there is none."""
    for record in records:
        if any(key_of(y) == key_of(x) for y in record.outputs):
            where = f" ({record.origin})" if record.origin else ""
            return f"`{record.name}`{where}"
    return ""


def _of_no_use(records: Sequence[Record], source: Any) -> str:
    made = _made_by(records, source)
    return f". It is a result of {made}: pass a tensor from which the target was computed" if made else ""


def _arrivals(
    records: Sequence[Record],
    source: Any,
    start: int,
    passes: Callable[[Record, Any, Any], bool] | None = None,
) -> dict[Key, tuple[Step, Key]]:
    """Map each result that depends on the source to its step and to the key of its dependent input.

    Only edges from an input to a result count for which `passes` returns true.
    """
    reached: dict[Key, tuple[Step, Key]] = {}
    origin = key_of(source)
    for record in records[start:]:
        inputs = [x for x in record.inputs if key_of(x) == origin or key_of(x) in reached]
        for y in record.outputs:
            if key_of(y) == origin or key_of(y) in reached:
                continue
            before = next((x for x in inputs if passes is None or passes(record, x, y)), None)
            if before is not None:
                reached[key_of(y)] = ((record, y), key_of(before))
    return reached


def _open_way(
    records: Sequence[Record], grads: Mapping[Key, Any], target: Any, source: Any, since: Mapping[Key, int]
) -> list[Step] | None:
    """Return a path along which every operation propagates a gradient; None if there is none."""

    def passes(record: Record, x: Any, y: Any) -> bool:
        dy = dense(grads.get(key_of(y)))  # a branch may have more results, which were added for its VJP
        if _is_nothing(dy) or _cut(record, y):
            return False
        return not _is_nothing(dense(gradients([record], [(y, dy)], [x])[0]))

    return _path(_arrivals(records, source, since.get(key_of(source), 0), passes), key_of(target))


def _path(arrivals: Mapping[Key, tuple[Step, Key]], target: Key) -> list[Step] | None:
    if target not in arrivals:
        return None
    steps = []
    key = target
    while key in arrivals:
        step, key = arrivals[key]
        steps.append(step)
    return steps[::-1]


def _ends(arrivals: Mapping[Key, tuple[Step, Key]]) -> list[str]:
    """Return the lines of the paths to the last results that depend on the source, or to the cuts if there are any."""
    used = {before for _, before in arrivals.values()}
    last = [step for key, (step, _) in arrivals.items() if key not in used]
    cuts = [step for step in last if _cut(*step)]
    lines = []
    for _, y in cuts or last:
        path = _path(arrivals, key_of(y)) or []
        for step in path:
            lines += _lines(*step, note=_cut(*step))
        lines.append("")
    return lines[:-1] if cuts else [*lines, UNSEEN]


def _along(head: str, path: list[Step], source: Any, grads: Mapping[Key, Any]) -> str:
    """Return the text for a path, with the state of the gradient at each step."""
    found = [dense(grads[key_of(tensor)]) for tensor in (source, *(y for _, y in path))]
    lines = []
    for i, (record, y) in enumerate(path):
        is_cut = _is_nothing(found[i]) and not _is_nothing(found[i + 1])
        note = _cut(record, y) or f"its derivative is {_state(found[i])} here" if is_cut else ""
        lines += _lines(record, y, note)
    return "\n".join([f"{head} is {_state(found[0])}", *lines])


def _is_nothing(grad: Any) -> bool:
    return grad is None or (isinstance(grad, EagerTensor) and not np.any(grad._array))


def _state(grad: Any) -> str:
    return "None" if grad is None else "zero" if _is_nothing(grad) else "there"


def _cut(record: Record, y: Any) -> str:
    """Return the reason why an operation propagates no gradient; empty if it may."""
    if record.op is stop_gradient:
        return "stop_gradient makes it a constant"
    if record.op is not None and record.op.has_no_gradient is not None:
        return record.op.has_no_gradient
    if not carries_gradient(y):
        return f"{y.dtype.name if isinstance(y, Tensor) else 'it'} has no derivatives"
    return ""


def _fix(record: Record, y: Any) -> str:
    op = record.op
    if op is stop_gradient:
        return "leave it out of the path of the gradient"
    if op in ASSIGNMENTS:
        return (
            "compute with the tensor that is assigned, or ask for the gradient with respect to the variable"
        )
    if op in JUMPS:
        return f"tf.grad_pass_through(tf.{record.name}) passes gradients through unchanged"
    if op in CHOICES:
        return "weight all elements with tf.nn.softmax instead of selecting one"
    if op in COMPARISONS:
        return "tf.sigmoid of the difference is smooth"
    if not carries_gradient(y):
        return "compute with floating-point numbers here"
    return "check its inputs: it is constant there, or multiplied by zero later"


def _lines(record: Record, y: Any, note: str) -> list[str]:
    kind = f"{y.dtype.name}{y.shape}" if isinstance(y, Tensor) else str(y.spec)
    name = record.name or "a function"
    where = record.origin or ""
    line = f"  {name:<16} {kind:<20} {where!s}{f'    cut: {note}' if note else ''}".rstrip()
    return [line, f"  {'':<16} fix: {_fix(record, y)}"] if note else [line]
