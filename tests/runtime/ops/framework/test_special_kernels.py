"""Kernels that kept calls choose for one shape give what the general kernels give, to the last bit."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ir.graph import Constant
from agc.runtime.ir.value_types import TensorType
from agc.runtime.ops.framework.op import find
from agc.runtime.ops.framework.op_families import REAL

SHAPES = [(), (1,), (7,), (8, 16), (3, 1, 5), (2, 3, 4), (40, 3), (600, 9)]
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e4, -1e-4]


def samples(shape: tuple[int, ...], dtype: tf.DType) -> list[Any]:
    """Return random elements, elements of a few values, and equal ones."""
    random = np.random.default_rng(len(shape))
    kind = dtype.as_numpy_dtype
    found = [random.integers(0, 9, shape).astype(kind), np.zeros(shape, kind)]
    if dtype.is_floating:
        found += [random.standard_normal(shape).astype(kind), random.choice(SPECIAL, shape).astype(kind)]
        found += [
            -np.zeros(shape, kind),
            np.full(shape, -np.inf, kind),
            random.choice([0.0, -0.0], shape).astype(kind),
        ]
    return list(map(np.asarray, found))


def is_same(name: str, inputs: list[Any], constants: dict[int, Any], **attributes: Any) -> bool | None:
    """Return whether the special kernel of an operation gives the result of its general one; None if there is none."""
    op: Any = find(name)
    specs = [
        Constant(x) if i in constants else TensorType(tf.as_dtype(x.dtype), x.shape)
        for i, x in enumerate(inputs)
    ]
    special = op.special(specs, **attributes)
    if special is None:
        return None
    with np.errstate(all="ignore"):
        found, expected = special(*inputs), op.compute(*op.grouped(inputs), **attributes)
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    both_nan = (found != found) & (expected != expected)
    return bool(np.all((found == expected) & (np.signbit(found) == np.signbit(expected)) | both_nan))


@pytest.mark.parametrize("dtype", sorted(REAL - {tf.bfloat16}, key=str), ids=lambda dtype: dtype.name)
def test_extremes(dtype: tf.DType) -> None:
    for shape in SHAPES:
        for x in samples(shape, dtype):
            for axis in (None, *[(i,) for i in range(len(shape))]):
                for keepdims in (False, True):
                    for name in ("reduce_max", "reduce_min"):
                        assert is_same(name, [x], {}, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64], ids=lambda dtype: dtype.name)
def test_softmax_and_logarithms_of_sums(dtype: tf.DType) -> None:
    tried = []
    for shape in SHAPES[1:]:
        for x in samples(shape, dtype):
            tried += [is_same(name, [x], {}, axis=-1) for name in ("softmax", "log_softmax")]
            for axis in (None, (0,), (len(shape) - 1,)):
                tried += [is_same("reduce_logsumexp", [x], {}, axis=axis, keepdims=len(shape) > 1)]
    assert True in tried and False not in tried


def test_tiles_and_masks() -> None:
    for times in ([2, 1, 1], [1, 3, 2], [2, 2, 2], [1, 1, 64]):
        for x in (np.arange(24).reshape(2, 3, 4), np.array([[[b"a"]]], object), np.ones((0, 3, 4), bool)):
            multiples = np.array(times, np.int32)
            find_tile: Any = find("tile")
            special = find_tile.special([TensorType(tf.as_dtype(x.dtype), x.shape), Constant(multiples)])
            assert np.array_equal(special(x, multiples), np.tile(x, times))
    x = np.arange(24).reshape(2, 3, 4)
    for mask in (x[:, 0, 0] > 5, x[:, :, 0] > 5, x > 50):
        assert is_same("boolean_mask", [x, mask], {}, axis=0)
    assert is_same("boolean_mask", [x, x[:, 0, 0]], {}, axis=0) is None


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int32, tf.uint8], ids=lambda dtype: dtype.name)
def test_the_largest(dtype: tf.DType) -> None:
    op: Any = find("top_k")
    for shape in SHAPES[1:-2]:
        for x in samples(shape, dtype):
            for count in range(1, shape[-1] + 1):
                k = np.array(count, np.int32)
                inputs = [TensorType(dtype, shape), Constant(k)]
                special = op.special(inputs, index_type=tf.int64)
                for found, expected in zip(special(x, k), op.compute(x, k, tf.int64), strict=True):
                    assert found.dtype == expected.dtype
                    np.testing.assert_array_equal(found, expected)
