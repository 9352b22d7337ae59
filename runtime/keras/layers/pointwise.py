"""Layers that are a function of each element, or of each vector: activations, scaling, noise, dropout.

>>> ReLU()([[-1.0, 2.0]]).numpy().tolist()
[[0.0, 2.0]]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from agc import runtime as tf

from .. import activations, random, regularizers
from .base import Layer
from .specs import InputSpec


class _Masked(Layer):
    """Base class of those that leave masks as they are."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.built = True


class Activation(_Masked):
    """An activation, by name or function, as a layer."""

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class ReLU(_Masked):
    """`activations.relu` as a layer."""

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for name, value in (
            ("max_value", max_value),
            ("negative_slope", negative_slope),
            ("threshold", threshold),
        ):
            if (value is None and name != "max_value") or (value is not None and value < 0.0):
                raise ValueError(
                    f"{name} of a ReLU layer cannot be a negative value. Received: {name}={value}"
                )
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs: Any) -> Any:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(_Masked):
    """`x` where it is positive, `negative_slope * x` elsewhere."""

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        negative_slope = kwargs.pop("alpha", negative_slope)  # TensorFlow 2.3's spelling
        super().__init__(**kwargs)
        if negative_slope is None or negative_slope < 0:
            raise ValueError(
                "The negative_slope value of a Leaky ReLU layer cannot be None or negative value. "
                f"Expected a float. Received: negative_slope={negative_slope}"
            )
        self.negative_slope = negative_slope

    def call(self, inputs: Any) -> Any:
        return activations.leaky_relu(inputs, self.negative_slope)


class ELU(_Masked):
    """`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        return activations.elu(inputs, self.alpha)


class PReLU(Layer):
    """A leaky ReLU whose slope is learned for each element; the same along `shared_axes`."""

    def __init__(
        self,
        alpha_initializer: Any = "Zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._set_parts(locals(), "alpha")
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes

    def build(self, input_shape: Any) -> None:
        sizes = list(input_shape[1:])
        for axis in self.shared_axes or ():
            sizes[axis - 1] = 1
        self.alpha = self._add_part("alpha", sizes)

    def call(self, inputs: Any) -> Any:
        return tf.nn.relu(inputs) - self.alpha * tf.nn.relu(-inputs)


class Softmax(_Masked):
    """`activations.softmax` as a layer. What `mask` is False for gets nothing."""

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if mask is not None:
            inputs += (1.0 - tf.cast(mask, inputs.dtype)) * (-3e4 if inputs.dtype == tf.float16 else -1e9)
        if isinstance(self.axis, (tuple, list)):
            axes = list(self.axis)
            return tf.exp(inputs - tf.reduce_logsumexp(inputs, axis=axes, keepdims=True))
        return activations.softmax(inputs, axis=self.axis)


class Rescaling(_Masked):
    """`inputs * scale + offset`."""

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs: Any) -> Any:
        inputs = tf.cast(inputs, self._dtype)
        return inputs * tf.cast(self.scale, self._dtype) + tf.cast(self.offset, self._dtype)


class ActivityRegularization(_Masked):
    """The input itself, whose size is added to the losses."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **kwargs)
        self.l1, self.l2 = l1, l2

    def call(self, inputs: Any) -> Any:
        return inputs


