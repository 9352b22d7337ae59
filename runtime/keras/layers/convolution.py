"""Convolutions of sequences, images and volumes, and what all layers that convolve have in common.

>>> Conv2D(4, 3, padding="same")(tf.zeros([1, 5, 5, 2])).shape
TensorShape([1, 5, 5, 4])
"""

from __future__ import annotations

from typing import Any, ClassVar

from agc import runtime as tf

from .. import activations
from ..settings import checked_data_format
from .base import Layer
from .specs import InputSpec


def sizes(value: Any, rank: int, name: str) -> tuple[int, ...]:
    """A positive integer for each dimension, of one for all or one for each."""
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(found) != rank or any(not isinstance(size, int) or size <= 0 for size in found):
        raise ValueError(
            f"The `{name}` argument must be a tuple of {rank} positive integers. Received: {name}={value}"
        )
    return found


def sizes_from_0(value: Any, rank: int) -> tuple[int, ...]:
    """An integer for each dimension."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


class Convolving(Layer):
    """Base class: what convolutions have in common."""

    rank: ClassVar[int]
    kernels: ClassVar[tuple[str, ...]] = ("kernel",)

    def _set(self, arguments: dict[str, Any]) -> None:
        rank = self.rank
        self.filters = arguments.get("filters")
        if self.filters is not None and self.filters <= 0:
            raise ValueError(
                "Invalid value for argument `filters`. Expected a strictly positive value. "
                f"Received filters={self.filters}."
            )
        self.kernel_size = sizes(arguments["kernel_size"], rank, "kernel_size")
        self.strides = sizes(arguments["strides"], rank, "strides")
        self.dilation_rate = sizes(arguments["dilation_rate"], rank, "dilation_rate")
        self.padding = str(arguments["padding"]).lower()
        allowed = ("valid", "same", "causal") if rank == 1 else ("valid", "same")
        if self.padding not in allowed:
            raise ValueError(
                f"The `padding` argument must be one of {allowed}. Received: padding={arguments['padding']}"
            )
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
                f"Received: strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        self.data_format = checked_data_format(arguments["data_format"])
        self.activation = activations.get(arguments["activation"])
        self.use_bias = arguments["use_bias"]
        self._set_parts(arguments, *self.kernels, "bias")
        self.input_spec = InputSpec(min_ndim=rank + 2)
        self.bias: Any = None

    @property
    def _layout(self) -> str:
        """The order of dimensions, as operations name it."""
        spatial = "DHW"[-self.rank :]
        return f"NC{spatial}" if self.data_format == "channels_first" else f"N{spatial}C"

    @property
    def _channel(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def _channels(self, input_shape: Any) -> int:
        channels = input_shape[self._channel]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs should be defined. The input_shape received is "
                f"{input_shape}, where axis {self._channel} (0-based) is the channel dimension, which found to be "
                "`None`."
            )
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={self._channel: channels})
        return int(channels)

    def _finished(self, result: Any) -> Any:
        """The bias and the activation."""
        if self.bias is not None:
            result += tf.reshape(self.bias, [1, -1, *[1] * self.rank]) if self._channel == 1 else self.bias
        return self.activation(result)

    def _make_bias(self, size: int) -> None:
        if self.use_bias:
            self.bias = self._add_part("bias", (size,))

    def _causal(self, inputs: Any) -> Any:
        """With 0 before the first step, so that no output depends on later steps."""
        if self.padding != "causal":
            return inputs
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        around = [[0, 0], [before, 0], [0, 0]] if self._channel == -1 else [[0, 0], [0, 0], [before, 0]]
        return tf.pad(inputs, around)

    @property
    def _padding(self) -> str:
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def _spread(self, spatial: tuple[int, ...]) -> list[int]:
        """Strides or dilations for each dimension."""
        return [1, 1, *spatial] if self._channel == 1 else [1, *spatial, 1]


class _Convolution(Convolving):
    groups: int

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        assert self.filters is not None
        if channels % self.groups or self.filters % self.groups:
            raise ValueError(
                f"The number of input channels and of filters must be divisible by the number of groups. "
                f"Received: groups={self.groups}, channels={channels}, filters={self.filters}"
            )
        self.kernel: Any = self._add_part(
            "kernel", (*self.kernel_size, channels // self.groups, self.filters)
        )
        self._make_bias(self.filters)

    def call(self, inputs: Any) -> Any:
        inputs = self._causal(inputs)
        kernel = tf.convert_to_tensor(self.kernel)
        if self.groups == 1:
            return self._finished(self._convolved(inputs, kernel))
        channels, kernels = (
            tf.split(inputs, self.groups, axis=self._channel),
            tf.split(kernel, self.groups, axis=-1),
        )
        results = [self._convolved(x, w) for x, w in zip(channels, kernels, strict=True)]
        return self._finished(tf.concat(results, axis=self._channel))

    def _convolved(self, inputs: Any, kernel: Any) -> Any:
        return tf.nn.convolution(
            inputs,
            kernel,
            strides=list(self.strides),
            padding=self._padding,
            data_format=self._layout,
            dilations=list(self.dilation_rate),
        )


class Conv1D(_Convolution):
    """A convolution of sequences; with padding "causal" no output depends on later steps."""

    rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set(locals())
        self.groups = groups


class Conv2D(_Convolution):
    """A convolution of images."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set(locals())
        self.groups = groups


class Conv3D(_Convolution):
    """A convolution of volumes."""

    rank = 3

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set(locals())
        self.groups = groups
