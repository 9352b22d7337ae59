"""Normalization: numbers with mean 0 and variance 1, over a batch, a sample, or groups of its channels.

>>> LayerNormalization()(tf.constant([[1.0, 3.0]])).numpy().round(2).tolist()
[[-1.0, 1.0]]
"""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from .base import Layer


class BatchNormalization(Layer):
    """Each channel, by mean and variance of the batch while training, by those of past batches otherwise.

    Args:
        axis: the dimension of the channels.
        momentum: what stays of the moving mean and variance in a step.
        epsilon: added to the variance.
        center, scale: whether an offset beta is added, and there is a factor gamma.
    """

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        synchronized: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if renorm or synchronized:
            raise ValueError("BatchNormalization: `renorm` and `synchronized` are not supported")
        self.axis, self.momentum, self.epsilon = axis, momentum, epsilon
        self.center, self.scale, self.synchronized = center, scale, synchronized
        self.renorm, self.renorm_clipping, self.renorm_momentum = renorm, renorm_clipping, renorm_momentum
        self._set_parts(locals(), "beta", "gamma", "moving_mean", "moving_variance")
        self.supports_masking = True
        self.gamma: Any = None
        self.beta: Any = None

    def build(self, input_shape: Any) -> None:
        size = (input_shape[self.axis],)
        if self.scale:
            self.gamma = self._add_part("gamma", size)
        if self.center:
            self.beta = self._add_part("beta", size)
        self.moving_mean: Any = self._add_part("moving_mean", size, trainable=False)
        self.moving_variance: Any = self._add_part("moving_variance", size, trainable=False)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        axis = self.axis % inputs.shape.rank
        shape = [-1 if i == axis else 1 for i in range(inputs.shape.rank)]
        if training and self.trainable:
            mean, variance = self._moments(inputs, mask, [i for i in range(len(shape)) if i != axis])
            for moving, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
                moving.assign(moving * self.momentum + new * (1.0 - self.momentum))
        else:
            mean, variance = (
                tf.convert_to_tensor(self.moving_mean),
                tf.convert_to_tensor(self.moving_variance),
            )
        factor = tf.math.rsqrt(variance + self.epsilon)
        if self.gamma is not None:
            factor *= self.gamma
        offset = -mean * factor
        if self.beta is not None:
            offset += self.beta
        return inputs * tf.reshape(factor, shape) + tf.reshape(offset, shape)

    def _moments(self, inputs: Any, mask: Any, axes: list[int]) -> tuple[Any, Any]:
        if mask is None:
            mean, variance = tf.nn.moments(inputs, axes)
            return mean, variance
        weight = tf.cast(mask, inputs.dtype)
        while weight.shape.rank < inputs.shape.rank:
            weight = tf.expand_dims(weight, -1)
        weight = tf.broadcast_to(weight, tf.shape(inputs))
        total = tf.reduce_sum(weight, axis=axes)
        mean = tf.reduce_sum(inputs * weight, axis=axes) / total
        kept = tf.reshape(mean, [-1 if i not in axes else 1 for i in range(inputs.shape.rank)])
        variance = tf.reduce_sum(tf.math.squared_difference(inputs, kept) * weight, axis=axes) / total
        return mean, variance


class LayerNormalization(Layer):
    """Each sample along `axis`; gamma and beta have that dimension's size, or those dimensions' sizes."""

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self._set_parts(locals(), "beta", "gamma")
        self.supports_masking = True
        self.gamma: Any = None
        self.beta: Any = None

    def _axes(self, rank: int) -> list[int]:
        return sorted(axis % rank for axis in ([self.axis] if isinstance(self.axis, int) else self.axis))

    def build(self, input_shape: Any) -> None:
        size = tuple(input_shape[axis] for axis in self._axes(len(input_shape)))
        if self.scale:
            self.gamma = self._add_part("gamma", size)
        if self.center:
            self.beta = self._add_part("beta", size)

    def call(self, inputs: Any) -> Any:
        axes = self._axes(inputs.shape.rank)
        shape = [inputs.shape[i] if i in axes else 1 for i in range(inputs.shape.rank)]
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        factor = tf.math.rsqrt(variance + self.epsilon)
        if self.gamma is not None:
            factor *= tf.reshape(self.gamma, shape)
        result = (inputs - mean) * factor
        return result if self.beta is None else result + tf.reshape(self.beta, shape)


class GroupNormalization(Layer):
    """Each sample, by groups of its channels; with `groups=-1` each channel by itself."""

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.groups, self.axis, self.epsilon, self.center, self.scale = groups, axis, epsilon, center, scale
        self._set_parts(locals(), "beta", "gamma")
        self.supports_masking = True
        self.gamma: Any = None
        self.beta: Any = None

    def build(self, input_shape: Any) -> None:
        channels = input_shape[self.axis]
        if self.groups == -1:
            self.groups = channels
        if channels % self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a multiple of the number of channels ({channels})."
            )
        if self.scale:
            self.gamma = self._add_part("gamma", (channels,))
        if self.center:
            self.beta = self._add_part("beta", (channels,))

    def call(self, inputs: Any) -> Any:
        rank = inputs.shape.rank
        axis = self.axis % rank
        channels = inputs.shape[axis]
        sizes = [tf.shape(inputs)[i] if size is None else size for i, size in enumerate(inputs.shape)]
        grouped = tf.reshape(
            inputs, [*sizes[:axis], self.groups, channels // self.groups, *sizes[axis + 1 :]]
        )
        others = [i for i in range(1, rank + 1) if i != axis]
        mean, variance = tf.nn.moments(grouped, others, keepdims=True)
        result = tf.reshape((grouped - mean) * tf.math.rsqrt(variance + self.epsilon), sizes)
        shape = [channels if i == axis else 1 for i in range(rank)]
        if self.gamma is not None:
            result *= tf.reshape(self.gamma, shape)
        return result if self.beta is None else result + tf.reshape(self.beta, shape)


class UnitNormalization(Layer):
    """Vectors along `axis` become 1 long."""

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis
        self.supports_masking = True

    def call(self, inputs: Any) -> Any:
        return tf.math.l2_normalize(inputs, axis=self.axis, epsilon=1e-12)


class RMSNormalization(Layer):
    """Vectors by the root of the mean of their squares, times a factor for each element."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape: Any) -> None:
        self.scale: Any = self.add_weight((input_shape[self.axis],), "ones", name="scale")

    def call(self, inputs: Any) -> Any:
        mean = tf.reduce_mean(tf.square(inputs), axis=self.axis, keepdims=True)
        shape = [1] * inputs.shape.rank
        shape[self.axis] = -1
        return inputs * tf.math.rsqrt(mean + self.epsilon) * tf.reshape(self.scale, shape)
