"""Fourier transforms of many lines at once, and those that threads share, are those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agc.runtime.kernels import fourier

SHAPES = [(5,), (20, 28), (9, 2, 8), (3, 21, 12), (2, 7, 9, 30)]


@pytest.mark.parametrize("has_extension", [True, False])
@pytest.mark.parametrize("kind", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("shape", SHAPES)
def test_transforms_are_those_of_numpy(
    shape: tuple[int, ...], kind: Any, has_extension: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourier, "_LARGE" if not has_extension else "_SHARED", 1)
    monkeypatch.setattr(fourier, "native", fourier.native if has_extension else None)
    numbers, rank = np.random.default_rng(0), len(shape)
    for dtype, margin in ((np.float32, 1e-6), (np.float64, 1e-14)):
        x = numbers.standard_normal(shape).astype(dtype)
        if kind != "rfftn":
            x = x + 1j * x[..., ::-1]
        before = x.copy()
        for axes in ([-1], [0], list(range(rank)), [-1 - axis for axis in range(rank)]):
            for sizes in (None, [5] * len(axes), [14] * len(axes)):
                found = getattr(fourier, kind)(x, sizes, axes)
                wanted = getattr(np.fft, kind)(x, sizes, axes)
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                assert np.abs(found - wanted).max() <= margin * np.abs(wanted).max()
        assert np.array_equal(x, before)


def test_a_number_that_is_not_finite_spreads_in_its_own_line_only() -> None:
    x = np.ones((16, 12), np.complex64)
    x[3, 5] = np.nan
    assert np.isfinite(fourier.fftn(x, None, [1])).all(axis=1).tolist() == [row != 3 for row in range(16)]
