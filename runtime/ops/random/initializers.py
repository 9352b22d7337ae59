"""The initializers of TensorFlow's top level: `zeros_initializer`, `random_normal_initializer` and others.

>>> constant_initializer(3)([2]).numpy().tolist(), zeros_initializer()([2]).numpy().tolist()
([3, 3], [0.0, 0.0])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ..arrays.creation import constant, ones, zeros
from .stateful import normal, uniform
from .stateless import stateless_normal, stateless_uniform

_PARTITION = ("partition_shape", "partition_offset")


class _Initializer:
    """A callable that takes a shape and returns the initial value of a variable."""

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that recreate this initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Return an initializer with these arguments."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})

    def _shape(self, shape: Any, keywords: dict[str, Any]) -> Any:
        for name in keywords:
            if name not in _PARTITION:
                raise TypeError(f"Keyword argument should be one of {list(_PARTITION)}. Received: {name}")
        part = keywords.get("partition_shape")
        return shape if part is None else part


@export("zeros_initializer")
class zeros_initializer(_Initializer):  # noqa: N801
    """Initializer with zeros (False).

    >>> zeros_initializer()([2], dtype="int32").numpy().tolist()
    [0, 0]
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        return zeros(self._shape(shape, kwargs), _number_or_bool(dtype))


@export("ones_initializer")
class ones_initializer(_Initializer):  # noqa: N801
    """Initializer with ones (True).

    >>> ones_initializer()([2]).numpy().tolist()
    [1.0, 1.0]
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        return ones(self._shape(shape, kwargs), _number_or_bool(dtype))


@export("constant_initializer")
class constant_initializer(_Initializer):  # noqa: N801
    """Initializer with one `value`, or with as many values as the shape has elements.

    Raises TypeError when the number of values differs, and for a value that is not a number, string, list or array.

    >>> constant_initializer([1, 2, 3, 4])([2, 2]).numpy().tolist()
    [[1, 2], [3, 4]]
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, list or tuple of "
                "values, or numpy.ndarray."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return constant(self.value, dtype=dtype, shape=self._shape(shape, kwargs))

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


@export("random_normal_initializer")
class random_normal_initializer(_Initializer):  # noqa: N801
    """Initializer with normally distributed numbers. With a `seed` they are the same at each call.

    >>> random_normal_initializer(stddev=0.1, seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        wanted = dtypes.as_dtype(dtype)
        if not wanted.is_floating:
            raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {wanted}.")
        sizes = self._shape(shape, kwargs)
        if self.seed is None:
            return normal(sizes, self.mean, self.stddev, wanted)
        return stateless_normal(sizes, [self.seed, 0], self.mean, self.stddev, wanted)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


@export("random_uniform_initializer")
class random_uniform_initializer(_Initializer):  # noqa: N801
    """Initializer with uniformly distributed numbers. With a `seed` they are the same at each call.

    >>> import agc.runtime as tf
    >>> make = tf.random_uniform_initializer(-1.0, 1.0, seed=5)
    >>> make([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Any:
        wanted = dtypes.as_dtype(dtype)
        if not wanted.is_floating and not wanted.is_integer:
            raise ValueError(
                f"Argument `dtype` is expected to be integer or floating point. Received: {wanted}."
            )
        low, high = convert_to_tensor(self.minval, wanted), convert_to_tensor(self.maxval, wanted)
        sizes = self._shape(shape, kwargs)
        if self.seed is None:
            return uniform(sizes, low, high, wanted)
        return stateless_uniform(sizes, [self.seed, 0], low, high, wanted)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


def _number_or_bool(dtype: Any) -> dtypes.DType:
    wanted = dtypes.as_dtype(dtype)
    if not (wanted.is_numeric or wanted.is_bool):
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {wanted}.")
    return wanted
