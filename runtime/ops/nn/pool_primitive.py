"""Pooling: the largest element or the mean of each window of a tensor, and the gradients; kernels in pool_kernel.py.

    max_pool(x)  ──gradient──►  max_pool_grad(x, y, dy)  ──gradient──►  max_pool_grad_grad(x, y, dy)
    avg_pool(x)  ──gradient──►  avg_pool_grad(shape, dy)

Windows and strides have a number for each axis of the tensor, so that any axis can be pooled. Padding is
ignored: in the maximum, and in the number of elements that a mean divides by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.traits import FRESH_RESULT
from ...ir.value_types import TensorType
from ..arrays.creation import zeros_like
from ..arrays.shape_ops import shape
from ..framework.attribute_parsers import Axes, DType
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import FLOATS, REAL, Array, require_dtype
from ..framework.static_values import checked_dims, dims
from .pool_kernel import Sizes, check_pooled, gathered, largest, mean, scattered, shared_out, slide_over
from .window_geometry import Pairs, output_size


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
    return largest(input, slide_over(input.shape, ksize, strides, padding, explicit_paddings))


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
    slide = slide_over(orig_input.shape, ksize, strides, padding, explicit_paddings)
    check_pooled(slide, orig_output, grad)
    return scattered(orig_input, orig_output, grad, slide)


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
    slide = slide_over(orig_input.shape, ksize, strides, padding, explicit_paddings)
    check_pooled(slide, orig_output)
    if grad.shape != orig_input.shape:
        raise errors.InvalidArgumentError(f"Expected shape {orig_input.shape}, but got {grad.shape}")
    return gathered(orig_input, orig_output, grad, slide)


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
    slide = slide_over(input.shape, ksize, strides, padding, explicit_paddings)
    values = largest(input, slide)
    positions = np.arange(input.size).reshape(input.shape)
    if not include_batch_in_index and len(input):
        positions %= max(input[0].size, 1)
    return values, gathered(input, values, positions, slide).astype(output_dtype.numpy_dtype, copy=False)


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
    return mean(input, slide_over(input.shape, ksize, strides, padding, explicit_paddings))


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
    slide = slide_over(checked_dims(orig_input_shape), ksize, strides, padding, explicit_paddings)
    check_pooled(slide, grad)
    return shared_out(grad, slide)


avg_pool_grad.gradient(lambda dy, y, orig_input_shape, grad, **setting: (None, avg_pool(dy, **setting)))
