"""Fake quantization: round to the numbers that integers of a few bits can represent, and stay float32.

4 bits for 0 … 1.5:    0.26    ==>    0.3        the nearest of 0, 0.1, 0.2 … 1.5

The range is moved a little, so that 0 is one of these numbers. Gradients pass inside of the range; outside of it, they
go to the nearer limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.value_types import TensorType
from ...kernels.tiles import in_tiles
from ..arrays.creation import ones_like
from ..arrays.select_kernel import selected
from ..framework.op import Input, Name, op
from ..framework.op_families import Array, require_dtype
from ..math.cast import cast
from ..math.comparison import greater

_FLOAT32 = frozenset({dtypes.float32})


@export("quantization.fake_quant_with_min_max_vars", "quantization.fake_quant_with_min_max_vars_per_channel")
@op
def fake_quantize(
    inputs: Input, min: Input, max: Input, num_bits: int = 8, narrow_range: bool = False, name: Name = None
) -> TensorType:
    """Return `inputs`, float32, rounded to `2**num_bits` numbers from `min` to `max`.

    Args:
        min, max: float32, scalars or one value for each entry of the last axis.
        num_bits: from 2 to 16; otherwise an InvalidArgumentError.
        narrow_range: use one number less, so that the range can be symmetric.

    >>> fake_quantize([0.26, 7.0], 0.0, 1.5, 4).numpy().round(3).tolist()
    [0.30000001192092896, 1.5]
    """
    _check((inputs, min, max), num_bits)
    return TensorType(inputs.dtype, inputs.shape)


@fake_quantize.kernel
def _(inputs: Array, min: Array, max: Array, num_bits: int, narrow_range: bool) -> Array:
    low, high, scale = _nudged(min, max, num_bits, narrow_range)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps_per_unit = np.float32(2**num_bits - 1 - narrow_range) / (max - min)
        compute = _rounded if low.ndim else in_tiles(_rounded)
        found = compute(inputs, low, high, steps_per_unit, np.rint(low / scale), scale)
    empty = _is_empty(min, max)
    return np.where(empty, np.float32(0), found) if np.any(empty) else found


def _rounded(
    inputs: Array, low: Array, high: Array, steps_per_unit: Array, zero: Array, scale: Array
) -> Array:
    steps = np.maximum(np.minimum(inputs, high), low)
    steps -= low
    steps *= steps_per_unit
    steps += np.float32(0.5)
    steps = np.floor(steps)
    steps += zero
    steps *= scale
    return steps


@fake_quantize.gradient
def _(dy: Any, y: Any, inputs: Any, min: Any, max: Any, num_bits: int, narrow_range: bool) -> Any:
    return fake_quantize_gradient(dy, inputs, min, max, num_bits, narrow_range)


@export(
    "quantization.fake_quant_with_min_max_vars_gradient",
    "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
)
@op
def fake_quantize_gradient(
    gradients: Input, inputs: Input, min: Input, max: Input, num_bits: int = 8, narrow_range: bool = False,
    name: Name = None,
) -> tuple[TensorType, TensorType, TensorType]:  # fmt: skip
    """Return the gradients of `fake_quantize` with respect to `inputs`, `min` and `max`.

    >>> [g.numpy().tolist() for g in fake_quantize_gradient([1.0, 2.0], [0.26, 7.0], 0.0, 1.5, 4)]
    [[1.0, 0.0], 0.0, 2.0]
    """
    _check((gradients, inputs, min, max), num_bits)
    return (
        TensorType(inputs.dtype, inputs.shape),
        TensorType(min.dtype, min.shape),
        TensorType(max.dtype, max.shape),
    )


@fake_quantize_gradient.kernel
def _(gradients: Array, inputs: Array, min: Array, max: Array, num_bits: int, narrow_range: bool
      ) -> tuple[Array, Array, Array]:  # fmt: skip
    low, high, _ = _nudged(min, max, num_bits, narrow_range)
    is_below, is_above = (inputs < low, inputs > high)
    outside = (is_below | is_above) & ~_is_empty(min, max)
    axes = tuple(range(inputs.ndim - min.ndim))
    at_min, at_max = (
        np.asarray(np.sum(selected(part & outside, gradients, np.float32(0)), axes, np.float32))
        for part in (is_below, is_above)
    )
    return selected(~outside, gradients, np.float32(0)), at_min, at_max


@fake_quantize_gradient.gradient
def _(
    dys: Any, ys: Any, gradients: Any, inputs: Any, min: Any, max: Any, num_bits: int, narrow_range: bool
) -> Any:
    """Return the derivatives by `gradients`, of which the results are sums: those by `inputs` and limits are zero."""
    ones = ones_like(inputs)
    inside, _, _ = fake_quantize_gradient(ones, inputs, min, max, num_bits, narrow_range)
    is_above = cast(greater(inputs, 0.5 * (min + max)), dtypes.float32)
    outside = is_above * dys[2] + (1.0 - is_above) * dys[1]
    return inside * dys[0] + (1.0 - inside) * outside, None, None, None


@export("quantization.fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: Name = None,
) -> Tensor:
    """Return `inputs`, float32, rounded to `2**num_bits` numbers from `min` to `max`, which are constants.

    Raises InvalidArgumentError if `min` is not smaller than `max`, or `num_bits` not between 2 and 16.

    >>> fake_quant_with_min_max_args([0.26, 7.0], 0.0, 1.5, 4).numpy().round(3).tolist()
    [0.30000001192092896, 1.5]
    """
    low, high = _constants(min, max)
    return fake_quantize(inputs, low, high, num_bits, narrow_range, name)  # type: ignore[no-any-return]


@export("quantization.fake_quant_with_min_max_args_gradient")
def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike,
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: Name = None,
) -> Tensor:
    """Return the gradient of `fake_quant_with_min_max_args` with respect to `inputs`.

    >>> fake_quant_with_min_max_args_gradient([1.0, 1.0], [0.26, 7.0]).numpy().tolist()
    [1.0, 0.0]
    """
    low, high = _constants(min, max)
    return fake_quantize_gradient(gradients, inputs, low, high, num_bits, narrow_range, name)[0]  # type: ignore[no-any-return]


def _constants(min: float, max: float) -> tuple[Tensor, Tensor]:
    if not min < max:
        raise errors.InvalidArgumentError(f"min has to be smaller than max, was: {min} >= {max}")
    return convert_to_tensor(min, dtypes.float32), convert_to_tensor(max, dtypes.float32)


def _check(operands: tuple[TensorType, ...], num_bits: int) -> None:
    for operand in operands:
        require_dtype(operand, _FLOAT32, "fake_quant")
    if not 2 <= num_bits <= 16:
        raise errors.InvalidArgumentError(f"num_bits must be between 2 and 16, inclusive, not {num_bits}")


def _is_empty(min: Array, max: Array) -> Array:
    return (min == 0) & (max == 0)  # nothing has been observed yet: the results are zeros


def _nudged(min: Array, max: Array, num_bits: int, narrow_range: bool) -> tuple[Array, Array, Array]:
    """Return the limits, moved so that 0 is a multiple of the distance of two numbers, and this distance."""
    first, last = np.float32(narrow_range), np.float32(2**num_bits - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (max - min) / (last - first)
        zero = np.floor(np.clip(first - min / scale, first, last) + np.float32(0.5))
    return (first - zero) * scale, (last - zero) * scale, scale
