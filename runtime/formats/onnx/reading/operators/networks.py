"""Convolutions and pooling. ONNX has the channels before the spatial axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..... import dtypes
from .....ops.arrays import reshape, shape_ops
from .....ops.arrays.pad_ops import pad
from .....ops.nn.conv_primitive import conv, conv_backprop_input
from .....ops.nn.pool_primitive import avg_pool, max_pool, max_pool_argmax
from .....ops.reduce import reductions
from .reductions import channels
from .registry import OperatorCall, operator, rank_of

_FORMAT = "NC..."


def _ones(call: OperatorCall, name: str, n: int) -> tuple[int, ...]:
    return tuple(call.get(name) or (1,) * n)


def _padding(
    call: OperatorCall, sizes: Any, window: Any, strides: Any, dilations: Any
) -> tuple[str, tuple[int, ...]]:
    """Return the padding of the spatial axes: a name, and flat pairs if it is explicit."""
    auto, n = call.get("auto_pad", "NOTSET"), len(window)
    if auto == "VALID":
        return "VALID", ()
    if auto == "SAME_UPPER":
        return "SAME", ()
    pads = call.get("pads") or (0,) * 2 * n
    if auto == "SAME_LOWER":
        pads = _same_lower(sizes, window, strides, dilations)
    pairs = tuple(pads[i + side * n] for i in range(n) for side in (0, 1))
    return ("EXPLICIT", pairs) if any(pairs) else ("VALID", ())


def _same_lower(sizes: Any, window: Any, strides: Any, dilations: Any) -> tuple[int, ...]:
    if None in sizes:
        raise ValueError("SAME_LOWER padding of sizes that are not known")
    totals = [
        max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        for size, k, s, d in zip(sizes, window, strides, dilations, strict=True)
    ]
    return (*(total - total // 2 for total in totals), *(total // 2 for total in totals))


@operator("Conv")
def _(call: OperatorCall, x: Any, w: Any, bias: Any = None) -> Any:
    n = rank_of(w) - 2
    window = w.shape.as_list()[2:]
    strides, dilations = _ones(call, "strides", n), _ones(call, "dilations", n)
    padding, pairs = _padding(call, x.shape.as_list()[2:], window, strides, dilations)
    turned = reshape.transpose(w, [*range(2, n + 2), 1, 0])
    found = conv(x, turned, strides, padding, pairs, dilations, _FORMAT)
    return found if bias is None else found + channels(bias, n + 2)


@operator("ConvTranspose")
def _(call: OperatorCall, x: Any, w: Any, bias: Any = None) -> Any:
    n = rank_of(w) - 2
    window = w.shape.as_list()[2:]
    strides, dilations = _ones(call, "strides", n), _ones(call, "dilations", n)
    extra = tuple(call.get("output_padding") or (0,) * n)
    sizes = x.shape.as_list()[2:]
    if None in sizes:
        raise ValueError("the sizes of the image are not known")
    full = [
        s * (size - 1) + more + (k - 1) * d + 1
        for s, size, more, k, d in zip(strides, sizes, extra, window, dilations, strict=True)
    ]
    wanted = call.get("output_shape")
    pads = tuple(call.get("pads") or (0,) * 2 * n)
    if wanted is not None or call.get("auto_pad", "NOTSET").startswith("SAME"):
        wanted = wanted or [size * s for size, s in zip(sizes, strides, strict=True)]
        pads = _pads_for(call, full, wanted[-n:])
    outputs = [size - pads[i] - pads[n + i] for i, size in enumerate(full)]
    groups = call.get("group", 1)
    filters = w.shape[1] * groups
    # the gradient of a convolution of the whole result, whose borders are cut off after that
    turned = reshape.transpose(w, [*range(2, n + 2), 1, 0])
    shape = [shape_ops.shape(x)[0], filters, *full]
    whole = conv_backprop_input(
        shape, turned, _widened(x, extra, strides), strides, "VALID", (), dilations, _FORMAT
    )
    cut = (slice(None), slice(None), *[slice(pads[i], pads[i] + size) for i, size in enumerate(outputs)])
    found = whole[cut]
    return found if bias is None else found + channels(bias, n + 2)


def _widened(x: Any, extra: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Return the operand with zeros where the padding of the result makes room for another window."""
    more = [(each // s) for each, s in zip(extra, strides, strict=True)]
    return pad(x, [[0, 0], [0, 0], *[[0, each] for each in more]]) if any(more) else x


def _pads_for(call: OperatorCall, full: list[int], wanted: Any) -> tuple[int, ...]:
    totals = [max(size - want, 0) for size, want in zip(full, wanted, strict=True)]
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return (*more, *less) if call.get("auto_pad", "NOTSET") != "SAME_UPPER" else (*less, *more)


def _pooled(call: OperatorCall, x: Any) -> dict[str, Any]:
    """Return the attributes of a pool on all axes."""
    window = tuple(call.get("kernel_shape"))
    n = len(window)
    strides, dilations = _ones(call, "strides", n), _ones(call, "dilations", n)
    if any(each != 1 for each in dilations):
        raise ValueError("dilated windows of pools are not supported")
    sizes = x.shape.as_list()[2:]
    padding, pairs = _padding(call, sizes, window, strides, dilations)
    if call.get("ceil_mode", 0):
        padding, pairs = "EXPLICIT", _ceiled(pairs or (0,) * 2 * n, sizes, window, strides)
    whole = (0, 0, 0, 0, *pairs) if padding == "EXPLICIT" else ()
    return {
        "ksize": (1, 1, *window), "strides": (1, 1, *strides), "padding": padding, "explicit_paddings": whole
    }  # fmt: skip


def _ceiled(pairs: tuple[int, ...], sizes: Any, window: Any, strides: Any) -> tuple[int, ...]:
    """Return padding with which a last window that begins inside of the image is counted."""
    if None in sizes:
        raise ValueError("ceil_mode on sizes that are not known")
    found: list[int] = []
    for i, (size, k, s) in enumerate(zip(sizes, window, strides, strict=True)):
        before, after = pairs[2 * i : 2 * i + 2]
        count = -(-(size + before + after - k) // s) + 1
        if (count - 1) * s >= size + before:
            count -= 1
        found += [before, max((count - 1) * s + k - size - before, 0)]
    return tuple(found)


@operator("MaxPool")
def _(call: OperatorCall, x: Any) -> Any:
    settings = _pooled(call, x)
    if call.results == 1:
        return max_pool(x, **settings)
    if call.get("storage_order", 0):
        raise ValueError("indices in the order of columns are not supported")
    values, places = max_pool_argmax(x, **settings, output_dtype=dtypes.int64, include_batch_in_index=True)
    return [values, places]


@operator("AveragePool")
def _(call: OperatorCall, x: Any) -> Any:
    settings = _pooled(call, x)
    pairs = settings["explicit_paddings"]
    if call.get("count_include_pad", 0) and any(pairs):
        if call.get("ceil_mode", 0):
            raise ValueError("ceil_mode with padding that counts is not supported")
        x = pad(x, np.array(pairs).reshape(-1, 2))
        settings = {**settings, "padding": "VALID", "explicit_paddings": ()}
    return avg_pool(x, **settings)


@operator("LpPool")
def _(call: OperatorCall, x: Any) -> Any:
    p, settings = call.get("p", 2), _pooled(call, x)
    if settings["padding"] != "VALID":
        raise ValueError("padding of LpPool is not supported")
    count = float(np.prod(settings["ksize"]))
    return (avg_pool(abs(x) ** p, **settings) * count) ** (1.0 / p)


@operator("GlobalAveragePool", "GlobalMaxPool")
def _(call: OperatorCall, x: Any) -> Any:
    axes = tuple(range(2, rank_of(x)))
    reduce = reductions.reduce_mean if call.node.op == "GlobalAveragePool" else reductions.reduce_max
    return reduce(x, axes, True)
