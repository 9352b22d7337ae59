"""Orders of elements and rows are those of NumPy's stable sorts, for all dtypes, ties, NaN and empty arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from agc.runtime.kernels.orders import (
    distinct,
    distinct_rows,
    first_appearances,
    places_in_rows,
    row_order,
    stable_order,
)
from support.each_case import each_case

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64"]
KINDS = ["few", "many", "high"]


def numbers(dtype: str, shape: tuple[int, ...], kind: str) -> Any:
    """Return few different elements; elements of the whole range; or NaN, zeros with signs, and the largest ones."""
    drawn, kind_of = np.random.default_rng(0), np.dtype(dtype).kind
    few = drawn.integers(0, 2 if kind_of == "b" else 5, shape).astype(dtype)
    if kind == "few" or kind_of == "b":
        return few
    if kind_of == "f":
        x = drawn.normal(size=shape).astype(dtype)
        for odd in (np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf) if kind == "high" else ():
            x[drawn.random(shape) < 0.1] = odd
        return x
    info = np.iinfo(dtype)
    every = drawn.integers(info.min, info.max, shape, dtype, endpoint=True)
    return every if kind == "many" else np.dtype(dtype).type(info.max) - few


@each_case("dtype", DTYPES)
@each_case("kind", KINDS)
def test_stable_orders(dtype: str, kind: str) -> None:
    for shape, axis in (
        ((0,), 0),
        ((1,), 0),
        ((500,), -1),
        ((20, 30), 0),
        ((20, 30), 1),
        ((0, 3), 0),
        ((3, 0), 0),
    ):
        x = numbers(dtype, shape, kind)
        np.testing.assert_array_equal(stable_order(x, axis), np.argsort(x, axis, kind="stable"))
        backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
        falling = np.flip(x.shape[axis] - 1 - backwards, axis)
        for count in (0, 1, 3, None):
            if count is None or count <= x.shape[axis]:
                wanted = np.take(falling, range(count or 0), axis) if count is not None else falling
                np.testing.assert_array_equal(stable_order(x, axis, True, count), wanted)


@each_case("side", ["left", "right"])
@each_case("dtype", ["int32", "float64"])
def test_places_in_few_and_in_many_rows(side: str, dtype: str) -> None:
    for count, size, wanted in ((0, 3, 2), (1, 0, 2), (1, 9, 700), (3, 5, 4), (3, 5, 700), (40, 7, 3)):
        rows, values = np.sort(numbers(dtype, (count, size), "few")), numbers(dtype, (count, wanted), "few")
        found = places_in_rows(rows, values, side)
        each = [row.searchsorted(some, side) for row, some in zip(rows, values, strict=True)]
        np.testing.assert_array_equal(found, np.reshape(each, values.shape))
        assert found.dtype == np.int64


@each_case("dtype", ["int32", "int64"])
@each_case("kind", KINDS)
@each_case("shape", [(0, 2), (5, 0), (1, 1), (300, 1), (300, 2), (300, 3)])
def test_rows_are_ordered_lexicographically(dtype: str, kind: str, shape: tuple[int, int]) -> None:
    rows = numbers(dtype, shape, kind)
    for x in (rows, -rows, np.sort(rows, 0)):
        if shape[1]:
            np.testing.assert_array_equal(row_order(x), np.lexsort(x.T[::-1]))
        found, positions = distinct_rows(x)
        assert found.tolist() == [list(row) for row in sorted(set(map(tuple, x.tolist())))]
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found[positions], x)


@each_case("dtype", [*DTYPES, "object"])
@each_case("kind", KINDS)
def test_distinct_elements(dtype: str, kind: str) -> None:
    for size in (0, 1, 2, 999):
        x = numbers("uint8" if dtype == "object" else dtype, (size,), kind)
        x = np.nan_to_num(x, posinf=1, neginf=2) if x.dtype.kind == "f" else x
        x = np.array([b"%d" % item for item in x.tolist()], object) if dtype == "object" else x
        for (found, positions), wanted in (
            (distinct(x), sorted(set(x.tolist()))),
            (first_appearances(x), list(dict.fromkeys(x.tolist()))),
        ):
            assert found.tolist() == wanted
            assert found.dtype == x.dtype
            np.testing.assert_array_equal(found[positions] if size else positions, x if size else [])
