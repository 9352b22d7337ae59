"""Ranges, evenly spaced numbers and one-hot rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes
from ...core import late_binding, shapes
from ...core.conversion import convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.fp_errors import quietly
from ...core.tensor import EagerTensor
from ...ir.traits import CHEAP, FRESH_RESULT
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Axis, DType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import INTEGERS, require_dtype
from ..framework.static_values import checked_size, integer, size
from ..math.cast import cast

Array = Any

_RANGE_DTYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@export("range")
@cached_dispatch
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None) -> Any:
    """Return the numbers from `start` (0 with a single argument) towards `limit`, which is excluded.

    The dtype is that of the arguments; if they differ, the last of them in the order int32, int64, float32,
    float64.

    >>> range(3, 18, 6)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([ 3,  9, 15], dtype=int32)>
    """
    if limit is None:
        start, limit = 0, start
    bounds = [start, limit, delta]
    if dtype is None and all(type(x) is int and abs(x) < 2**31 for x in bounds):
        return number_range(start, limit, delta, dtypes.int32, name)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    bounds = [x if is_tensor_like(x) else convert_to_tensor(x, wanted) for x in bounds]
    if wanted is None:
        kinds = {x.dtype for x in bounds}
        if len(kinds) > 1 and not kinds <= set(_RANGE_DTYPES):
            raise TypeError(f"range() does not mix {', '.join(sorted(kind.name for kind in kinds))}")
        wanted = max(kinds, key=lambda kind: _RANGE_DTYPES.index(kind) if len(kinds) > 1 else 0)
    return number_range(*bounds, wanted, name)


@op(name="range", traits=CHEAP)
def number_range(start: Input, limit: Input, delta: Input, dtype: DType, name: Name = None) -> TensorType:
    """Return the numbers from `start` towards `limit` in steps of `delta`.

    >>> number_range(0., 1., 0.25, float)
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([0.  , 0.25, 0.5 , 0.75], dtype=float32)>
    """
    for kind in (dtype, start.dtype, limit.dtype, delta.dtype):
        if not kind.is_numeric or kind.is_complex:
            raise TypeError(f"range() does not count in {kind.name}")
    known = [_number(bound) for bound in (start, limit, delta)]
    if None in known:
        return TensorType(dtype, (None,))
    try:
        return TensorType(dtype, (quietly(_range_length)(*_bounds(dtype, *known)),))
    except ValueError:
        if all(bound.value is not None for bound in (start, limit, delta)):
            raise
        return TensorType(dtype, (None,))  # only the kernel raises where a shape makes the bounds wrong


def _number(bound: Any) -> Any:
    if bound.value is not None:
        return bound.value.item()
    return bound.elements[0] if bound.elements else None


def _bounds(dtype: dtypes.DType, *bounds: Any) -> list[Any]:
    """Return the bounds as numbers of `dtype`, whose rounding counts: 1 / 0.1 is 10 in float32."""
    kind = int if dtype.is_integer else dtype.as_numpy_dtype
    return [kind(bound) for bound in bounds]


def _range_length(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError(f"Requires delta != 0: {delta}")
    if not (start <= limit if delta > 0 else start >= limit):
        relation = "start <= limit when delta > 0" if delta > 0 else "start >= limit when delta < 0"
        raise ValueError(f"Requires {relation}: {start}/{limit}")
    if isinstance(start, int):
        return int(-((start - limit) // delta))
    steps = float(abs((limit - start) / delta))
    if not steps < 2**63:
        raise ValueError(f"Requires ((limit - start) / delta) < 2**63: {start}/{limit}/{delta}")
    return math.ceil(steps)


@number_range.kernel
def _(start: Array, limit: Array, delta: Array, dtype: dtypes.DType) -> Array:
    first, last, step = _bounds(dtype, start.item(), limit.item(), delta.item())
    count = _range_length(first, last, step)
    if dtype.is_integer:
        return np.arange(first, first + count * step, step, dtype=dtype.numpy_dtype)
    return first + np.arange(count, dtype=dtype.numpy_dtype) * step


number_range.no_gradient("as in TensorFlow: the length of the result depends on the bounds")


@export("linspace")
@cached_dispatch
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """Return `num` evenly spaced numbers from `start` to `stop`, both included, along a new `axis`.

    With an integer `start` they are float64. Raises InvalidArgumentError for a negative `num`.

    >>> linspace(0., 1., 3)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0. , 0.5, 1. ], dtype=float32)>
    """
    first = convert_to_tensor(start)
    if first.dtype.is_integer:
        if is_tensor_like(stop):
            stop = cast(stop, dtypes.float64)
        first = cast(first, dtypes.float64)
    return evenly_spaced(first, stop, num, axis, name)


@op(name="linspace")
def evenly_spaced(start: Same, stop: Same, num: Ints, axis: Axis = 0, name: Name = None) -> TensorType:
    """Return `num` evenly spaced numbers from `start` to `stop`.

    >>> evenly_spaced(1., 2., 2)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    count = integer(num)
    if count is not None and count < 0:
        raise ValueError(f"Requires num >= 0: {count}")
    shape = shapes.broadcast(start.shape, stop.shape)
    if shape is None:
        return TensorType(start.dtype, None)
    dim = shapes.normal_axis(axis, len(shape) + 1)
    return TensorType(start.dtype, (*shape[:dim], count, *shape[dim:]))


