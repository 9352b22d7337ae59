"""Reductions, scans, products of matrices, softmax and normalizations."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..... import dtypes
from .....control_flow.functional_api import cond
from .....core.shapes import normal_axis
from .....ops.arrays import creation, reshape, shape_ops
from .....ops.arrays.pad_ops import pad
from .....ops.arrays.ranges import one_hot
from .....ops.arrays.reverse_and_roll import reverse
from .....ops.arrays.tile_and_repeat import repeat
from .....ops.linalg.einsum import einsum
from .....ops.linalg.inverse_and_det import det
from .....ops.linalg.matmul import matmul
from .....ops.math import elementwise
from .....ops.math.arithmetic import divide_no_nan
from .....ops.math.cast import cast, identity
from .....ops.nn.activations import log_softmax, softmax
from .....ops.reduce import reductions, scans
from .....ops.reduce.argmax import argmax, argmin
from .registry import OperatorCall, axes_of, numbers, operator, rank_of

_REDUCTIONS: dict[str, Any] = {
    "ReduceSum": lambda x, axes, keep: reductions.reduce_sum(x, axes, keep),
    "ReduceMean": lambda x, axes, keep: reductions.reduce_mean(x, axes, keep),
    "ReduceProd": lambda x, axes, keep: reductions.reduce_prod(x, axes, keep),
    "ReduceMax": lambda x, axes, keep: _extreme(reductions.reduce_max, x, axes, keep),
    "ReduceMin": lambda x, axes, keep: _extreme(reductions.reduce_min, x, axes, keep),
    "ReduceL1": lambda x, axes, keep: reductions.reduce_sum(elementwise.abs(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: reductions.reduce_euclidean_norm(x, axes, keep),
    "ReduceLogSum": lambda x, axes, keep: elementwise.log(reductions.reduce_sum(x, axes, keep)),
    "ReduceLogSumExp": lambda x, axes, keep: reductions.reduce_logsumexp(x, axes, keep),
    "ReduceSumSquare": lambda x, axes, keep: reductions.reduce_sum(elementwise.square(x), axes, keep),
}


def _extreme(reduce: Any, x: Any, axes: Any, keep: bool) -> Any:
    return (
        cast(reduce(cast(x, dtypes.int32), axes, keep), x.dtype) if x.dtype.is_bool else reduce(x, axes, keep)
    )


@operator(*_REDUCTIONS)
def _(call: OperatorCall, x: Any, axes: Any = None) -> Any:
    keep = bool(call.get("keepdims", 1))
    reduce = _REDUCTIONS[call.node.op]
    try:
        chosen = axes_of(call, axes)
    except ValueError:
        return _by_computed_axes(call, x, axes)
    if not chosen and call.get("noop_with_empty_axes", 0):
        return x
    return reduce(x, chosen or None, keep)


def _by_computed_axes(call: OperatorCall, x: Any, axes: Any) -> Any:
    """Sum along each axis that is among the computed ones; along every axis if there are none."""
    if call.node.op != "ReduceSum" or not call.get("keepdims", 1):
        raise ValueError("the axes are computed when the model runs")
    rank, is_every = rank_of(x), False
    if not call.get("noop_with_empty_axes", 0):
        is_every = shape_ops.size(axes) == 0
    for axis in range(rank):
        is_summed = reductions.reduce_any(axes % rank == axis) | is_every
        summed = functools.partial(reductions.reduce_sum, x, (axis,), True)
        x = cond(is_summed, summed, functools.partial(identity, x))
    return x


@operator("ArgMax", "ArgMin")
def _(call: OperatorCall, x: Any) -> Any:
    axis, find = call.get("axis", 0), argmax if call.node.op == "ArgMax" else argmin
    if call.get("select_last_index", 0):
        found = shape_ops.shape(x, dtypes.int64)[axis] - 1 - find(reverse(x, [axis]), axis)
    else:
        found = find(x, axis)
    return reshape.expand_dims(found, axis) if call.get("keepdims", 1) else found


@operator("CumSum")
def _(call: OperatorCall, x: Any, axis: Any) -> Any:
    (number,) = numbers(axis, "the axis")
    return scans.cumsum(x, number, bool(call.get("exclusive", 0)), bool(call.get("reverse", 0)))


@operator("MatMul")
def _(call: OperatorCall, a: Any, b: Any) -> Any:
    wide_a = reshape.expand_dims(a, 0) if rank_of(a) == 1 else a
    wide_b = reshape.expand_dims(b, 1) if rank_of(b) == 1 else b
    found = matmul(wide_a, wide_b)
    found = reshape.squeeze(found, (-1,)) if wide_b is not b else found
    return reshape.squeeze(found, (-2 if wide_b is b else -1,)) if wide_a is not a else found


@operator("Gemm")
def _(call: OperatorCall, a: Any, b: Any, c: Any = None) -> Any:
    found = matmul(a, b, transpose_a=bool(call.get("transA", 0)), transpose_b=bool(call.get("transB", 0)))
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    found = found if alpha == 1.0 else found * cast(alpha, found.dtype)
    if c is None:
        return found
    return found + (c if beta == 1.0 else c * cast(beta, c.dtype))


@operator("Einsum")
def _(call: OperatorCall, *operands: Any) -> Any:
    return einsum(call.get("equation"), *operands)


@operator("Det")
def _(call: OperatorCall, x: Any) -> Any:
    return det(x)


@operator("Softmax", "LogSoftmax", "Hardmax")
def _(call: OperatorCall, x: Any) -> Any:
    functions: dict[str, Any] = {"Softmax": softmax, "LogSoftmax": log_softmax, "Hardmax": _hardmax}
    function = functions[call.node.op]
    if call.opset >= 13:
        return function(x, call.get("axis", -1))
    rank = rank_of(x)
    axis = normal_axis(call.get("axis", 1), rank)
    if axis == rank - 1:
        return function(x, -1)
    own = shape_ops.shape(x)  # older versions normalize all axes from `axis` on together
    rows = reductions.reduce_prod(own[:axis])
    return reshape.reshape(function(reshape.reshape(x, [rows, -1]), -1), own)


def _hardmax(x: Any, axis: int) -> Any:
    return one_hot(argmax(x, axis), shape_ops.shape(x)[axis], 1.0, 0.0, axis)


def channels(value: Any, rank: int) -> Any:
    """Return a vector for the channels, the second axis, in a shape that broadcasts."""
    return reshape.reshape(value, [1, -1, *[1] * (rank - 2)])


@operator("BatchNormalization")
def _(call: OperatorCall, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    if call.get("training_mode", 0) or (call.results > 1 and call.opset >= 14):
        raise ValueError("training of the running means is not supported")
    rank = rank_of(x)
    scale, shift, mean, variance = (channels(each, rank) for each in (scale, shift, mean, variance))
    return (x - mean) * (elementwise.rsqrt(variance + call.get("epsilon", 1e-5)) * scale) + shift


def _normalized(x: Any, axes: tuple[int, ...], epsilon: float) -> tuple[Any, Any, Any]:
    mean = reductions.reduce_mean(x, axes, True)
    difference = x - mean
    share = elementwise.rsqrt(reductions.reduce_mean(elementwise.square(difference), axes, True) + epsilon)
    return difference * share, mean, share


@operator("InstanceNormalization")
def _(call: OperatorCall, x: Any, scale: Any, shift: Any) -> Any:
    rank = rank_of(x)
    found, _, _ = _normalized(x, tuple(range(2, rank)), call.get("epsilon", 1e-5))
    return found * channels(scale, rank) + channels(shift, rank)


@operator("LayerNormalization")
def _(call: OperatorCall, x: Any, scale: Any, shift: Any = None) -> Any:
    rank = rank_of(x)
    axes = tuple(range(normal_axis(call.get("axis", -1), rank), rank))
    found, mean, share = _normalized(x, axes, call.get("epsilon", 1e-5))
    found = found * scale
    return [found if shift is None else found + shift, mean, share][: call.results]


@operator("RMSNormalization")
def _(call: OperatorCall, x: Any, scale: Any) -> Any:
    rank = rank_of(x)
    axes = tuple(range(normal_axis(call.get("axis", -1), rank), rank))
    squares = reductions.reduce_mean(elementwise.square(x), axes, True)
    return x * elementwise.rsqrt(squares + call.get("epsilon", 1e-5)) * scale


@operator("GroupNormalization")
def _(call: OperatorCall, x: Any, scale: Any, shift: Any) -> Any:
    rank, groups, own = rank_of(x), call.get("num_groups"), shape_ops.shape(x)
    split = reshape.reshape(x, [own[0], groups, -1])
    found = reshape.reshape(_normalized(split, (2,), call.get("epsilon", 1e-5))[0], own)
    if call.opset < 21:  # one number for each group
        times = x.shape[1] // groups
        scale, shift = repeat(scale, times), repeat(shift, times)
    return found * channels(scale, rank) + channels(shift, rank)


@operator("LpNormalization")
def _(call: OperatorCall, x: Any) -> Any:
    axis, p = call.get("axis", -1), call.choice("p", 2, 1)
    size = elementwise.abs(x) if p == 1 else elementwise.square(x)
    total = reductions.reduce_sum(size, (axis,), True)
    return divide_no_nan(x, total if p == 1 else elementwise.sqrt(total))


@operator("LRN")
def _(call: OperatorCall, x: Any) -> Any:
    size, count = call.get("size"), x.shape[1]
    before, after = min((size - 1) // 2, count), min(size // 2, count)  # there are no channels beyond
    squares = reshape.transpose(elementwise.square(x), _channels_last(rank_of(x)))
    wide = pad(squares, [[0, 0]] * (rank_of(x) - 1) + [[before, after]])
    total = sum((wide[..., i : i + count] for i in range(1, before + after + 1)), wide[..., :count])
    total = reshape.transpose(total, [0, rank_of(x) - 1, *range(1, rank_of(x) - 1)])
    return x / (call.get("bias", 1.0) + call.get("alpha", 1e-4) / size * total) ** call.get("beta", 0.75)


def _channels_last(rank: int) -> list[int]:
    return [0, *range(2, rank), 1]


@operator("Dropout")
def _(call: OperatorCall, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and any(numbers(training, "the mode")):
        raise ValueError("dropout of training is not supported")
    return [x, creation.ones_like(x, dtypes.bool_)][: call.results]


@operator("ml.LinearRegressor")
def _(call: OperatorCall, x: Any) -> Any:
    targets = call.get("targets", 1)
    weights = np.array(call.get("coefficients"), np.float32).reshape(targets, -1)
    bias = np.array(call.get("intercepts", (0.0,)), np.float32)
    return matmul(cast(x, dtypes.float32), weights.T) + bias


@operator("ml.Normalizer")
def _(call: OperatorCall, x: Any) -> Any:
    size, norm = elementwise.abs(x), call.get("norm", "MAX")
    reduce = {
        "MAX": reductions.reduce_max,
        "L1": reductions.reduce_sum,
        "L2": reductions.reduce_euclidean_norm,
    }
    return divide_no_nan(x, reduce[norm](size, (-1,), True))
