"""Scans: cumulative sums as `CumSum`, others as the operator `Scan`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import dtypes
from ..onnx_types import END, helper, value_info
from ..registry import exports
from ..values import Ref


@exports("cumsum")
def _(e: Any, operation: Any, x: Any) -> Any:
    if not x.rank:
        return x
    flags = {name: int(operation.attrs[name]) for name in ("exclusive", "reverse")}
    return e("CumSum", x, e.const(operation.attrs["axis"], dtypes.int32), **flags)


def scanned(
    e: Any,
    x: Any,
    axis: int,
    combine: Callable[..., Any],
    start: Any,
    exclusive: bool = False,
    reverse: bool = False,
    more: tuple[Any, ...] = (),
) -> Any:
    """Combine a state with the slices of an axis, one after the other; return the states, stacked.

    An exclusive scan stacks the states before each slice. `more` are tensors that are sliced as well.
    A slice of `start` must leave the first state as it is. An axis that may be empty gets one, for `Scan`.
    """
    axis %= x.rank
    if 0 in x.shape:
        return x
    if x.shape[axis]:
        return scanned_slices(e, x, axis, combine, start, exclusive, reverse, more)
    x_wide, *more_wide = [with_slice(e, each, axis, start, reverse) for each in (x, *more)]
    states = scanned_slices(e, x_wide, axis, combine, start, exclusive, reverse, tuple(more_wide))
    part = (0, -1) if reverse else (1, END)
    found = e("Slice", states, *map(e.ints, part), e.ints(axis))
    found.shape = x.shape
    return found


def scanned_slices(
    e: Any,
    x: Any,
    axis: int,
    combine: Callable[..., Any],
    start: Any,
    exclusive: bool = False,
    reverse: bool = False,
    more: tuple[Any, ...] = (),
) -> Any:
    """Return the states of `scanned` for an axis that is not empty."""
    kept = [i for i in range(x.rank) if i != axis]
    sizes = [e.size_of(x, i) for i in kept]
    rest = tuple(x.shape[i] for i in kept)
    first = e.zeros(e.concat(sizes) if sizes else e.const(np.zeros(0, np.int64)), x.dtype, start)
    outer = e.begin()
    state = Ref(e, e.fresh("state"), x.dtype, rest)
    rows = [Ref(e, e.fresh("row"), each.dtype, rest) for each in (x, *more)]
    after = combine(state, *rows)
    shown = state if exclusive else after
    names = [e.fresh("next"), e.fresh("shown")]
    for ref, name in zip((after, shown), names, strict=True):
        e.add("Identity", [ref.name], [name], {})
    body = helper.make_graph(
        e.end(outer),
        e.fresh("scan_body"),
        [value_info(ref.name, ref.dtype, ref.shape) for ref in (state, *rows)],
        [value_info(name, x.dtype, rest) for name in names],
    )
    count = 1 + len(more)
    way = int(reverse)
    _, found = e(
        "Scan", first, x, *more, outputs=2, body=body, num_scan_inputs=count, scan_input_axes=[axis] * count,
        scan_input_directions=[way] * count, scan_output_axes=[axis], scan_output_directions=[way],
    )  # fmt: skip
    found.shape = x.shape
    return found


def with_slice(e: Any, x: Any, axis: int, value: Any, at_end: bool) -> Any:
    """Return a tensor with one more slice, at the start or the end of an axis."""
    sizes = [e.ints(1) if i == axis else e.size_of(x, i) for i in range(x.rank)]
    parts = [e.zeros(e.concat(sizes), x.dtype, value), x]
    found = e.concat(parts[::-1] if at_end else parts, axis)
    found.shape = (*x.shape[:axis], None, *x.shape[axis + 1 :])
    return found


@exports("cumprod")
def _(e: Any, operation: Any, x: Any) -> Any:
    attrs = operation.attrs
    if not x.rank:
        return x
    return scanned(e, x, attrs["axis"], lambda s, row: s * row, 1, attrs["exclusive"], attrs["reverse"])


@exports("cumulative_logsumexp")
def _(e: Any, operation: Any, x: Any) -> Any:
    def combine(state: Any, row: Any) -> Any:
        largest = e("Max", state, row)
        least = e("Min", state, row)
        gap = e.where(largest.equals(-np.inf), 0.0, least - largest)
        return largest + e("Log", 1.0 + e("Exp", gap))

    attrs = operation.attrs
    return scanned(e, x, attrs["axis"], combine, -np.inf, attrs["exclusive"], attrs["reverse"])


@exports("recurrence")
def _(e: Any, operation: Any, x: Any, factors: Any) -> Any:
    """Return y with `y[i] = x[i] + factors[i] * y[i - 1]`."""
    attrs = operation.attrs
    wide = e.expand(factors, e.shape_of(x))
    wide.shape = x.shape

    def step(state: Any, row: Any, factor: Any) -> Any:
        return row + factor * state

    return scanned(e, x, attrs["axis"], step, 0, reverse=attrs["reverse"], more=(wide,))


@exports("shifted")
def _(e: Any, operation: Any, x: Any) -> Any:
    """Move the elements by one place, and put a zero at the free end."""
    axis, rank = operation.attrs["axis"] % x.rank, x.rank
    is_back = operation.attrs["reverse"]
    pads = [0] * (2 * rank)
    pads[axis + (rank if is_back else 0)] = 1
    padded = e("Pad", x, e.ints(*pads), e.const(0, x.dtype))
    start, end = (1, END) if is_back else (0, -1)
    return e("Slice", padded, e.ints(start), e.ints(end), e.ints(axis))
