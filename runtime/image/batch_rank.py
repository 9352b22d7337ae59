"""Images have three axes, height, width and channels, or a batch of them in front.

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
"""A Python integer where a size is known, else a scalar tensor of int32."""


def checked(image: Any, what: str) -> Tensor:
    """`image` as a tensor of rank 3 or 4; ValueError for others."""
    x = convert_to_tensor(image)
    if x.shape.rank is None:
        raise ValueError(f"{what}: the rank of the image must be known, 3 or 4")
    if x.shape.rank not in (3, 4):
        raise ValueError(f"{what}: 'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
    return x


def batched(image: Any, what: str) -> tuple[Tensor, bool]:
    """Images [batch, height, width, channels], and whether there was one without a batch."""
    x = checked(image, what)
    return (expand_dims(x, 0), True) if x.shape.rank == 3 else (x, False)


def as_given(images: Tensor, single: bool) -> Tensor:
    """What `batched` made a batch, without it again."""
    return squeeze(images, [0]) if single else images


def height_and_width(images: Tensor) -> tuple[Size, Size]:
    """The sizes of the two axes before the channels."""
    return size_of(images, -3), size_of(images, -2)


def size_of(x: Tensor, axis: int) -> Size:
    known = x.shape[axis]
    return shape(x)[axis] if known is None else known


def larger(one: Size, other: Size) -> Size:
    """The maximum, a Python integer where both are."""
    return max(one, other) if isinstance(one, int) and isinstance(other, int) else maximum(one, other)


def smaller(one: Size, other: Size) -> Size:
    """The minimum, a Python integer where both are."""
    return min(one, other) if isinstance(one, int) and isinstance(other, int) else minimum(one, other)


def require(condition: Any, message: str) -> None:
    """ValueError when what is known of sizes says that a condition does not hold."""
    if isinstance(condition, bool) and not condition:
        raise ValueError(message)
