"""Fourier transforms of complex and of real numbers, along one axis or several.

    rfft of 8 real numbers: 5 complex ones, since the other 3 are their conjugates       irfft is the way back

>>> fft([1.0, 0.0]).numpy().tolist(), rfft([1.0, 2.0, 3.0, 4.0]).numpy().tolist()
([(1+0j), (1+0j)], [(10+0j), (-2+2j), (-2+0j)])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes, shapes
from ..convert import TensorLike, convert_to_tensor, is_tensor_like
from ..ir.graph import Operand
from ..ir.specs import Spec
from ..tensor import Tensor
from .attributes import Axes
from .casting import cast
from .creation import ones, zeros_like
from .declare import Input, Ints, Name, op
from .elementwise import real
from .extents import shape as shape_of
from .families import COMPLEX, Array, DTypes, demand
from .joining import concat
from .ranges import range as count_up
from .reductions import reduce_prod
from .shaping import reshape
from .static import integers
from .tiling import pad, roll

_REALS: DTypes = frozenset({dtypes.float32, dtypes.float64})
_PARTS = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
_WHOLES = {part: whole for whole, part in _PARTS.items()}


def _axes(x: Operand, fft_length: Operand, axes: tuple[int, ...], what: str) -> list[int] | None:
    """The axes counted from the front; None where the rank is unknown."""
    wanted = integers(fft_length)
    if wanted is not None and len(wanted) not in (0, len(axes)):
        raise ValueError(f"{what}: fft_length must have shape [{len(axes)}], not [{len(wanted)}]")
    if x.shape is None:
        return None
    if len(x.shape) < len(axes):
        raise ValueError(f"{what}: Input must have rank of at least {len(axes)} but got: {list(x.shape)}")
    return [shapes.normal_axis(axis, len(x.shape)) for axis in axes]


def _lengths(fft_length: Operand, count: int) -> tuple[int | None, ...] | None:
    """What is known of the lengths asked for; None when none may have been asked for."""
    wanted = integers(fft_length)
    if wanted is None or len(wanted) == 0:
        return None if wanted == () else (None,) * count
    for size in wanted:
        if size is not None and size < 1:
            raise ValueError(f"fft_length must be positive, not {size}")
    return wanted


def _resized(x: Operand, places: list[int], sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    result = list(x.shape or ())
    for place, size in zip(places, sizes, strict=True):
        result[place] = size
    return tuple(result)


def _complex_spec(x: Operand, fft_length: Operand, axes: tuple[int, ...], what: str) -> Spec:
    demand(x, COMPLEX, what)
    places = _axes(x, fft_length, axes, what)
    if places is None or x.shape is None:
        return Spec(x.dtype, None)
    asked = _lengths(fft_length, len(axes))
    return Spec(x.dtype, x.shape if asked is None else _resized(x, places, asked))


Transform = Callable[..., Any]


def _computed(transform: Transform, x: Array, fft_length: Array, axes: tuple[int, ...]) -> Array:
    """NumPy's transform; of nothing it is nothing."""
    sizes = [int(size) for size in np.ravel(fft_length)] or None
    if not x.size:
        empty = transform(np.ones([max(size, 1) for size in x.shape], x.dtype), sizes, axes)
        result = [0 if not old else new for old, new in zip(x.shape, empty.shape, strict=True)]
        return np.zeros(result, empty.dtype)
    return transform(x, sizes, axes)


