"""Random matrices of each dtype of linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def matrices(dtype: Any, *shape: int) -> Any:
    """Return matrices of normal numbers, the same ones in each call."""
    numbers = np.random.default_rng(5).normal(size=(2, *shape))
    return (numbers[0] + (1j * numbers[1] if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


def close(one: Any, other: Any) -> None:
    """Compare the results of algorithms that round differently."""
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-3, atol=2e-4)
