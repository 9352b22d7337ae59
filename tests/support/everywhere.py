"""A function, run eagerly, as a plan and by the interpreter, on tensors without static shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np


def everywhere(function: Callable[..., Any], *arrays: Any) -> Any:
    """What the function gives, as NumPy arrays; the same in every way of running it, or an AssertionError."""
    tensors = [tf.convert_to_tensor(array) for array in arrays]
    expected = values(function(*tensors))
    for shape in (lambda t: [None] * t.shape.rank, lambda t: None):
        signature = [tf.TensorSpec(shape(t), t.dtype) for t in tensors]
        for executor in ("plan", "interpret"):
            traced = tf.function(function, input_signature=signature, experimental_executor=executor)
            for one, other in zip(values(traced(*tensors)), expected, strict=True):
                np.testing.assert_array_equal(one, other)
    return expected[0] if len(expected) == 1 else expected


def values(result: Any) -> list[Any]:
    """The arrays of one tensor, or of several."""
    return [tensor.numpy() for tensor in (result if isinstance(result, (tuple, list)) else [result])]
