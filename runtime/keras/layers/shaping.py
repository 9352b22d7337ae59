"""Layers that arrange what is there in another shape: Flatten, Reshape, Permute, RepeatVector, padding, cropping.

>>> Flatten()(tf.zeros([2, 3, 4])).shape
TensorShape([2, 12])
"""

from __future__ import annotations

import math
from typing import Any

from agc import runtime as tf

from ..settings import checked_data_format
from .base import Layer
from .specs import InputSpec


class Flatten(Layer):
    """All dimensions but the batch's as one."""

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = checked_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        rank = inputs.shape.rank
        if rank == 1:
            return tf.expand_dims(inputs, 1)
        if self.data_format == "channels_first" and rank > 2:
            inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
        sizes = inputs.shape.as_list()[1:]
        if None in sizes:
            return tf.reshape(inputs, [tf.shape(inputs)[0], -1])
        return tf.reshape(inputs, [-1, math.prod(sizes)] if math.prod(sizes) else [tf.shape(inputs)[0], 0])


class Reshape(Layer):
    """Each sample in the shape `target_shape`, in which one size may be -1."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)
        if self.target_shape.count(-1) > 1:
            raise ValueError(
                "There must be at most one unknown dimension (-1) in target_shape. "
                f"Received: target_shape={self.target_shape}."
            )

    def call(self, inputs: Any) -> Any:
        sizes = inputs.shape.as_list()[1:]
        target = self.target_shape
        if -1 in target and None not in sizes:
            known = math.prod(size for size in target if size != -1)
            whole = math.prod(sizes)
            if not known or whole % known:
                raise ValueError(
                    f"The total size of the tensor must be unchanged. Received: input_shape={tuple(sizes)}, "
                    f"target_shape={target}"
                )
            target = tuple(whole // known if size == -1 else size for size in target)
        return tf.reshape(
            inputs, [tf.shape(inputs)[0] if inputs.shape[0] is None else inputs.shape[0], *target]
        )


class Permute(Layer):
    """The dimensions of each sample in another order; the first is 1."""

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must be "
                f"consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        return tf.transpose(inputs, [0, *self.dims])


class RepeatVector(Layer):
    """Each vector `n` times: a sequence."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        return tf.tile(tf.expand_dims(inputs, 1), [1, self.n, 1])


def pairs(value: Any, count: int, what: str) -> tuple[tuple[int, int], ...]:
    """How much before and after each dimension: of an integer, an integer for each, or a pair for each."""
    if isinstance(value, int):
        return ((value, value),) * count
    items = tuple(value)
    if count == 1 and len(items) == 2 and all(isinstance(item, int) for item in items):
        return (items,)
    if len(items) != count:
        raise ValueError(f"`{what}` should have {count} elements. Received: {what}={value}")
    return tuple((item, item) if isinstance(item, int) else tuple(item) for item in items)


class _Spatial(Layer):
    """Base class: what goes for the dimensions between the batch's and the channels'."""

    rank: int

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = checked_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _all(self, spatial: Any, other: Any) -> list[Any]:
        """A value for each dimension."""
        if self.data_format == "channels_first":
            return [other, other, *spatial]
        return [other, *spatial, other]


class _Padding(_Spatial):
    def call(self, inputs: Any) -> Any:
        return tf.pad(inputs, [list(pair) for pair in self._all(self.padding, (0, 0))])

    padding: Any


class ZeroPadding1D(_Padding):
    """0 before and after the steps of a sequence."""

    rank = 1

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs(padding, 1, "padding")


class ZeroPadding2D(_Padding):
    """0 around images: one number, one for rows and one for columns, or a pair for each."""

    rank = 2

    def __init__(self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs(padding, 2, "padding")


class ZeroPadding3D(_Padding):
    """0 around volumes."""

    rank = 3

    def __init__(self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.padding = pairs(padding, 3, "padding")


class _Cropping(_Spatial):
    cropping: Any

    def call(self, inputs: Any) -> Any:
        cut = [slice(before, -after if after else None) for before, after in self.cropping]
        return inputs[tuple(self._all(cut, slice(None)))]


class Cropping1D(_Cropping):
    """Sequences without their first and last steps."""

    rank = 1

    def __init__(self, cropping: Any = (1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping = pairs(cropping, 1, "cropping")


class Cropping2D(_Cropping):
    """Images without their borders."""

    rank = 2

    def __init__(
        self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.cropping = pairs(cropping, 2, "cropping")


class UpSampling1D(Layer):
    """Each step `size` times."""

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(inputs, self.size, axis=1)


class UpSampling2D(_Spatial):
    """Images made larger: each row and column so many times ("nearest"), or on the line between two ("bilinear")."""

    rank = 2

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, **kwargs)
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError(f"`interpolation` must be 'nearest' or 'bilinear'. Received: {interpolation}")
        self.interpolation = interpolation

    def call(self, inputs: Any) -> Any:
        rows, columns = (2, 3) if self.data_format == "channels_first" else (1, 2)
        for axis, times in ((rows, self.size[0]), (columns, self.size[1])):
            inputs = (
                _stretched(inputs, axis, times)
                if self.interpolation == "bilinear"
                else tf.repeat(inputs, times, axis=axis)
            )
        return inputs


def _stretched(x: Any, axis: int, times: int) -> Any:
    """`times` as many elements along an axis, on straight lines between the middles of those that are there."""
    count = tf.shape(x)[axis]
    middles = (tf.cast(tf.range(count * times), tf.float32) + 0.5) / times - 0.5
    below = tf.floor(middles)
    share = tf.reshape(middles - below, [-1 if i == axis else 1 for i in range(x.shape.rank)])
    first = tf.clip_by_value(tf.cast(below, tf.int32), 0, count - 1)
    second = tf.clip_by_value(tf.cast(below, tf.int32) + 1, 0, count - 1)
    share = tf.cast(share, x.dtype)
    return tf.gather(x, first, axis=axis) * (1 - share) + tf.gather(x, second, axis=axis) * share
