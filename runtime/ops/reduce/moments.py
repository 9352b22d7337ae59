"""Mean, variance, and normalization by them.

>>> mean, variance = moments([[1., 2.], [3., 6.]], [0])
>>> mean.numpy().tolist(), variance.numpy().tolist()
([2.0, 4.0], [1.0, 4.0])
"""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ..arrays.creation import zeros_like
from ..arrays.gather_ops import gather
from ..arrays.reshape import squeeze
from ..arrays.shape_ops import shape as shape_of
from ..framework.attribute_parsers import read_axes
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Name
from ..math.arithmetic import divide, multiply, squared_difference
from ..math.cast import cast
from ..math.elementwise import rsqrt, square
from .reductions import reduce_mean, reduce_prod, reduce_sum


@export("nn.moments")
@cached_dispatch
def moments(
    x: TensorLike, axes: Any, shift: Any = None, keepdims: bool = False, name: Name = None
) -> tuple[Tensor, Tensor]:
    """Return the mean and variance along `axes`; those of float16 are computed in float32.

    Args:
        shift: accepted for compatibility; the variance is always computed from differences to the mean.

    >>> moments([1., 3.], [0], keepdims=True)[0].numpy().tolist()
    [2.0]
    """
    x = convert_to_tensor(x)
    narrow = x.dtype in (dtypes.float16, dtypes.bfloat16)
    wide = cast(x, dtypes.float32) if narrow else x
    mean = reduce_mean(wide, axes, True)
    variance = reduce_mean(squared_difference(wide, mean), axes, keepdims)
    if not keepdims:
        mean = squeeze(mean, _placed(axes, x)) if mean.shape.rank else mean
    return (cast(mean, x.dtype), cast(variance, x.dtype)) if narrow else (mean, variance)


def _placed(axes: Any, x: Tensor) -> Any:
    """Return the axes as a list or tuple for `squeeze`."""
    if axes is not None:
        return read_axes(axes)
    if x.shape.rank is None:
        raise ValueError("moments: with `axes=None`, the rank of `x` must be known")
    return list(range(x.shape.rank))


@export("nn.weighted_moments")
def weighted_moments(
    x: TensorLike, axes: Any, frequency_weights: TensorLike, keepdims: bool = False, name: Name = None
) -> tuple[Tensor, Tensor]:
    """Return the weighted mean and variance along `axes`.

    >>> mean, variance = weighted_moments([1., 3.], [0], [3., 1.])
    >>> mean.numpy().tolist(), variance.numpy().tolist()
    (1.5, 0.75)
    """
    x = convert_to_tensor(x)
    weights = (
        cast(frequency_weights, x.dtype) if not isinstance(frequency_weights, Tensor) else frequency_weights
    )
    narrow = x.dtype in (dtypes.float16, dtypes.bfloat16)
    wide = cast(x, dtypes.float32) if narrow else x
    weights = cast(weights, wide.dtype)
    spread = weights + zeros_like(wide)
    total = reduce_sum(spread, axes, True)
    mean = reduce_sum(wide * weights, axes, True) / total
    variance = reduce_sum(weights * squared_difference(wide, mean), axes, True) / total
    if not keepdims:
        dims = _placed(axes, x)
        mean, variance = squeeze(mean, dims), squeeze(variance, dims)
    return (cast(mean, x.dtype), cast(variance, x.dtype)) if narrow else (mean, variance)


@export("nn.sufficient_statistics")
def sufficient_statistics(
    x: TensorLike, axes: Any, shift: Any = None, keepdims: bool = False, name: Name = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Return the number of elements, their sum, the sum of their squares (both after subtracting `shift`), and `shift`.

    >>> count, total, squares, shift = sufficient_statistics([1., 2., 4.], [0])
    >>> count.numpy(), total.numpy(), squares.numpy(), shift
    (np.float32(3.0), np.float32(7.0), np.float32(21.0), None)
    """
    x = convert_to_tensor(x)
    dims = sorted({axis % (x.shape.rank or 1) for axis in read_axes(axes) or ()})
    sizes = cast(gather(shape_of(x), dims), x.dtype)
    count = reduce_prod(sizes)
    if shift is None:
        return count, reduce_sum(x, dims, keepdims), reduce_sum(square(x), dims, keepdims), None
    shift = convert_to_tensor(shift, None if isinstance(shift, Tensor) else x.dtype)
    total = reduce_sum(x - shift, dims, keepdims)
    return count, total, reduce_sum(squared_difference(x, shift), dims, keepdims), shift


@export("nn.normalize_moments")
def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: Any, name: Name = None
) -> tuple[Tensor, Tensor]:
    """Return the mean and variance from the results of `sufficient_statistics`, in their order.

    >>> mean, variance = normalize_moments(2., 4., 10., None)
    >>> mean.numpy(), variance.numpy()
    (np.float32(2.0), np.float32(1.0))
    """
    divisor = divide(1.0, counts) if not isinstance(counts, Tensor) else 1 / counts
    shifted = multiply(mean_ss, divisor)
    mean = shifted if shift is None else shifted + shift
    return mean, multiply(variance_ss, divisor) - square(shifted)


@export("nn.batch_normalization")
@cached_dispatch
def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: Name = None,
) -> Tensor:
    """Return `scale * (x - mean) / sqrt(variance + variance_epsilon) + offset`.

    `offset` and `scale` may be None.

    >>> batch_normalization([1., 3.], 2., 1., 10., 5., 0.0).numpy().tolist()
    [5.0, 15.0]
    """
    x = convert_to_tensor(x)
    factor = rsqrt(convert_to_tensor(variance) + variance_epsilon)
    if scale is not None:
        factor = multiply(factor, scale)
    summand = multiply(-convert_to_tensor(mean), factor)
    if offset is not None:
        summand = summand + offset
    return x * cast(factor, x.dtype) + cast(summand, x.dtype)  # type: ignore[no-any-return]


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: Name = None,
) -> Tensor:
    """Compute `batch_normalization` with the offset `beta`, and with `gamma` if `scale_after_normalization`.

    >>> batch_norm_with_global_normalization([1., 3.], 2., 1., 10., 5., 0.0, False).numpy().tolist()
    [9.0, 11.0]
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)