@evenly_spaced.kernel
def _(start: Array, stop: Array, num: Array, axis: int) -> Array:
    count = checked_size(num, "num")
    first, last = np.broadcast_arrays(start, stop)
    if count < 2:
        return np.repeat(np.expand_dims(first, axis), count, axis)
    step = (last - first) / first.dtype.type(count - 1)
    steps = np.arange(count - 1, dtype=first.dtype).reshape(-1, *(1,) * first.ndim)
    inner = first + step * steps
    return np.moveaxis(np.concatenate([inner, last[None]]), 0, axis).astype(first.dtype, copy=False)


@evenly_spaced.gradient
def _(dy: Any, y: Any, start: Any, stop: Any, num: Any, axis: int) -> Any:
    whole = late_binding.reductions.reduce_sum(y, axis)
    weights = evenly_spaced(
        late_binding.creation.zeros_like(whole), late_binding.creation.ones_like(whole), num, axis
    )
    return (
        lambda: late_binding.reshape.fitted(
            late_binding.reductions.reduce_sum(dy * (1 - weights), axis), start
        ),
        lambda: late_binding.reshape.fitted(late_binding.reductions.reduce_sum(dy * weights, axis), stop),
        None,
    )


@export("one_hot")
@cached_dispatch
@dispatching_composites("one_hot")
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Return rows of `depth` elements: `on_value` (1) at the index, `off_value` (0) elsewhere.

    An index that is out of range gives a row without `on_value`.

    >>> one_hot([0, 2, -1], 3, dtype=int)
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 0, 0]], dtype=int32)>
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    given = next((x for x in (on_value, off_value) if x is not None), None)
    kind = wanted or (dtypes.float32 if given is None else convert_to_tensor(given).dtype)
    on = convert_to_tensor(EagerTensor(np.ones((), kind.numpy_dtype)) if on_value is None else on_value, kind)
    off = convert_to_tensor(
        EagerTensor(np.zeros((), kind.numpy_dtype)) if off_value is None else off_value, kind
    )
    return chosen_rows(indices, depth, on, off, -1 if axis is None else axis, name)


@op(name="one_hot", traits=CHEAP | FRESH_RESULT)
def chosen_rows(
    indices: Input, depth: Ints, on_value: Same, off_value: Same, axis: Axis = -1, name: Name = None
) -> TensorType:
    """Return `on_value` at the index, `off_value` elsewhere.

    >>> chosen_rows([1, 0], 2, True, False)
    <tf.Tensor: shape=(2, 2), dtype=bool, numpy=
    array([[False,  True],
           [ True, False]])>
    """
    require_dtype(indices, INTEGERS, "one_hot, argument `indices`,")
    number = size(depth, "depth")
    if indices.shape is None:
        return TensorType(on_value.dtype, None)
    dim = shapes.normal_axis(axis, len(indices.shape) + 1)
    return TensorType(on_value.dtype, (*indices.shape[:dim], number, *indices.shape[dim:]))


@chosen_rows.kernel
def _(indices: Array, depth: Array, on_value: Array, off_value: Array, axis: int) -> Array:
    indices = np.asarray(indices)
    shape = indices.shape
    dim = axis % (len(shape) + 1)
    size, flat = checked_size(depth, "depth"), indices.reshape(-1)
    found = np.empty((len(flat), size), on_value.dtype)
    found.fill(off_value)
    if size < 1 << (8 * flat.itemsize - 1):
        (rows,) = (flat.view(f"u{flat.itemsize}") < size).nonzero()  # negative numbers are large ones
    else:
        (rows,) = ((flat >= 0) & (flat < size)).nonzero()
    found[rows, flat[rows]] = on_value
    found = found.reshape(*shape, size)
    return found if dim == len(shape) else np.ascontiguousarray(np.moveaxis(found, -1, dim))


chosen_rows.no_gradient("as in TensorFlow")
