"""Loops over datasets in functions: with `break`, `continue` and `return`, over nests, in both executors."""

from __future__ import annotations

import agc.runtime as tf
import pytest

D = tf.data.Dataset


@pytest.fixture(params=["python", "plan", "interpret"])
def function(request):
    """The three ways to run a function."""
    if request.param == "python":
        return lambda f: f
    return lambda f: tf.function(f, experimental_executor=request.param)


def total(ds):
    result = tf.constant(0, tf.int64)
    for x in ds:
        result += x
    return result


def test_a_dataset_is_an_argument(function):
    assert int(function(total)(D.range(5))) == 10


def test_datasets_with_equal_specs_share_a_graph():
    f = tf.function(total)
    assert [int(f(ds)) for ds in (D.range(5), D.range(3).map(lambda x: x + 1), D.range(9).filter(lambda x: x > 6))] == [
        10, 6, 15,
    ]  # fmt: skip
    assert f.experimental_get_tracing_count() == 1


def test_a_dataset_is_captured(function):
    ds = D.range(4)

    def product():
        result = tf.constant(1, tf.int64)
        for x in ds:
            result *= x + 1
        return result

    f = function(product)
    assert [int(f()), int(f())] == [24, 24]


def test_a_dataset_is_made_of_the_arguments(function):
    def squares(n, k):
        result = tf.constant(0, tf.int64)
        for x in D.range(n).map(lambda x: x * k).batch(2):
            result += tf.reduce_sum(x)
        return result

    f = function(squares)
    assert int(f(tf.constant(4, tf.int64), tf.constant(10, tf.int64))) == 60
    assert int(f(tf.constant(3, tf.int64), tf.constant(1, tf.int64))) == 3


def test_the_loop_has_break_and_continue(function):
    def some(ds, limit):
        result = tf.constant(0, tf.int64)
        for x in ds:
            if x % 2 == 0:
                continue
            if x > limit:
                break
            result += x
        return result

    assert int(function(some)(D.range(100), tf.constant(6, tf.int64))) == 9


def test_the_loop_returns(function):
    def first_over(ds, limit):
        for x in ds:
            if x > limit:
                return x
        return tf.constant(-1, tf.int64)

    f = function(first_over)
    assert int(f(D.range(0, 50, 7), tf.constant(20, tf.int64))) == 21
    assert int(f(D.range(0, 50, 7), tf.constant(200, tf.int64))) == -1


def test_an_infinite_dataset_is_left_by_break(function):
    def until(ds):
        count = 0
        for x in ds:
            if x > 10:
                break
            count += 1
        return count

    assert int(function(until)(D.counter())) == 11


def test_elements_are_nests(function):
    ds = D.from_tensor_slices({"x": [[1.0, 2.0], [3.0, 4.0]], "y": ([1, 2], ["a", "bc"])})

    def sums(ds):
        xs, ys, length = tf.zeros([2]), 0, 0
        for element in ds:
            xs += element["x"]
            number, text = element["y"]
            ys += number
            length += tf.strings.length(text)
        return xs, ys, length

    xs, ys, length = function(sums)(ds)
    assert (xs.numpy().tolist(), int(ys), int(length)) == ([4.0, 6.0], 3, 3)


def test_loops_are_nested(function):
    def pairs(one, other):
        count = 0
        for x in one:
            for y in other:
                if x < y:
                    count += 1
        return count

    assert int(function(pairs)(D.range(4), D.range(6))) == 14


def test_the_loop_assigns_variables(function):
    v = tf.Variable(0, dtype=tf.int64)

    def add(ds):
        for x in ds:
            v.assign_add(x)

    function(add)(D.range(5))
    assert int(v) == 10


def test_enumerate_zip_map_and_filter(function):
    def weighted(ds):
        result = tf.constant(0, tf.int64)
        for i, (x, y) in enumerate(zip(ds, ds.skip(1), strict=False)):
            result += tf.cast(i, tf.int64) * x * y
        return result

    assert int(function(weighted)(D.range(1, 5))) == 1 * 2 * 3 + 2 * 3 * 4


def test_an_iterator_continues_in_a_second_loop(function):
    def two_loops(ds):
        it = iter(ds)
        first = next(it)
        total, rest = tf.constant(0, tf.int64), tf.constant(0, tf.int64)
        for x in it:
            total += x
            if x >= 3:
                break
        for x in it:
            rest += x
        return first, total, rest

    assert [int(x) for x in function(two_loops)(D.range(1, 7))] == [1, 5, 15]


def test_an_iterator_from_outside_is_advanced():
    it = iter(D.range(5))

    @tf.function
    def step():
        return next(it)

    assert [int(step()), int(next(it)), int(step())] == [0, 1, 2]


def test_iterators_are_arguments_and_share_a_graph():
    @tf.function
    def take(it):
        return next(it) * 10

    assert [int(take(iter(D.range(n, 9)))) for n in range(3)] == [0, 10, 20]
    assert take.experimental_get_tracing_count() == 1


def test_the_end_is_an_error_in_a_graph_and_stops_python():
    @tf.function
    def take(it):
        return next(it)

    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        take(iter(D.range(0)))
    with pytest.raises(StopIteration):
        next(iter(D.range(0)))


def test_next_with_a_default(function):
    def take(ds):
        it = iter(ds)
        return next(it, tf.constant(-1, tf.int64)), next(it, tf.constant(-1, tf.int64))

    assert [int(x) for x in function(take)(D.range(1))] == [0, -1]


def test_an_optional_in_a_graph(function):
    def take(ds):
        it = iter(ds)
        one, other = it.get_next_as_optional(), it.get_next_as_optional()
        return one.has_value(), one.get_value(), other.has_value()

    assert [x.numpy() for x in function(take)(D.range(1))] == [True, 0, False]


