"""Transposed convolutions: from what a convolution gives to something of the size that it is given.

>>> Conv2DTranspose(4, 3, strides=2, padding="same")(tf.zeros([1, 5, 5, 2])).shape
TensorShape([1, 10, 10, 4])
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .convolution import Convolving, sizes_from_0


class _Transposed(Convolving):
    output_padding: Any

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        assert self.filters is not None
        self.kernel: Any = self._add_part("kernel", (*self.kernel_size, self.filters, channels))
        self._make_bias(self.filters)

    def call(self, inputs: Any) -> Any:
        places = range(2, 2 + self.rank) if self._channel == 1 else range(1, 1 + self.rank)
        known = inputs.shape
        spatial = []
        for i, place in enumerate(places):
            size = tf.shape(inputs)[place] if known[place] is None else known[place]
            spatial.append(self._length(size, i))
        batch = tf.shape(inputs)[0] if known[0] is None else known[0]
        shape = [batch, self.filters, *spatial] if self._channel == 1 else [batch, *spatial, self.filters]
        result = tf.nn.conv_transpose(
            inputs, self.kernel, tf.stack(shape) if any(tf.is_tensor(size) for size in shape) else shape,
            strides=list(self.strides), padding=self.padding.upper(), data_format=self._layout,
            dilations=list(self.dilation_rate),
        )  # fmt: skip
        return self._finished(result)

    def _length(self, size: Any, i: int) -> Any:
        """How long the output is, of which a convolution would give the input."""
        kernel = (self.kernel_size[i] - 1) * self.dilation_rate[i] + 1
        stride = self.strides[i]
        if self.output_padding is None:
            return size * stride if self.padding == "same" else size * stride + max(kernel - stride, 0)
        around = kernel // 2 if self.padding == "same" else 0
        return (size - 1) * stride + kernel - 2 * around + self.output_padding[i]


class Conv1DTranspose(_Transposed):
    """What a convolution of sequences does backwards: the output is longer."""

    rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
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
        self.output_padding = None if output_padding is None else sizes_from_0(output_padding, 1)


class Conv2DTranspose(_Transposed):
    """What a convolution of images does backwards: the output is larger."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
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
        self.output_padding = None if output_padding is None else sizes_from_0(output_padding, 2)