@op
def complex_transform(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> Spec:
    """The Fourier transform along `axes`; lengths other than the input's cut it, or add zeros.

    >>> complex_transform([1 + 0j, 2 + 0j], [], [-1]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    return _complex_spec(input, fft_length, axes or (), "fft")


@op
def complex_inverse(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> Spec:
    """What takes `complex_transform` back.

    >>> complex_inverse([3 + 0j, -1 + 0j], [], [-1]).numpy().tolist()
    [(1+0j), (2+0j)]
    """
    return _complex_spec(input, fft_length, axes or (), "ifft")


@op
def real_transform(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> Spec:
    """The Fourier transform of real numbers: of the last of `axes`, the first half and the middle.

    >>> real_transform([1.0, 2.0, 3.0], [2], [-1]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    if input.dtype not in _REALS:
        raise ValueError(f"rfft requires float32 or float64 inputs, got {input.dtype.name}")
    axes = axes or ()
    places = _axes(input, fft_length, axes, "rfft")
    if places is None or input.shape is None:
        return Spec(_WHOLES[input.dtype], None)
    sizes = list(_lengths(fft_length, len(axes)) or (input.shape[place] for place in places))
    last = sizes[-1]
    sizes[-1] = None if last is None else last // 2 + 1 if last else 0
    return Spec(_WHOLES[input.dtype], _resized(input, places, sizes))


@op
def real_inverse(input: Input, fft_length: Ints, axes: Axes, name: Name = None) -> Spec:
    """What takes `real_transform` back: `2 * (n - 1)` real numbers of `n` complex ones, or as many as asked for.

    >>> real_inverse([3 + 0j, -1 + 0j], [], [-1]).numpy().tolist()
    [1.0, 2.0]
    """
    demand(input, COMPLEX, "irfft")
    axes = axes or ()
    places = _axes(input, fft_length, axes, "irfft")
    if places is None or input.shape is None:
        return Spec(_PARTS[input.dtype], None)
    asked = _lengths(fft_length, len(axes))
    sizes = list(asked or (input.shape[place] for place in places))
    if asked is None:
        last = sizes[-1]
        sizes[-1] = None if last is None else max(2 * (last - 1), 0)
    return Spec(_PARTS[input.dtype], _resized(input, places, sizes))


@complex_transform.kernel
def _(input: Array, fft_length: Array, axes: tuple[int, ...]) -> Array:
    return _computed(np.fft.fftn, input, fft_length, axes)


@complex_inverse.kernel
def _(input: Array, fft_length: Array, axes: tuple[int, ...]) -> Array:
    return _computed(np.fft.ifftn, input, fft_length, axes)


@real_transform.kernel
def _(input: Array, fft_length: Array, axes: tuple[int, ...]) -> Array:
    return _computed(np.fft.rfftn, input, fft_length, axes)


@real_inverse.kernel
def _(input: Array, fft_length: Array, axes: tuple[int, ...]) -> Array:
    if not np.size(fft_length) and input.shape[axes[-1]] <= 1:
        shape = list(input.shape)
        shape[axes[-1]] = 0
        return np.zeros(shape, input.real.dtype)
    return _computed(np.fft.irfftn, input, fft_length, axes)


def _sizes(x: Any, axes: tuple[int, ...]) -> Any:
    """How long `x` is along these axes, as a vector."""
    whole = shape_of(x)
    return concat([whole[axis : axis + 1 or None] for axis in axes], 0)


def _number(x: Any, axes: tuple[int, ...], dtype: dtypes.DType) -> Any:
    return cast(cast(reduce_prod(_sizes(x, axes)), dtypes.float64), dtype)


@complex_transform.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    back = complex_inverse(dy, [], axes) * _number(y, axes, dy.dtype)
    return fitted_to(back, input, axes), None


@complex_inverse.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    back = complex_transform(dy, [], axes) / _number(y, axes, dy.dtype)
    return fitted_to(back, input, axes), None


@real_transform.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    """That of a complex transform whose second half nothing depends on."""
    sizes = fft_length if _asked(fft_length) else _sizes(input, axes)
    number = cast(cast(reduce_prod(sizes), dtypes.float64), dy.dtype)
    return fitted_to(real(complex_inverse(dy, sizes, axes) * number), input, axes), None


def _asked(fft_length: Any) -> bool:
    count = fft_length.shape.num_elements() if hasattr(fft_length, "shape") else len(fft_length)
    return count != 0


@real_inverse.gradient
def _(dy: Any, y: Any, input: Any, fft_length: Any, axes: tuple[int, ...]) -> Any:
    """Each number but the first, and the middle of an even length, stands for its conjugate, too."""
    half = real_transform(dy, [], axes)
    last = axes[-1]
    number = _number(y, axes, half.dtype)
    length = shape_of(y)[last]
    count = length // 2 + 1
    once = ones([1], half.dtype)
    twice = ones(reshape((length - 1) // 2, [1]), half.dtype) * 2
    middle = ones(reshape(count - 1 - (length - 1) // 2, [1]), half.dtype)
    weights = concat([once, twice, middle], 0)
    back = half * reshape(weights, [-1, *[1] * (-1 - last)]) / number
    return fitted_to(back, input, axes), None


def fitted_to(x: Any, like: Any, axes: Sequence[int]) -> Any:
    """`x`, cut or with zeros behind, so that it is as long as `like` along these axes (negative numbers).

    >>> fitted_to(np.ones([3]), np.ones([2]), [-1]).numpy().tolist(), fitted_to([1], [1, 1], [-1]).numpy().tolist()
    ([1.0, 1.0], [1, 0])
    """
    x, like = convert_to_tensor(x), convert_to_tensor(like)
    for axis in axes:
        x = resized(x, shape_of(like)[axis], axis)
    return x


def resized(x: Tensor, size: Any, axis: int = -1) -> Tensor:
    """`x`, cut or with zeros behind, so that it has this size along an axis (a negative number).

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
        before, behind = np.zeros((x.shape.rank + axis, 2), np.int32), np.zeros((-1 - axis, 2), np.int32)
        missing = concat([before, [[0, lack]], behind], 0)
    return pad(cut, missing)  # type: ignore[no-any-return]


def _missing_anywhere(cut: Tensor, size: Any, axis: int) -> Any:
    """The paddings for a tensor whose rank is unknown."""
    rank = reshape(shape_of(shape_of(cut)), [])
    lack = convert_to_tensor(size, dtypes.int32) - shape_of(cut)[axis]
    before = zeros_like(ones(reshape(rank + axis, [1]), dtypes.int32))
    after = zeros_like(ones([-1 - axis], dtypes.int32))
    ends = concat([before, reshape(lack, [1]), after], 0)
    return concat([reshape(zeros_like(ends), [-1, 1]), reshape(ends, [-1, 1])], 1)


def _as_complex(x: TensorLike) -> Tensor:
    return convert_to_tensor(x, None if is_tensor_like(x) else dtypes.complex64)


def _as_real(x: TensorLike) -> Tensor:
    return convert_to_tensor(x, None if is_tensor_like(x) else dtypes.float32)


def _of_dtype(x: Tensor, what: str, *allowed: dtypes.DType) -> Tensor:
    """The tensor; ValueError for another dtype, which is checked before there is an operation."""
    if x.dtype not in allowed:
        names = " or ".join(dtype.name for dtype in allowed)
        raise ValueError(f"{what} requires {names} inputs, got {x.dtype.name}")
    return x


def _halved(x: TensorLike) -> Tensor:
    """The numbers that the transforms of real numbers take."""
    return _of_dtype(_as_real(x), "RFFT", dtypes.float32, dtypes.float64)


def _half(x: TensorLike) -> Tensor:
    """The numbers that go back to real ones."""
    return _of_dtype(_as_complex(x), "IRFFT", dtypes.complex64, dtypes.complex128)


def fft(input: TensorLike, name: Name = None) -> Tensor:
    """The Fourier transform along the last axis, of complex numbers.

    >>> fft([1.0, 2.0]).numpy().tolist()
    [(3+0j), (-1+0j)]
    """
    is_complex = isinstance(input, np.ndarray) and input.dtype.kind == "c"
    x = (
        convert_to_tensor(input) if is_complex else _as_complex(input)
    )  # in `fft` alone, arrays keep their dtype
    return complex_transform(x, [], (-1,), name)  # type: ignore[no-any-return]


def ifft(input: TensorLike, name: Name = None) -> Tensor:
    """What takes `fft` back.

    >>> ifft([3.0, -1.0]).numpy().tolist()
    [(1+0j), (2+0j)]
    """
    return complex_inverse(_as_complex(input), [], (-1,), name)  # type: ignore[no-any-return]


def fft2d(input: TensorLike, name: Name = None) -> Tensor:
    """The Fourier transform along the last two axes, of complex numbers.

    >>> fft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """
    return complex_transform(_as_complex(input), [], (-2, -1), name)  # type: ignore[no-any-return]


def ifft2d(input: TensorLike, name: Name = None) -> Tensor:
    """What takes `fft2d` back.

    >>> ifft2d([[3.0, -1.0]]).numpy().tolist()
    [[(1+0j), (2+0j)]]
    """
    return complex_inverse(_as_complex(input), [], (-2, -1), name)  # type: ignore[no-any-return]


def fft3d(input: TensorLike, name: Name = None) -> Tensor:
    """The Fourier transform along the last three axes, of complex numbers.

    >>> fft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """
    return complex_transform(_as_complex(input), [], (-3, -2, -1), name)  # type: ignore[no-any-return]


def ifft3d(input: TensorLike, name: Name = None) -> Tensor:
    """What takes `fft3d` back.

    >>> ifft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[(1+0j), (2+0j)]]]
    """
    return complex_inverse(_as_complex(input), [], (-3, -2, -1), name)  # type: ignore[no-any-return]


def _length(fft_length: Any) -> Any:
    return [] if fft_length is None else fft_length


def rfft(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """The Fourier transform along the last axis, of real numbers: `n // 2 + 1` numbers of `n`.

    Args:
        fft_length: a vector of one number: cut the input to this length, or add zeros.

    >>> rfft([1.0, 2.0], [4]).numpy().tolist()
    [(3+0j), (1-2j), (-1+0j)]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-1,), name)  # type: ignore[no-any-return]


def irfft(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """What takes `rfft` back: `2 * (n - 1)` numbers of `n`, or as many as `fft_length` says.

    >>> irfft([3.0, -1.0]).numpy().tolist()
    [1.0, 2.0]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-1,), name)  # type: ignore[no-any-return]


def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """`rfft` along the last two axes.

    >>> rfft2d([[1.0, 2.0]]).numpy().tolist()
    [[(3+0j), (-1+0j)]]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-2, -1), name)  # type: ignore[no-any-return]


def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """What takes `rfft2d` back.

    >>> irfft2d([[3.0, -1.0]]).numpy().tolist()
    [[1.0, 2.0]]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-2, -1), name)  # type: ignore[no-any-return]


def rfft3d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """`rfft` along the last three axes.

    >>> rfft3d([[[1.0, 2.0]]]).numpy().tolist()
    [[[(3+0j), (-1+0j)]]]
    """
    return real_transform(_halved(input_tensor), _length(fft_length), (-3, -2, -1), name)  # type: ignore[no-any-return]


def irfft3d(input_tensor: TensorLike, fft_length: Any = None, name: Name = None) -> Tensor:
    """What takes `rfft3d` back.

    >>> irfft3d([[[3.0, -1.0]]]).numpy().tolist()
    [[[1.0, 2.0]]]
    """
    return real_inverse(_half(input_tensor), _length(fft_length), (-3, -2, -1), name)  # type: ignore[no-any-return]


def _named_axes(x: Tensor, fft_length: Any, axes: Any) -> tuple[int, ...]:
    """The axes of an n-dimensional transform, counted from the end: all of them, or the last few."""
    if axes is not None:
        rank = x.shape.rank
        chosen = [int(axis) for axis in np.ravel(axes)]
        if rank is None and min(chosen, default=-1) >= 0:
            raise ValueError(
                "an n-dimensional transform along axes counted from the front needs to know the rank"
            )
        return tuple(axis if axis < 0 else axis - (rank or 0) for axis in chosen)
    count = x.shape.rank if fft_length is None else convert_to_tensor(fft_length, dtypes.int32).shape[0]
    if count is None:
        raise ValueError(
            "an n-dimensional transform needs `axes`, the rank of its input or the number of lengths"
        )
    return tuple(range(-count, 0))


def _scaled(result: Tensor, whole: Any, axes: tuple[int, ...], norm: str | None, inverse: bool) -> Tensor:
    """The result in another normalisation: of `whole`, which is as long as the real or complex side."""
    if norm in (None, "backward"):
        return result
    if norm not in ("ortho", "forward"):
        raise ValueError(f"norm must be None, 'backward', 'ortho' or 'forward', not {norm!r}")
    number = _number(whole, axes, result.dtype)
    factor = number if norm == "forward" else number**0.5
    return result * factor if inverse else result / factor  # type: ignore[no-any-return]


def fftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """The Fourier transform along `axes` (all, or as many of the last as there are lengths), of complex numbers.

    Args:
        fft_length: for each axis the length to cut the input to, or to fill up with zeros.
        norm: "backward" (or None) to divide in the inverse, "forward" to divide here, "ortho" for the root in both.

    >>> fftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = complex_transform(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=False)


def ifftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """What takes `fftnd` back.

    >>> ifftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = complex_inverse(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=True)


def rfftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """`fftnd` of real numbers: of the last of `axes`, the first half and the middle.

    >>> rfftnd([[1.0, 2.0], [3.0, 4.0]], axes=[0]).numpy().tolist()
    [[(4+0j), (6+0j)], [(-2+0j), (-2+0j)]]
    """
    x = _as_real(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = real_transform(x, _length(fft_length), axes, name)
    whole = x
    if fft_length is not None:
        for place, axis in enumerate(axes):
            whole = resized(whole, convert_to_tensor(fft_length, dtypes.int32)[place], axis)
    return _scaled(result, whole, axes, norm, inverse=False)


def irfftnd(
    input_tensor: TensorLike,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """What takes `rfftnd` back.

    >>> irfftnd([[4.0, 6.0], [-2.0, -2.0]], axes=[0]).numpy().tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    x = _as_complex(input_tensor)
    axes = _named_axes(x, fft_length, axes)
    result = real_inverse(x, _length(fft_length), axes, name)
    return _scaled(result, result, axes, norm, inverse=True)


def fftshift(x: TensorLike, axes: Any = None, name: Name = None) -> Tensor:
    """`x` with the element 0 of each axis (or of `axes`) moved to the middle.

    >>> fftshift([0, 1, 2, -2, -1]).numpy().tolist()
    [-2, -1, 0, 1, 2]
    """
    return _shifted(convert_to_tensor(x), axes, name, back=False)


def ifftshift(x: TensorLike, axes: Any = None, name: Name = None) -> Tensor:
    """What takes `fftshift` back.

    >>> ifftshift([-2, -1, 0, 1, 2]).numpy().tolist()
    [0, 1, 2, -2, -1]
    """
    return _shifted(convert_to_tensor(x), axes, name, back=True)


def _shifted(x: Tensor, axes: Any, name: Name, back: bool) -> Tensor:
    sizes = shape_of(x)
    if axes is None:
        middles = sizes // 2
        return roll(x, -middles if back else middles, count_up(shape_of(sizes)[0]), name)  # type: ignore[no-any-return]
    chosen = [int(axis) for axis in np.ravel(axes)]
    middles = [sizes[axis] // 2 for axis in chosen]
    return roll(x, [-middle if back else middle for middle in middles], chosen, name)  # type: ignore[no-any-return]
