"""`tf.sets` and `tf.edit_distance`: expected values are TensorFlow 2.21's, or those of Python's sets."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest

refused = tf.errors.InvalidArgumentError
Sparse = tf.SparseTensor
SETS = tf.sets

ROWS = Sparse([[0, 0], [0, 3], [2, 1]], [5, 5, 7], [3, 4])


def parts(sparse: Any) -> Any:
    return [part.numpy().tolist() for part in (sparse.indices, sparse.values, sparse.dense_shape)]


def test_two_tensors() -> None:
    a, b = [[1, 2, 3]], [[2, 2, 5]]
    assert parts(SETS.difference(a, b)) == [[[0, 0], [0, 1]], [1, 3], [1, 2]]
    assert parts(SETS.difference(a, b, aminusb=False)) == [[[0, 0]], [5], [1, 1]]
    assert parts(SETS.intersection(a, b)) == [[[0, 0]], [2], [1, 1]]
    assert parts(SETS.union(a, b)) == [[[0, 0], [0, 1], [0, 2], [0, 3]], [1, 2, 3, 5], [1, 4]]


def test_sparse_tensors() -> None:
    column = [[5], [1], [7]]
    assert parts(SETS.intersection(column, ROWS)) == [[[0, 0], [2, 0]], [5, 7], [3, 1]]
    assert parts(SETS.intersection(ROWS, column)) == [[[0, 0], [2, 0]], [5, 7], [3, 1]]
    assert parts(SETS.difference(ROWS, column)) == [[], [], [3, 0]]
    assert parts(SETS.difference(ROWS, column, aminusb=False)) == [[[1, 0]], [1], [3, 1]]
    assert parts(SETS.union(ROWS, ROWS)) == [[[0, 0], [2, 0]], [5, 7], [3, 1]]
    assert SETS.size(ROWS).numpy().tolist() == [1, 0, 1]
    assert SETS.size(ROWS).dtype == tf.int32


def test_strings_of_any_rank() -> None:
    sparse = Sparse([[0, 0, 0], [0, 1, 0]], ["b", "a"], [1, 2, 1])
    found = SETS.union(tf.constant([[["b", "z"], ["a", "c"]]]), sparse)
    places = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    assert parts(found) == [places, [b"b", b"z", b"a", b"c"], [1, 2, 2]]


@pytest.mark.parametrize("dtype", [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16])
@pytest.mark.parametrize("name", ["union", "intersection", "difference"])
def test_set_operations_equal_pythons(name: str, dtype: Any) -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(0, 9, size=(2, 4, 5)).astype(dtype.as_numpy_dtype) for _ in range(2))
    found = getattr(SETS, name)(a, b)
    assert found.dtype == dtype
    dense: list[list[set[int]]] = [[set() for _ in range(4)] for _ in range(2)]
    for (i, j, _), value in zip(found.indices.numpy(), found.values.numpy().tolist(), strict=True):
        dense[i][j].add(value)
    for i in range(2):
        for j in range(4):
            assert dense[i][j] == getattr(set(a[i, j].tolist()), name)(set(b[i, j].tolist()))


def test_empty_sets() -> None:
    empty = tf.zeros([2, 0], tf.int32)
    assert parts(SETS.intersection(empty, [[1], [2]])) == [[], [], [2, 0]]
    assert parts(SETS.union(empty, empty)) == [[], [], [2, 0]]
    none = Sparse(tf.zeros([0, 2], tf.int64), tf.zeros([0], tf.int32), [2, 4])
    assert parts(SETS.union(none, [[1], [2]])) == [[[0, 0], [1, 0]], [1, 2], [2, 1]]
    assert SETS.size(none).numpy().tolist() == [0, 0]


def test_in_graphs() -> None:
    def work(a: Any, b: Any) -> Any:
        return SETS.union(a, b), SETS.difference(b, a), SETS.size(b)

    for executor in ("plan", "interpret"):
        for dims in ([None, None], None):
            signature = [tf.TensorSpec(dims, tf.int32), tf.SparseTensorSpec(dims, tf.int32)]
            traced = tf.function(work, input_signature=signature, experimental_executor=executor)
            one, other, sizes = traced(tf.constant([[5], [1], [1]]), ROWS)
            assert parts(one) == [[[0, 0], [1, 0], [2, 0], [2, 1]], [5, 1, 1, 7], [3, 2]]
            assert parts(other) == [[[2, 0]], [7], [3, 1]]
            assert sizes.numpy().tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: SETS.intersection([[1.0]], [[1.0]]), TypeError, "float32"),
        (lambda: SETS.union(ROWS, tf.constant([[1]], tf.int64)), TypeError, "Types don't match"),
        (lambda: SETS.union([1], [1]), refused, "rank 1 < 2"),
        (lambda: SETS.union([[1]], [[1], [2]]), refused, "Mismatched shapes"),
        (lambda: SETS.size([[1]]), TypeError, "Expected `SparseTensor`"),
        (lambda: SETS.size(Sparse([[2, 0], [0, 3]], [5, 5], [3, 4])), refused, "out of order"),
        (lambda: SETS.union(Sparse([[0, 7]], [5], [1, 4]), [[1]]), refused, "out of bounds"),
        (lambda: tf.function(lambda: SETS.union([1], [1]))(), ValueError, "rank 1 < 2"),
        (lambda: tf.edit_distance([[1]], ROWS), TypeError, "Hypothesis must be a SparseTensor"),
        (lambda: tf.edit_distance(ROWS, Sparse([[0]], [1], [2])), refused, "rank at least 2"),
        (lambda: tf.edit_distance(Sparse([[4, 0]], [5], [1, 2]), ROWS), refused, "out of bounds"),
    ],
)
def test_refusals(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_coordinates_are_not_validated() -> None:
    unordered = Sparse([[2, 0], [0, 3]], [5, 5], [3, 4])
    assert SETS.size(unordered, validate_indices=False).numpy().tolist() == [1, 0, 1]
    assert parts(SETS.union(unordered, unordered, validate_indices=False))[1] == [5, 5]


HYPOTHESIS = Sparse([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
TRUTH = Sparse([[0, 0], [0, 1], [2, 0]], ["a", "x", "y"], [3, 3])


def test_distances() -> None:
    assert tf.edit_distance(HYPOTHESIS, TRUTH).numpy().tolist() == [0.5, np.inf, 1.0]
    assert tf.edit_distance(HYPOTHESIS, TRUTH, normalize=False).numpy().tolist() == [1.0, 2.0, 1.0]
    assert tf.edit_distance(HYPOTHESIS, HYPOTHESIS).numpy().tolist() == [0.0, 0.0]
    one, other = Sparse([[0, 0, 0]], [1], [1, 2, 1]), Sparse([[0, 1, 0]], [1], [1, 2, 1])
    assert tf.edit_distance(one, other).numpy().tolist() == [[np.inf, 1.0]]


def slow_distance(one: Any, other: Any) -> int:
    if not one or not other:
        return len(one) + len(other)
    changed = slow_distance(one[1:], other[1:]) + (one[0] != other[0])
    return min(changed, slow_distance(one[1:], other) + 1, slow_distance(one, other[1:]) + 1)


def test_distances_equal_the_definition() -> None:
    random = np.random.default_rng(4)
    rows = [[random.integers(0, 3, size=random.integers(0, 6)).tolist() for _ in range(8)] for _ in range(2)]

    def sparse(sequences: Any) -> Any:
        places = [[i, j] for i, row in enumerate(sequences) for j in range(len(row))]
        return Sparse(places, [x for row in sequences for x in row], [8, 6])

    expected = [slow_distance(*pair) for pair in zip(*rows, strict=True)]
    for executor in ("plan", "interpret"):
        spec = tf.SparseTensorSpec(None, tf.int32)
        traced = tf.function(
            lambda a, b: tf.edit_distance(a, b, normalize=False),
            input_signature=[spec, spec],
            experimental_executor=executor,
        )
        assert traced(sparse(rows[0]), sparse(rows[1])).numpy().tolist() == expected
