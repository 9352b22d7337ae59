"""Sums with exact products are the same by one instruction as by two, to the last bit."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph
from agc.runtime.executors.llvm.libm.registry import fuses

CONSTANTS = (1.0, -3.1, 2.0**-100, -(2.0**100), 1.5 * 2.0**99)
POWERS = (0.5, -0.25, 2.0, -8.0, 2.0**-60, 2.0**90)


def _numbers(dtype: Any) -> Any:
    """All sizes, the ends of the range, what is subnormal, and neighbors of where sums change their exponent."""
    kind = np.finfo(dtype)
    sizes = np.ldexp(np.float64(1.0), np.arange(kind.minexp - kind.nmant, kind.maxexp)).astype(dtype)
    ends = np.array([0.0, kind.max, kind.tiny, kind.smallest_subnormal, np.inf, np.nan], dtype)
    some = np.concatenate([sizes, ends, *(-np.array(CONSTANTS, dtype) / np.array(p, dtype) for p in POWERS)])
    near = np.concatenate([some, np.nextafter(some, dtype(0)), some * dtype(1.1), some / dtype(1.7)])
    return np.concatenate([near, -near])


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: str(dtype.__name__))
def test_fused_and_separate_products_agree_bitwise(dtype: Any) -> None:
    pairs = [(power, constant) for power in POWERS for constant in CONSTANTS]

    @tf.function(jit_compile=True)
    def sums(x: Any) -> Any:
        return [
            each
            for p, c in pairs
            for each in (x * p + c, c + p * x, x * p - c, c - x * p, (x * p + c) * (x * p))
        ]

    with np.errstate(all="ignore"):
        x = _numbers(dtype)
        expected = [
            each
            for p, c in ((dtype(p), dtype(c)) for p, c in pairs)
            for each in (x * p + c, c + p * x, x * p - c, c - x * p, (x * p + c) * (x * p))
        ]
        for have, want in zip(sums(tf.constant(x)), expected, strict=True):
            assert have.numpy().dtype == dtype
            np.testing.assert_array_equal(have.numpy(), want)
            np.testing.assert_array_equal(np.signbit(have.numpy()[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize(
    ("formula", "is_fused"),
    [
        (lambda x: x * 0.5 + 1.0, fuses()),
        (lambda x: 1.0 - 4.0 * x, fuses()),
        (lambda x: x * 0.5 + 1e-35, False),  # beside which a product that is too small to be exact shows
        (lambda x: x * 0.5 - 1e35, False),
        (lambda x: x * 0.3 + 1.0, False),  # is rounded
        (lambda x: x * 0.5 + x, False),
        (lambda x: x * 0.0 + 1.0, False),
    ],
    ids=["sum", "difference", "too small", "too large", "no power of two", "no constant", "zero"],
)
def test_exact_products_use_one_fma(formula: Any, is_fused: bool) -> None:
    graph = tf.function(formula).get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    assert ("llvm.fma" in compile_graph.text(graph)) == is_fused
