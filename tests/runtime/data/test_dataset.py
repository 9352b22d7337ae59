"""Datasets in Python: state of walks, generators, random orders, options, iterators. Numbers are TensorFlow's."""

from __future__ import annotations

import collections
import dataclasses
import itertools

import agc.runtime as tf
import numpy as np
import pytest

D = tf.data.Dataset


def numbers(ds):
    return [int(x) for x in ds]


def test_every_iteration_restarts_the_dataset():
    ds = D.range(3)
    first, second = iter(ds), iter(ds)
    assert [int(next(first)), int(next(first)), int(next(second))] == [0, 1, 0]
    assert numbers(ds) == numbers(ds) == [0, 1, 2]


def test_a_generator_function_is_called_for_every_iterator():
    calls = []

    def elements():
        calls.append(len(calls))
        yield from range(2)

    ds = D.from_generator(elements, output_signature=tf.TensorSpec((), tf.int32))
    assert not calls
    assert numbers(ds.repeat(2)) == [0, 1, 0, 1]
    assert numbers(ds) == [0, 1]
    assert calls == [0, 1, 2]


def test_a_generator_without_an_end():
    ds = D.from_generator(itertools.count, output_signature=tf.TensorSpec((), tf.int64))
    assert numbers(ds.map(lambda x: x * x).take(4)) == [0, 1, 4, 9]


def test_the_element_of_a_dataset_is_not_changed_by_its_owner():
    array = np.arange(3)
    ds = D.from_tensor_slices(array)
    array[:] = 9
    assert numbers(ds) == [0, 1, 2]


def test_variables_in_functions_have_their_present_values():
    v = tf.Variable(1, dtype=tf.int64)
    ds = D.range(3).map(lambda x: x + v)
    assert numbers(ds) == [1, 2, 3]
    v.assign(10)
    assert numbers(ds) == [10, 11, 12]


def test_functions_are_traced_once():
    traces = []

    def f(x):
        traces.append(x)
        return x + 1

    ds = D.range(4).map(f)
    assert numbers(ds) == numbers(ds)
    assert len(traces) == 1


def test_functions_are_converted():
    def collatz(n):
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    assert numbers(D.from_tensor_slices([1, 7, 27]).map(collatz)) == [0, 16, 111]
    assert numbers(D.from_tensor_slices([1, 7, 27]).map(tf.function(collatz))) == [0, 16, 111]


def test_bound_methods_partials_and_operations_are_functions():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return x * self.by

        def twice(self, x):
            return x * self.by * 2

    assert numbers(D.range(3).map(Scale(3))) == [0, 3, 6]
    assert numbers(D.range(3).map(Scale(3).twice)) == [0, 6, 12]
    assert numbers(D.range(3).map(tf.negative)) == [0, -1, -2]


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    one: object
    two: object


def test_namedtuples_and_dataclasses_are_structures():
    ds = D.from_tensor_slices(Point([1, 2], [3, 4]))
    assert ds.element_spec == Point(tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.int32))
    assert numbers(ds.map(lambda point: point.x * point.y)) == [3, 8]
    made = D.range(2).map(lambda x: Point(x, x + 1))
    assert [(int(p.x), int(p.y)) for p in made] == [(0, 1), (1, 2)]
    pairs = D.range(2).map(lambda x: Pair(x, x * 2.0 if False else x))
    assert [type(p) for p in pairs] == [Pair, Pair]


@pytest.fixture
def global_seed():
    tf.random.set_seed(3)
    yield
    tf.random.set_seed(None)


def test_the_order_of_a_shuffle_is_tensorflows(global_seed):
    ds = D.range(5).shuffle(5)
    assert [numbers(ds), numbers(ds)] == [[2, 3, 1, 4, 0], [1, 3, 0, 2, 4]]
    ds = D.range(5).shuffle(5, seed=2)
    assert [numbers(ds), numbers(ds)] == [[3, 1, 2, 0, 4], [0, 4, 3, 2, 1]]


def test_slices_are_shuffled_in_blocks_in_the_same_order():
    x = np.arange(50)
    plain = D.range(50).shuffle(7, seed=11).batch(8)
    slices = D.from_tensor_slices((x, x * 2)).shuffle(7, seed=11).batch(8)
    assert [e.numpy().tolist() for e in plain] == [e.numpy().tolist() for e, _ in slices]
    assert all((2 * a.numpy() == b.numpy()).all() for a, b in slices)
    dropped = D.from_tensor_slices(x).shuffle(7, seed=11).batch(8, drop_remainder=True)
    assert [e.shape for e in dropped] == [[8]] * 6


def test_random_operations_repeat_their_numbers_in_every_iteration(global_seed):
    ds = D.range(3).map(lambda x: tf.random.uniform([]))
    expected = [0.12736404, 0.8580158, 0.88987064]
    assert np.allclose([list(ds.as_numpy_iterator()), list(ds.as_numpy_iterator())], [expected] * 2)


def test_options_are_kept_and_merged():
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 3
    other = tf.data.Options()
    other.deterministic = True
    ds = D.range(3).with_options(options).map(lambda x: x).with_options(other)
    assert ds.options().deterministic is True
    assert ds.options().threading.private_threadpool_size == 3
    assert D.range(3).options() == tf.data.Options()


