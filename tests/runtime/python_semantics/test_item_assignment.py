"""`x[i] = value` on tensors: what NumPy does to an array, as a new tensor, in every executor."""

from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc import autograph
from support.versions import converted_version

ARRAY = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
KEYS = [
    np.s_[0], np.s_[-1], np.s_[1, 2], np.s_[1, 2, 3], np.s_[:, 1], np.s_[..., 0], np.s_[0, ..., -1], np.s_[::-1],
    np.s_[:, ::-2], np.s_[1:, :2, 1:3], np.s_[5:], np.s_[-2:], np.s_[1::-1], np.s_[()], np.s_[...], ARRAY > 7,
    np.s_[None], np.s_[:, None, 1], ARRAY[:, :, 0] > 7,
]  # fmt: skip


def agrees(f: Any, *inputs: Any) -> None:
    """Run `f` on NumPy arrays unconverted, and converted on tensors, eagerly and in graphs."""
    for args in inputs:
        expected = f(*map(np.array, args))
        graphs = tf.function(f), tf.function(f, experimental_executor="interpret")
        for run in (autograph.convert(f), converted_version(f), *graphs):
            found = run(*map(tf.constant, args))
            tf.nest.map_structure(lambda e, g: np.testing.assert_allclose(np.asarray(g), e), expected, found)


