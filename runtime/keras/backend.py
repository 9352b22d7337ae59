"""The module `tf.keras.backend`: the little of it that programs ask for, by Keras's names."""

from __future__ import annotations

from typing import Any

from agc import runtime as tf

from ..core.missing_names import explain as _explain
from .naming import forget as clear_session
from .settings import (
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from .symbolic import is_keras_tensor


def backend() -> str:
    """The name of the library that computes, as Keras has it."""
    return "tensorflow"


def int_shape(x: Any) -> tuple[Any, ...]:
    """The shape as a tuple, with None for unknown dimensions."""
    return tuple(x.shape)


def ndim(x: Any) -> Any:
    """The number of dimensions."""
    return x.ndim


def get_value(x: Any) -> Any:
    """The value as an array."""
    return x.numpy() if hasattr(x, "numpy") else x


def set_value(x: Any, value: Any) -> None:
    """Assign a variable."""
    x.assign(value)


def cast_to_floatx(x: Any) -> Any:
    """`x` in the usual dtype."""
    return tf.cast(x, floatx())


def count_params(x: Any) -> int:
    """How many elements a variable has."""
    count = x.shape.num_elements()
    assert count is not None
    return int(count)


__all__ = [
    "backend", "cast_to_floatx", "clear_session", "count_params", "epsilon", "floatx", "get_value", "image_data_format",
    "int_shape", "is_keras_tensor", "ndim", "set_epsilon", "set_floatx", "set_image_data_format", "set_value",
]  # fmt: skip

_explain(__name__)
