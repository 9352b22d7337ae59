"""Window functions: weights for the elements of a frame, small at its ends.

>>> hann_window(4).numpy().round(3).tolist()
[0.0, 0.5, 1.0, 0.5]
"""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.concat_split import concat
from ..arrays.creation import constant, ones_like
from ..arrays.ranges import range as count_up
from ..arrays.reverse_and_roll import reverse
from ..arrays.where_ops import where
from ..framework.op import Name
from ..math.cast import cast
from ..math.elementwise import cos, sin, sqrt, square
from ..math.special import bessel_i0
from ..reduce.scans import cumsum


@export("signal.hann_window")
def hann_window(
    window_length: Any, periodic: bool = True, dtype: Any = dtypes.float32, name: Name = None
) -> Tensor:
    """Return a Hann window: a raised cosine, from 0 to 1 and back.

    Args:
        window_length: a scalar integer.
        periodic: for an even length, compute a window longer by one and drop its last element.
        dtype: a floating point dtype.

    >>> hann_window(5).numpy().round(3).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


@export("signal.hamming_window")
def hamming_window(
    window_length: Any, periodic: bool = True, dtype: Any = dtypes.float32, name: Name = None
) -> Tensor:
    """Return a Hamming window: a raised cosine that does not reach 0; arguments as of `hann_window`.

    >>> hamming_window(4).numpy().round(3).tolist()
    [0.07999999821186066, 0.5400000214576721, 1.0, 0.5400000214576721]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def _arguments(window_length: Any, dtype: Any) -> tuple[Tensor, dtypes.DType]:
    kind = dtypes.as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {kind!r}")
    length = convert_to_tensor(window_length, dtypes.int32)
    if length.shape.rank not in (None, 0):
        raise ValueError(f"Shape {length.shape} must have rank 0")
    return length, kind


def _raised_cosine(window_length: Any, periodic: bool, dtype: Any, middle: float, amplitude: float) -> Tensor:
    length, kind = _arguments(window_length, dtype)
    even = 1 - length % 2
    turn = cast(length + int(bool(periodic)) * even - 1, kind)
    count = cast(count_up(length), kind)
    argument = constant(2 * math.pi, kind) * count / turn
    window = cast(middle - amplitude * cos(argument), kind)
    return where(length == 1, ones_like(window), window)  # type: ignore[no-any-return]


@export("signal.kaiser_window")
def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: Name = None
) -> Tensor:
    """Return a Kaiser window, made of a Bessel function; the greater `beta`, the narrower.

    >>> kaiser_window(3, beta=3.0).numpy().round(3).tolist()
    [0.20499999821186066, 1.0, 0.20499999821186066]
    """
    length, kind = _arguments(window_length, dtype)
    middle = (cast(length, kind) - 1) / 2
    positions = (cast(count_up(length), kind) - middle) / where(length == 1, ones_like(middle), middle)
    width = cast(beta, kind)
    window = bessel_i0(width * sqrt(1 - square(positions))) / bessel_i0(width)
    return where(length == 1, ones_like(window), window)  # type: ignore[no-any-return]


@export("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: Name = None
) -> Tensor:
    """Return a Kaiser-Bessel derived window, from running sums of `kaiser_window`.

    Its squares, half a window apart, add up to 1.

    >>> kaiser_bessel_derived_window(4).numpy().round(3).tolist()
    [0.007000000216066837, 1.0, 1.0, 0.007000000216066837]
    """
    length, kind = _arguments(window_length, dtype)
    sums = cumsum(kaiser_window(length // 2 + 1, beta, kind))
    half = sqrt(sums[:-1] / sums[-1])
    return concat([half, reverse(half, [0])], 0)  # type: ignore[no-any-return]


@export("signal.vorbis_window")
def vorbis_window(window_length: Any, dtype: Any = dtypes.float32, name: Name = None) -> Tensor:
    """Return a Vorbis window: a sine of a squared sine.

    Its squares, half a window apart, add up to 1.

    >>> vorbis_window(2).numpy().round(3).tolist()
    [0.7070000171661377, 0.7070000171661377]
    """
    length, kind = _arguments(window_length, dtype)
    positions = cast(count_up(length), kind)
    angles = constant(math.pi, kind) / cast(length, kind) * (positions + 0.5)
    return sin(constant(math.pi / 2, kind) * square(sin(angles)))  # type: ignore[no-any-return]
