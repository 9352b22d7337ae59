"""The axes of images: height, width and channels, and optionally a batch axis in front.

>>> from ..ops.arrays.creation import zeros
>>> whole, single = batched(zeros([2, 3, 1]), "f")
>>> whole.shape, single, height_and_width(whole)
(TensorShape([1, 2, 3, 1]), True, (2, 3))
"""

from __future__ import annotations

from typing import Any

from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..ops.arrays.reshape import expand_dims, squeeze
from ..ops.arrays.shape_ops import shape
from ..ops.math.arithmetic import maximum, minimum

Size = Any
"""A Python integer if the size is known, else a scalar tensor of int32."""


def checked(image: Any, what: str) -> Tensor:
    """Return `image` as a tensor of rank 3 or 4; ValueError for other ranks."""
    x = convert_to_tensor(image)
    if x.shape.rank is None:
        raise ValueError(f"{what}: the rank of the image must be known, 3 or 4")
    if x.shape.rank not in (3, 4):
        raise ValueError(f"{what}: 'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
    return x


def batched(image: Any, what: str) -> tuple[Tensor, bool]:
    """Return images [batch, height, width, channels], and whether the input was one image without a batch."""
    x = checked(image, what)
    return (expand_dims(x, 0), True) if x.shape.rank == 3 else (x, False)


def as_given(images: Tensor, single: bool) -> Tensor:
    """Remove the batch axis that `batched` has added."""
    return squeeze(images, [0]) if single else images


def height_and_width(images: Tensor) -> tuple[Size, Size]:
    """Return the sizes of the two axes before the channels."""
    return size_of(images, -3), size_of(images, -2)


def size_of(x: Tensor, axis: int) -> Size:
    known = x.shape[axis]
    return shape(x)[axis] if known is None else known


def larger(one: Size, other: Size) -> Size:
    """Return the maximum, a Python integer if both are."""
    return max(one, other) if isinstance(one, int) and isinstance(other, int) else maximum(one, other)


def smaller(one: Size, other: Size) -> Size:
    """Return the minimum, a Python integer if both are."""
    return min(one, other) if isinstance(one, int) and isinstance(other, int) else minimum(one, other)


def require(condition: Any, message: str) -> None:
    """Raise ValueError if a condition on known sizes does not hold."""
    if isinstance(condition, bool) and not condition:
        raise ValueError(message)