def test_options_of_datasets_cannot_be_changed():
    options = tf.data.Options()
    ds = D.range(3).with_options(options)
    options.deterministic = True  # of the program's object only
    assert ds.options().deterministic is None
    with pytest.raises(ValueError, match=r"returned by .* has no effect"):
        ds.options().threading.private_threadpool_size = 1
    assert ds.options().experimental_distribute.auto_shard_policy is tf.data.experimental.AutoShardPolicy.AUTO


def test_iterators_and_their_specs():
    iterator = iter(D.range(2))
    assert iterator.element_spec == tf.TensorSpec((), tf.int64)
    assert isinstance(iterator, tf.data.Iterator)
    assert repr(tf.type_spec_from_value(D.range(2))) == (
        "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))"
    )
    assert repr(tf.type_spec_from_value(iterator)) == (
        "IteratorSpec(TensorSpec(shape=(), dtype=tf.int64, name=None),)"
    )
    assert [int(iterator.get_next()), int(iterator.next())] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)


def test_optionals():
    iterator = iter(D.range(1))
    one, none = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    assert (bool(one.has_value()), int(one.get_value()), bool(none.has_value())) == (True, 0, False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        none.get_value()


def test_numpy_elements():
    ds = D.from_tensor_slices({"a": [1, 2], "b": (["x", "y"], [[1.0], [2.0]])})
    iterator = ds.as_numpy_iterator()
    assert next(iterator) == {"a": 1, "b": (b"x", np.array([1.0], np.float32))}
    assert repr(iterator).startswith("NumpyIterator(iterator=<")


def test_a_dataset_has_a_length_and_is_true():
    assert len(D.range(10).batch(4)) == 3
    assert bool(D.range(0))
    assert D.range(3) != D.range(3)


def test_experimental_names():
    x = tf.data.experimental
    assert int(x.cardinality(D.range(4))) == 4
    assert numbers(D.range(4).apply(x.take_while(lambda x: x < 2))) == [0, 1]
    assert numbers(D.range(4).apply(x.prefetch_to_device("/cpu:0"))) == [0, 1, 2, 3]
    assert sorted(numbers(D.range(2).apply(x.shuffle_and_repeat(2, 2, seed=1)))) == [0, 0, 1, 1]
    assert numbers(x.Counter(5).take(2)) == [5, 6]
    assert (x.AUTOTUNE, x.INFINITE_CARDINALITY, x.UNKNOWN_CARDINALITY) == (-1, -1, -2)


def test_pipelines_are_made_in_functions_without_tensors_of_theirs():
    @tf.function
    def total():
        return D.range(5).map(lambda x: x * 2).reduce(tf.constant(0, tf.int64), lambda s, x: s + x)

    assert int(total()) == 20


def test_the_gradient_of_a_step_in_a_loop():
    w = tf.Variable(0.0)
    ds = D.from_tensor_slices(([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])).repeat(20)

    @tf.function
    def fit(ds):
        loss = tf.constant(0.0)
        for x, y in ds:
            with tf.GradientTape() as tape:
                loss = (w * x - y) ** 2
            w.assign_sub(0.05 * tape.gradient(loss, w))
        return loss

    assert float(fit(ds)) < 1e-6
    assert abs(float(w) - 2.0) < 1e-3


def test_datasets_and_iterators_are_no_tensors() -> None:
    dataset = tf.data.Dataset.range(3)
    for value in (dataset, iter(dataset), tf.experimental.Optional.from_value(1)):
        assert not tf.is_tensor(value)


def test_a_mapped_layer_creates_its_variables_while_it_is_traced():
    class Layer(tf.Module):
        weight = None

        def __call__(self, x):
            if self.weight is None:
                self.weight = tf.Variable(lambda: tf.fill([2], 3.0))
            return x * self.weight

    layer = Layer()
    mapped = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [0.0, 1.0]]).map(layer)
    assert [row.tolist() for row in mapped.as_numpy_iterator()] == [[3.0, 6.0], [0.0, 3.0]]
    layer.weight.assign([1.0, 1.0])
    assert next(iter(mapped)).numpy().tolist() == [1.0, 2.0]


def test_the_initial_value_of_a_variable_is_no_element():
    with pytest.raises(ValueError, match="the initial value of a variable depends on the argument `args_0`"):
        tf.data.Dataset.range(3).map(lambda x: tf.Variable(x))


@pytest.mark.parametrize("size", [2, [1, 3]])
def test_rows_of_ragged_tensors_are_batched_again(size):
    rows = D.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [], [4, 5, 6]]))
    numbers = rows.unbatch()
    assert numbers.element_spec == tf.RaggedTensorSpec([], tf.int32, ragged_rank=-1)
    assert [batch.numpy().tolist() for batch in numbers.batch(4)] == [[1, 2, 3, 4], [5, 6]]
    expected = [batch.numpy().tolist() for batch in D.range(1, 7).batch(6).rebatch(size)]
    assert [batch.numpy().tolist() for batch in rows.rebatch(size)] == expected
