"""Plans for the backward passes of eager tapes: a tape that often records the same operations is traced once.

    records            h = matmul(x, w),  y = relu(h)                  def gradient(x, h, dy):
    targets, sources   y with dy,  w                           ==>         dh = np.where(h > 0, dy, 0)
                                                                           return (x.T @ dh,)

Two tapes are the same if they have the same kept calls, tensors of the same types, and the same flow of tensors from
record to record. The backward graphs of calls of functions become parts of the plan. A tape with other records, such as
custom gradients, has no plan. If a plan runs for long, native code is compiled in the background, as for functions,
unless the tape has very many records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from ..core.abstract_value import abstract_value_of
from ..core.devices import placement
from ..core.tensor import EagerArray, EagerTensor
from ..core.variable import Variable
from ..ir.builder import Builder, recording_by, stack
from ..ir.value_types import TensorType
from ..ops.framework.eager_calls import KeptAttributes, native
from .backprop import gradients
from .eager_gradients import GradientPlan, finished, input_for
from .plan_counts import RunCounts
from .sparse_gradients import HANDING_ON
from .tape_records import Key, Record, key_of

OFTEN = 6
"""The number of runs of a backward pass before it is traced, which takes as long as five first runs."""

_MOST_COMPILED = 512
"""The number of records up to which a backward pass may be compiled: a thousand take many seconds, and gain little."""

_MOST_RECORDS = 4_096

_plans: dict[Any, GradientPlan | None] = {}
_runs = RunCounts()

Targets = Sequence[tuple[Any, ...]]


Differentiate = Callable[[Sequence[Record], Targets, Sequence[Any], Mapping[Key, int]], list[Any]]
"""A function from records, targets, sources and the first records in which these count to derivatives."""


def planned_gradients(
    records: Sequence[Record],
    targets: Targets,
    sources: Sequence[Any],
    since: Mapping[Key, int],
    differentiate: Differentiate = gradients,
    sweeps: int = 1,
) -> list[Any] | None:
    """Return the derivatives of sources as `differentiate` does; None if there is no plan for them.

    A run without a plan counts as `sweeps` runs.
    """
    if len(records) > _MOST_RECORDS or not stack.eager or placement.observed:
        return None
    ends = [x for target in targets for x in target]
    found = flow_key_fast(records, HANDING_ON, [*ends, *sources], since)
    if found is None:
        return None
    tensors, flow = found
    key = (differentiate, len(targets), len(sources), flow)
    plan = _plans.get(key)
    if plan is None and key not in _plans:
        if not _runs.is_due(key, _plans, OFTEN, sweeps):
            return None
        plan = _plans[key] = _plan(tensors, records, targets, sources, since, differentiate)
    if plan is None:
        return None
    return plan.recorded(tensors) if stack.recorders else plan(tensors)


def flow_key(
    records: Sequence[Record], handing_on: Set[Any], ends: Sequence[Any], since: Mapping[Key, int]
) -> tuple[list[Any], tuple[Any, ...]] | None:
    """Return the tensors of records and ends in the order of their first use, and the key of their flow.

    The key has the operations with their attributes, the types of the tensors, and the number of each input, output and
    end. Return None if there is no key.
    """
    numbers: dict[int, int] = {}
    tensors: list[Any] = []
    parts: list[Any] = []
    order: list[int] = []

    def has_parts(values: Sequence[Any]) -> bool:
        return all(_has_number(x, numbers, tensors, parts, order) for x in values)

    for record in records:
        kept: Any = record.attrs if isinstance(record.attrs, KeptAttributes) else record.op
        if kept is record.op and kept not in handing_on:
            return None
        parts.append(kept)
        if not has_parts(record.inputs) or not has_parts(record.outputs):
            return None
    if not has_parts(ends):
        return None
    order += [n for key, i in since.items() if i and key in numbers for n in (numbers[key], i)]
    return tensors, (*parts, tuple(order))


def _has_number(
    x: Any, numbers: dict[int, int], tensors: list[Any], parts: list[Any], order: list[int]
) -> bool:
    """Append a tensor's number, and the type of a new one; return whether it has one."""
    if type(x) is EagerTensor and x._array is None:
        order.append(-1)  # a source that no record has
        return True
    number = numbers.setdefault(id(x), len(tensors))
    order.append(number)
    if number < len(tensors):
        return True
    tensors.append(x)
    if type(x) is EagerTensor:
        parts.append(x._kind or abstract_value_of(x))
    elif type(x) is Variable:
        parts.append((Variable, x.content_spec.dtype, x.content_spec.shape))
    elif type(x) is EagerArray and type(x.spec.element) is TensorType:
        parts.append((EagerArray, x.spec.element.dtype, x.spec.element.shape))
    else:
        return False
    return True


flow_key_fast = native.flow_key if native else flow_key


def _plan(
    tensors: Sequence[Any],
    records: Sequence[Record],
    targets: Targets,
    sources: Sequence[Any],
    since: Mapping[Key, int],
    differentiate: Differentiate,
) -> GradientPlan | None:
    """Trace and plan the backward pass; None if a gradient is not a tensor, or graphs of calls are too large."""
    size = sum(each.size for each in records)
    if size > _MOST_COMPILED and size > len(records):
        return None
    constants = {
        id(x) for record in records if type(record.attrs) is KeptAttributes for x in record.attrs.template
    }
    builder = Builder("gradient")
    with recording_by([]), builder:
        stand_ins = {
            id(x): x if id(x) in constants or type(x) is Variable else input_for(x, builder) for x in tensors
        }

        def traced(given: Sequence[Any]) -> list[Any]:
            return [stand_ins.get(id(x), x) for x in given]

        found = differentiate(
            [each.on(traced(each.inputs), traced(each.outputs)) for each in records],
            [tuple(traced(target)) for target in targets],
            traced(sources),
            {key_of(stand_ins[key]): i for key, i in since.items() if key in stand_ins},
        )
        executor = "automatic" if len(records) <= _MOST_COMPILED else "plan"
        return finished(builder, list(stand_ins.values()), found, executor)
