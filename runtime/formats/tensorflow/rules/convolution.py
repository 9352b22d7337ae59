"""Convolutions and their gradients, over one, two or three axes.

conv(x[batch, width, c])     ==>     Conv2D(x[batch, 1, width, c]), and back
"""

from __future__ import annotations

from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import RefusedByRuleError, writes
from .shapes import cast, joined, part, permuted, sliced, with_shape


class ConvolutionWindows:
    """The settings of a convolution in TensorFlow's form: over two or three axes, with the channels last."""

    def __init__(
        self,
        to: Body,
        x: NodeResult,
        strides: Any,
        padding: str,
        explicit_paddings: Any,
        dilations: Any,
        data_format: str,
    ) -> None:
        self.to, self.count = to, len(strides)
        self.rank = x.rank if x.rank is not None else self.count + 2
        if self.rank < self.count + 2 and self.rank != self.count + 1:
            raise RefusedByRuleError(f"a tensor of rank {self.rank}")
        if self.count > 3:
            raise RefusedByRuleError(f"windows over {self.count} axes")
        self.first = data_format.startswith("NC")
        self.batch = self.rank - self.count - 1
        if len(dilations) == 1:
            dilations = dilations * self.count
        extra = 2 - self.count if self.count < 2 else 0
        self.settings: dict[str, Any] = {
            "strides": [1, *[1] * extra, *strides, 1], "padding": padding,
            "dilations": [1, *[1] * extra, *dilations, 1],
        }  # fmt: skip
        self.extra = extra
        if padding == "EXPLICIT":
            self.settings["explicit_paddings"] = [0, 0, *[0, 0] * extra, *explicit_paddings, 0, 0]
        self.is_volume = self.count == 3
        if self.is_volume and padding == "EXPLICIT":
            raise RefusedByRuleError("explicit paddings of volumes")

    def into(self, x: NodeResult) -> NodeResult:
        """Return a tensor in TensorFlow's form."""
        if self.first:
            x = permuted(self.to, x, [*range(self.batch), *range(self.batch + 1, self.rank), self.batch])
        if self.batch != 1 or self.extra:
            tail = sliced(self.to, self.to.Shape(x), self.batch, None)
            x = self.to.Reshape(x, joined(self.to, [-1, *[1] * self.extra], tail))
        return x

    def shape_into(self, shape: NodeResult) -> NodeResult:
        """Return a shape in TensorFlow's form."""
        to = self.to
        shape = cast(to, shape, "int32")
        if self.first:
            shape = to.GatherV2(shape, [*range(self.batch), *range(self.batch + 1, self.rank), self.batch], 0)
        if self.batch != 1 or self.extra:
            count = to.Reshape(to.Prod(sliced(to, shape, 0, self.batch), [0]), [1]) if self.batch else [1]
            shape = joined(to, count, [1] * self.extra, sliced(to, shape, self.batch, None))
        return shape

    def back(self, x: NodeResult, like: NodeResult) -> NodeResult:
        """Return a result in agc's form; `like` is a tensor with its batch axes."""
        to = self.to
        if self.batch != 1 or self.extra:
            head: Any = sliced(to, to.Shape(like), 0, self.batch) if self.batch else []
            x = to.Reshape(x, joined(to, head, sliced(to, to.Shape(x), 1 + self.extra, None)))
        if self.first:
            x = to.Transpose(x, [*range(self.batch), self.rank - 1, *range(self.batch, self.rank - 1)])
        return x

    @property
    def rates(self) -> list[int]:
        """The dilations along the axes of windows."""
        return list(self.settings["dilations"][1 + self.extra : -1])

    def spaced_sizes(self, sizes: NodeResult) -> Any:
        """Return the sizes of a filter with zeros between its elements, and take the dilations out of the settings:
        TensorFlow's gradients do not have them on all devices."""
        to, rates = self.to, self.rates
        self.settings["dilations"] = [1] * len(self.settings["dilations"])
        if max(rates) == 1:
            return sizes
        factors, shifts = [*rates, 1, 1], [*[1 - rate for rate in rates], 0, 0]
        return to.AddV2(to.Mul(sizes, factors), shifts)

    def spaced(self, filter: NodeResult) -> NodeResult:
        """Return a filter with zeros between its elements in place of dilations."""
        to, rates = self.to, self.rates
        wide = self.spaced_sizes(to.Shape(filter))
        if max(rates) == 1:
            return filter
        for axis, rate in enumerate(rates):
            rank = len(rates) + 2
            pads = [[0, 0] if i != axis + 1 else [0, rate - 1] for i in range(rank + 1)]
            padded = to.Pad(to.ExpandDims(filter, axis + 1), pads)
            factors = to.const([rate if i == axis else 1 for i in range(rank)])
            filter = to.Reshape(padded, to.Mul(to.Shape(filter), factors))
        return with_shape(to.Slice(filter, [0] * (len(rates) + 2), wide), None)

    def filter(self, x: NodeResult) -> NodeResult:
        """Return a filter with another axis if there is one axis of windows."""
        return self.to.ExpandDims(x, 0) if self.extra else x


