"""Activation functions, softmax and bias.

>>> relu([-1., 2.]).numpy().tolist(), softmax([0., 0.]).numpy().tolist()
([0.0, 2.0], [0.5, 0.5])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import errors
from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...ir import batching
from ...ir.graph import Operand
from ...ir.traits import ANY_SHAPE, CHEAP, ELEMENTWISE, FRESH_RESULT, TOTAL
from ...ir.value_types import TensorType
from ...kernels.tiles import are_many_rows, in_rows, in_tiles
from ..arrays.concat_split import join
from ..arrays.creation import zeros_like
from ..arrays.reshape import reshape, sum_to
from ..arrays.select_kernel import selected
from ..arrays.shape_ops import shape as shape_of
from ..arrays.where_ops import choose
from ..framework.attribute_parsers import LastAxis
from ..framework.cached_dispatch import cached_dispatch
from ..framework.composite_dispatch import dispatching_composites
from ..framework.op import Input, Name, Same, op
from ..framework.op_families import CURVED, FLOATS, NUMERIC, REAL, Array, require_dtype
from ..math.arithmetic import multiply
from ..math.elementwise import exp, sigmoid, tanh
from ..reduce.reductions import reduce_sum
from ..reduce.short_axis_kernels import along_short, is_left_to_numpy, is_short, sum_of

_sum: Any = np.add.reduce
_largest: Any = np.maximum.reduce


@export("nn.relu")
@op(
    traits=ELEMENTWISE | TOTAL | ANY_SHAPE | CHEAP,
    out={"iuf": ("np.copyto({o}, {zero})", "np.maximum({0}, {o}, out={o})")},
    reuses=(),
    element_operands=1,
)  # comparing with a buffer of zeros is faster than with a scalar
def relu(features: Input, name: Name = None) -> TensorType:
    """Return `features`, with 0 in place of negative elements.

    >>> relu([-3., 0., 3.]).numpy().tolist()
    [0.0, 0.0, 3.0]
    """
    require_dtype(features, REAL, "relu")
    return features.spec  # type: ignore[no-any-return]


relu.kernel(lambda features: np.maximum(features, features.dtype.type(0)))
relu.gradient(lambda dy, y, features: choose(y > 0, dy, zeros_like(dy)))


@export("nn.elu")
@op(traits=ELEMENTWISE, cost=16, formula=lambda m, x: m.where(x < 0, m.expm1(x), x), element_operands=1)
def elu(features: Input, name: Name = None) -> TensorType:
    """Return `features`, with `exp(x) - 1` in place of negative elements.

    >>> elu([0., 3.]).numpy().tolist()
    [0.0, 3.0]
    """
    require_dtype(features, FLOATS, "elu")
    return features.spec  # type: ignore[no-any-return]


elu.kernel(in_tiles(lambda features: selected(features < 0, np.expm1(features), features)))
elu.gradient(lambda dy, y, features: choose(features < 0, dy * (y + 1), dy))


@export("nn.silu", "nn.swish")
@cached_dispatch
@dispatching_composites("silu", element_operands=1)
def silu(features: TensorLike, beta: float = 1.0) -> Tensor:
    """Return `x * sigmoid(beta * x)`, known as swish.

    >>> silu([0., 100.]).numpy().tolist()
    [0.0, 100.0]
    """
    features = convert_to_tensor(features)
    require_dtype(features, CURVED, "silu")
    scaled = features if type(beta) is float and beta == 1.0 else multiply(features, beta)
    return multiply(features, sigmoid(scaled))  # type: ignore[no-any-return]


swish = silu


@export("nn.gelu")
@cached_dispatch
@dispatching_composites("gelu", element_operands=1)
def gelu(features: TensorLike, approximate: bool = False, name: Name = None) -> Tensor:
    """Return `x` times the probability that a standard normal variable is smaller than `x`.

    >>> gelu([0., 100.]).numpy().tolist()
    [0.0, 100.0]
    """
    x = convert_to_tensor(features)
    if not x.dtype.is_floating:
        raise ValueError(f"`features.dtype` must be a floating point tensor. Received: {x.dtype.name}")
    if approximate:
        cubic = x + multiply(multiply(multiply(x, x), x), 0.044715)
        chance = tanh(multiply(cubic, np.sqrt(2 / np.pi).item()))
    else:
        from ..math.error_and_gamma import erf  # with its tables, which most programs do not need

        chance = erf(multiply(x, np.sqrt(0.5).item()))
    return multiply(multiply(x, 0.5), chance + 1, name)  # type: ignore[no-any-return]


def _along(logits: Operand, axis: int, what: str) -> TensorType:
    require_dtype(logits, FLOATS, what)
    if logits.shape is not None:
        shapes.normal_axis(axis, len(logits.shape))
    return TensorType(logits.dtype, logits.shape)


def with_top_at_zero(logits: Array, axis: int) -> Array:
    """Subtract the largest logit, so that `exp` cannot overflow; the distribution is the same."""
    if not logits.size:
        return logits
    if is_short(logits, axis):
        return logits - along_short(np.maximum, logits, keepdims=True)
    return logits - np.maximum.reduce(logits, axis=axis, keepdims=True)


@export("math.softmax", "nn.softmax")
@op(traits=FRESH_RESULT, batch=batching.along_axis)
def softmax(logits: Input, axis: LastAxis = -1, name: Name = None) -> TensorType:
    """Return `exp(x) / sum(exp(x))` along `axis`.

    >>> softmax([[0., 0.], [1000., 0.]]).numpy().tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    return _along(logits, axis, "softmax")