def assign(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_assignment_with_a_key_behaves_as_in_numpy(key: Any) -> None:
    expected = assign(ARRAY.copy(), key, -1)
    x = tf.constant(ARRAY)
    unknown = [tf.TensorSpec(None, tf.int32)]
    for run in (
        autograph.convert(lambda x: assign(x, key, -1)),
        converted_version(lambda x: assign(x, key, -1)),
        tf.function(lambda x: assign(x, key, -1)),
        tf.function(lambda x: assign(x, key, -1), input_signature=unknown),
    ):
        np.testing.assert_array_equal(run(x), expected)
    np.testing.assert_array_equal(x, ARRAY)  # the tensor itself never changes


def test_the_value_is_broadcast_and_takes_the_dtype() -> None:
    @tf.function
    def f(x):
        x[:, 0] = 1
        x[1:, 1:] = [[2], [3]]
        x[0] = [7, 8, 9]
        return x

    assert f(tf.zeros([3, 3])).numpy().tolist() == [[7, 8, 9], [1, 2, 2], [1, 3, 3]]


def test_insertion_sort() -> None:
    def sort(xs):
        for i in range(1, len(xs)):
            value, j = xs[i], i
            while j > 0 and xs[j - 1] > value:
                xs[j] = xs[j - 1]
                j -= 1
            xs[j] = value
        return xs

    agrees(sort, ([3, 1, 2, 9, 0],), ([1],))


def test_swaps_in_nested_loops() -> None:
    def sort(xs):
        n = len(xs)
        for i in range(n):
            for j in range(n - 1 - i):
                if xs[j] > xs[j + 1]:
                    xs[j], xs[j + 1] = xs[j + 1], xs[j]
        return xs

    agrees(sort, ([3, 1, 2, 9, 0],))


def test_sieve_with_a_step() -> None:
    def primes(marks, n):
        marks[:2] = False
        i = 2
        while i * i < n:
            if marks[i]:
                marks[i * i :: i] = False
            i += 1
        return marks

    agrees(primes, ([True] * 50, 50))


def test_longest_common_subsequence() -> None:
    def lcs(a, b, best):
        for i in range(len(a)):
            for j in range(len(b)):
                if a[i] == b[j]:
                    best[i + 1, j + 1] = best[i, j] + 1
                else:
                    best[i + 1, j + 1] = max(best[i, j + 1], best[i + 1, j])
        return best[-1, -1]

    agrees(lcs, ([1, 2, 3, 4, 1], [3, 4, 1, 2, 1, 3], [[0] * 7] * 6))


def test_updates() -> None:
    def histogram(xs, counts):
        for x in xs:
            counts[x] += 1
        counts[1:] *= 2
        counts[counts > 5] -= 1
        return counts

    agrees(histogram, ([1, 2, 2, 0, 2], [0, 0, 0]))


def test_attributes_and_items_of_containers() -> None:
    class Box:
        pass

    def f(x, i):
        box, table = Box(), {"rows": [x + 1, x + 2]}
        box.w, box.rows = x + 3, [x + 4, x + 5]
        if i > 0:
            box.w[i] = 7
            box.rows[1][i] = 8
            table["rows"][0][i] = 9
        box.w[0] += 1
        return box.w, box.rows, table["rows"]

    agrees(f, ([1, 2, 3], 2), ([1, 2, 3], 0))


def test_a_python_list_stays_one_object() -> None:
    def f(xs, c):
        alias = xs
        if c > 0:
            xs[0] = c
            xs[-1] += 1
        for i in range(c):
            k = 1
            xs[k] = xs[k] + i
        return alias, xs

    for c in (3, -3):
        expected = f([1, 2, 3], c)
        found = tf.function(lambda c: f([1, 2, 3], c))(tf.constant(c))
        assert tf.nest.map_structure(int, found) == expected


def test_the_callers_list_is_changed() -> None:
    def outer(c):
        row, table = [1, 2], {"n": 0}
        box = [row, table]
        inner(box[0], box[1], c)
        return row, table

    def inner(row, table, c):
        if c > 0:
            row[0] = c
            table["n"] = row[0] + row[1]
        return c

    for c in (3, -3):
        assert tf.nest.map_structure(int, tf.function(outer)(tf.constant(c))) == outer(c)


def test_a_branch_that_raises_leaves_python_lists_alone() -> None:
    xs = [1, 2]

    @tf.function
    def f(c):
        return inner(xs, c)

    def inner(xs, c):
        if c > 0:
            xs[0] = c
            raise RuntimeError("no")
        return xs

    with pytest.raises(Exception, match="no"):
        f(tf.constant(1))
    assert xs[1] == 2


def test_variables_and_tensor_arrays() -> None:
    v = tf.Variable([1, 2, 3])

    @tf.function
    def f(n):
        array = tf.TensorArray(tf.int32, size=n)
        for i in range(n):
            array[i] = i * i
            if i > 1:
                v[i] += 10
        v[:1] = 0
        return array.stack()

    assert f(tf.constant(3)).numpy().tolist() == [0, 1, 4]
    assert v.numpy().tolist() == [0, 2, 13]
    v[1] = 9  # outside of converted code as well
    assert v.numpy().tolist() == [0, 9, 13]


REFUSED = [
    (lambda x: assign(x, 0, [1, 2]), r"shape \[2\] does not fit into the selected places, of shape \[3\]"),
    (lambda x: assign(x, 0, 2.5), "Cannot convert 2.5"),
    (lambda x: assign(x, 0, tf.constant(2.5)), "int32 tensor but is a float32 tensor"),
    (lambda x: assign(x, 5, 0), "slice index 5 of dimension 0 out of bounds"),
    (lambda x: assign(x, tf.constant([0, 1]), 0), "Only integers, slices"),
    (lambda x: assign(x, tf.constant([True]), 0), r"a mask of shape \[1\] for a tensor of shape \[2,3\]"),
]


@pytest.mark.parametrize(("f", "message"), REFUSED)
def test_a_mismatched_value_is_refused_in_graphs_and_eagerly(f: Any, message: str) -> None:
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    for run in (autograph.convert(f), converted_version(f), tf.function(f)):
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError), match=message):
            run(x)


def test_an_index_out_of_bounds_is_found_when_the_graph_runs() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 5 of dimension 0 out of bounds"):
        tf.function(lambda x, i: assign(x, i, 0))(tf.constant([1, 2]), tf.constant(5))


def test_deleting_an_item_names_the_replacement() -> None:
    @tf.function
    def f(x):
        del x[0]
        return x

    with pytest.raises(TypeError, match=r"tf.concat\(\[x\[:i\], x\[i \+ 1:\]\]"):
        f(tf.constant([1, 2]))


def test_a_parameter_changed_for_the_caller_only_is_refused() -> None:
    def clear(x):
        x[0] = 0

    @tf.function
    def f(x):
        clear(x)
        return x

    with pytest.raises(TypeError, match="a function that does so to its parameter must return it"):
        f(tf.constant([1, 2]))
