"""Arrays of several processes, which are threads here: packed sums, rows of different numbers, copies."""

import numpy as np
import pytest
from agc.runtime import dtypes, errors
from agc.runtime.kernels import collectives
from support.threads_as_processes import run_in_threads


def test_a_process_alone_gets_its_own_arrays():
    own = np.array([[1.0, 2.0]])
    assert collectives.reduced([own], "mean")[0].tolist() == own.tolist()
    assert collectives.gathered(own, 1).tolist() == own.tolist()
    assert collectives.copied(own, 0).tolist() == own.tolist()
    assert collectives.scattered(own, 1, 0).tolist() == own.tolist()


def test_arrays_of_one_dtype_travel_together():
    def reduce(rank):
        arrays = [np.full((2, 1), rank + 1.0), np.arange(3, dtype=np.int32), np.array(rank * 1.0)]
        return [array.tolist() for array in collectives.reduced(arrays, "sum")]

    results, calls = run_in_threads(2, reduce)
    assert results == [[[[3.0], [3.0]], [0, 2, 4], 1.0]] * 2
    assert calls == ["sum float64[3]", "sum int32[3]"]


def test_the_size_of_packs_is_limited():
    _, calls = run_in_threads(2, lambda rank: collectives.reduced([np.ones(3)] * 4, "sum", 48))
    assert calls == ["sum float64[6]", "sum float64[6]"]


INTEGERS = ("int8", "uint16", "int64")
FLOATS = ("float16", "bfloat16", "float64")


@pytest.mark.parametrize(
    ("reduction", "name"),
    [
        *(("sum", name) for name in (*INTEGERS, *FLOATS, "complex64")),
        *(("mean", name) for name in (*FLOATS, "complex64")),
        *(("max", name) for name in (*INTEGERS, *FLOATS)),
    ],
)
def test_every_dtype_keeps_itself(name, reduction):
    kind = dtypes.as_dtype(name).numpy_dtype

    def reduce(rank):
        return collectives.reduced([np.array([1, 6]).astype(kind) * kind.type(rank + 1)], reduction)[0]

    results, _ = run_in_threads(3, reduce)
    expected = {"sum": [6, 36], "mean": [2, 12], "max": [3, 18]}[reduction]
    assert [(one.dtype, one.tolist()) for one in results] == [(kind, expected)] * 3


def test_small_integers_wrap_as_in_their_dtype():
    results, _ = run_in_threads(3, lambda rank: collectives.reduced([np.array([100], np.int8)], "sum")[0])
    assert results[0].tolist() == [300 - 256]


def test_gathered_rows_may_differ_in_number():
    def gather(rank):
        return collectives.gathered(np.full((2, rank), rank, np.float16), 1)

    results, _ = run_in_threads(3, gather)
    assert results[1].tolist() == [[1.0, 2.0, 2.0], [1.0, 2.0, 2.0]]
    assert results[1].dtype == np.float16


def test_gathered_rows_of_other_shapes_or_dtypes_are_refused():
    results, _ = run_in_threads(2, lambda rank: collectives.gathered(np.ones((1, 2 + rank)), 0))
    assert all(isinstance(one, errors.InvalidArgumentError) for one in results)
    results, _ = run_in_threads(2, lambda rank: collectives.gathered(np.ones(1, ["f4", "i4"][rank]), 0))
    assert "tensors of one dtype" in str(results[0])


@pytest.mark.parametrize("value", [np.array(True), np.arange(5, dtype=np.int8), np.array([[np.nan, -0.0]])])
def test_copies_have_the_bits_of_the_root(value):
    results, _ = run_in_threads(
        3, lambda rank: collectives.copied(value if rank == 1 else np.ones_like(value), 1)
    )
    assert [(one.shape, one.tobytes()) for one in results] == [(value.shape, value.tobytes())] * 3


def test_a_root_that_is_no_process_is_refused():
    with pytest.raises(errors.InvalidArgumentError, match="process 1 is not one of the 1 processes"):
        collectives.copied(np.ones(1), 1)


def test_parts_of_a_sum_are_scattered():
    def scatter(rank):
        return collectives.scattered(np.arange(3.0), 2 - rank, 0).tolist()

    results, _ = run_in_threads(2, scatter)
    assert results == [[0.0, 2.0], [4.0]]
    results, _ = run_in_threads(2, lambda rank: collectives.scattered(np.arange(3.0), 2, 0))
    assert "gives 4 rows to the processes, but axis 0 has 3" in str(results[0])
