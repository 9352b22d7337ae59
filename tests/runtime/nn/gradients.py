"""Gradients that operations declare, held against central differences.

>>> check(tf.square, [2.0])    # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np


def gradients_of(op: Any, arrays: list[Any], attrs: dict[str, Any], weights: Any) -> Any:
    """What `op` says that the gradients of `sum(weights * op(arrays))` are."""
    tensors = [tf.constant(array) for array in arrays]
    found = op.differentiate(tf.constant(weights), op(*tensors, **attrs), *tensors, **attrs)
    return found if isinstance(found, (tuple, list)) else (found,)


def check(op: Any, *arrays: Any, step: float = 1e-5, skip: tuple[int, ...] = (), **attrs: Any) -> None:
    """Each input's gradient is the slope of the result, in float64, at every element."""
    arrays_ = [
        np.array(array, np.float64 if np.asarray(array).dtype.kind == "f" else None) for array in arrays
    ]
    result = op(*arrays_, **attrs).numpy()
    weights = np.random.default_rng(8).normal(size=result.shape)
    found = gradients_of(op, arrays_, attrs, weights)
    for place, (array, gradient) in enumerate(zip(arrays_, found, strict=True)):
        if gradient is None or place in skip:
            assert array.dtype.kind != "f" or place in skip
            continue
        slopes = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            ends = []
            for side in (step, -step):
                moved = [np.array(other) for other in arrays_]
                moved[place][index] += side
                ends.append(np.sum(weights * op(*moved, **attrs).numpy()))
            slopes[index] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(gradient.numpy(), slopes, rtol=1e-4, atol=1e-6)
