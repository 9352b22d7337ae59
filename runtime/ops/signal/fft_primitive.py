"""Primitive Fourier transforms: of complex and real numbers, forward and inverse, along any axes.

    8 real numbers: 5 complex ones, since the other 3 are their conjugates

fft_api.py defines the public functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.tensor import Tensor
from ...ir.graph import Operand
from ...ir.value_types import TensorType
from ...kernels import fourier
from ..arrays.concat_split import concat
from ..arrays.creation import ones, zeros_like
from ..arrays.pad_ops import pad
from ..arrays.reshape import reshape
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import COMPLEX, Array, DTypes, require_dtype
from ..framework.static_values import integers
from ..math.cast import cast
from ..math.elementwise import real
from ..reduce.reductions import reduce_prod

_REALS: DTypes = frozenset({dtypes.float32, dtypes.float64})
_PARTS = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
_WHOLES = {part: whole for whole, part in _PARTS.items()}


def _axes(x: Operand, fft_length: Operand, axes: tuple[int, ...], what: str) -> list[int] | None:
    """Return the axes as non-negative numbers; None if the rank is unknown."""
    wanted = integers(fft_length)
    if wanted is not None and len(wanted) not in (0, len(axes)):
        raise ValueError(f"{what}: fft_length must have shape [{len(axes)}], not [{len(wanted)}]")
    if x.shape is None:
        return None
    if len(x.shape) < len(axes):
        raise ValueError(f"{what}: Input must have rank of at least {len(axes)} but got: {list(x.shape)}")
    return [shapes.normal_axis(axis, len(x.shape)) for axis in axes]


def _lengths(fft_length: Operand, count: int) -> tuple[int | None, ...] | None:
    """Return the static lengths, None for unknown ones; None if no lengths are given."""
    wanted = integers(fft_length)
    if wanted is None or len(wanted) == 0:
        return None if wanted == () else (None,) * count
    for size in wanted:
        if size is not None and size < 1:
            raise ValueError(f"fft_length must be positive, not {size}")
    return wanted


def _resized(x: Operand, dims: list[int], sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    result = list(x.shape or ())
    for dim, size in zip(dims, sizes, strict=True):
        result[dim] = size
    return tuple(result)


def _complex_spec(x: Operand, fft_length: Operand, axes: tuple[int, ...], what: str) -> TensorType:
    require_dtype(x, COMPLEX, what)
    dims = _axes(x, fft_length, axes, what)
    if dims is None or x.shape is None:
        return TensorType(x.dtype, None)
    requested = _lengths(fft_length, len(axes))
    return TensorType(x.dtype, x.shape if requested is None else _resized(x, dims, requested))


Transform = Callable[..., Any]


def _computed(transform: Transform, x: Array, fft_length: Array, axes: tuple[int, ...]) -> Array:
    """Call a transform; an empty input yields an empty result, or zeros if lengths are given."""
    sizes = [int(size) for size in np.ravel(fft_length)] or None
    if not x.size:
        empty = transform(np.ones([max(size, 1) for size in x.shape], x.dtype), sizes, axes)
        requested = {axis % x.ndim for axis in axes} if sizes else ()
        kept = [old > 0 or axis in requested for axis, old in enumerate(x.shape)]
        return np.zeros(
            [new if keep else 0 for keep, new in zip(kept, empty.shape, strict=True)], empty.dtype
        )
    return transform(x, sizes, axes)


@op
def complex_transform(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> TensorType:
    """Return the Fourier transform along `axes`; `fft_length` truncates the input or pads it with zeros.

    >>> complex_transform([1 + 0j, 2 + 0j], [], [-1]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    return _complex_spec(input, fft_length, axes or (), "fft")


@op
def complex_inverse(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> TensorType:
    """Invert `complex_transform`.

    >>> complex_inverse([3 + 0j, -1 + 0j], [], [-1]).numpy().tolist()
    [(1+0j), (2+0j)]
    """
    return _complex_spec(input, fft_length, axes or (), "ifft")


@op
def real_transform(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> TensorType:
    """Return the Fourier transform of real numbers: the last of `axes` keeps its first half and the middle.

    >>> real_transform([1.0, 2.0, 3.0], [2], [-1]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    if input.dtype not in _REALS:
        raise ValueError(f"rfft requires float32 or float64 inputs, got {input.dtype.name}")
    axes = axes or ()
    dims = _axes(input, fft_length, axes, "rfft")
    if dims is None or input.shape is None:
        return TensorType(_WHOLES[input.dtype], None)
    sizes = list(_lengths(fft_length, len(axes)) or (input.shape[dim] for dim in dims))
    last = sizes[-1]
    sizes[-1] = None if last is None else last // 2 + 1 if last else 0
    return TensorType(_WHOLES[input.dtype], _resized(input, dims, sizes))


@op
def real_inverse(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> TensorType:
    """Invert `real_transform`: return `2 * (n - 1)` real numbers for `n` complex ones, or `fft_length` numbers.

    >>> real_inverse([3 + 0j, -1 + 0j], [], [-1]).numpy().tolist()
    [1.0, 2.0]
    """
    require_dtype(input, COMPLEX, "irfft")
    axes = axes or ()
    dims = _axes(input, fft_length, axes, "irfft")
    if dims is None or input.shape is None:
        return TensorType(_PARTS[input.dtype], None)
    requested = _lengths(fft_length, len(axes))
    sizes = list(requested or (input.shape[dim] for dim in dims))
    if requested is None:
        last = sizes[-1]
        sizes[-1] = None if last is None else max(2 * (last - 1), 0)
    return TensorType(_PARTS[input.dtype], _resized(input, dims, sizes))


complex_transform.kernel(lambda input, fft_length, axes: _computed(fourier.fftn, input, fft_length, axes))


complex_inverse.kernel(lambda input, fft_length, axes: _computed(fourier.ifftn, input, fft_length, axes))


real_transform.kernel(lambda input, fft_length, axes: _computed(fourier.rfftn, input, fft_length, axes))


@real_inverse.kernel
def _(input: Array, fft_length: Array, axes: tuple[int, ...]) -> Array:
    if not np.size(fft_length) and input.shape[axes[-1]] <= 1:
        shape = list(input.shape)
        shape[axes[-1]] = 0
        return np.zeros(shape, input.real.dtype)
    return _computed(fourier.irfftn, input, fft_length, axes)


def _sizes(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the sizes of `x` along these axes, as a vector."""
    whole = shape_of(x)
    return concat([whole[axis : axis + 1 or None] for axis in axes], 0)


def number_of(x: Any, axes: tuple[int, ...], dtype: dtypes.DType) -> Any:
    return cast(cast(reduce_prod(_sizes(x, axes)), dtypes.float64), dtype)


@complex_transform.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    back = complex_inverse(dy, [], axes) * number_of(y, axes, dy.dtype)
    return fitted_to(back, input, axes), None


@complex_inverse.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    back = complex_transform(dy, [], axes) / number_of(y, axes, dy.dtype)
    return fitted_to(back, input, axes), None


@real_transform.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    """Differentiate as a complex transform with a second half that is unused."""
    sizes = fft_length if _asked(fft_length) else _sizes(input, axes)
    number = cast(cast(reduce_prod(sizes), dtypes.float64), dy.dtype)
    return fitted_to(real(complex_inverse(dy, sizes, axes) * number), input, axes), None


def _asked(fft_length: Any) -> bool:
    count = fft_length.shape.num_elements() if hasattr(fft_length, "shape") else len(fft_length)
    return count != 0


@real_inverse.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    """Double the numbers that also represent conjugates: all except the first, and the middle of an even length."""
    half = real_transform(dy, [], axes)
    last = axes[-1]
    number = number_of(y, axes, half.dtype)
    length = shape_of(y)[last]
    count = length // 2 + 1
    once = ones([1], half.dtype)
    twice = ones(reshape((length - 1) // 2, [1]), half.dtype) * 2
    middle = ones(reshape(count - 1 - (length - 1) // 2, [1]), half.dtype)
    weights = concat([once, twice, middle], 0)
    back = half * reshape(weights, [-1, *[1] * (-1 - last)]) / number
    return fitted_to(back, input, axes), None


def fitted_to(x: Any, like: Any, axes: Sequence[int]) -> Any:
    """Truncate `x`, or pad it with trailing zeros, to the sizes of `like` along these axes (negative numbers).

    >>> fitted_to(np.ones([3]), np.ones([2]), [-1]).numpy().tolist(), fitted_to([1], [1, 1], [-1]).numpy().tolist()
    ([1.0, 1.0], [1, 0])
    """
    x, like = convert_to_tensor(x), convert_to_tensor(like)
    for axis in axes:
        x = resized(x, shape_of(like)[axis], axis)
    return x


def resized(x: Tensor, size: Any, axis: int = -1) -> Tensor:
    """Truncate `x`, or pad it with trailing zeros, to this size along an axis (a negative number).

    >>> resized(convert_to_tensor([1, 2, 3]), 2).numpy().tolist()
    [1, 2]
    """
    after = (slice(None),) * (-1 - axis)
    index = (Ellipsis, slice(None, size), *after)
    cut = x[index]
    if x.shape.rank is None:
        missing = _missing_anywhere(cut, size, axis)
    else:
        lack = convert_to_tensor(size, dtypes.int32) - shape_of(cut)[axis]
        left, right = np.zeros((x.shape.rank + axis, 2), np.int32), np.zeros((-1 - axis, 2), np.int32)
        missing = concat([left, [[0, lack]], right], 0)
    return pad(cut, missing)  # type: ignore[no-any-return]


def _missing_anywhere(cut: Tensor, size: Any, axis: int) -> Any:
    """Return the paddings for a tensor of unknown rank."""
    rank = reshape(shape_of(shape_of(cut)), [])
    lack = convert_to_tensor(size, dtypes.int32) - shape_of(cut)[axis]
    before = zeros_like(ones(reshape(rank + axis, [1]), dtypes.int32))
    after = zeros_like(ones([-1 - axis], dtypes.int32))
    ends = concat([before, reshape(lack, [1]), after], 0)
    return concat([reshape(zeros_like(ends), [-1, 1]), reshape(ends, [-1, 1])], 1)
