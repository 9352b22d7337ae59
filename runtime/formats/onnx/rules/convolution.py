"""Convolutions and their gradients. ONNX has the channels before the spatial axes, and the filter as [out, in, …]."""

from __future__ import annotations

from typing import Any

from .... import dtypes
from ....ops.nn.window_geometry import sliding
from ..onnx_types import InexpressibleError
from ..registry import exports


class AxisLayout:
    """The axes of an operand: batch axes, spatial axes and channels, and the way to ONNX' order and back."""

    def __init__(self, e: Any, attrs: Any, rank: int) -> None:
        self.e, self.spatial, self.rank = e, len(attrs["strides"]), rank
        self.is_first = str(attrs["data_format"]).startswith("NC")
        self.batch = rank - self.spatial - 1

    def split(self, shape: Any) -> tuple[Any, Any, Any]:
        """Return the batch sizes, the spatial sizes and the channels of a shape."""
        batch = self.batch
        if self.is_first:
            return shape[:batch], shape[batch + 1 :], shape[batch]
        return shape[:batch], shape[batch:-1], shape[-1]

    def forward(self, x: Any) -> Any:
        """Return [batch, channels, spatial…], with one batch axis."""
        batch, rank = self.batch, self.rank
        if not self.is_first:
            x = self.e.transpose(x, [*range(batch), rank - 1, *range(batch, rank - 1)])
        if batch == 1:
            return x
        sizes = [self.e.size_of(x, i) for i in range(batch, rank)]
        shape = x.shape
        x = self.e.reshape(x, self.e.concat([self.e.ints(-1), *sizes]))
        x.shape = (None, *shape[batch:])
        return x

    def back(self, y: Any, like: Any) -> Any:
        """Return the result in the order of the operand `like`, with its batch axes."""
        batch = self.batch
        y.shape = (None,) * (self.spatial + 2)
        if batch != 1:
            sizes = [self.e.size_of(like, i) for i in range(batch)]
            inner = [self.e.size_of(y, i) for i in range(1, self.spatial + 2)]
            y = self.e.reshape(y, self.e.concat([*sizes, *inner]))
            y.shape = (None,) * (batch + self.spatial + 1)
        if self.is_first:
            return y
        total = self.rank
        return self.e.transpose(y, [*range(batch), *range(batch + 1, total), batch])


def windows(attrs: Any, sizes: Any, window: Any) -> Any:
    """Return the geometry of the windows. Raises InexpressibleError if a size is not known."""
    if sizes is None or None in sizes or None in window:
        raise InexpressibleError("the padding follows from sizes that are not known")
    return sliding(
        sizes,
        window,
        attrs["strides"],
        _dilations(attrs),
        attrs["padding"],
        tuple(attrs["explicit_paddings"]),
    )


def _dilations(attrs: Any) -> Any:
    given = tuple(attrs["dilations"])
    return given if len(given) == len(attrs["strides"]) else given * len(attrs["strides"])


def _single(x: Any) -> Any:
    """Return floats of a dtype that ONNX Runtime convolves; float64 and integers have no kernel."""
    if x.dtype.name not in ("float32", "float16", "bfloat16"):
        raise InexpressibleError(f"ONNX Runtime has no convolution of {x.dtype.name}")
    return x


def padding(attrs: Any, sizes: Any, window: Any) -> dict[str, Any]:
    """Return the attributes of ONNX for padding: numbers, or the rule where the sizes are not known."""
    if attrs["padding"] == "VALID":
        return {"pads": [0] * 2 * len(attrs["strides"])}
    if attrs["padding"] == "EXPLICIT":
        pairs = list(attrs["explicit_paddings"])
        return {"pads": [*pairs[::2], *pairs[1::2]]}
    if sizes is None or None in sizes:
        if any(each != 1 for each in _dilations(attrs)):
            raise InexpressibleError("SAME padding of dilated windows on sizes that are not known")
        return {"auto_pad": "SAME_UPPER"}
    slide = windows(attrs, sizes, window)
    return {"pads": [*slide.before, *slide.after]}


@exports("conv")
def _(e: Any, operation: Any, x: Any, w: Any) -> Any:
    attrs, layout = operation.attrs, AxisLayout(e, operation.attrs, x.rank)
    _, sizes, channels = layout.split(x.shape)
    window = w.shape[:-2]
    group = 1
    if channels is not None and w.shape[-2]:
        group = channels // w.shape[-2]
    elif w.shape[-2] is None:
        raise InexpressibleError("the shape of the filter is not known")
    kernel = e.transpose(_single(w), [w.rank - 1, w.rank - 2, *range(w.rank - 2)])
    y = e(
        "Conv", layout.forward(_single(x)), kernel, group=group, strides=list(attrs["strides"]),
        dilations=list(_dilations(attrs)), kernel_shape=list(window), **padding(attrs, sizes, window),
    )  # fmt: skip
    return layout.back(y, x)