def test_a_branch_returns_an_optional_with_a_new_value():
    @tf.function
    def half(x):
        none = tf.experimental.Optional.empty(tf.TensorSpec([], x.dtype))
        found = tf.cond(x % 2 == 0, lambda: tf.experimental.Optional.from_value(x // 2), lambda: none)
        return found.has_value()

    assert [bool(half(tf.constant(x))) for x in (4, 5)] == [True, False]


def test_reduce_and_the_single_element_are_staged(function):
    def f(ds):
        largest = ds.reduce(tf.constant(-1, tf.int64), lambda best, x: x if x > best else best)
        return largest, ds.take(1).get_single_element(), ds.cardinality()

    assert [int(x) for x in function(f)(D.range(7))] == [6, 0, 7]


def test_a_function_returns_a_dataset():
    @tf.function
    def made(n):
        return D.range(n).map(lambda x: x + n)

    ds = made(tf.constant(3, tf.int64))
    assert ds.element_spec == tf.TensorSpec((), tf.int64)
    assert [int(x) for x in ds] == [3, 4, 5]


def test_specs_are_input_signatures():
    spec = tf.data.DatasetSpec(tf.TensorSpec((), tf.int64))
    assert tf.data.DatasetSpec.from_value(tf.data.Dataset.range(2)) == spec
    f = tf.function(total, input_signature=[spec])
    assert int(f(D.range(4))) == 6
    assert int(tf.function(total).get_concrete_function(spec)(D.range(4))) == 6
    with pytest.raises(TypeError, match="does not fit"):
        f(D.from_tensors(1.5))


def test_branches_choose_datasets(function):
    def chosen(flag, one, other):
        ds = one if flag else other
        return total(ds)

    f = function(chosen)
    assert int(f(tf.constant(True), D.range(3), D.range(5).map(lambda x: x * 2))) == 3
    assert int(f(tf.constant(False), D.range(3), D.range(5).map(lambda x: x * 2))) == 20


def test_a_branch_makes_a_dataset(function):
    def scaled(n):
        ds = D.range(n)
        if n > 3:
            ds = ds.map(lambda x: x * n)
        return total(ds)

    assert [int(function(scaled)(tf.constant(n, tf.int64))) for n in (3, 4)] == [3, 24]


def test_a_loop_makes_datasets(function):
    def triangle(n):
        result = tf.constant(0, tf.int64)
        for i in tf.range(n):
            for x in D.range(tf.cast(i, tf.int64)).batch(2, drop_remainder=True):
                result += tf.reduce_sum(x)
        return result

    assert int(function(triangle)(tf.constant(6))) == 14


def collected(ds):
    out = tf.TensorArray(tf.int64, 0, dynamic_size=True)
    for x in ds:
        out = out.write(out.size(), x)
    return out.stack()


def test_maximum_iterations_bounds_a_loop_over_a_dataset():
    @tf.function
    def some(ds):
        result = tf.constant(0, tf.int64)
        for x in ds:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            result += x
        return result

    assert int(some(D.range(2))) == 1
    assert int(some(D.counter())) == 3


def test_a_dataset_made_in_a_function_restarts_in_each_call():
    """Numbers as TensorFlow's: a shuffle goes on within a call only, a cache is of one call."""

    @tf.function
    def f(n):
        ds = D.range(n).shuffle(5, seed=1)
        kept = ds.cache()
        return collected(ds), collected(ds), collected(kept), collected(kept)

    def called(n):
        return [x.numpy().tolist() for x in f(tf.constant(n, tf.int64))]

    first = called(5)
    assert first[:2] == [[0, 4, 3, 1, 2], [3, 1, 0, 4, 2]]
    assert first[2] == first[3]
    assert called(5) == first
    assert sorted(called(3)[3]) == [0, 1, 2]


def test_a_captured_dataset_continues_across_calls():
    ds = D.range(5).shuffle(5, seed=1)

    @tf.function
    def f():
        return collected(ds), collected(ds.map(lambda x: x * 10))

    assert [[x.numpy().tolist() for x in f()] for _ in range(2)] == [
        [[0, 4, 3, 1, 2], [30, 10, 0, 40, 20]],
        [[0, 1, 3, 4, 2], [10, 20, 0, 40, 30]],
    ]


def test_elements_are_ragged_and_sparse_tensors(function):
    def sums(ragged, sparse):
        rows, total = 0, tf.constant(0)
        for x in ragged:
            rows += x.nrows()
            total += tf.reduce_sum(x.flat_values)
        for x in sparse:
            total += tf.reduce_sum(x.values)
        return rows, total

    ragged = D.from_tensor_slices(tf.ragged.constant([[1, 2], [3], [], [4]])).batch(3)
    sparse = D.from_tensor_slices(tf.sparse.SparseTensor([[0, 0], [1, 2]], [10, 20], [2, 3]))
    assert [int(x) for x in function(sums)(ragged, sparse)] == [4, 40]


def test_python_cannot_iterate_over_an_iterator_of_a_graph():
    @tf.function(autograph=False)
    def f(ds):
        return sum(x for x in ds)

    with pytest.raises(ValueError, match="one by one, while a graph was made"):
        f(D.range(3))


def test_the_graph_of_a_loop():
    graph = tf.function(total).get_concrete_function(D.range(3)).graph
    iterator, loop = graph.get_operations()
    test, body = loop.regions
    assert iterator.type == "iterator"
    assert [operation.type for operation in test.operations] == ["iterator_advance"]
    assert [operation.type for operation in body.operations] == ["iterator_current", "add"]
