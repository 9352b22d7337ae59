"""Update rows and elements of a variable in place, in program order.

scatter_variable(v, indices=[2, 0], updates=[5, 7], how="add")          v[2] += 5; v[0] += 7
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.traits import UPDATE
from ...ir.value_types import TensorType
from ...kernels.rows import are_within, combine_rows, numbering
from ..arrays.scatter import check_updates, have_sizes, numbered_rows
from ..framework import op_families
from ..framework.op import Input, Name, Ref, op
from ..framework.static_values import listed
from .compare_and_swap import update, update_own
from .own_arrays import own_array

Array = Any

_UFUNCS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}
_TAKEN = {
    "add": op_families.NUMERIC,
    "sub": op_families.NUMERIC,
    "mul": op_families.NUMERIC,
    "div": op_families.NUMERIC,
    "max": op_families.REAL,
    "min": op_families.REAL,
    "update": op_families.EVERY,
}


@op(stateful=True)
def scatter_variable(
    variable: Ref, indices: Input, updates: Input, how: str, nd: bool = False, name: Name = None
) -> TensorType:
    """Update the rows of a variable at `indices`; with `nd`, the slices at the coordinates along their last axis.

    Args:
        how: "add", "sub", "mul", "div", "max", "min", or "update", which replaces.
        updates: one for each index, of the shape of a row or slice; or, without `nd`, a scalar for all.
            For a repeated index all updates apply; with "update", the last one wins.

    Returns the variable's new value. Raises InvalidArgumentError for an index that is out of range.

    >>> from agc.runtime import Variable
    >>> scatter_variable(Variable([1, 2, 3]), [2, 0], [5, 7], "add").numpy().tolist()
    [8, 2, 8]
    >>> scatter_variable(Variable([[1, 2], [3, 4]]), [[0, 1], [1, 0]], [9, 8], "update", nd=True).numpy().tolist()
    [[1, 9], [8, 4]]
    """
    content: TensorType = variable.spec.content
    _check(content, indices, updates, how, nd)
    return content


def _check(content: Any, indices: Any, updates: Any, how: str, nd: bool) -> None:
    if how not in _TAKEN:
        raise ValueError(f"`how` must be one of {', '.join(_TAKEN)}, not {how!r}")
    op_families.require_dtype(content, _TAKEN[how], f"scatter_{how}")
    op_families.require_dtype(indices, frozenset({dtypes.int32, dtypes.int64}), "`indices`")
    if updates.dtype is not content.dtype:
        raise TypeError(f"the updates are {updates.dtype.name}, the variable is {content.dtype.name}")
    if nd:
        check_updates(indices.shape, updates.shape, content.shape)
    else:
        _check_rows(indices.shape, updates.shape, content.shape)


def _check_rows(indices: shapes.Dims, updates: shapes.Dims, shape: shapes.Dims) -> None:
    if indices is None or updates is None or updates == () or shape is None:
        return
    if not shape or not shapes.compatible(updates, (*indices, *shape[1:])):
        raise ValueError(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            f"updates.shape {listed(updates)}, indices.shape {listed(indices)}, params.shape {listed(shape)}"
        )


@scatter_variable.kernel
def _(variable: Any, indices: Array, updates: Array, how: str, nd: bool) -> Array:
    own = own_array(variable)
    if own is not None and own.dtype not in dtypes.NARROW and how != "div":  # integers are divided one by one
        return _scattered(own, indices, updates, how, nd, own)
    return update(variable, _scattered, indices, updates, how, nd)


@scatter_variable.specialize
def _(inputs: list[Any], how: str, nd: bool) -> Any:
    """Return the kernel for shapes that the rule has checked."""
    content, (indices, updates) = inputs[0].content, inputs[1:]
    divides_integers = how == "div" and content.dtype.is_integer
    if not (nd and have_sizes(indices, updates, content)) or divides_integers:
        return None
    numbers, merged = numbering(content.shape, indices.shape[-1])
    put = operator.setitem if how == "update" else functools.partial(combine_rows, _UFUNCS[how])

    def changed(before: Array, indices: Array, updates: Array, into: Array | None = None) -> Array:
        result = before.copy() if into is None else into
        put(result.reshape(merged), numbers(indices), updates)
        return result

    def kernel(variable: Any, indices: Array, updates: Array) -> Array:
        own = own_array(variable)
        if own is not None:
            return changed(own, indices, updates, own)
        return update_own(variable, changed, indices, updates)

    return kernel


scatter_variable.no_gradient("an assignment has no gradient: the variable's new value counts as a source")


def _scattered(
    before: Array, indices: Array, updates: Array, how: str, nd: bool, into: Array | None = None
) -> Array:
    """Return the updated array, which is `into` if that is given; it is `before` itself."""
    indices, updates = np.asarray(indices), np.asarray(updates)
    if nd:
        numbers, merged = numbered_rows(indices, updates, before.shape)
        flat = into if into is None else into.reshape(merged)
        changed = _changed(before.reshape(merged), numbers, updates, how, flat).reshape(before.shape)
        return changed if into is None else into
    _check_rows(indices.shape, updates.shape, before.shape)
    _check_range(indices, before)
    return _changed(before, indices, updates, how, into)


@op(traits=UPDATE)
def scattered(
    tensor: Input, indices: Input, updates: Input, how: str, nd: bool = False, name: Name = None
) -> TensorType:
    """Return the value that `scatter_variable` gives a variable; for graphs in which variables became values.

    >>> scattered([1, 2, 3], [2, 0], [5, 7], "add").numpy().tolist()
    [8, 2, 8]
    """
    _check(tensor, indices, updates, how, nd)
    return tensor.spec  # type: ignore[no-any-return]


scattered.kernel(_scattered)
scattered.no_gradient("it represents an assignment of a variable, which has no gradient")


def _check_range(indices: Array, array: Array) -> None:
    if not are_within(indices, len(array)):
        wrong = (indices < 0) | (indices >= len(array))
        position = tuple(np.argwhere(wrong)[0].tolist())
        raise errors.InvalidArgumentError(
            f"indices{listed(position) if position else ''} = {indices[position]} is not in [0, {len(array)})"
        )


def _changed(before: Array, positions: Any, updates: Array, how: str, into: Array | None = None) -> Array:
    if before.dtype in dtypes.NARROW:
        wide = _changed(before.astype(np.float32), positions, updates.astype(np.float32), how)
        return wide.astype(before.dtype)
    result = before.copy() if into is None else into
    if how == "update":
        result[positions] = updates
    elif how == "div" and before.dtype.kind in "iu":
        _divide_integers(result, positions, updates)
    else:
        combine_rows(_UFUNCS[how], result, positions, updates)
    return result


def _divide_integers(result: Array, positions: Any, updates: Array) -> None:
    """Divide with rounding towards zero, one update after the other: an index may be repeated."""
    if not updates.all():
        raise errors.InvalidArgumentError("Integer division by zero")
    count = np.arange(result.size).reshape(result.shape)[positions]
    flat = result.reshape(-1)
    divisors = np.broadcast_to(updates, count.shape).reshape(-1)
    for position, divisor in zip(count.reshape(-1).tolist(), divisors.tolist(), strict=True):
        whole = abs(int(flat[position])) // abs(divisor)
        flat[position] = whole if (flat[position] < 0) == (divisor < 0) else -whole
