"""Sequences of tensors, whose lengths and indices are known before the model runs."""

from __future__ import annotations

from typing import Any

from ..... import dtypes
from .....core.conversion import convert_to_tensor
from .....core.shapes import normal_axis
from .....ops.arrays import concat_split, reshape
from .registry import OperatorCall, TensorSequence, numbers, operator, rank_of


@operator("SequenceEmpty")
def _(call: OperatorCall) -> Any:
    return TensorSequence([])


@operator("SequenceConstruct")
def _(call: OperatorCall, *values: Any) -> Any:
    return TensorSequence(list(values))


@operator("SequenceLength")
def _(call: OperatorCall, sequence: TensorSequence) -> Any:
    return convert_to_tensor(len(sequence.items), dtypes.int64)


def _place(index: Any, default: int) -> int:
    return default if index is None else numbers(index, "the position in a sequence")[0]


@operator("SequenceAt")
def _(call: OperatorCall, sequence: TensorSequence, index: Any) -> Any:
    return sequence.items[_place(index, 0)]


@operator("SequenceErase")
def _(call: OperatorCall, sequence: TensorSequence, index: Any = None) -> Any:
    items = list(sequence.items)
    del items[_place(index, -1)]
    return TensorSequence(items)


@operator("SequenceInsert")
def _(call: OperatorCall, sequence: TensorSequence, value: Any, index: Any = None) -> Any:
    items = list(sequence.items)
    place = _place(index, len(items))
    if not -len(items) <= place <= len(items):
        raise IndexError(f"the position {place} of a sequence of {len(items)} tensors")
    items.insert(place, value)
    return TensorSequence(items)


@operator("SplitToSequence")
def _(call: OperatorCall, x: Any, sizes: Any = None) -> Any:
    axis, keepdims = call.get("axis", 0), sizes is not None or call.get("keepdims", 1)
    size = x.shape[axis]
    if size is None:
        raise ValueError("the size of the axis is not known")
    given = [1] * size if sizes is None else numbers(sizes, "the sizes")
    if sizes is not None and sizes.shape.rank == 0:
        (part,) = given
        given = [part] * (size // part) + [size % part] * bool(size % part)
    parts = concat_split.split(x, given, axis)
    return TensorSequence(list(parts) if keepdims else [reshape.squeeze(part, (axis,)) for part in parts])


@operator("ConcatFromSequence")
def _(call: OperatorCall, sequence: TensorSequence) -> Any:
    axis, items = call.get("axis"), sequence.items
    if call.get("new_axis", 0):
        return concat_split.stack(items, normal_axis(axis, rank_of(items[0]) + 1))
    return concat_split.concat(items, axis)


@operator("SequenceMap")
def _(call: OperatorCall, *operands: Any) -> Any:
    """Run the body for the items of all sequences at each position; tensors are the same for all."""
    count = len(operands[0].items)
    rows = [
        [each.items[i] if isinstance(each, TensorSequence) else each for each in operands]
        for i in range(count)
    ]
    results = [call.run(call.get("body"), row) for row in rows]
    return [TensorSequence([row[i] for row in results]) for i in range(call.results)]
