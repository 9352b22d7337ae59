"""Discrete cosine transforms of types I to IV along the last axis, computed by real FFTs.

>>> dct([1.0, 2.0, 3.0]).numpy().round(3).tolist()
[12.0, -3.4639999866485596, 0.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.concat_split import concat
from ..arrays.creation import ones, zeros_like
from ..arrays.ranges import range as count_up
from ..arrays.reshape import reshape
from ..arrays.reverse_and_roll import reverse
from ..arrays.shape_ops import shape as shape_of
from ..framework.op import Name
from ..math.cast import cast
from ..math.cast import complex as complex_of
from ..math.elementwise import cos, real, sin
from .fft_api import irfft, rfft
from .fft_primitive import resized

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@export("signal.dct")
def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Return the discrete cosine transform along the last axis.

    Args:
        type: 1, 2, 3 or 4.
        n: truncate the input to this length first, or pad it with zeros.
        axis: -1.
        norm: "ortho" makes it orthogonal; not for type 1.

    >>> dct([1.0, 2.0], type=4).numpy().round(3).tolist()
    [3.378000020980835, -2.930000066757202]
    """
    _check(type, n, axis, norm)
    hint = None if is_tensor_like(input) or hasattr(input, "dtype") else dtypes.float32
    x = convert_to_tensor(input, hint)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"dct takes float32 and float64, not {x.dtype.name}")
    if n is not None:
        x = resized(x, n)
    if type == 1:
        return _first(x)
    if x.shape.rank and x.shape[-1] == 0:
        return x
    return _TYPES[type](x, norm)


@export("signal.idct")
def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Invert `dct` of this type, up to a factor if `norm` is not "ortho".

    >>> idct(dct([1.0, 2.0], norm="ortho"), norm="ortho").numpy().round(3).tolist()
    [1.0, 2.0]
    """
    _check(type, n, axis, norm)
    return dct(input, _INVERSE[type], n, axis, norm, name)


def _check(type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in _INVERSE:  # by its hash: dtypes are equal to their numbers
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")


def _first(x: Tensor) -> Tensor:
    size = x.shape.sizes[-1] if x.shape.sizes else None
    if size is not None and size < 2:
        raise ValueError("DCT-I requires the dimension to be greater than one.")
    return real(rfft(concat([x, reverse(x, [_last(x)])[..., 1:-1]], -1)))  # type: ignore[no-any-return]


def _last(x: Tensor) -> Any:
    return x.shape.rank - 1 if x.shape.rank is not None else reshape(shape_of(shape_of(x)), []) - 1


def _turns(x: Tensor, size: Any, direction: float) -> Tensor:
    """Return `exp(direction * i * pi * k / (2 * size))` for k = 0, 1, … size - 1."""
    angles = cast(count_up(size), x.dtype) * (math.pi / 2) / cast(size, x.dtype)
    return complex_of(cos(angles), direction * sin(angles))  # type: ignore[no-any-return]


def _evened(x: Tensor, size: Any, first: float) -> Tensor:
    """Return the factors of the orthogonal transforms: `first / sqrt(size)`, then `sqrt(2)` times that."""
    root = cast(cast(size, dtypes.float64) ** -0.5, x.dtype)
    rest = cast(ones(reshape(size - 1, [1]), dtypes.float32), x.dtype) * (first * math.sqrt(2))
    return concat([cast(ones([1]), x.dtype) * first, rest], 0) * root  # type: ignore[no-any-return]


def _second(x: Tensor, norm: str | None) -> Tensor:
    size = shape_of(x)[-1]
    whole = rfft(x, reshape(size * 2, [1]))[..., :size]
    result = real(whole * _turns(x, size, -1.0)) * 2
    return result * _evened(x, size, 0.5) if norm else result  # type: ignore[no-any-return]


def _third(x: Tensor, norm: str | None) -> Tensor:
    size = shape_of(x)[-1]
    if norm:
        x = x * (_evened(x, size, 1.0) * concat([cast(ones([1]), x.dtype), _halves(x, size)], 0))
    turned = complex_of(x, zeros_like(x)) * _turns(x, size, 1.0)
    return irfft(turned, reshape(size * 2, [1]))[..., :size] * cast(size * 2, x.dtype)


def _halves(x: Tensor, size: Any) -> Tensor:
    return cast(ones(reshape(size - 1, [1])), x.dtype) / 2


def _fourth(x: Tensor, norm: str | None) -> Tensor:
    size = shape_of(x)[-1]
    result = _second(resized(x, size * 2), None)[..., 1::2]
    return result * cast(cast(size * 2, dtypes.float64) ** -0.5, x.dtype) if norm else result


_TYPES: dict[int, Callable[[Tensor, str | None], Tensor]] = {2: _second, 3: _third, 4: _fourth}
