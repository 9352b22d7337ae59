"""Random changes of images: with a seed of the global random streams, or with a stateless seed.

>>> random_brightness([[[0.25]]], 0.0).numpy().tolist()
[[[0.25]]]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import EagerTensor, Tensor
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.strided_slice import slice
from ..ops.framework.op import Name
from ..ops.framework.op_families import wrong
from ..ops.random.stateful import uniform
from ..ops.random.stateless import stateless_uniform
from .adjust import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation


def _drawn(seed: int | None) -> Callable[..., Any]:
    return lambda low, high: uniform([], low, high, seed=seed)


def _drawn_alone(seed: Any) -> Callable[..., Any]:
    return lambda low, high: stateless_uniform([], seed, low, high)


def _within(max_delta: float, drawn: Callable[..., Any]) -> Any:
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return drawn(-max_delta, max_delta)


def _between(lower: float, upper: float, drawn: Callable[..., Any]) -> Any:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return drawn(lower, upper)


def _hue(max_delta: float, drawn: Callable[..., Any]) -> Any:
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return _within(max_delta, drawn)


@export("image.random_brightness")
def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Apply `adjust_brightness` with a random number in [-max_delta, max_delta).

    >>> random_brightness([[[0.25]]], 0.0).numpy().tolist()
    [[[0.25]]]
    """
    return adjust_brightness(image, _within(max_delta, _drawn(seed)))


@export("image.stateless_random_brightness")
def stateless_random_brightness(image: TensorLike, max_delta: float, seed: Any) -> Tensor:
    """Apply `random_brightness`, determined only by the seed, two integers.

    >>> stateless_random_brightness([[[0.25]]], 0.0, [1, 2]).numpy().tolist()
    [[[0.25]]]
    """
    return adjust_brightness(image, _within(max_delta, _drawn_alone(seed)))


@export("image.random_contrast")
def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Apply `adjust_contrast` with a random number in [lower, upper).

    >>> random_contrast([[[0.25]]], 0.5, 1.5).numpy().tolist()
    [[[0.25]]]
    """
    return adjust_contrast(image, _between(lower, upper, _drawn(seed)))


@export("image.stateless_random_contrast")
def stateless_random_contrast(image: TensorLike, lower: float, upper: float, seed: Any) -> Tensor:
    """Apply `random_contrast`, determined only by the seed, two integers.

    >>> stateless_random_contrast([[[0.25]]], 0.5, 1.5, [1, 2]).numpy().tolist()
    [[[0.25]]]
    """
    return adjust_contrast(image, _between(lower, upper, _drawn_alone(seed)))


@export("image.random_hue")
def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Apply `adjust_hue` with a random number in [-max_delta, max_delta); `max_delta` is at most 0.5.

    >>> random_hue([[[0.5, 0.5, 0.5]]], 0.2).numpy().tolist()
    [[[0.5, 0.5, 0.5]]]
    """
    return adjust_hue(image, _hue(max_delta, _drawn(seed)))


@export("image.stateless_random_hue")
def stateless_random_hue(image: TensorLike, max_delta: float, seed: Any) -> Tensor:
    """Apply `random_hue`, determined only by the seed, two integers.

    >>> stateless_random_hue([[[0.5, 0.5, 0.5]]], 0.2, [1, 2]).numpy().tolist()
    [[[0.5, 0.5, 0.5]]]
    """
    return adjust_hue(image, _hue(max_delta, _drawn_alone(seed)))


@export("image.random_saturation")
def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Apply `adjust_saturation` with a random number in [lower, upper).

    >>> random_saturation([[[0.5, 0.5, 0.5]]], 0.5, 1.5).numpy().tolist()
    [[[0.5, 0.5, 0.5]]]
    """
    return adjust_saturation(image, _between(lower, upper, _drawn(seed)))


@export("image.stateless_random_saturation")
def stateless_random_saturation(image: TensorLike, lower: float, upper: float, seed: Any = None) -> Tensor:
    """Apply `random_saturation`, determined only by the seed, two integers.

    >>> stateless_random_saturation([[[0.5, 0.5, 0.5]]], 0.5, 1.5, [1, 2]).numpy().tolist()
    [[[0.5, 0.5, 0.5]]]
    """
    return adjust_saturation(image, _between(lower, upper, _drawn_alone(seed)))


@export("image.random_crop")
def random_crop(value: TensorLike, size: Any, seed: int | None = None, name: Name = None) -> Tensor:
    """Return a part of `value` with the shape `size`, from a random position.

    >>> random_crop([[1, 1, 1]], [1, 2]).numpy().tolist()
    [[1, 1]]
    """
    return _crop(value, size, lambda shape, kind: uniform(shape, 0, kind.max, kind, seed=seed), name)


@export("image.stateless_random_crop")
def stateless_random_crop(value: TensorLike, size: Any, seed: Any, name: Name = None) -> Tensor:
    """Apply `random_crop`, determined only by the seed, two integers.

    >>> stateless_random_crop([[1, 1, 1]], [1, 2], [1, 2]).numpy().tolist()
    [[1, 1]]
    """
    return _crop(value, size, lambda shape, kind: stateless_uniform(shape, seed, 0, kind.max, kind), name)


def _crop(value: Any, size: Any, drawn: Callable[..., Any], name: Name) -> Tensor:
    x, wanted = convert_to_tensor(value), convert_to_tensor(size)
    whole = shape_of(x, wanted.dtype)
    known = x.shape.sizes
    if isinstance(wanted, EagerTensor) and known is not None:
        parts = wanted.numpy().tolist()
        if len(parts) != len(known) or any(
            full is not None and part > full for part, full in zip(parts, known, strict=True)
        ):
            raise wrong(f"Need value.shape >= size, got {list(known)} and {parts}")
    begin = drawn(shape_of(whole), wanted.dtype) % (whole - wanted + 1)
    return slice(x, begin, wanted, name)  # type: ignore[no-any-return]