def _groups(x: NodeResult, filter: NodeResult, first: bool, count: int) -> int:
    """Return the number of groups of channels."""
    if x.shape is None or filter.shape is None:
        raise RefusedByRuleError("the number of channels is unknown")
    channels, inner = x.shape[-count - 1 if first else -1], filter.shape[-2]
    if channels is None or inner is None:
        raise RefusedByRuleError("the number of channels is unknown")
    return channels // max(inner, 1)


def _is_depthwise(windows: ConvolutionWindows, groups: int, filter: NodeResult) -> bool:
    strides = windows.settings["strides"][1:-1]
    return (
        groups > 1
        and filter.shape is not None
        and filter.shape[-2] == 1
        and windows.count == 2
        and len(set(strides)) == 1
    )


def _as_depthwise(to: Body, filter: NodeResult, groups: int) -> Any:
    """Return a filter [.., 1, channels * n] as [.., channels, n]."""
    assert filter.shape is not None
    return to.Reshape(filter, joined(to, sliced(to, to.Shape(filter), 0, 2), [groups, -1]))


@writes("conv")
def _(to: Body, input: NodeResult, filter: NodeResult, **given: Any) -> Any:
    windows = ConvolutionWindows(to, input, **given)
    groups = _groups(input, filter, windows.first, windows.count)
    x = windows.into(input)
    if windows.is_volume:
        made = _in_groups(to, groups, x, filter, lambda a, b: to.Conv3D(a, b, **windows.settings))
    elif _is_depthwise(windows, groups, filter):
        made = to.DepthwiseConv2dNative(x, _as_depthwise(to, filter, groups), **windows.settings)
    else:
        whole = windows.filter(filter)
        made = _in_groups(to, groups, x, whole, lambda a, b: to.Conv2D(a, b, **windows.settings))
    return windows.back(made, input)


def _in_groups(to: Body, groups: int, x: NodeResult, filter: NodeResult, compute: Any) -> Any:
    if groups == 1:
        return compute(x, filter)
    pairs = zip(to.Split(-1, x, num_split=groups), to.Split(-1, filter, num_split=groups), strict=True)
    return to.ConcatV2([compute(*pair) for pair in pairs], -1)


@writes("conv_backprop_input")
def _(to: Body, input_sizes: NodeResult, filter: NodeResult, out_backprop: NodeResult, **given: Any) -> Any:
    windows = ConvolutionWindows(to, out_backprop, **given)
    sizes = windows.shape_into(input_sizes)
    groups = _groups(
        with_shape(to.Identity(out_backprop), to.outputs[0].shape), filter, windows.first, windows.count
    )
    dy = windows.into(out_backprop)
    filter = windows.spaced(filter)
    if windows.is_volume and groups == 1:
        made = to.Conv3DBackpropInputV2(sizes, filter, dy, **windows.settings)
    elif _is_depthwise(windows, groups, filter):
        made = to.DepthwiseConv2dNativeBackpropInput(
            sizes, _as_depthwise(to, filter, groups), dy, **windows.settings
        )
    elif groups == 1:
        made = to.Conv2DBackpropInput(sizes, windows.filter(filter), dy, **windows.settings)
    else:
        raise RefusedByRuleError("the gradient of a convolution of groups of channels")
    return windows.back(made, out_backprop)


@writes("conv_backprop_filter")
def _(to: Body, input: NodeResult, filter_sizes: NodeResult, out_backprop: NodeResult, **given: Any) -> Any:
    windows = ConvolutionWindows(to, input, **given)
    sizes = cast(to, filter_sizes, "int32")
    groups = _groups(input, with_shape(to.Identity(sizes), to.outputs[0].shape), windows.first, windows.count)
    x, dy = windows.into(input), windows.into(out_backprop)
    rates, wide = windows.rates, windows.spaced_sizes(sizes)
    shape = with_shape(to.Identity(sizes), to.outputs[0].shape)
    if windows.is_volume and groups == 1:
        made = to.Conv3DBackpropFilterV2(x, wide, dy, **windows.settings)
    elif _is_depthwise(windows, groups, shape):
        whole = joined(to, sliced(to, wide, 0, 2), to.Pack([groups, to.FloorDiv(part(to, sizes, 3), groups)]))
        made = to.DepthwiseConv2dNativeBackpropFilter(x, whole, dy, **windows.settings)
    elif groups == 1:
        made = to.Conv2DBackpropFilter(x, joined(to, [1] * windows.extra, wide), dy, **windows.settings)
    else:
        raise RefusedByRuleError("the gradient of a convolution of groups of channels")
    if max(rates) > 1:
        made = to.Reshape(made, wide)
        ends = [0] * (len(rates) + 2)
        made = to.StridedSlice(made, ends, ends, [*rates, 1, 1], begin_mask=255, end_mask=255)
    return to.Reshape(made, sizes)
