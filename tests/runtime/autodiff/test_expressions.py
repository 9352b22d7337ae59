"""Gradients of functions with all kinds of arguments, which are what differences say."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case
from support.gradient_expressions import (
    EXPRESSIONS,
    derivatives,
    dtypes,
    inputs,
    numbers,
    slopes,
    weighted,
    written,
)

LEFT_OUT = {
    "tf.round": "equal elements are chosen among", "a * 0": "the same", "tf.identity(a))": "the same",
    "tf.image.": "computed with float32, whose differences say little", "tf.nn.local_response": "the same",
    "tf.nn.ctc_loss": "the same", "tf.sparse.sparse_dense_matmul": "the same",
    "tf.math.betainc": "only the last argument has derivatives, as in TensorFlow", "tf.math.zeta": "the same",
}  # fmt: skip
"""Parts of expressions that differences say nothing about, and why."""

WITHOUT_SECOND = {
    "tf.nn.dilation2d": "it is refused", "tf.nn.erosion2d": "it is refused",
    "tf.math.igamma": "only that of the second argument is there, as in TensorFlow",
}  # fmt: skip


@each_case("text", [text for text in EXPRESSIONS if not any(part in text for part in LEFT_OUT)])
def test_gradients_agree_with_finite_differences(text: str) -> None:
    for dtype in dtypes(text):
        wide = "float64" if dtype == "float32" else dtype
        arrays = inputs(text, wide)
        ways = [numbers(shape, wide, seed + 50) for seed, shape in enumerate(EXPRESSIONS[text])]
        f = written(text, tf)
        for order in (1,) if text.startswith(tuple(WITHOUT_SECOND)) else (1, 2):
            found = derivatives(tf, f, arrays, order, False)
            assert projected(found, ways) == pytest.approx(change(f, arrays, ways, order), rel=1e-5, abs=1e-6)


def projected(grads: list[Any], ways: list[Any]) -> float:
    """The derivative along a direction."""
    pairs = [(g, way) for g, way in zip(grads, ways, strict=True) if not isinstance(g, str)]
    return sum(float(np.sum(np.real(np.conj(g.numpy()) * way))) for g, way in pairs)


def change(f: Any, arrays: list[Any], ways: list[Any], order: int) -> float:
    """The same from central differences of two widths."""

    def at(width: float) -> float:
        moved = [tf.constant(a + width * way) for a, way in zip(arrays, ways, strict=True)]
        if order == 1:
            return float(weighted(tf, f(*moved), False))
        return float(weighted(tf, [g for g in slopes(tf, f, moved, False) if not isinstance(g, str)], False))

    wide, narrow = (at(2e-4) - at(-2e-4)) / 4e-4, (at(1e-4) - at(-1e-4)) / 2e-4
    return (4 * narrow - wide) / 3
