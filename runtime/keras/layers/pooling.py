"""Pooling: the largest or the mean of windows of sequences and images, or of all of it.

>>> MaxPooling2D()(tf.reshape(tf.range(16.0), [1, 4, 4, 1]))[0, :, :, 0].numpy().tolist()
[[5.0, 7.0], [13.0, 15.0]]
"""

from __future__ import annotations

from typing import Any, ClassVar

from agc import runtime as tf

from ..settings import checked_data_format
from .base import Layer
from .convolution import sizes
from .specs import InputSpec


class _Pooling(Layer):
    """Base class: windows of `pool_size`, each `strides` further than the last (default: as far as they are wide)."""

    rank: ClassVar[int]
    kind: ClassVar[str]

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes(pool_size, self.rank, "pool_size")
        self.strides = sizes(pool_size if strides is None else strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be 'valid' or 'same'. Received: padding={padding}")
        self.data_format = checked_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        first = self.data_format == "channels_first"
        if first:
            inputs = tf.transpose(inputs, [0, *range(2, self.rank + 2), 1])
        result = tf.nn.pool(
            inputs, list(self.pool_size), self.kind, strides=list(self.strides), padding=self.padding.upper()
        )
        return tf.transpose(result, [0, self.rank + 1, *range(1, self.rank + 1)]) if first else result


class MaxPooling1D(_Pooling):
    """The largest of each window of a sequence."""

    rank, kind = 1, "MAX"


class MaxPooling2D(_Pooling):
    """The largest of each window of an image."""

    rank, kind = 2, "MAX"


class MaxPooling3D(_Pooling):
    """The largest of each window of a volume."""

    rank, kind = 3, "MAX"


class AveragePooling1D(_Pooling):
    """The mean of each window of a sequence."""

    rank, kind = 1, "AVG"


class AveragePooling2D(_Pooling):
    """The mean of each window of an image."""

    rank, kind = 2, "AVG"


class AveragePooling3D(_Pooling):
    """The mean of each window of a volume."""

    rank, kind = 3, "AVG"


class _Global(Layer):
    """Base class: all of it as one window. With `keepdims` the dimensions stay, with size 1."""

    rank: ClassVar[int]

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format, self.keepdims = checked_data_format(data_format), keepdims
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _axes(self) -> list[int]:
        start = 2 if self.data_format == "channels_first" else 1
        return list(range(start, start + self.rank))

    def call(self, inputs: Any) -> Any:
        return self._pooled(inputs)

    def _pooled(self, inputs: Any) -> Any:
        raise NotImplementedError


class _GlobalMax(_Global):
    def _pooled(self, inputs: Any) -> Any:
        return tf.reduce_max(inputs, axis=self._axes, keepdims=self.keepdims)


class _GlobalAverage(_Global):
    def _pooled(self, inputs: Any) -> Any:
        return tf.reduce_mean(inputs, axis=self._axes, keepdims=self.keepdims)


class GlobalMaxPooling1D(_GlobalMax):
    """The largest of all steps."""

    rank = 1


class GlobalMaxPooling2D(_GlobalMax):
    """The largest of all pixels."""

    rank = 2


class GlobalMaxPooling3D(_GlobalMax):
    """The largest of all of a volume."""

    rank = 3


class GlobalAveragePooling1D(_GlobalAverage):
    """The mean of all steps that count."""

    rank = 1

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any) -> None:
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return self._pooled(inputs)
        (steps,) = self._axes
        weight = tf.expand_dims(tf.cast(mask, inputs.dtype), 2 if steps == 1 else 1)
        total = tf.reduce_sum(inputs * weight, axis=steps, keepdims=self.keepdims)
        return total / tf.reduce_sum(weight, axis=steps, keepdims=self.keepdims)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return None


class GlobalAveragePooling2D(_GlobalAverage):
    """The mean of all pixels."""

    rank = 2


class GlobalAveragePooling3D(_GlobalAverage):
    """The mean of all of a volume."""

    rank = 3
