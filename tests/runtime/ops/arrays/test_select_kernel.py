"""`where` gives NumPy's bits for each dtype and order of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agc.runtime.ops.arrays.select_kernel import selected

SHAPE = (60, 100)
DTYPES = ("bool", "int8", "uint16", "int32", "float16", "float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_selection_is_that_of_numpy(dtype: str) -> None:
    random = np.random.default_rng(0)
    condition = random.random(SHAPE) > 0.5
    x, y = ((random.standard_normal(SHAPE) * 100).astype(dtype) for _ in range(2))
    x.flat[0] = y.flat[1] = np.nan if np.issubdtype(dtype, np.inexact) else 1
    operands: list[tuple[Any, Any]] = [
        (x, y), (x, y[0, 0]), (np.asarray(x[0, 0]), y), (x[0, 0], y[0, 1]), (x.copy(order="F"), y),
        (x[0], y), (x[::-1], y[::-1]),
    ]  # fmt: skip
    for one, other in operands:
        found, expected = selected(condition, one, other), np.where(condition, one, other)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


def test_a_selection_of_texts() -> None:
    condition = np.arange(6_000) % 2 == 0
    found = selected(condition, np.full(6_000, b"yes", object), np.asarray(b"no", object))
    assert found[:2].tolist() == [b"yes", b"no"]
