"""The extension joins arrays and numbers rows as NumPy does, and leaves the others to it."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from agc.runtime import errors
from agc.runtime.kernels import rows
from agc.runtime.kernels.joins import joining, stacking
from agc.runtime.kernels.rows import numbering, row_numbers

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
ALIKE: dict[str, list[Any]] = {
    "contiguous": [X, X + 1, X + 2],
    "one": [X],
    "views": [X[:, :, ::2], X[:, :, 1::2]],
    "in Fortran's order": [np.asfortranarray(X), X],
    "booleans": [X > 3, X < 5],
    "complex": [X * 1j, X + 0j],
    "objects": [X.astype(object), X.astype(object)],
    "of two dtypes": [X, X.astype(np.int32)],
    "swapped bytes": [X.astype(">f4"), X],
    "empty": [X[:, :0], X[:, :0]],
    "large": [np.ones((300, 2, 500)), np.zeros((300, 2, 500))],
}


@pytest.mark.parametrize("arrays", ALIKE.values(), ids=ALIKE)
def test_the_same_as_numpy(arrays: list[Any]) -> None:
    for axis in range(-3, 3):
        found, expected = joining(axis)(*arrays), np.concatenate(arrays, axis)
        assert found.dtype == expected.dtype and (found == expected).all() and found.shape == expected.shape
    for axis in range(-4, 4):
        found, expected = stacking(axis)(*arrays), np.stack(arrays, axis)
        assert found.shape == expected.shape and (found == expected).all()


def test_sizes_along_the_axis_differ() -> None:
    for axis, rest in enumerate([X[:1], X[:, :2], X[:, :, :3].copy()]):
        assert np.array_equal(joining(axis)(X, rest), np.concatenate([X, rest], axis))
        with pytest.raises(ValueError, match="must match"):
            joining((axis + 1) % 3)(X, rest)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, object, "S1"], ids=str)
def test_arrays_of_different_shapes_are_not_stacked(dtype: Any) -> None:
    """NumPy's assignment would repeat the second array."""
    for shape in [(1,), (), (3,)]:
        for axis in (0, 1, -1):
            with pytest.raises(ValueError):
                stacking(axis)(np.zeros(2, dtype), np.zeros(shape, dtype))


@pytest.mark.parametrize("axis", [3, -4, 2**31, 2**32, 2**63 - 1, -(2**63)])
def test_axes_out_of_range(axis: int) -> None:
    with pytest.raises((ValueError, OverflowError)):  # AxisError is a ValueError
        joining(axis)(X, X)


def test_numbers_of_rank_0() -> None:
    assert stacking(0)(np.array(1), np.array(2)).tolist() == [1, 2]
    assert stacking(-1)(np.float32(1), np.float32(2)).dtype == np.float32
    with pytest.raises(ValueError, match="zero-dimensional"):
        joining(0)(np.array(1), np.array(2))


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint32"])
def test_row_numbers(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    for shape in [(5,), (3, 4), (2, 3, 4)]:
        for outer in [(), (6,), (2, 0), (2, 3)]:
            for depth in range(1, len(shape) + 1):
                at = random.integers(0, shape[:depth], (*outer, depth)).astype(dtype)
                found, merged = row_numbers(at, shape)
                with monkeypatch.context() as context:
                    context.setattr(rows, "native_arrays", None)
                    expected = row_numbers(at, shape)
                    plain = numbering(shape, depth)[0](at)
                assert np.array_equal(found, expected[0]) and merged == expected[1]
                assert np.array_equal(plain, found) and np.array_equal(numbering(shape, depth)[0](at), found)
                whole = np.arange(np.prod(shape)).reshape(merged)
                assert np.array_equal(
                    whole[found], np.arange(np.prod(shape)).reshape(shape)[(*np.moveaxis(at, -1, 0),)]
                )


@pytest.mark.parametrize("wrong", [[-1, 0], [0, -1], [3, 0], [0, 4], [-(2**31), 0], [2**31 - 1, 3]])
def test_coordinates_outside(wrong: list[int]) -> None:
    for dtype in (np.int32, np.int64):
        with pytest.raises(errors.InvalidArgumentError, match=rf"indices\[1\] = \[{wrong[0]}, {wrong[1]}\]"):
            row_numbers(np.array([[0, 0], wrong], dtype), (3, 4))