@exports("conv_backprop_input")
def _(e: Any, operation: Any, shape: Any, w: Any, dy: Any) -> Any:
    attrs, layout = operation.attrs, AxisLayout(e, operation.attrs, dy.rank)
    _, sizes, channels = layout.split(operation.outputs[0].shape)
    if channels is None or w.shape[-2] is None:
        raise InexpressibleError("the number of channels is not known")
    slide = windows(attrs, sizes, w.shape[:-2])
    reach = [(k - 1) * d + 1 for k, d in zip(slide.window, slide.dilations, strict=True)]
    extra = [
        size - (stride * (count - 1) + long - before - after)
        for size, stride, count, long, before, after in zip(
            slide.sizes, slide.strides, slide.outputs, reach, slide.before, slide.after, strict=True
        )
    ]
    kernel = e.transpose(_single(w), [w.rank - 1, w.rank - 2, *range(w.rank - 2)])
    # ONNX limits `output_padding`, so elements that no window reaches are added by a pad
    x = e(
        "ConvTranspose", layout.forward(_single(dy)), kernel, group=channels // w.shape[-2],
        strides=list(slide.strides), dilations=list(slide.dilations), kernel_shape=list(slide.window),
        pads=[*slide.before, *[min(after, after + more) for after, more in zip(slide.after, extra, strict=True)]],
    )  # fmt: skip
    missing = [max(more, 0) for more in extra]
    if any(missing):
        x = e("Pad", x, e.ints(0, 0, *[0] * len(missing), 0, 0, *missing), e.const(0, x.dtype))
    return layout.back(x, dy)


@exports("conv_backprop_filter")
def _(e: Any, operation: Any, x: Any, shape: Any, dy: Any) -> Any:
    """Convolve the input with the gradient: the batch takes the place of the channels, strides that of dilations."""
    attrs, layout = operation.attrs, AxisLayout(e, operation.attrs, x.rank)
    _, sizes, channels = layout.split(x.shape)
    *window, inner, outer = operation.outputs[0].shape
    if inner is None or channels is None or outer is None:
        raise InexpressibleError("the shape of the filter is not known")
    slide = windows(attrs, sizes, window)
    n, group = layout.spatial, channels // inner
    swap = [1, 0, *range(2, n + 2)]
    found = []
    wide, deep = layout.forward(_single(x)), layout.forward(_single(dy))
    for part in range(group):
        own = e.slice(wide, part * inner, (part + 1) * inner, axis=1) if group > 1 else wide
        step = outer // group
        its = e.slice(deep, part * step, (part + 1) * step, axis=1) if group > 1 else deep
        found.append(
            e(
                "Conv", e.transpose(own, swap), e.transpose(its, swap), strides=list(slide.dilations),
                dilations=list(slide.strides), pads=[*slide.before, *slide.after],
            )
        )  # fmt: skip
    w = found[0] if group == 1 else e("Concat", *found, axis=1)
    # sizes that no window covers give elements after the end of the filter
    w = e("Slice", w, e.ints(*[0] * n), e.ints(*window), e.ints(*range(2, n + 2)))
    w.shape = (None,) * (n + 2)
    return e.transpose(w, [*range(2, n + 2), 0, 1])


@exports("depth_to_space", "space_to_depth")
def _(e: Any, operation: Any, x: Any) -> Any:
    block, is_last = operation.attrs["block_size"], operation.attrs["data_format"] == "NHWC"
    if is_last:
        x = e.transpose(x, [0, 3, 1, 2])
    if operation.type == "depth_to_space":
        y = e("DepthToSpace", _wide(e, x), blocksize=block, mode="DCR")
    else:
        y = e("SpaceToDepth", _wide(e, x), blocksize=block)
    y = e.cast(y, operation.outputs[0].dtype)
    y.shape = (None,) * 4
    return e.transpose(y, [0, 2, 3, 1]) if is_last else y


def _wide(e: Any, x: Any) -> Any:
    if x.dtype.name in ("float32", "float64"):
        return x
    return e.cast(x, dtypes.float64 if x.dtype.size >= 4 else dtypes.float32)
