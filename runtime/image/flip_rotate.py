"""Flips, rotations and transposition of images.

>>> image = [[[1], [2]], [[3], [4]]]
>>> rot90(image).numpy()[:, :, 0].tolist(), flip_left_right(image).numpy()[:, :, 0].tolist()
([[2, 4], [1, 3]], [[2, 1], [4, 3]])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..control_flow.functional_api import cond
from ..control_flow.switch_case import switch_case
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.reshape import reshape
from ..ops.arrays.reshape import transpose as transposed
from ..ops.arrays.reverse_and_roll import reverse
from ..ops.framework.cached_dispatch import cached_dispatch
from ..ops.framework.op import Name
from ..ops.math.cast import cast
from ..ops.math.elementwise import round
from ..ops.random.stateful import uniform
from ..ops.random.stateless import stateless_uniform
from .batch_rank import as_given, batched, checked, size_of


@export("image.flip_left_right")
@cached_dispatch
def flip_left_right(image: TensorLike) -> Tensor:
    """Reverse the columns of one image or a batch.

    >>> flip_left_right([[[1], [2], [3]]]).numpy().ravel().tolist()
    [3, 2, 1]
    """
    return reverse(checked(image, "flip_left_right"), [-2])  # type: ignore[no-any-return]


@export("image.flip_up_down")
@cached_dispatch
def flip_up_down(image: TensorLike) -> Tensor:
    """Reverse the rows of one image or a batch.

    >>> flip_up_down([[[1]], [[2]]]).numpy().ravel().tolist()
    [2, 1]
    """
    return reverse(checked(image, "flip_up_down"), [-3])  # type: ignore[no-any-return]


@export("image.random_flip_left_right")
def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Apply `flip_left_right` with probability 1/2 to each image of a batch.

    >>> random_flip_left_right([[[1], [1]]]).numpy().ravel().tolist()
    [1, 1]
    """
    return _at_random(image, flip_left_right, lambda shape: uniform(shape, seed=seed))


@export("image.random_flip_up_down")
def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Apply `flip_up_down` with probability 1/2 to each image of a batch.

    >>> random_flip_up_down([[[1]], [[1]]]).numpy().ravel().tolist()
    [1, 1]
    """
    return _at_random(image, flip_up_down, lambda shape: uniform(shape, seed=seed))


@export("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image: TensorLike, seed: Any) -> Tensor:
    """Apply `random_flip_left_right`, determined only by the seed, two integers.

    >>> stateless_random_flip_left_right([[[1], [2]]], [1, 3]).numpy().ravel().tolist()
    [1, 2]
    """
    return _at_random(image, flip_left_right, lambda shape: stateless_uniform(shape, seed))


@export("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image: TensorLike, seed: Any) -> Tensor:
    """Apply `random_flip_up_down`, determined only by the seed, two integers.

    >>> stateless_random_flip_up_down([[[1]], [[2]]], [1, 3]).numpy().ravel().tolist()
    [1, 2]
    """
    return _at_random(image, flip_up_down, lambda shape: stateless_uniform(shape, seed))


def _at_random(image: Any, flip: Callable[[Any], Tensor], drawn: Callable[[Any], Tensor]) -> Tensor:
    x = checked(image, "random_flip")
    if x.shape.rank == 3:
        return cond(drawn([]) < 0.5, lambda: flip(x), lambda: x)  # type: ignore[no-any-return]
    count = size_of(x, 0)
    chosen = round(reshape(drawn([count]), [count, 1, 1, 1]))
    flips = cast(chosen, x.dtype)
    return flips * flip(x) + (1 - flips) * x


@export("image.rot90")
def rot90(image: TensorLike, k: Any = 1, name: Name = None) -> Tensor:
    """Rotate one image or a batch counter-clockwise `k` times by 90 degrees.

    >>> rot90([[[1], [2]]]).numpy().ravel().tolist()
    [2, 1]
    """
    images, single = batched(image, "rot90")
    if not isinstance(k, Tensor):
        return as_given(_turned(images, int(k) % 4), single)
    times = cast(k, dtypes.int32) % 4
    branches = [lambda n=n: as_given(_turned(images, n), single) for n in range(4)]
    return switch_case(times, branches)  # type: ignore[no-any-return]


def _turned(images: Tensor, times: int) -> Tensor:
    if times == 1:
        return transposed(reverse(images, [2]), [0, 2, 1, 3])  # type: ignore[no-any-return]
    if times == 2:
        return reverse(images, [1, 2])  # type: ignore[no-any-return]
    if times == 3:
        return reverse(transposed(images, [0, 2, 1, 3]), [2])  # type: ignore[no-any-return]
    return images


@export("image.transpose")
def transpose(image: TensorLike, name: Name = None) -> Tensor:
    """Swap the rows and columns of one image or a batch.

    >>> transpose([[[1], [2]]]).numpy().tolist()
    [[[1]], [[2]]]
    """
    images, single = batched(convert_to_tensor(image), "transpose")
    return as_given(transposed(images, [0, 2, 1, 3]), single)
