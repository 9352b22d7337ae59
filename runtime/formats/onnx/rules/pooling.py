"""Pooling. Windows are on any axes; ONNX pools the axes after the first two."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import dtypes
from ....ops.nn.window_geometry import sliding
from ..onnx_types import InexpressibleError
from ..registry import exports
from ..values import Ref
from .indexing import element_numbers


class Pooled:
    """The axes that windows cover, and the order in which ONNX pools them."""

    def __init__(self, e: Any, attrs: Any, x: Any) -> None:
        pairs = tuple(attrs["explicit_paddings"])
        self.e, self.rank, self.shape = e, x.rank, x.shape
        self.axes = [
            i for i, (k, s) in enumerate(zip(attrs["ksize"], attrs["strides"], strict=True))
            if k != 1 or s != 1 or any(pairs[2 * i : 2 * i + 2])
        ]  # fmt: skip
        self.others = [i for i in range(x.rank) if i not in self.axes]
        if not 1 <= len(self.axes) <= 3:
            raise InexpressibleError(f"windows on {len(self.axes)} axes")
        self.order = [*self.others, *self.axes]
        self.window = [attrs["ksize"][i] for i in self.axes]
        self.strides = [attrs["strides"][i] for i in self.axes]
        self.padding, self.pairs = (
            attrs["padding"],
            [pairs[2 * i : 2 * i + 2] for i in self.axes] if pairs else [],
        )

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of ONNX' pools."""
        common = {"kernel_shape": self.window, "strides": self.strides}
        sizes = [self.shape[i] for i in self.axes]
        if self.padding == "VALID":
            return {**common, "pads": [0] * 2 * len(self.axes)}
        if self.padding == "SAME" and None in sizes:
            return {**common, "auto_pad": "SAME_UPPER"}
        slide = self.slide()
        return {**common, "pads": [*slide.before, *slide.after]}

    def slide(self) -> Any:
        sizes = [self.shape[i] for i in self.axes]
        if None in sizes:
            raise InexpressibleError("the windows follow from sizes that are not known")
        flat = tuple(each for pair in self.pairs for each in pair)
        return sliding(sizes, self.window, self.strides, (1,) * len(sizes), self.padding, flat)

    def forward(self, x: Any) -> Any:
        """Return [others, 1, pooled axes…]."""
        turned = self.e.transpose(x, self.order)
        sizes = [self.e.size_of(turned, len(self.others) + i) for i in range(len(self.axes))]
        return self.e.reshape(turned, self.e.concat([self.e.ints(-1, 1), *sizes]))

    def back(self, y: Any, like: Any) -> Any:
        """Return the result in the order of the operand."""
        others = [self.e.size_of(like, i) for i in self.others]
        y.shape = (None, 1) + (None,) * len(self.axes)
        inner = [self.e.size_of(y, 2 + i) for i in range(len(self.axes))]
        y = self.e.reshape(y, self.e.concat([*others, *inner]))
        y.shape = (None,) * self.rank
        return self.e.transpose(y, np.argsort(self.order).tolist())


def _as_floats(e: Any, x: Any) -> Any:
    if x.dtype.name in ("float32", "float64", "float16"):
        return x
    if x.dtype.size == 8:
        raise InexpressibleError("ONNX Runtime pools no integers of 64 bits")
    return e.cast(x, dtypes.float64 if x.dtype.kind in "iu" else dtypes.float32)


@exports("max_pool")
def _(e: Any, operation: Any, x: Any) -> Any:
    pooled = Pooled(e, operation.attrs, x)
    y = e("MaxPool", pooled.forward(_as_floats(e, x)), **pooled.attributes())
    return e.cast(pooled.back(y, x), x.dtype)


@exports("avg_pool")
def _(e: Any, operation: Any, x: Any) -> Any:
    if x.dtype.name == "float64":
        raise InexpressibleError("ONNX Runtime has no AveragePool for float64")
    pooled = Pooled(e, operation.attrs, x)
    return pooled.back(e("AveragePool", pooled.forward(x), count_include_pad=0, **pooled.attributes()), x)


def _places(e: Any, operation: Any, x: Any) -> tuple[Any, Any]:
    """Return the largest elements of windows, and their numbers in the flat operand, both in its order of axes."""
    pooled = Pooled(e, operation.attrs, x)
    wide = pooled.forward(_as_floats(e, x))
    largest, at = e("MaxPool", wide, outputs=2, **pooled.attributes())
    numbers = element_numbers(e, e.shape_of(x), x.rank)
    flat = e.reshape(pooled.forward(numbers), [-1])
    return pooled.back(largest, x), pooled.back(e("Gather", flat, at), x)


@exports("max_pool_argmax")
def _(e: Any, operation: Any, x: Any) -> Any:
    largest, at = _places(e, operation, x)
    if not operation.attrs["include_batch_in_index"]:
        sizes = e.concat([e.size_of(x, i) for i in range(1, x.rank)])
        at = e("Mod", at, e("ReduceProd", sizes, keepdims=0))
    return [e.cast(largest, x.dtype), e.cast(at, operation.outputs[1].dtype)]


@exports("max_pool_grad")
def _(e: Any, operation: Any, x: Any, y: Any, dy: Any) -> Any:
    _, at = _places(e, operation, x)
    zeros = e.zeros(e.reshape(e("Size", x, dtype=dtypes.int64), [1]), x.dtype)
    flat = e("ScatterElements", zeros, e.reshape(at, [-1]), e.reshape(dy, [-1]), axis=0, reduction="add")
    return e.reshape(flat, e.shape_of(x))


@exports("max_pool_grad_grad")
def _(e: Any, operation: Any, x: Any, y: Any, grad: Any) -> Any:
    _, at = _places(e, operation, x)
    return e("Gather", e.reshape(grad, [-1]), at)


@exports("avg_pool_grad")
def _(e: Any, operation: Any, shape: Any, dy: Any) -> Any:
    """Spread each mean over its window, by a transposed convolution with ones."""
    like = Ref(e, "", dy.dtype, operation.outputs[0].shape)
    pooled = Pooled(e, operation.attrs, like)
    slide = pooled.slide()
    counts = np.ones((), np.float64)
    for axis, each in enumerate(slide.counts()):
        counts = counts * each.reshape([-1 if i == axis else 1 for i in range(len(pooled.axes))])
    shares = pooled.forward(dy) / e.const(counts, dy.dtype)
    ones = e.const(np.ones((1, 1, *slide.window)), dy.dtype)
    extra = [
        size + before + after - (stride * (count - 1) + k)
        for size, before, after, stride, count, k in zip(
            slide.sizes, slide.before, slide.after, slide.strides, slide.outputs, slide.window, strict=True
        )
    ]
    x = e("ConvTranspose", shares, ones, strides=list(slide.strides), kernel_shape=list(slide.window))
    pads = [*[-b for b in slide.before], *[more - a for more, a in zip(extra, slide.after, strict=True)]]
    n = len(slide.window)
    if any(pads):
        x = e("Pad", x, e.ints(0, 0, *pads[:n], 0, 0, *pads[n:]), e.const(0, dy.dtype))
    return pooled.back(x, dy)
