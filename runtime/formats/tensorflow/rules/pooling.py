"""Pooling of windows over any axes, by TensorFlow's operations for images and volumes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtypes import as_dtype
from ....kernels.extremes import lowest
from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, writes
from .shapes import cast, inverse, joined, permuted, sliced


class Pooling:
    """The settings of a pooling in TensorFlow's form: of images or volumes, with the channels last."""

    def __init__(
        self, to: Body, x: NodeResult, ksize: Any, strides: Any, padding: str, explicit: Any
    ) -> None:
        self.to, rank = to, len(ksize)
        pooled = [
            i for i in range(rank) if ksize[i] != 1 or strides[i] != 1 or any(explicit[2 * i : 2 * i + 2])
        ]
        if rank in (4, 5) and 0 not in pooled and rank - 1 not in pooled:
            pooled = list(range(1, rank - 1))
        self.is_plain = rank in (4, 5) and pooled == list(range(1, rank - 1))
        self.pooled = pooled
        self.is_volume = len(pooled) == 3
        if len(pooled) > 3:
            raise RefusedByRuleError(f"windows over {len(pooled)} axes")
        self.order = [*[i for i in range(rank) if i not in pooled], *pooled]
        extra = max(2 - len(pooled), 0)
        inner = [[1] * extra + [each[i] for i in pooled] for each in (ksize, strides)]
        self.extra = extra
        self.settings: dict[str, Any] = {
            "ksize": [1, *inner[0], 1],
            "strides": [1, *inner[1], 1],
            "padding": padding,
        }
        self.explicit = (
            [0, 0] * (extra + 1) + [each for i in pooled for each in explicit[2 * i : 2 * i + 2]] + [0, 0]
        )
        self.is_explicit = padding == "EXPLICIT"

    def into(self, x: NodeResult) -> Any:
        if self.is_plain:
            return x
        to = self.to
        moved = permuted(to, x, self.order)
        tail = sliced(to, to.Shape(moved), len(self.order) - len(self.pooled), None)
        return to.Reshape(moved, joined(to, [-1, *[1] * self.extra], tail, [1]))

    def back(self, x: NodeResult, like: NodeResult) -> Any:
        if self.is_plain:
            return x
        to, kept = self.to, len(self.order) - len(self.pooled)
        head = to.GatherV2(to.Shape(like), np.array(self.order[:kept], np.int32), 0) if kept else []
        shape = joined(to, head, sliced(to, to.Shape(x), 1 + self.extra, -1))
        return to.Transpose(to.Reshape(x, shape), inverse(self.order))

    def padded(self, x: NodeResult, value: Any) -> Any:
        """Pad with a value as the explicit paddings say, for a pooling without padding."""
        if not self.is_explicit:
            return x
        self.settings["padding"] = "VALID"
        pads = np.array(self.explicit, np.int32).reshape(-1, 2)
        return self.to.PadV2(x, pads, self.to.const(value, x.dtype))


@writes("max_pool")
def _(to: Body, input: NodeResult, ksize: Any, strides: Any, padding: str, explicit_paddings: Any) -> Any:
    pool = Pooling(to, input, ksize, strides, padding, explicit_paddings)
    x = pool.padded(pool.into(input), lowest(as_dtype(input.dtype).numpy_dtype))
    return pool.back((to.MaxPool3D if pool.is_volume else to.MaxPool)(x, **pool.settings), input)


@writes("avg_pool")
def _(to: Body, input: NodeResult, ksize: Any, strides: Any, padding: str, explicit_paddings: Any) -> Any:
    """Divide by the mean of ones if paddings are explicit: the average excludes the padding."""
    pool = Pooling(to, input, ksize, strides, padding, explicit_paddings)
    mean = to.AvgPool3D if pool.is_volume else to.AvgPool
    x = pool.into(input)
    if not pool.is_explicit:
        return pool.back(mean(x, **pool.settings), input)
    ones, x = pool.padded(to.OnesLike(x), 0), pool.padded(x, 0)
    return pool.back(to.RealDiv(mean(x, **pool.settings), mean(ones, **pool.settings)), input)


def _gradient(to: Body, like: NodeResult, given: dict[str, Any]) -> Pooling:
    """Return the settings of a gradient, which TensorFlow has without explicit paddings."""
    pool = Pooling(to, like, given["ksize"], given["strides"], given["padding"], given["explicit_paddings"])
    if pool.is_explicit:
        raise RefusedByRuleError("explicit paddings")
    return pool


@writes("max_pool_grad")
def _(to: Body, orig_input: NodeResult, orig_output: NodeResult, grad: NodeResult, **given: Any) -> Any:
    pool = _gradient(to, orig_input, given)
    parts = [pool.into(each) for each in (orig_input, orig_output, grad)]
    found = (to.MaxPool3DGrad if pool.is_volume else to.MaxPoolGrad)(*parts, **pool.settings)
    return pool.back(found, orig_input)


@writes("max_pool_grad_grad")
def _(to: Body, orig_input: NodeResult, orig_output: NodeResult, grad: NodeResult, **given: Any) -> Any:
    pool = _gradient(to, orig_input, given)
    parts = [pool.into(each) for each in (orig_input, orig_output, grad)]
    found = (to.MaxPool3DGradGrad if pool.is_volume else to.MaxPoolGradGrad)(*parts, **pool.settings)
    return pool.back(found, orig_output)


@writes("avg_pool_grad")
def _(to: Body, orig_input_shape: NodeResult, grad: NodeResult, **given: Any) -> Any:
    pool = _gradient(to, grad, given)
    shape = cast(to, orig_input_shape, "int32")
    zeros = to.Fill(shape, to.const(0, grad.dtype)) if not pool.is_plain else None
    whole = shape if zeros is None else to.Shape(pool.into(zeros))
    found = (to.AvgPool3DGrad if pool.is_volume else to.AvgPoolGrad)(whole, pool.into(grad), **pool.settings)
    return found if zeros is None else pool.back(found, zeros)


@writes("max_pool_argmax")
def _(to: Body, input: NodeResult, ksize: Any, strides: Any, padding: str, explicit_paddings: Any, output_dtype: Any,
      include_batch_in_index: bool) -> Any:  # fmt: skip
    pool = Pooling(to, input, ksize, strides, padding, explicit_paddings)
    if not pool.is_plain or pool.is_volume or pool.is_explicit:
        raise RefusedByRuleError("other windows than of images, or explicit paddings")
    return to.MaxPoolWithArgmax(
        input, **pool.settings, Targmax=output_dtype, include_batch_in_index=include_batch_in_index
    )
