"""Fourier transforms are those of NumPy; without the extension those that threads share are, bit by bit on x86."""

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
    monkeypatch.setattr(fourier, "native", None)
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


@pytest.mark.skipif(fourier.native is None, reason="the extension is not built")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8, 15, 18, 30, 64, 100, 128, 243, 1000, 1250, 2048])
def test_groups_of_rows(size: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Along rows and columns, in full groups and others, cut and padded, in one part and in several."""
    numbers = np.random.default_rng(size)
    for shape, axis in [
        ((4, size), 1),
        ((19, size), -1),
        ((size, 21), 0),
        ((3, size, 9), 1),
        ((5, 2, size), 2),
    ]:
        real, imaginary = numbers.standard_normal((2, *shape)).astype(dtype)
        for kind in ("fftn", "ifftn", "rfftn", "irfftn"):
            x = real if kind == "rfftn" else real + 1j * imaginary
            for sizes in (None, [max(size // 2, 1)], [2 * size], [size + 2]):
                monkeypatch.setattr(fourier, "_LARGE", 1 << 17)
                found = getattr(fourier, kind)(x, sizes, [axis])
                wanted = getattr(np.fft, kind)(x, sizes, [axis])
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                limit = 16 * np.finfo(dtype).eps * np.sqrt(np.mean(abs(wanted) ** 2))
                np.testing.assert_allclose(found, wanted, rtol=0, atol=limit)
                monkeypatch.setattr(fourier, "_LARGE", 1)
                assert getattr(fourier, kind)(x, sizes, [axis]).tobytes() == found.tobytes()


def test_each_row_keeps_its_own_infinities_and_views() -> None:
    x = np.ones((9, 16), np.float32)
    x[3, 5], x[4, 2] = np.inf, np.nan
    for whole in (fourier.fftn(x + 0j, None, [1]), fourier.rfftn(x, None, [1])):
        assert np.isfinite(whole).all(1).tolist() == [row not in (3, 4) for row in range(9)]
        assert whole[3, 0].real == np.inf
    views = (x.T + 0j)[::-1, :3], (x[::2, ::3] + 0j)[:, 1:]
    for view in views:
        np.testing.assert_allclose(
            fourier.fftn(view, None, [0]), np.fft.fft(view, axis=0), rtol=1e-5, atol=1e-5
        )
    assert fourier.fftn(x[5:] + 0j, None, [1])[0, 0] == 16


@pytest.mark.skipif(fourier.native is None, reason="the extension is not built")
def test_rows_are_transformed_in_groups() -> None:
    """NumPy takes about twice as long for float32."""
    for name in ("fft", "ifft", "rfft", "irfft"):
        transform = getattr(np.fft, name)
        plan = fourier._plan(
            fourier._KINDS[transform], np.dtype("f4" if name == "rfft" else "c8"), (8, 60), 60, 1
        )
        assert plan is not None
        assert plan.roots.shape == (60,)
