"""Fourier transforms that threads share are those of NumPy, bit by bit on x86."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest
from agc.runtime.kernels import fourier

FUSES = platform.machine().lower() not in ("x86_64", "amd64")
"""Whether compilers fuse multiplications and additions, each its own: the last bits differ then."""

SHAPES = [(5,), (4, 6), (2, 8), (33, 20), (7, 3, 5), (2, 3, 4, 3)]


@pytest.mark.parametrize("least", [1 << 17, 1])
@pytest.mark.parametrize("kind", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("shape", SHAPES)
def test_transforms_are_those_of_numpy(
    shape: tuple[int, ...], kind: Any, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourier, "_LARGE", least)
    numbers, rank = np.random.default_rng(0), len(shape)
    for dtype in (np.float32, np.float64):
        x = numbers.standard_normal(shape).astype(dtype)
        if kind != "rfftn":
            x = x + 1j * x[..., ::-1]
        for axes in ([-1], [0], list(range(rank)), [-1 - axis for axis in range(rank)]):
            for sizes in (None, [5] * len(axes)):
                found = getattr(fourier, kind)(x, sizes, axes)
                wanted = getattr(np.fft, kind)(x, sizes, axes)
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                if FUSES:
                    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
                else:
                    assert found.tobytes() == wanted.tobytes()
