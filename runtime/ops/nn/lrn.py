"""Local response normalization: each channel is divided by a norm of the adjacent channels.

    y[..., c] = x[..., c] / (bias + alpha * sum(x[..., c - r : c + r + 1] ** 2)) ** beta

Krizhevsky, Sutskever and Hinton (2012), "ImageNet Classification with Deep Convolutional Neural Networks".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.export import export
from ...ir.value_types import TensorType
from ...kernels.matrix_products import multiply
from ..framework.op import Input, Name, op
from ..framework.op_families import Array, require_dtype


@export("nn.local_response_normalization", "nn.lrn")
@op(name="lrn")
def local_response_normalization(
    input: Input,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: Name = None,
) -> TensorType:
    """Divide `input` by `(bias + alpha * sum of squares) ** beta` of the channels at most `depth_radius` away.

    Args:
        input: [batch, height, width, channels], float16 or float32.

    >>> local_response_normalization([[[[3., 4.]]]], 1, 0.0).numpy().round(1).tolist()
    [[[[0.6000000238418579, 0.800000011920929]]]]
    """
    require_dtype(input, frozenset({dtypes.float16, dtypes.bfloat16, dtypes.float32}), "lrn")
    if depth_radius < 0:
        raise ValueError(f"lrn: `depth_radius` must not be negative: {depth_radius}")
    if input.shape is not None and len(input.shape) != 4:
        raise ValueError(f"lrn: the input must be 4-dimensional, not of the shape {shapes.show(input.shape)}")
    return TensorType(input.dtype, input.shape)


def _around(x: Array, radius: int) -> Array:
    """Return sums of the channels at most `radius` away: products with a band of ones."""
    channel = np.arange(x.shape[-1])
    band = (np.abs(channel[:, None] - channel) <= radius).astype(x.dtype)
    return multiply(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), band).reshape(x.shape)


@local_response_normalization.kernel
def _(input: Array, depth_radius: int, bias: float, alpha: float, beta: float) -> Array:
    x = input.astype(np.float32, copy=False)
    norm = _around(x * x, depth_radius) * alpha + bias
    power = np.sqrt(norm) if beta == 0.5 else np.exp(np.log(norm) * beta)
    return (x / power).astype(input.dtype, copy=False)


@local_response_normalization.gradient
def _(dy: Any, y: Any, input: Any, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    norm = neighborhood(input * input, depth_radius) * alpha + bias
    shared = neighborhood(dy * input * norm ** (-beta - 1), depth_radius)
    return dy * norm**-beta - input * shared * (2 * alpha * beta)


@op
def neighborhood(input: Input, depth_radius: int, name: Name = None) -> TensorType:
    """Return the sums of the channels at most `depth_radius` away.

    >>> neighborhood([[[[1., 2., 4.]]]], 1).numpy().tolist()
    [[[[3.0, 7.0, 6.0]]]]
    """
    require_dtype(
        input, frozenset({dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}), "neighborhood"
    )
    if input.shape == ():
        raise ValueError("neighborhood: a scalar has no channels")
    return TensorType(input.dtype, input.shape)


neighborhood.kernel(lambda input, depth_radius: _around(input, depth_radius))
neighborhood.gradient(lambda dy, y, input, depth_radius: neighborhood(dy, depth_radius))


lrn = local_response_normalization
