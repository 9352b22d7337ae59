"""The array API's functions that make, join and turn arrays: NumPy's results, in eager code and in graphs."""

from agc.runtime.executors import COMPLETE
from support.array_calls import ANY, TRACED, assert_as_numpy, assert_traced, rows
from support.each_case import each_case

CALLS = [
    (
        "like",
        ANY,
        lambda xp, x: (
            xp.zeros_like(x),
            xp.ones_like(x),
            xp.full_like(x, True),
            xp.zeros_like(x, dtype=xp.int8),
        ),
    ),
    (
        "shapes",
        {"": None},
        lambda xp: (
            xp.zeros((2, 3), dtype=xp.int8),
            xp.ones(3, dtype=xp.float64),
            xp.full((2,), 7, dtype=xp.int64),
            xp.full((), True),
        ),
    ),
    (
        "numbers in a row",
        {"": None},
        lambda xp: (
            xp.arange(5, dtype=xp.int64),
            xp.arange(5, 0, -2, dtype=xp.int32),
            xp.arange(3, 1, dtype=xp.int8),
            xp.arange(0.0, 1.0, 0.25, dtype=xp.float64),
        ),
    ),
    (
        "spaces",
        {"": None},
        lambda xp: (
            xp.linspace(0, 1, 5, dtype=xp.float64),
            xp.linspace(0, 1, 4, endpoint=False, dtype=xp.float32),
            xp.linspace(1, 2, 0, dtype=xp.float32),
        ),
    ),
    (
        "eye",
        {"": None},
        lambda xp: (
            xp.eye(3, dtype=xp.int8),
            xp.eye(2, 4, k=1, dtype=xp.float64),
            xp.eye(3, k=-2, dtype=xp.bool),
        ),
    ),
    (
        "asarray",
        {"": None},
        lambda xp: (
            xp.asarray([[1, 2], [3, 4]], dtype=xp.uint8),
            xp.asarray(True),
            xp.asarray([1.5, 2], dtype=xp.float64),
        ),
    ),
    (
        "triangles",
        ANY,
        lambda xp, x: (xp.tril(x), xp.triu(x), xp.tril(x, k=1), xp.triu(x, k=-1), xp.triu(x, k=5)),
    ),
    (
        "meshgrid",
        ANY,
        lambda xp, x: (*xp.meshgrid(x[0, :], x[1, :]), *xp.meshgrid(x[0, :], x[:, 0], indexing="ij")),
    ),
    (
        "concat",
        ANY,
        lambda xp, x: (xp.concat([x, x]), xp.concat((x, x), axis=-1), xp.concat([x, x], axis=None)),
    ),
    ("stack", ANY, lambda xp, x: (xp.stack([x, x]), xp.stack([x, x], axis=-1))),
    (
        "dimensions",
        ANY,
        lambda xp, x: (
            xp.expand_dims(x, axis=-1),
            xp.squeeze(x[None, :, None], axis=(0, 2)),
            xp.expand_dims(x, axis=(0, 2)),
        ),
    ),
    ("broadcast", ANY, lambda xp, x: (xp.broadcast_to(x, (2, 2, 3)), *xp.broadcast_arrays(x, x[:, None]))),
    (
        "turn",
        ANY,
        lambda xp, x: (
            xp.permute_dims(x, (1, 0)),
            xp.moveaxis(x[None], 0, -1),
            xp.moveaxis(x[None, None], (0, 2), (-1, 0)),
            xp.matrix_transpose(x),
        ),
    ),
    (
        "flip and roll",
        ANY,
        lambda xp, x: (
            xp.flip(x),
            xp.flip(x, axis=-1),
            xp.roll(x, 1),
            xp.roll(x, -1, axis=1),
            xp.roll(x, (1, 2), axis=(0, 1)),
        ),
    ),
    ("reshape", ANY, lambda xp, x: (xp.reshape(x, (3, -1)), xp.reshape(x, (6,), copy=True))),
    (
        "repeat",
        ANY,
        lambda xp, x: (
            xp.repeat(x, 2),
            xp.repeat(x, 3, axis=1),
            xp.repeat(x, xp.asarray([2, 1]), axis=0),
            xp.tile(x, (2,)),
            xp.tile(x, (2, 1, 2)),
        ),
    ),
    ("unstack of columns", ANY, lambda xp, x: xp.unstack(xp.reshape(x, (2, 3)), axis=1)),
]


@each_case(("call", "x"), rows(CALLS))
def test_results_are_numpys(call, x):
    assert_as_numpy(call, x)


@each_case("executor", COMPLETE)
@each_case(("call", "x"), rows(CALLS, TRACED))
def test_traced_results_are_eager_results(call, x, executor):
    assert_traced(call, x, executor)
