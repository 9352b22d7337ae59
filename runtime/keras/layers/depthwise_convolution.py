"""Convolutions of each channel by itself, and separable ones, which mix the channels afterwards.

>>> DepthwiseConv2D(3, depth_multiplier=2, padding="same")(tf.zeros([1, 5, 5, 2])).shape
TensorShape([1, 5, 5, 4])
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .convolution import Convolving


class _ByChannel(Convolving):
    """Base class of convolutions of each channel with kernels of its own."""

    depth_multiplier: int

    def _depthwise(self, inputs: Any, kernel: Any) -> Any:
        inputs = self._causal(inputs)
        strides, dilations = self.strides, self.dilation_rate
        if self._channel == 1:
            inputs = tf.transpose(inputs, [0, *range(2, self.rank + 2), 1])
        if self.rank == 1:  # an image with one row
            inputs, kernel = tf.expand_dims(inputs, 1), tf.expand_dims(tf.convert_to_tensor(kernel), 0)
            strides, dilations = (strides[0], strides[0]), (1, dilations[0])
        result = tf.nn.depthwise_conv2d(
            inputs, kernel, [1, *strides, 1], self._padding, dilations=list(dilations)
        )
        return tf.squeeze(result, [1]) if self.rank == 1 else result

    def _back(self, result: Any) -> Any:
        """With channels where the input had them."""
        if self._channel == 1:
            return tf.transpose(result, [0, self.rank + 1, *range(1, self.rank + 1)])
        return result


class _Depthwise(_ByChannel):
    kernels = ("depthwise",)

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        self.kernel: Any = self._add_part(
            "kernel", (*self.kernel_size, channels, self.depth_multiplier), "depthwise"
        )
        self._make_bias(channels * self.depth_multiplier)

    def call(self, inputs: Any) -> Any:
        return self._finished(self._back(self._depthwise(inputs, self.kernel)))


class _Separable(_ByChannel):
    kernels = ("depthwise", "pointwise")

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        assert self.filters is not None
        self.depthwise_kernel: Any = self._add_part(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), "depthwise"
        )
        self.pointwise_kernel: Any = self._add_part(
            "pointwise_kernel",
            (*[1] * self.rank, channels * self.depth_multiplier, self.filters),
            "pointwise",
        )
        self._make_bias(self.filters)

    def call(self, inputs: Any) -> Any:
        by_channel = self._depthwise(inputs, self.depthwise_kernel)
        pointwise = tf.reshape(self.pointwise_kernel, self.pointwise_kernel.shape[-2:])
        return self._finished(self._back(tf.tensordot(by_channel, pointwise, 1)))


class DepthwiseConv1D(_Depthwise):
    """A convolution of each feature of a sequence by itself."""

    rank = 1

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set(locals())
        self.depth_multiplier = depth_multiplier


class DepthwiseConv2D(_Depthwise):
    """A convolution of each channel of an image by itself."""

    rank = 2

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set(locals())
        self.depth_multiplier = depth_multiplier


class SeparableConv1D(_Separable):
    """A convolution of each feature by itself, then a mix of the features of each step."""

    rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set(locals())
        self.depth_multiplier = depth_multiplier


class SeparableConv2D(_Separable):
    """A convolution of each channel by itself, then a mix of the channels of each pixel."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set(locals())
        self.depth_multiplier = depth_multiplier