@softmax.kernel
def _(logits: Array, axis: int) -> Array:
    return in_rows(_softmax, logits) if are_many_rows(logits, axis) else _softmax(logits, axis)


def _softmax(logits: Array, axis: int) -> Array:
    weights = np.exp(with_top_at_zero(logits, axis))
    weights /= sum_of(weights, axis, True)
    return weights


@softmax.specialize
def _(specs: list[TensorType], axis: int) -> Any:
    def kernel(logits: Array) -> Array:
        weights = np.exp(logits - _largest(logits, axis, None, None, True))
        weights /= _sum(weights, axis, None, None, True)
        return weights

    return kernel if is_left_to_numpy(specs[0].shape, axis) else None


softmax.gradient(lambda dy, y, logits, axis: (dy - reduce_sum(dy * y, axis, True)) * y)


@export("math.log_softmax", "nn.log_softmax")
@op(traits=FRESH_RESULT, batch=batching.along_axis)
def log_softmax(logits: Input, axis: LastAxis = -1, name: Name = None) -> TensorType:
    """Return the logarithm of `softmax`.

    >>> log_softmax([-1000., 1000.]).numpy().tolist()
    [-2000.0, 0.0]
    """
    return _along(logits, axis, "log_softmax")


@log_softmax.kernel
def _(logits: Array, axis: int) -> Array:
    return in_rows(_log_softmax, logits) if are_many_rows(logits, axis) else _log_softmax(logits, axis)


def _log_softmax(logits: Array, axis: int) -> Array:
    shifted = with_top_at_zero(logits, axis)
    return shifted - np.log(sum_of(np.exp(shifted), axis, True))


@log_softmax.specialize
def _(specs: list[TensorType], axis: int) -> Any:
    def kernel(logits: Array) -> Array:
        shifted = logits - _largest(logits, axis, None, None, True)
        return shifted - np.log(_sum(np.exp(shifted), axis, None, None, True))

    return kernel if is_left_to_numpy(specs[0].shape, axis) else None


log_softmax.gradient(lambda dy, y, logits, axis: dy - exp(y) * reduce_sum(dy, axis, True))


@export("nn.bias_add")
@op(traits=FRESH_RESULT)
def bias_add(value: Same, bias: Same, data_format: str | None = None, name: Name = None) -> TensorType:
    """Return `value + bias` along the last axis; along the second one if `data_format` is "NC..." (NCHW).

    >>> bias_add([[1, 2], [3, 4]], [10, 20]).numpy().tolist()
    [[11, 22], [13, 24]]
    """
    require_dtype(value, NUMERIC, "bias_add")
    axis = _channels(data_format)
    if bias.shape is not None and len(bias.shape) != 1:
        raise ValueError(f"bias_add: the bias must be a vector, not {shapes.show(bias.shape)}")
    if value.shape is None:
        return TensorType(value.dtype, None)
    if len(value.shape) < 2:
        raise ValueError(f"bias_add: input tensor must be at least 2D: {shapes.show(value.shape)}")
    (size,) = bias.shape or (None,)
    if value.shape[axis] != size and None not in (value.shape[axis], size):
        raise ValueError(f"bias_add: must provide as many biases as channels: {size}, {value.shape[axis]}")
    return TensorType(value.dtype, value.shape)


def _channels(data_format: str | None) -> int:
    if data_format is None or (data_format.startswith("N") and data_format.endswith("C")):
        return -1
    if data_format.startswith("NC"):
        return 1
    raise ValueError(
        f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}"
    )


@bias_add.kernel
def _(value: Array, bias: Array, data_format: str | None) -> Array:
    axis = _channels(data_format)
    if value.ndim < 2 or bias.shape != (value.shape[axis],):
        raise errors.InvalidArgumentError(f"bias_add: {bias.shape} does not fit {value.shape}")
    return value + (bias if axis == -1 else bias.reshape((-1, *(1,) * (value.ndim - 2))))


@bias_add.gradient
def _(dy: Any, y: Any, value: Any, bias: Any, data_format: str | None) -> Any:
    if _channels(data_format) == -1:
        return dy, lambda: sum_to(dy, shape_of(bias))
    if dy.shape.rank is not None:
        return dy, lambda: reduce_sum(dy, (0, *range(2, dy.shape.rank)))
    return dy, lambda: reduce_sum(reshape(dy, join([shape_of(dy)[:2], [-1]], 0)), (0, 2))
