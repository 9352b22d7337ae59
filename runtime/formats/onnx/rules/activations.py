"""Activations and losses of neural networks."""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ..registry import exports
from .functions import expm1

_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805


@exports("relu")
def _(e: Any, operation: Any, x: Any) -> Any:
    if x.dtype.kind == "f":
        return e("Relu", x)
    return e("Max", x, e.like(0, x))


@exports("relu6")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e("Min", e("Max", x, e.like(0, x)), e.like(6, x))


@exports("elu")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.where(x < 0.0, expm1(e, x), x)


@exports("selu")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.where(x < 0.0, expm1(e, x) * (_SCALE * _ALPHA), x * _SCALE)


@exports("softsign")
def _(e: Any, operation: Any, x: Any) -> Any:
    return x / (1.0 + e("Abs", x))


@exports("leaky_relu")
def _(e: Any, operation: Any, x: Any) -> Any:
    return e.where(x > 0.0, x, x * operation.attrs["alpha"])


@exports("softmax", "log_softmax")
def _(e: Any, operation: Any, x: Any) -> Any:
    operator = "Softmax" if operation.type == "softmax" else "LogSoftmax"
    return e(operator, x, axis=operation.attrs["axis"])


@exports("bias_add")
def _(e: Any, operation: Any, value: Any, bias: Any) -> Any:
    if str(operation.attrs["data_format"] or "").startswith("NC") and value.rank > 2:
        bias = e.unsqueeze(bias, *range(1, value.rank - 1))
    return value + bias


@exports("softmax_cross_entropy")
def _(e: Any, operation: Any, labels: Any, logits: Any) -> Any:
    """Return the loss, and its gradient with respect to the logits."""
    logs = e("LogSoftmax", logits, axis=-1)
    products = e.where(labels.equals(0.0), 0.0, labels * logs)
    loss = -e("ReduceSum", products, e.ints(-1), keepdims=0)
    if len(operation.outputs) == 1:
        return loss
    return [loss, e("Softmax", logits, axis=-1) - labels]


@exports("sparse_softmax_cross_entropy")
def _(e: Any, operation: Any, labels: Any, logits: Any) -> Any:
    """Return the loss, and its gradient with respect to the logits."""
    logs = e("LogSoftmax", logits, axis=-1)
    places = e.unsqueeze(e.index(labels), -1)
    loss = -e.squeeze(e("GatherElements", logs, places, axis=-1), -1)
    if len(operation.outputs) == 1:
        return loss
    depth = e.size_of(logits, -1)
    ends = e.const([0, 1], logits.dtype)
    return [
        loss,
        e("Softmax", logits, axis=-1) - e("OneHot", e.index(labels), depth, ends, axis=-1, dtype=ends.dtype),
    ]


@exports("in_top_k")
def _(e: Any, operation: Any, targets: Any, predictions: Any, k: Any) -> Any:
    own = e("GatherElements", predictions, e.unsqueeze(e.index(targets), -1), axis=-1)
    larger = e("ReduceSum", e.cast(predictions > own, dtypes.int64), e.ints(-1), keepdims=0)
    is_finite = e(
        "ReduceMin", e.cast(e("Abs", predictions) < float("inf"), dtypes.int32), e.ints(-1), keepdims=0
    )
    return (larger < e.index(k)) & e.cast(is_finite, dtypes.bool_)


@exports("lrn")
def _(e: Any, operation: Any, x: Any) -> Any:
    attrs, radius = operation.attrs, operation.attrs["depth_radius"]
    size, own = 2 * radius + 1, x.dtype
    turned = e.transpose(e.cast(x, dtypes.float32), [0, 3, 1, 2])
    found = e("LRN", turned, alpha=attrs["alpha"] * size, beta=attrs["beta"], bias=attrs["bias"], size=size)
    found.shape = (None,) * 4
    return e.cast(e.transpose(found, [0, 2, 3, 1]), own)


@exports("all_candidates")
def _(e: Any, operation: Any, classes: Any) -> Any:
    count, true = operation.attrs["num_sampled"], operation.attrs["num_true"]
    rows = e.concat([e.size_of(classes, 0), e.ints(true)])
    return [
        e.ints(*range(count)), e.zeros(rows, dtypes.float32, 1), e.zeros(e.ints(count), dtypes.float32, 1)
    ]  # fmt: skip


def _nudged(e: Any, low: Any, high: Any, steps: int) -> tuple[Any, Any, Any, Any]:
    """Return the range that contains 0 exactly, its step, and whether the given range is empty."""
    scale = (high - low) / float(steps)
    start = -low / scale
    whole = e("Floor", start + 0.5)
    zero = e.where(start < 0.0, 0.0, e.where(start > float(steps), float(steps), whole))
    is_empty = low.equals(0.0) & high.equals(0.0)
    return -zero * scale, (float(steps) - zero) * scale, scale, is_empty


@exports("fake_quantize")
def _(e: Any, operation: Any, x: Any, low: Any, high: Any) -> Any:
    steps = 2 ** operation.attrs["num_bits"] - 1 - int(operation.attrs["narrow_range"])
    first, last, scale, is_empty = _nudged(e, low, high, steps)
    inside = e("Max", e("Min", x, last), first)
    found = e("Floor", (inside - first) * (float(steps) / (high - low)) + 0.5) + e("Round", first / scale)
    return e.where(is_empty, e.const(0.0, x.dtype), found * scale)


@exports("fake_quantize_gradient")
def _(e: Any, operation: Any, dy: Any, x: Any, low: Any, high: Any) -> Any:
    steps = 2 ** operation.attrs["num_bits"] - 1 - int(operation.attrs["narrow_range"])
    first, last, _, is_empty = _nudged(e, low, high, steps)
    is_below, is_above = x < first, x > last
    outside = (is_below | is_above) & ~is_empty
    axes = list(range(x.rank - low.rank))
    zero = e.const(0.0, dy.dtype)
    shares = [e.where(part & outside, dy, zero) for part in (is_below, is_above)]
    sums = [e("ReduceSum", each, e.ints(*axes), keepdims=0) if axes else each for each in shares]
    return [e.where(outside, zero, dy), *sums]
