"""Dropout: set random elements to 0, and scale the others so that the expected sum is unchanged.

>>> general_dropout([1., 2.], 0.5, lambda shape, dtype: [0.7, 0.2]).numpy().tolist()
[2.0, 0.0]
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from ...core.conversion import TensorLike, convert_to_tensor, is_tensor_like
from ...core.export import export
from ...core.tensor import Tensor
from ...kernels.random import seeds
from ..arrays.shape_ops import shape as shape_of
from ..arrays.where_ops import where
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Name
from ..math.cast import cast
from ..random.stateful import uniform
from ..random.stateless import stateless_uniform


@export("nn.dropout")
@dispatching_composites("dropout", element_operands=1)
def dropout(
    x: TensorLike, rate: Any, noise_shape: Any = None, seed: int | None = None, name: Name = None
) -> Tensor:
    """Set each element to 0 with the probability `rate`, and divide the others by `1 - rate`.

    Args:
        rate: a number in [0, 1), or a tensor.
        noise_shape: the shape of the random decisions, which broadcast; None in it for the size of `x`.
        seed: determines the numbers, together with the global seed.

    >>> dropout([1., 2.], 0).numpy().tolist()
    [1.0, 2.0]
    """

    def drawn(shape: Any, dtype: Any) -> Tensor:
        return uniform(shape, dtype=dtype, seed=seed)  # type: ignore[no-any-return]

    return _dropout(x, rate, noise_shape, drawn, lambda: seeds.pair(seed), name)


@export("nn.experimental.stateless_dropout")
def stateless_dropout(
    x: TensorLike,
    rate: Any,
    seed: Any,
    rng_alg: str = "auto_select",
    noise_shape: Any = None,
    name: Name = None,
) -> Tensor:
    """Compute `dropout` deterministically in the seed, two integers.

    `rng_alg` is "philox" or "auto_select"; the other arguments are those of `dropout`.

    >>> stateless_dropout([1., 1., 1., 1.], 0.5, [1, 2]).numpy().tolist()
    [2.0, 0.0, 2.0, 0.0]
    """

    def drawn(shape: Any, dtype: Any) -> Tensor:
        return stateless_uniform(shape, seed, dtype=dtype, alg=rng_alg)  # type: ignore[no-any-return]

    return _dropout(x, rate, noise_shape, drawn, lambda: None, name)


@export("nn.experimental.general_dropout")
def general_dropout(
    x: TensorLike, rate: Any, uniform_sampler: Callable[..., Any], noise_shape: Any = None, name: Name = None
) -> Tensor:
    """Compute `dropout` with numbers in [0, 1) from `uniform_sampler(shape=…, dtype=…)`; those below `rate` drop.

    >>> general_dropout([1., 2.], 0.5, lambda shape, dtype: [0.7, 0.2]).numpy().tolist()
    [2.0, 0.0]
    """
    return _dropout(x, rate, noise_shape, uniform_sampler, lambda: None, name)


def _dropout(
    x: Any, rate: Any, noise_shape: Any, drawn: Callable[..., Any], skip: Callable[[], Any], name: Name
) -> Tensor:
    is_number = isinstance(rate, numbers.Real)
    if is_number and not 0 <= rate < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype!r}"
        )
    if is_number and rate == 0:
        skip()  # advance the seeds, so that later numbers do not depend on the rate
        return x  # type: ignore[no-any-return]
    if is_number:
        scaled = x * (1 / (1 - rate))
    else:
        rate = _scalar(rate, x)
        scaled = x / (1 - rate)
    draw = drawn(shape=_noise_shape(x, noise_shape), dtype=x.dtype)
    return where(convert_to_tensor(draw, x.dtype) >= rate, scaled, 0.0, name)  # type: ignore[no-any-return]


def _scalar(rate: Any, x: Tensor) -> Tensor:
    if not is_tensor_like(rate) and not hasattr(rate, "__array__"):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    tensor = convert_to_tensor(rate)
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"`rate` must be a scalar tensor. Received: shape {tensor.shape}")
    if tensor.dtype is x.dtype:
        return tensor
    if not tensor.dtype.is_floating:
        raise ValueError(f"`rate` must have the dtype of `x`, {x.dtype!r}. Received: {tensor.dtype!r}")
    return cast(tensor, x.dtype)


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    if noise_shape is None:
        return x.shape.as_list() if x.shape.is_fully_defined() else shape_of(x)
    if isinstance(noise_shape, Tensor) or not hasattr(noise_shape, "__iter__"):
        return noise_shape
    sizes, given = shape_of(x), list(noise_shape)
    return [sizes[i] if size is None else size for i, size in enumerate(given)]
