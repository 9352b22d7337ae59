"""Rows combined at positions that may repeat are those of `ufunc.at`, with and without the extension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agc.runtime.kernels import rows
from support.each_case import each_case

UFUNCS = [np.add, np.subtract, np.multiply, np.maximum, np.minimum]


@pytest.fixture(params=["native", "numpy"], autouse=True)
def _extension(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "numpy":
        monkeypatch.setattr(rows, "native", None)
    elif rows.native is None:
        pytest.skip("the extension is not built")


def numbers(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    drawn = np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)
    return drawn + 1j if drawn.dtype.kind == "c" else drawn


@each_case("dtype", ["float32", "float64", "int32", "int64", "uint8", "float16", "complex64"])
@each_case("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
@each_case("shape", [(), (3,), (2, 3), (0,)])
def test_combined_rows_are_those_of_numpy(ufunc: np.ufunc, dtype: str, shape: tuple[int, ...]) -> None:
    if dtype == "complex64" and ufunc in (np.maximum, np.minimum):
        return
    positions = np.array([[4, 1, 4], [0, 1, 4]], np.int32)
    result, updates = numbers((5, *shape), dtype), numbers((2, 3, *shape), dtype, 1)
    wanted = result.copy()
    ufunc.at(wanted, positions, updates)
    rows.combine_rows(ufunc, result, positions, updates)
    np.testing.assert_array_equal(result, wanted)


def test_integers_wrap_around_and_nan_is_kept() -> None:
    whole = np.array([2**31 - 1], np.int32)
    rows.combine_rows(np.add, whole, np.array([0, 0]), np.array([1, 1], np.int32))
    assert whole.tolist() == [1 - 2**31]
    for ufunc in (np.maximum, np.minimum):
        real = np.zeros(2)
        rows.combine_rows(ufunc, real, np.array([0, 0, 1]), np.array([np.nan, 1.0, 2.0]))
        assert np.isnan(real[0])
        assert not np.isnan(real[1])


def test_positions_outside_raise_before_anything_is_written() -> None:
    result = np.zeros(3)
    with pytest.raises(IndexError):
        rows.combine_rows(np.add, result, np.array([0, 7]), np.ones(2))
    assert not result.any()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_other_axes_and_batches(axis: int) -> None:
    updates = numbers((2, 3, 4), "float32")
    positions = np.array([1, 0, 1, 4][: updates.shape[axis]])
    wanted = np.zeros((*updates.shape[:axis], 5, *updates.shape[axis + 1 :]), np.float32)
    result = wanted.copy()
    np.add.at(np.moveaxis(wanted, axis, 0), positions, np.moveaxis(updates, axis, 0))
    rows.combine_along(np.add, result, axis, positions, updates)
    np.testing.assert_array_equal(result, wanted)


def test_coordinates_with_batches() -> None:
    params, places = numbers((2, 3, 4, 5), "float64"), np.array([[[1, 3], [1, 3]], [[2, 0], [0, 1]]])
    index = (np.arange(2)[:, None], *np.moveaxis(places, -1, 0))
    found, merged = rows.row_numbers(places, params.shape, 1)
    np.testing.assert_array_equal(params.reshape(merged)[found], params[index])
    wanted, result = params.copy(), params.copy()
    np.add.at(wanted, index, params[:, :2, 0])
    rows.combine_at(np.add, result, places, params[:, :2, 0].copy(), 1)
    np.testing.assert_array_equal(result, wanted)


@each_case("dtype", ["float32", "float64", "float16"])
@each_case("shape", [(2, 5, 3), (1, 5, 40000), (300, 5, 100), (4, 5, 1), (0, 5, 2), (2, 5, 0)])
def test_weighted_rows_are_added_in_order(dtype: str, shape: tuple[int, ...]) -> None:
    positions, sources = np.array([3, 0, 3, 1]), np.array([0, 4, 2, 2])
    weights, x = np.array([2, 1, -1, 0.5], dtype), numbers(shape, dtype)
    result = np.ones((shape[0], 4, shape[2]), dtype)
    wanted = result.copy()
    np.add.at(wanted, (slice(None), positions), x[:, sources] * weights[:, None])
    rows.add_weighted(result, positions, x, sources, weights)
    np.testing.assert_array_equal(result, wanted)


def test_weighted_rows_outside_raise_before_anything_is_written() -> None:
    result = np.zeros((1, 3, 1))
    for positions, sources in (([0, 3], [0, 0]), ([0, 0], [0, 2])):
        with pytest.raises(IndexError):
            rows.add_weighted(result, np.array(positions), np.ones((1, 2, 1)), np.array(sources), np.ones(2))
    assert not result.any()


@each_case("dtype", ["int32", "int64", "uint32", "uint64", "int8", "uint16"])
def test_the_range_of_integers(dtype: str) -> None:
    x = np.array([[0, 3, 2], [1, 0, 3]], dtype)
    for part in (x, x[:, ::2], x[::-1], x.T, x[0, 1], np.array(x[0, 1]), x[:0]):
        assert rows.are_within(part, 4)
        assert rows.are_within(part, 3) == (np.size(part) == 0)
    assert rows.are_within(x[:0], 0) and not rows.are_within(x, 0)
    if x.dtype.kind == "i":
        assert not rows.are_within(x - 1, 4)
    else:
        assert not rows.are_within(x + np.iinfo(dtype).max, 4)
