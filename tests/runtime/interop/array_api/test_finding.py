"""The array API's functions that find, order and count elements: NumPy's results, in eager code and in graphs."""

from agc.runtime.executors import COMPLETE
from support.array_calls import (
    ANY,
    FLOATING,
    FLOATS,
    NUMERIC,
    REAL,
    SPECIAL,
    TRACED,
    assert_as_numpy,
    assert_traced,
    rows,
)
from support.each_case import each_case

CALLS = [
    (
        "extremes' places",
        REAL,
        lambda xp, x: (
            xp.argmax(x),
            xp.argmin(x, axis=1),
            xp.argmax(x, axis=0, keepdims=True),
            xp.argmin(x, keepdims=True),
        ),
    ),
    (
        "nonzero",
        ANY,
        lambda xp, x: (*xp.nonzero(x), xp.count_nonzero(x), xp.count_nonzero(x, axis=1, keepdims=True)),
    ),
    ("where", ANY, lambda xp, x: xp.where(x == x[0, 0], x, xp.flip(x))),
    (
        "searchsorted",
        REAL,
        lambda xp, x: (
            xp.searchsorted(xp.sort(x[0, :]), x),
            xp.searchsorted(x[1, :], x, side="right", sorter=xp.argsort(x[1, :])),
        ),
    ),
    (
        "order of rows",
        REAL,
        lambda xp, x: (xp.sort(x), xp.sort(x, axis=0), xp.argsort(x), xp.argsort(x, axis=0)),
    ),
    (
        "take",
        ANY,
        lambda xp, x: (
            xp.take(x, xp.asarray([2, 0, -1]), axis=1),
            xp.take(x[0, :], xp.asarray([[1]])),
            xp.take_along_axis(x, xp.asarray([[2, 0], [1, -1]]), axis=1),
            xp.take_along_axis(x, xp.asarray([[1, 0, 1]]), axis=0),
        ),
    ),
    (
        "sets",
        ANY,
        lambda xp, x: (
            *xp.unique_all(x % 3 if xp.isdtype(x.dtype, "integral") else x),
            *xp.unique_counts(x),
            *xp.unique_inverse(x),
        ),
    ),
    ("members", ANY, lambda xp, x: (xp.isin(x, x[0, :]), xp.isin(x[0, :], x[1, :], invert=True))),
    (
        "sums",
        NUMERIC,
        lambda xp, x: (
            xp.sum(x, dtype=xp.complex128),
            xp.sum(x, axis=0, dtype=x.dtype),
            xp.prod(x, axis=(0, 1), keepdims=True, dtype=x.dtype),
        ),
    ),
    (
        "sums of 32 bits and more",
        {name: NUMERIC[name] for name in ("int64", "uint64", "float32", "float64", "complex64")},
        lambda xp, x: (xp.sum(x), xp.prod(x, axis=-1)),
    ),
    ("extremes", REAL, lambda xp, x: (xp.max(x), xp.min(x, axis=0), xp.max(x, axis=(0, 1), keepdims=True))),
    ("extremes of specials", SPECIAL, lambda xp, x: (xp.max(x), xp.min(x), xp.max(x[1:]))),
    ("mean", FLOATING, lambda xp, x: (xp.mean(x), xp.mean(x, axis=1, keepdims=True))),
    (
        "spread",
        FLOATS,
        lambda xp, x: (
            xp.var(x),
            xp.std(x, axis=0),
            xp.var(x, axis=1, correction=1),
            xp.std(x, correction=0.5, keepdims=True),
        ),
    ),
    (
        "running",
        NUMERIC,
        lambda xp, x: (
            xp.cumulative_sum(x, axis=1, dtype=x.dtype),
            xp.cumulative_prod(x, axis=0, dtype=x.dtype),
            xp.cumulative_sum(x, axis=-1, dtype=x.dtype, include_initial=True),
            xp.cumulative_prod(x[0, :], dtype=x.dtype, include_initial=True),
        ),
    ),
    ("truth", ANY, lambda xp, x: (xp.all(x), xp.any(x, axis=0), xp.all(x, axis=1, keepdims=True))),
    (
        "differences",
        NUMERIC,
        lambda xp, x: (
            xp.diff(x),
            xp.diff(x, axis=0),
            xp.diff(x, n=2),
            xp.diff(x, n=5),
            xp.diff(x, prepend=x[:, :1], append=x),
        ),
    ),
]


@each_case(("call", "x"), rows(CALLS))
def test_results_are_numpys(call, x):
    assert_as_numpy(call, x)


@each_case("executor", COMPLETE)
@each_case(("call", "x"), rows(CALLS, TRACED))
def test_traced_results_are_eager_results(call, x, executor):
    assert_traced(call, x, executor)
