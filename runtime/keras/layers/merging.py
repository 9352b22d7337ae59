"""Layers of several inputs: Add, Concatenate and their kin, as classes and functions.

>>> Add()([tf.constant([1.0]), tf.constant([2.0])]).numpy().tolist()
[3.0]
"""

from __future__ import annotations

import functools
from typing import Any

from agc import runtime as tf

from .. import notes
from .base import Layer


class _Merge(Layer):
    """Base class: two inputs or more, of shapes that go together."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        if (
            not isinstance(input_shape, (list, tuple))
            or len(input_shape) < 1
            or not isinstance(input_shape[0], (tuple, list))
        ):
            raise ValueError(
                f"A merge layer should be called on a list of inputs. Received: input_shape={input_shape}"
            )

    def call(self, inputs: Any) -> Any:
        ranks = [tensor.shape.rank for tensor in inputs]
        highest = max(ranks)
        fitted = [_raised(tensor, highest) for tensor in inputs]
        return self._merged(fitted)

    def _merged(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        masks = [mask for mask in previous_mask or () if mask is not None]
        if not masks or len(masks) < len(inputs):
            return None
        return functools.reduce(tf.logical_or, masks)


class _Extreme(_Merge):
    """Base class of the largest and the smallest: an input counts only where its mask says so."""

    def _chosen(self, one: Any, other: Any) -> Any:
        raise NotImplementedError

    def _merged(self, inputs: list[Any]) -> Any:
        result, counts = inputs[0], _mask_of_elements(inputs[0])
        for x in inputs[1:]:
            mask = _mask_of_elements(x)
            if mask is not None:
                x = tf.where(mask, x, result)
            if counts is not None:
                result = tf.where(counts, result, x)
            counts = None if mask is None or counts is None else tf.logical_or(counts, mask)
            result = self._chosen(result, x)
        return result


def _mask_of_elements(tensor: Any) -> Any:
    """Which elements count: the mask of the steps, for each feature."""
    mask = notes.masks.get(tensor)
    return None if mask is None else tf.broadcast_to(tf.expand_dims(mask, -1), tf.shape(tensor))


def _raised(tensor: Any, rank: int) -> Any:
    """A tensor with as many dimensions, the new ones behind the batch's."""
    for _ in range(rank - tensor.shape.rank):
        tensor = tf.expand_dims(tensor, 1)
    return tensor


class Add(_Merge):
    """The sum of the inputs."""

    def _merged(self, inputs: list[Any]) -> Any:
        return functools.reduce(lambda a, b: a + b, inputs)


class Subtract(_Merge):
    """The first of two inputs minus the second."""

    def _merged(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError(
                f"A `Subtract` layer should be called on exactly 2 inputs. Received: {len(inputs)}"
            )
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of the inputs, element by element. A masked element is no factor; where all are masked it is 0."""

    def _merged(self, inputs: list[Any]) -> Any:
        masks = [_mask_of_elements(x) for x in inputs]
        factors = (
            x if mask is None else tf.where(mask, x, tf.ones([], x.dtype))
            for x, mask in zip(inputs, masks, strict=True)
        )
        result = functools.reduce(lambda a, b: a * b, factors)
        if any(mask is None for mask in masks):
            return result
        return tf.where(functools.reduce(tf.logical_or, masks), result, tf.zeros([], result.dtype))


class Average(_Merge):
    """The mean of the inputs."""

    def _merged(self, inputs: list[Any]) -> Any:
        return functools.reduce(lambda a, b: a + b, inputs) / len(inputs)


class Maximum(_Extreme):
    """The largest of the inputs, element by element."""

    def _chosen(self, one: Any, other: Any) -> Any:
        return tf.maximum(one, other)


class Minimum(_Extreme):
    """The smallest of the inputs, element by element."""

    def _chosen(self, one: Any, other: Any) -> Any:
        return tf.minimum(one, other)


class Concatenate(_Merge):
    """The inputs one after the other, along `axis`."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        return tf.concat(inputs, axis=self.axis)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        if not any(mask is not None for mask in previous_mask or ()):
            return None
        rank = inputs[0].shape.rank
        whole = [
            tf.ones_like(one, tf.bool)
            if mask is None
            else tf.broadcast_to(mask if mask.shape.rank == rank else tf.expand_dims(mask, -1), tf.shape(one))
            for one, mask in zip(inputs, previous_mask, strict=True)
        ]
        return tf.reduce_any(tf.concat(whole, axis=self.axis), axis=-1)


class Dot(_Merge):
    """The products of the vectors along `axes` of two inputs, all with all; with `normalize` their cosines."""

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axes, self.normalize = axes, normalize

    def call(self, inputs: Any) -> Any:
        if len(inputs) != 2:
            raise ValueError(f"A `Dot` layer should be called on exactly 2 inputs. Received: {len(inputs)}")
        axes = (self.axes, self.axes) if isinstance(self.axes, int) else tuple(self.axes)
        one, other = inputs
        first, second = axes[0] % one.shape.rank, axes[1] % other.shape.rank
        if self.normalize:
            one, other = tf.math.l2_normalize(one, first), tf.math.l2_normalize(other, second)
        letters = iter("bcdefghijklmnop")
        left = "".join("a" if i == 0 else "z" if i == first else next(letters) for i in range(one.shape.rank))
        right = "".join(
            "a" if i == 0 else "z" if i == second else next(letters) for i in range(other.shape.rank)
        )
        result = "a" + "".join(letter for letter in (left + right) if letter not in "az")
        product = tf.einsum(f"{left},{right}->{result}", one, other)
        return tf.expand_dims(product, 1) if len(result) == 1 else product

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return None


def add(inputs: Any, **kwargs: Any) -> Any:
    """The sum of the inputs."""
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """The first of two inputs minus the second."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Any, **kwargs: Any) -> Any:
    """The product of the inputs."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Any, **kwargs: Any) -> Any:
    """The mean of the inputs."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Any, **kwargs: Any) -> Any:
    """The largest of the inputs."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Any, **kwargs: Any) -> Any:
    """The smallest of the inputs."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """The inputs one after the other."""
    return Concatenate(axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any = -1, **kwargs: Any) -> Any:
    """The products of vectors of two inputs."""
    return Dot(axes, **kwargs)(inputs)
