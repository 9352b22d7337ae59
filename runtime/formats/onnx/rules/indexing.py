"""`tensor[key]`, `tensor[key] = value`, and slices.

x[1, ::2, None, i]     Slice of the sliced axes, Gather for each index from the last axis on, Unsqueeze
x[key] = v             ScatterND at the places that the same key selects from the numbers of the elements
"""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....ops.arrays.getitem import HOLE, parsed
from ..onnx_types import END, InexpressibleError
from ..registry import exports
from ..values import Ref
from .creation import counting


@exports("getitem")
def _(e: Any, operation: Any, x: Any, *parts: Any) -> Any:
    return select(e, x, operation.attrs["key"], parts)


def select(e: Any, x: Any, key: str, parts: Any) -> Any:
    """Return `x[key]`, with scalars for the holes of the key."""
    rest = iter(parts)
    index = [_filled(item, rest) for item in parsed(key)]
    used = sum(item is not None and item is not Ellipsis for item in index)
    if Ellipsis not in index:
        index.append(Ellipsis)
    slices: list[tuple[int, Any, Any, Any]] = []
    numbers: list[tuple[int, Any]] = []
    new_axes, axis, place = [], 0, 0
    for item in index:
        if item is Ellipsis:
            axis, place = axis + x.rank - used, place + x.rank - used
        elif item is None:
            new_axes.append(place)
            place += 1
        elif isinstance(item, slice):
            if item != slice(None):
                slices.append((axis, *_bounds(item, x.shape[axis])))
            axis, place = axis + 1, place + 1
        else:
            numbers.append((axis, item))
            axis += 1
    shape = x.shape
    if slices:
        columns = [e.concat([_vector(e, row[i]) for row in slices]) for i in (1, 2, 3)]
        start, end, step = columns
        x = e("Slice", x, start, end, e.ints(*[row[0] for row in slices]), step)
        x.shape = shape
    for axis, number in reversed(numbers):
        x = e("Gather", x, number if isinstance(number, Ref) else e.const(number, dtypes.int64), axis=axis)
    return e("Unsqueeze", x, e.ints(*new_axes)) if new_axes else x


def _filled(item: Any, rest: Any) -> Any:
    if isinstance(item, slice):
        return slice(*(next(rest) if each is HOLE else each for each in (item.start, item.stop, item.step)))
    return next(rest) if item is HOLE else item


def _bounds(item: slice, size: int | None) -> tuple[Any, Any, Any]:
    """Return start, end and step for `Slice`, whose negative ends count from the end, too."""
    known = all(not isinstance(each, Ref) for each in (item.start, item.stop, item.step))
    if known and size is not None:
        start, stop, step = item.indices(size)
        return start, stop if stop >= 0 else -END, step
    step = 1 if item.step is None else item.step
    if isinstance(step, Ref):
        if step.value is None:
            raise InexpressibleError("the step of a slice is computed by the program")
        step = int(step.value)
    if step > 0:
        return (
            item.start or 0 if item.start is None else item.start,
            END if item.stop is None else item.stop,
            step,
        )
    for bound in (item.start, item.stop):
        if isinstance(bound, Ref) or (bound is not None and bound < -1):
            raise InexpressibleError("a slice with a negative step has bounds that are not known")
    return -1 if item.start is None else item.start, -END if item.stop is None else item.stop, step


def _vector(e: Any, bound: Any) -> Any:
    return e.reshape(e.index(bound), [1]) if isinstance(bound, Ref) else e.ints(bound)


def element_numbers(e: Any, shape: Any, rank: int) -> Any:
    """Return the numbers of the elements of a tensor of this shape, in that shape."""
    total = e("ReduceProd", shape, keepdims=0)
    found = e.reshape(counting(e, total), shape)
    found.shape = (None,) * rank
    return found


def put(e: Any, x: Any, key: str, parts: Any, value: Any) -> Any:
    """Return `x` with `value` at the key, broadcast."""
    shape = e.shape_of(x)
    numbers = element_numbers(e, shape, x.rank)
    numbers.shape = x.shape
    places = select(e, numbers, key, parts)
    spread = e.reshape(e.expand(value, e("Shape", places, dtype=dtypes.int64)), [-1])
    flat = e("ScatterElements", e.reshape(x, [-1]), e.reshape(places, [-1]), spread, axis=0)
    return e.reshape(flat, shape)


@exports("setitem")
def _(e: Any, operation: Any, x: Any, value: Any, *parts: Any) -> Any:
    return put(e, x, operation.attrs["key"], parts, value)


@exports("put_back_item")
def _(e: Any, operation: Any, value: Any, shape: Any, *parts: Any) -> Any:
    zeros = e.zeros(shape, value.dtype)
    zeros.shape = operation.outputs[0].shape
    return put(e, zeros, operation.attrs["key"], parts, value)


@exports("replace_masked")
def _(e: Any, operation: Any, x: Any, value: Any, mask: Any) -> Any:
    if value.shape != ():
        raise InexpressibleError("several values take the places of masked elements")
    extra = x.rank - mask.rank
    return e.where(e.unsqueeze(mask, *range(mask.rank, x.rank)) if extra else mask, value, x)


@exports("slice")
def _(e: Any, operation: Any, x: Any, begin: Any, size: Any) -> Any:
    if not x.rank:
        return x
    start, count = e.index(begin), e.index(size)
    if count.value is not None and start.value is not None:
        ends = [
            END if n < 0 else b + n for b, n in zip(start.value.tolist(), count.value.tolist(), strict=True)
        ]
        return e("Slice", x, start, e.ints(*ends))
    ends = e.where(count < 0, END, start + count)
    return e("Slice", x, start, ends)


@exports("put_back_part")
def _(e: Any, operation: Any, value: Any, begin: Any, shape: Any) -> Any:
    before = e.index(begin)
    after = e.index(shape) - before - e.shape_of(value)
    return e("Pad", value, e.concat([before, after]), e.const(0, value.dtype)) if value.rank else value
