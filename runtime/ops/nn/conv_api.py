"""The convolution functions of `tf.nn`: each calls `conv` or its transpose `conv_backprop_input`.

conv1d, conv2d, conv3d, convolution    windows times a filter
conv2d_transpose, conv_transpose, …    the gradient of such a convolution, used as a forward operation
depthwise_conv2d                       a group for each channel
separable_conv2d                       that, followed by a pointwise convolution
atrous_conv2d                          dilated windows
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export, export_member
from ...core.shapes import is_static
from ...core.tensor import Tensor
from ..arrays.concat_split import concat
from ..arrays.creation import zeros
from ..arrays.reshape import reshape
from ..arrays.shape_ops import shape as shape_of
from ..framework.cached_dispatch import cached_dispatch
from ..framework.op import Name
from .conv_primitive import conv, conv_backprop_filter, conv_backprop_input
from .window_geometry import is_channels_first, per_axis, read_padding


def _setting(
    what: str, n: int, strides: Any, padding: Any, data_format: str | None, dilations: Any
) -> dict[str, Any]:
    """Parse the arguments of a convolution over `n` axes to attributes of the operations."""
    first = is_channels_first(data_format, n, what)
    kind, pads = read_padding(padding, n, first, what)
    return {
        "strides": per_axis(strides, n, first, f"{what}: strides"),
        "padding": kind,
        "explicit_paddings": pads,
        "dilations": per_axis(dilations, n, first, f"{what}: dilations"),
        "data_format": data_format or "N...C",
    }


@export("nn.conv1d")
@cached_dispatch
def conv1d(
    input: TensorLike,
    filters: TensorLike,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """Compute a convolution over one axis.

    `input` is [batch..., width, channels], `filters` [width, channels, outputs].

    Args:
        stride, dilations: an integer, or a list of 1 or 3.
        padding: "SAME", "VALID", or a list of `[before, after]` for every axis.
        data_format: "NWC", or "NCW".

    >>> conv1d([[[1.], [2.], [4.]]], [[[1.]], [[1.]]], 1, "VALID").numpy().tolist()
    [[[3.0], [6.0]]]
    """
    setting = _setting("conv1d", 1, stride, padding, data_format, dilations)
    return conv(input, filters, name=name, **setting)  # type: ignore[no-any-return]


_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def _over(n: int, name: str, manual: str) -> Callable[..., Tensor]:
    """Declare a convolution over `n` axes."""
    what = name

    @cached_dispatch
    def convolve(
        input: TensorLike, filters: TensorLike, strides: Any, padding: Any, data_format: str = _FORMATS[n],
        dilations: Any = None, name: Name = None,
    ) -> Tensor:  # fmt: skip
        setting = _setting(what, n, strides, padding, data_format, dilations)
        return conv(input, filters, name=name, **setting)  # type: ignore[no-any-return]

    return export_member(convolve, manual, export=(f"nn.{name}",))


conv2d = _over(2, "conv2d", """Compute a convolution over two axes: `input` is [batch..., height, width, channels].

    Args:
        filters: [height, width, channels, outputs]; with fewer channels than `input` for a grouped convolution.
        strides, dilations: an integer, or a list of 1, 2 or 4.
        padding: "SAME", "VALID", or a list of `[before, after]` for every axis.
        data_format: "NHWC", or "NCHW".

    >>> conv2d([[[[1.], [2.]], [[3.], [4.]]]], [[[[1.]], [[2.]]]], 1, "VALID").numpy().tolist()
    [[[[5.0]], [[11.0]]]]
    """)  # fmt: skip
conv3d = _over(3, "conv3d", """Compute a convolution over three axes.

    `input` is [batch..., depth, height, width, channels].

    >>> conv3d([[[[[1.], [2.]]]]], [[[[[3.]]]]], [1, 1, 1, 1, 1], "SAME").numpy().tolist()
    [[[[[3.0], [6.0]]]]]
    """)  # fmt: skip


@export("nn.convolution")
def convolution(
    input: TensorLike,
    filters: TensorLike,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """Compute a convolution over one, two or three axes: all axes of `filters` except the last two.

    The last two are the channels of the input and of the result. The other arguments are those of `conv2d`.

    >>> convolution([[[1.], [2.], [4.]]], [[[1.]], [[1.]]]).numpy().tolist()
    [[[3.0], [6.0]]]
    """
    filters = convert_to_tensor(filters)
    setting = _setting(
        "convolution", _spatial(filters, "convolution"), strides, padding, data_format, dilations
    )
    return conv(input, filters, name=name, **setting)  # type: ignore[no-any-return]


def _spatial(filters: Tensor, what: str) -> int:
    rank = filters.shape.rank
    if rank is None:
        raise ValueError(f"{what}: the rank of `filters` must be known before the graph runs")
    if not 3 <= rank <= 5:
        raise ValueError(f"{what}: `filters` must have rank 3, 4 or 5. Received: shape {filters.shape}")
    return rank - 2


def _transposed(n: int | None, name: str, manual: str) -> Callable[..., Tensor]:
    """Declare a transposed convolution over `n` axes; over all axes of `filters` but the last two if `n` is None."""
    what = name

    def transposed(
        input: TensorLike, filters: TensorLike, output_shape: Any, strides: Any, padding: Any = "SAME",
        data_format: str | None = None if n is None else _FORMATS[n], dilations: Any = None, name: Name = None,
    ) -> Tensor:  # fmt: skip
        filters = convert_to_tensor(filters)
        setting = _setting(what, n or _spatial(filters, what), strides, padding, data_format, dilations)
        return conv_backprop_input(output_shape, filters, input, name=name, **setting)  # type: ignore[no-any-return]

    return export_member(transposed, manual, export=(f"nn.{name}",))


conv_transpose = _transposed(None, "conv_transpose", """Compute a transposed convolution.

    It is the gradient of a convolution of a tensor of shape `output_shape`.

    Args:
        filters: [window..., output channels, channels of `input`].

    >>> conv_transpose([[[1.], [2.]]], [[[1.]], [[10.]]], [1, 4, 1], 2).numpy().tolist()
    [[[1.0], [10.0], [2.0], [20.0]]]
    """)  # fmt: skip
conv1d_transpose = _transposed(1, "conv1d_transpose", """Compute `conv_transpose` over one axis.

    >>> conv1d_transpose([[[1.], [2.]]], [[[1.]], [[10.]]], [1, 4, 1], 2).numpy().tolist()
    [[[1.0], [10.0], [2.0], [20.0]]]
    """)  # fmt: skip
conv2d_transpose = _transposed(2, "conv2d_transpose", """Compute `conv_transpose` over two axes.

    >>> conv2d_transpose([[[[2.]]]], [[[[1.]], [[10.]]]], [1, 1, 2, 1], [1, 2]).numpy().tolist()
    [[[[2.0], [20.0]]]]
    """)  # fmt: skip
conv3d_transpose = _transposed(3, "conv3d_transpose", """Compute `conv_transpose` over three axes.

    >>> conv3d_transpose([[[[[2.]]]]], [[[[[1.]], [[10.]]]]], [1, 1, 1, 2, 1], [1, 1, 2]).numpy().tolist()
    [[[[[2.0], [20.0]]]]]
    """)  # fmt: skip


@export("nn.atrous_conv2d")
def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: str, name: Name = None
) -> Tensor:
    """Compute `conv2d` with stride 1 and windows of every `rate`-th element.

    >>> atrous_conv2d([[[[1.], [2.], [4.]]]], [[[[1.]], [[1.]]]], 2, "VALID").numpy().tolist()
    [[[[5.0]]]]
    """
    return conv2d(value, filters, 1, padding, dilations=_rate(rate), name=name)


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: Any, rate: int, padding: str, name: Name = None
) -> Tensor:
    """Compute the transpose of `atrous_conv2d`: its gradient with respect to the input, of shape `output_shape`.

    >>> atrous_conv2d_transpose([[[[5.]]]], [[[[1.]], [[2.]]]], [1, 1, 3, 1], 2, "VALID").numpy().tolist()
    [[[[5.0], [0.0], [10.0]]]]
    """
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=_rate(rate), name=name)


def _rate(rate: int) -> int:
    if rate < 1:
        raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
    return rate


@export("nn.depthwise_conv2d")
@cached_dispatch
def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """Convolve each channel separately: `filter` is [height, width, channels, outputs for each channel].

    The other arguments are those of `conv2d`.

    >>> depthwise_conv2d([[[[1., 2.]]]], [[[[3.], [4.]]]], [1, 1, 1, 1], "SAME").numpy().tolist()
    [[[[3.0, 8.0]]]]
    """
    setting = _setting("depthwise_conv2d", 2, strides, padding, data_format, dilations)
    return conv(input, _one_channel_each(filter), name=name, **setting)  # type: ignore[no-any-return]


def _one_channel_each(filter: Any) -> Tensor:
    """Return the filters of `depthwise_conv2d` in the layout of `conv`."""
    filter = convert_to_tensor(filter)
    known = filter.shape.sizes
    if known is not None and len(known) != 4:
        raise ValueError(f"depthwise_conv2d: `filter` must have rank 4. Received: shape {filter.shape}")
    if is_static(known):
        height, width, channels, multiplier = known
        return reshape(filter, [height, width, 1, channels * multiplier])  # type: ignore[no-any-return]
    return reshape(filter, _sizes_for_one_channel(shape_of(filter)))  # type: ignore[no-any-return]


def _sizes_for_one_channel(sizes: Any) -> Tensor:
    sizes = convert_to_tensor(sizes)
    return concat([sizes[:2], zeros([1], sizes.dtype) + 1, sizes[2:3] * sizes[3:4]], 0)  # type: ignore[no-any-return]


@export("nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: Name = None,
) -> Tensor:
    """Return the gradient of `depthwise_conv2d` with respect to its input, whose shape is `input_sizes`.

    >>> dy, ones = [[[[1., 10.]]]], [1, 1, 1, 1]
    >>> depthwise_conv2d_backprop_input([1, 1, 1, 2], [[[[3.], [4.]]]], dy, ones, "SAME").numpy().tolist()
    [[[[3.0, 40.0]]]]
    """
    setting = _setting("depthwise_conv2d_backprop_input", 2, strides, padding, data_format, dilations)
    return conv_backprop_input(  # type: ignore[no-any-return]
        input_sizes, _one_channel_each(filter), out_backprop, name=name, **setting
    )


@export("nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: Any,
    out_backprop: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: Name = None,
) -> Tensor:
    """Return the gradient of `depthwise_conv2d` with respect to its filter, whose shape is `filter_sizes`.

    >>> x, dy, ones = [[[[1., 2.]]]], [[[[1., 10.]]]], [1, 1, 1, 1]
    >>> depthwise_conv2d_backprop_filter(x, [1, 1, 2, 1], dy, ones, "SAME").numpy().tolist()
    [[[[1.0], [20.0]]]]
    """
    setting = _setting("depthwise_conv2d_backprop_filter", 2, strides, padding, data_format, dilations)
    found = conv_backprop_filter(input, _sizes_for_one_channel(filter_sizes), out_backprop, **setting)
    return reshape(found, filter_sizes, name)  # type: ignore[no-any-return]


@export("nn.separable_conv2d")
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: Name = None,
) -> Tensor:
    """Compute `depthwise_conv2d`, followed by a pointwise convolution that mixes the channels.

    `pointwise_filter` is [1, 1, channels of the first result, channels of the second].

    >>> separable_conv2d([[[[1., 2.]]]], [[[[3.], [4.]]]], [[[[1.], [10.]]]], [1, 1, 1, 1], "SAME").numpy()
    array([[[[83.]]]], dtype=float32)
    """
    channels = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(channels, pointwise_filter, 1, "VALID", data_format or "NHWC", name=name)
