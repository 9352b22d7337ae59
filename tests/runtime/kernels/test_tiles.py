"""Kernels that run tile by tile give what they give at once."""

from __future__ import annotations

from collections.abc import Callable

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.kernels import tiles


@pytest.mark.parametrize("shapes", [[(9, 11)], [(9, 11), (11,)], [(9, 1), ()], [(0, 3), (3,)]])
def test_tiles_give_the_result_of_the_whole(
    shapes: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "_TILE", 8)
    numbers = np.random.default_rng(0)
    arguments = [numbers.standard_normal(shape) for shape in shapes]

    def kernel(*arguments: np.ndarray) -> np.ndarray:
        return np.float32(sum(arguments))

    found, wanted = tiles.in_tiles(kernel)(*arguments), kernel(*arguments)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["lgamma", "erf", "erfc", "digamma", "bessel_i0e"])
def test_special_functions_of_large_tensors_are_those_of_their_parts(name: str) -> None:
    x = np.linspace(-4, 12, 150_000, dtype=np.float32)
    function = getattr(tf.math, name)
    parts = np.concatenate([function(part).numpy() for part in np.split(x, 50)])
    np.testing.assert_array_equal(function(x).numpy(), parts)


@pytest.mark.parametrize("function", [tf.nn.softmax, tf.nn.log_softmax])
def test_distributions_of_many_short_rows_are_those_of_single_rows(
    function: Callable[..., tf.Tensor],
) -> None:
    x = np.random.default_rng(0).standard_normal((5, 2_000, 10)).astype(np.float32)
    found = function(x)
    assert (found.shape, found.dtype) == (x.shape, tf.float32)
    np.testing.assert_allclose(found[3:, 7:9].numpy(), function(x[3:, 7:9]).numpy(), rtol=1e-5)
