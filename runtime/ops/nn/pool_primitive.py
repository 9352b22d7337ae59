"""Pooling: the largest element or the mean of each window of a tensor.

    1 2 5      windows of 2 by 2       5 9      pooled along one axis after the other, since a rectangle's
    3 4 9      ──────────────────→     7 9      largest element is the largest of its rows' largest ones
    7 0 6

Windows and strides have a number for each axis of the tensor, so that any axis can be pooled. Padding is
ignored: in the maximum, and in the number of elements that a mean divides by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.traits import FRESH_RESULT
from ...ir.value_types import TensorType
from ...kernels.extremes import lowest
from ...kernels.thread_pool import run_all
from ..arrays.creation import zeros_like
from ..arrays.select_kernel import selected
from ..arrays.shape_ops import shape
from ..framework.attribute_parsers import Axes, DType
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import FLOATS, REAL, Array, require_dtype
from ..framework.static_values import checked_dims, dims
from .window_geometry import Pairs, Sliding, output_size, sliding
from .windows import fits, slid

Sizes = tuple[int, ...]
_ELEMENTS = 1 << 17
"""The number of elements in a part of a batch that one thread works on at a time."""


def _pooled(shape: shapes.Dims, ksize: Sizes, strides: Sizes, padding: str, explicit: Pairs) -> shapes.Dims:
    if shape is None:
        return (None,) * len(ksize)
    if len(shape) != len(ksize):
        raise ValueError(f"windows over {len(ksize)} axes do not fit the shape {shapes.show(shape)}")
    return tuple(
        size if k == s == 1 and not any(explicit[2 * axis : 2 * axis + 2])
        else output_size(size, k, s, 1, padding, explicit[2 * axis : 2 * axis + 2])
        for axis, (size, k, s) in enumerate(zip(shape, ksize, strides, strict=True))
    )  # fmt: skip


@lru_cache(256)
def _slide(shape: Any, ksize: Sizes, strides: Sizes, padding: str, explicit: Pairs) -> Sliding:
    if len(shape) != len(ksize):
        raise errors.InvalidArgumentError(
            f"windows over {len(ksize)} axes do not fit the shape {list(shape)}"
        )
    return sliding(shape, ksize, strides, (1,) * len(ksize), padding, explicit)


def _along_axes(x: Array, slide: Sliding, combine: Any, start: Any) -> Array:
    """Combine windows along one axis after the other."""
    for axis, size in enumerate(slide.window):
        if size == slide.strides[axis] == 1 and slide.outputs[axis] == x.shape[axis]:
            continue
        found = np.full((*x.shape[:axis], slide.outputs[axis], *x.shape[axis + 1 :]), start, x.dtype)
        before = (slice(None),) * axis
        for at in range(size):
            windows, elements = slide.along(axis, at)
            part = found[(*before, windows)]
            combine(part, x[(*before, elements)], out=part)
        x = found
    return x


def _slid(
    kind: str, x: Array, y: Array, slide: Sliding, w: Array | None = None, z: Array | None = None
) -> bool:
    """Slide over [batch, …, channels] in C, in parts that threads share; return False if NumPy has to."""
    arrays = [array for array in (x, y, w, z) if array is not None]
    inner = Sliding(*(field[1:-1] for field in slide))
    is_spatial = all(slide[i][0] == slide[i][-1] == 1 for i in (1, 2)) and slide.outputs[0] == slide.sizes[0]
    if not is_spatial or slide.outputs[-1] != slide.sizes[-1] or not fits(inner, *arrays):
        return False

    def run(part: slice) -> None:
        third, fourth = (array if array is None else array[part] for array in (w, z))
        slid(kind, x[part], y[part], third, fourth, inner)

    run_all(*(partial(run, part) for part in _parts(slide)))
    return True


@op(traits=FRESH_RESULT)
def max_pool(
    input: Input, ksize: Axes, strides: Axes, padding: str, explicit_paddings: Axes = (), name: Name = None
) -> TensorType:
    """Return the largest elements of windows.

    Args:
        ksize, strides: a number for each axis of `input`.
        padding: "SAME", "VALID", or "EXPLICIT" with `[before, after]` of each axis, flat, in `explicit_paddings`.

    >>> max_pool([[1., 2., 5.], [3., 4., 9.]], [2, 2], [1, 1], "VALID").numpy().tolist()
    [[4.0, 9.0]]
    """
    require_dtype(input, REAL, "max_pool")
    return TensorType(input.dtype, _pooled(input.shape, ksize, strides, padding, explicit_paddings))  # type: ignore[arg-type]


@max_pool.kernel
def _(input: Array, ksize: Sizes, strides: Sizes, padding: str, explicit_paddings: Pairs) -> Array:
    slide = _slide(input.shape, ksize, strides, padding, explicit_paddings)
    return _largest(input, slide)


def _largest(x: Array, slide: Sliding) -> Array:
    found = np.full(slide.outputs, lowest(x.dtype), x.dtype)
    if _slid("largest", x, found, slide):
        return found
    found = _along_axes(x, slide, np.maximum, lowest(x.dtype))
    return found if found is not x else found.copy()


@max_pool.gradient
def _(dy: Any, y: Any, input: Any, **setting: Any) -> Any:
    return max_pool_grad(input, y, dy, **setting)


@op(traits=FRESH_RESULT)
def max_pool_grad(
    orig_input: Same,
    orig_output: Same,
    grad: Same,
    ksize: Axes,
    strides: Axes,
    padding: str,
    explicit_paddings: Axes = (),
    name: Name = None,
) -> TensorType:
    """Return the gradient of `max_pool`: each window's goes to the first of its largest elements.

    >>> max_pool_grad([1., 2., 2.], [2., 2.], [10., 1.], [2], [1], "VALID").numpy().tolist()
    [0.0, 11.0, 0.0]
    """
    require_dtype(orig_input, REAL, "max_pool_grad")
    pooled = _pooled(orig_input.shape, ksize, strides, padding, explicit_paddings)  # type: ignore[arg-type]
    for operand in (orig_output, grad):
        shapes.merge(pooled, operand.shape)
    return TensorType(orig_input.dtype, orig_input.shape)


@max_pool_grad.kernel
def _(orig_input: Array, orig_output: Array, grad: Array, ksize: Sizes, strides: Sizes, padding: str,
      explicit_paddings: Pairs) -> Array:  # fmt: skip
    slide = _slide(orig_input.shape, ksize, strides, padding, explicit_paddings)
    _check_pooled(slide, orig_output, grad)
    found = np.zeros(orig_input.shape, orig_input.dtype)
    if _slid("choose", orig_input, orig_output, slide, grad, found):
        return found

    def spread(part: slice) -> None:
        dy, dx = grad[part], found[part]
        for windows, elements, here in _first_largest(orig_input[part], orig_output[part], slide):
            dx[elements] += selected(here, dy[windows], dy.dtype.type(0))

    run_all(*[partial(spread, part) for part in _parts(slide)])
    return found


def _first_largest(x: Array, y: Array, slide: Sliding) -> Iterator[tuple[Any, Any, Array]]:
    """Yield for each offset the windows, their elements, and which of these are the first that equal `y`."""
    free = np.ones(y.shape, bool)
    for offset in slide.offsets():
        windows, elements = slide.slices(offset)
        here = (x[elements] == y[windows]) & free[windows]
        free[windows] &= ~here
        yield windows, elements, here


def _parts(slide: Sliding) -> list[slice]:
    """Return parts of the first axis, for threads and their caches; the whole axis if windows cross it."""
    count, *rest = slide.sizes or (1,)
    if slide.window[:1] != (1,) or slide.outputs[0] != count:
        return [slice(None)]
    step = max(1, _ELEMENTS // max(1, math.prod(rest)))
    return [slice(start, start + step) for start in range(0, count, step)]


def _check_pooled(slide: Sliding, *pooled: Array) -> None:
    for array in pooled:
        if array.shape != slide.outputs:
            raise errors.InvalidArgumentError(
                f"Expected grad shape to be {list(slide.outputs)}, but got {list(array.shape)}"
            )


@max_pool_grad.gradient
def _(dy: Any, y: Any, orig_input: Any, orig_output: Any, grad: Any, **setting: Any) -> Any:
    return (
        zeros_like(orig_input),
        zeros_like(orig_output),
        max_pool_grad_grad(orig_input, orig_output, dy, **setting),
    )


@op
def max_pool_grad_grad(
    orig_input: Same,
    orig_output: Same,
    grad: Same,
    ksize: Axes,
    strides: Axes,
    padding: str,
    explicit_paddings: Axes = (),
    name: Name = None,
) -> TensorType:
    """Return the elements of `grad` at the index of the first largest element of each window.

    >>> max_pool_grad_grad([1., 2., 2.], [2., 2.], [10., 20., 30.], [2], [1], "VALID").numpy().tolist()
    [20.0, 20.0]
    """
    require_dtype(orig_input, REAL, "max_pool_grad_grad")
    shapes.merge(orig_input.shape, grad.shape)
    pooled = _pooled(orig_input.shape, ksize, strides, padding, explicit_paddings)  # type: ignore[arg-type]
    return TensorType(orig_input.dtype, shapes.merge(pooled, orig_output.shape))


@max_pool_grad_grad.kernel
def _(orig_input: Array, orig_output: Array, grad: Array, ksize: Sizes, strides: Sizes, padding: str,
      explicit_paddings: Pairs) -> Array:  # fmt: skip
    slide = _slide(orig_input.shape, ksize, strides, padding, explicit_paddings)
    _check_pooled(slide, orig_output)
    if grad.shape != orig_input.shape:
        raise errors.InvalidArgumentError(f"Expected shape {orig_input.shape}, but got {grad.shape}")
    found = np.zeros_like(orig_output)
    for windows, elements, here in _first_largest(orig_input, orig_output, slide):
        found[windows] += selected(here, grad[elements], grad.dtype.type(0))
    return found


@max_pool_grad_grad.gradient
def _(dy: Any, y: Any, orig_input: Any, orig_output: Any, grad: Any, **setting: Any) -> Any:
    return (
        zeros_like(orig_input),
        zeros_like(orig_output),
        max_pool_grad(orig_input, orig_output, dy, **setting),
    )


@op
def max_pool_argmax(
    input: Input,
    ksize: Axes,
    strides: Axes,
    padding: str,
    explicit_paddings: Axes = (),
    output_dtype: DType = dtypes.int64,
    include_batch_in_index: bool = False,
    name: Name = None,
) -> tuple[TensorType, TensorType]:
    """Return the largest elements of windows, and their indices in the flattened input (of one batch, or of all).

    >>> values, places = max_pool_argmax([[1., 5., 2.]], [1, 2], [1, 1], "VALID")
    >>> places.numpy().tolist()
    [[1, 1]]
    """
    require_dtype(input, REAL, "max_pool_with_argmax")
    if output_dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"max_pool_with_argmax: places are int32 or int64, not {output_dtype.name}")
    shape = _pooled(input.shape, ksize, strides, padding, explicit_paddings)  # type: ignore[arg-type]
    return TensorType(input.dtype, shape), TensorType(output_dtype, shape)


@max_pool_argmax.kernel
def _(input: Array, ksize: Sizes, strides: Sizes, padding: str, explicit_paddings: Pairs,
      output_dtype: dtypes.DType, include_batch_in_index: bool) -> tuple[Array, Array]:  # fmt: skip
    slide = _slide(input.shape, ksize, strides, padding, explicit_paddings)
    largest = _largest(input, slide)
    positions = np.arange(input.size).reshape(input.shape)
    if not include_batch_in_index and len(input):
        positions %= max(input[0].size, 1)
    found = np.zeros(largest.shape, output_dtype.numpy_dtype)
    for windows, elements, here in _first_largest(input, largest, slide):
        np.copyto(found[windows], positions[elements], casting="same_kind", where=here)
    return largest, found


@max_pool_argmax.gradient
def _(dy: Any, y: Any, input: Any, output_dtype: Any, include_batch_in_index: bool, **setting: Any) -> Any:
    return None if dy[0] is None else max_pool_grad(input, y[0], dy[0], **setting)


@op(traits=FRESH_RESULT)
def avg_pool(
    input: Input, ksize: Axes, strides: Axes, padding: str, explicit_paddings: Axes = (), name: Name = None
) -> TensorType:
    """Return the means of windows; arguments as for `max_pool`.

    >>> avg_pool([1., 2., 6.], [2], [1], "SAME").numpy().tolist()
    [1.5, 4.0, 6.0]
    """
    require_dtype(input, FLOATS, "avg_pool")
    return TensorType(input.dtype, _pooled(input.shape, ksize, strides, padding, explicit_paddings))  # type: ignore[arg-type]


@avg_pool.kernel
def _(input: Array, ksize: Sizes, strides: Sizes, padding: str, explicit_paddings: Pairs) -> Array:
    slide = _slide(input.shape, ksize, strides, padding, explicit_paddings)
    kind = np.result_type(input.dtype, np.float32)
    x, sums = input.astype(kind, copy=False), np.zeros(slide.outputs, kind)
    if not _slid("sum", x, sums, slide):
        sums = _along_axes(x, slide, np.add, 0)
    return _divided(sums, slide).astype(input.dtype, copy=False)


def _divided(sums: Array, slide: Sliding) -> Array:
    """Divide the sums of windows by the numbers of their elements."""
    counts = np.ix_(*(count.astype(sums.dtype) for count in slide.counts()))
    kept = [count if size > 1 else count[:1] for count, size in zip(counts, slide.window, strict=True)]
    return sums / math.prod(kept, start=sums.dtype.type(1))


@avg_pool.gradient
def _(dy: Any, y: Any, input: Any, **setting: Any) -> Any:
    return avg_pool_grad(shape(input), dy, **setting)


@op(traits=FRESH_RESULT)
def avg_pool_grad(
    orig_input_shape: Ints,
    grad: Input,
    ksize: Axes,
    strides: Axes,
    padding: str,
    explicit_paddings: Axes = (),
    name: Name = None,
) -> TensorType:
    """Return the gradient of `avg_pool`: each window's is divided among its elements.

    >>> avg_pool_grad([3], [10., 1.], [2], [1], "VALID").numpy().tolist()
    [5.0, 5.5, 0.5]
    """
    require_dtype(grad, FLOATS, "avg_pool_grad")
    full = dims(orig_input_shape)
    shapes.merge(_pooled(full, ksize, strides, padding, explicit_paddings), grad.shape)  # type: ignore[arg-type]
    return TensorType(grad.dtype, full if full is not None else (None,) * len(ksize))  # type: ignore[arg-type]


@avg_pool_grad.kernel
def _(orig_input_shape: Array, grad: Array, ksize: Sizes, strides: Sizes, padding: str,
      explicit_paddings: Pairs) -> Array:  # fmt: skip
    slide = _slide(checked_dims(orig_input_shape), ksize, strides, padding, explicit_paddings)
    _check_pooled(slide, grad)
    shares = _divided(grad.astype(np.result_type(grad.dtype, np.float32), copy=False), slide)
    found = np.zeros(slide.sizes, shares.dtype)
    if _slid("share", found, shares, slide):
        return found.astype(grad.dtype, copy=False)
    for axis, size in enumerate(slide.window):
        found = np.zeros((*shares.shape[:axis], slide.sizes[axis], *shares.shape[axis + 1 :]), shares.dtype)
        before = (slice(None),) * axis
        for at in range(size):
            windows, elements = slide.along(axis, at)
            found[(*before, elements)] += shares[(*before, windows)]
        shares = found
    return shares.astype(grad.dtype, copy=False)


avg_pool_grad.gradient(lambda dy, y, orig_input_shape, grad, **setting: (None, avg_pool(dy, **setting)))