class _Random(_Masked):
    """Base class of those that do something while training only, with a seed."""

    def __init__(self, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed
        self.seed_generator = random.SeedGenerator(seed)

    def call(self, inputs: Any, training: Any = False) -> Any:
        if isinstance(training, tf.Tensor):
            return tf.cond(
                tf.cast(training, tf.bool), lambda: self._changed(inputs), lambda: tf.identity(inputs)
            )
        return self._changed(inputs) if training else inputs

    def _changed(self, inputs: Any) -> Any:
        raise NotImplementedError


class Dropout(_Random):
    """While training, a share `rate` of the elements is 0, and the others are larger by `1 / (1 - rate)`.

    Args:
        noise_shape: a shape with 1 where all are to be dropped together.
        seed: for the same elements in every run of the program.
    """

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(None if not rate else seed, **kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                "Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                f"Received: rate={rate}"
            )
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def _changed(self, inputs: Any) -> Any:
        if not self.rate:
            return inputs
        if self.rate == 1:
            return tf.zeros_like(inputs)
        return random.dropout(inputs, self.rate, self._noise(inputs), self.seed_generator)

    def _noise(self, inputs: Any) -> Any:
        return self.noise_shape


class SpatialDropout1D(Dropout):
    """Dropout of whole features of sequences."""

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(rate, seed=seed, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _noise(self, inputs: Any) -> Any:
        return [None, 1, None]


class SpatialDropout2D(Dropout):
    """Dropout of whole channels of images."""

    def __init__(
        self, rate: float, data_format: str | None = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(rate, seed=seed, **kwargs)
        self.data_format = data_format or "channels_last"
        self.input_spec = InputSpec(ndim=4)

    def _noise(self, inputs: Any) -> Any:
        return [None, 1, 1, None] if self.data_format == "channels_last" else [None, None, 1, 1]


class GaussianNoise(_Random):
    """While training, normal numbers with this deviation are added."""

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        if not 0 <= stddev <= 1:
            raise ValueError(
                "Invalid value received for argument `stddev`. Expected a float value between 0 and 1. "
                f"Received: stddev={stddev}"
            )
        self.stddev = stddev

    def _changed(self, inputs: Any) -> Any:
        return inputs + random.normal(tf.shape(inputs), 0.0, self.stddev, inputs.dtype, self.seed_generator)


class GaussianDropout(_Random):
    """While training, multiplied by normal numbers around 1, whose deviation is `sqrt(rate / (1 - rate))`."""

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(seed, **kwargs)
        if not 0 <= rate < 1:
            raise ValueError(
                f"Invalid value received for argument `rate`: it must be in [0, 1). Received: {rate}"
            )
        self.rate = rate

    def _changed(self, inputs: Any) -> Any:
        deviation = math.sqrt(self.rate / (1.0 - self.rate))
        return inputs * random.normal(tf.shape(inputs), 1.0, deviation, inputs.dtype, self.seed_generator)


class Normalization(Layer):
    """`(inputs - mean) / sqrt(variance)`, with those of data that `adapt` has seen, or that are given.

    Args:
        axis: the dimensions that have a mean of their own; None for one mean of all.
        invert: go back from normalized numbers.
    """

    def __init__(
        self, axis: Any = -1, mean: Any = None, variance: Any = None, invert: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. "
                f"Received: mean={mean} and variance={variance}"
            )
        self.axis, self.invert = axis, invert
        self.mean, self.variance = mean, variance

    def build(self, input_shape: Any) -> None:
        axes = () if self.axis is None else (self.axis,) if isinstance(self.axis, int) else tuple(self.axis)
        rank = len(input_shape)
        self._kept = sorted(axis % rank for axis in axes)
        self._broadcast = [input_shape[i] if i in self._kept else 1 for i in range(rank)]
        sizes = tuple(input_shape[i] for i in self._kept)
        if self.mean is None:
            self.adapt_mean = self.add_weight(sizes, "zeros", trainable=False, name="mean")
            self.adapt_variance = self.add_weight(sizes, "ones", trainable=False, name="variance")
            self.count = self.add_weight((), "zeros", dtype="int32", trainable=False, name="count")

    def adapt(self, data: Any) -> None:
        """Take mean and variance of an array, a tensor or a Dataset of batches."""
        if hasattr(data, "as_numpy_iterator"):
            data = np.concatenate([np.asarray(batch) for batch in data.as_numpy_iterator()])
        array = np.asarray(data, np.float64)
        array = array[:, None] if array.ndim == 1 else array
        if not self.built:
            self.build(array.shape)
        others = tuple(i for i in range(array.ndim) if i not in self._kept)
        self.adapt_mean.assign(array.mean(others).astype(self._dtype.as_numpy_dtype))
        self.adapt_variance.assign(array.var(others).astype(self._dtype.as_numpy_dtype))
        self.count.assign(len(array))

    def call(self, inputs: Any) -> Any:
        inputs = tf.cast(inputs, self._dtype)
        mean = self.adapt_mean if self.mean is None else tf.cast(self.mean, self._dtype)
        variance = self.adapt_variance if self.variance is None else tf.cast(self.variance, self._dtype)
        if self.mean is None:
            mean, variance = tf.reshape(mean, self._broadcast), tf.reshape(variance, self._broadcast)
        deviation = tf.maximum(tf.sqrt(tf.convert_to_tensor(variance)), 1e-7)
        return mean + inputs * deviation if self.invert else (inputs - mean) / deviation
