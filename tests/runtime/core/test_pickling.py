"""Copies and pickles of what the runtime has: values as they are, functions without their graphs.

What works and what is refused was compared with TensorFlow 2.21, which refuses functions that were traced, and loses
the state of optimizers and metrics.
"""

import copy
import pickle

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.framework.op import REGISTRY


def pickled(value):
    return pickle.loads(pickle.dumps(value))


AGAIN = pytest.mark.parametrize("again", [pickled, copy.deepcopy], ids=["pickled", "copied"])


def doubled(x):
    return 2 * x


class Point(tf.experimental.ExtensionType):
    x: tf.Tensor
    y: tf.Tensor


class Scale(tf.Module):
    def __init__(self):
        super().__init__(name="scale")
        self.weight = tf.Variable([1.0, 2.0], name="weight")
        self.same = self.weight
        self.step = tf.function(self.add)

    @tf.function
    def __call__(self, x):
        return x * self.weight

    def add(self, x):
        return self.weight.assign_add(x).value()


VALUES = {
    "tensor": lambda: tf.constant([[1, 2], [3, 4]]),
    "bfloat16": lambda: tf.constant([1.5], tf.bfloat16),
    "texts": lambda: tf.constant(["a", "é"]),
    "ragged": lambda: tf.ragged.constant([[1], [2, 3]]),
    "sparse": lambda: tf.sparse.from_dense([[1, 0], [0, 2]]),
    "slices": lambda: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([2, 1])),
    "extension": lambda: Point(tf.constant(1), tf.constant([2.0])),
}


@AGAIN
@pytest.mark.parametrize("name", VALUES)
def test_values(again, name):
    value = VALUES[name]()
    other = again(value)
    assert type(other) is type(value)
    for one, two in zip(
        *(tf.nest.flatten(each, expand_composites=True) for each in (other, value)), strict=True
    ):
        assert one.dtype is two.dtype
        np.testing.assert_array_equal(one.numpy(), two.numpy())


@AGAIN
def test_specs(again):
    for spec in (
        tf.TensorSpec([None, 2], tf.int8, "x"),
        tf.RaggedTensorSpec([None, None]),
        tf.SparseTensorSpec([2]),
        tf.type_spec_from_value(VALUES["extension"]()),
        tf.TensorShape([None, 3]),
        tf.bfloat16,
    ):
        assert again(spec) == spec


@AGAIN
def test_variables(again):
    variable = tf.Variable(
        [1, 2], name="v", trainable=False, dtype=tf.int64, shape=[None], constraint=doubled
    )
    other = again(variable)
    assert (other.name, other.trainable, other.dtype, other.constraint) == ("v:0", False, tf.int64, doubled)
    other.assign([7, 8, 9])
    assert variable.numpy().tolist() == [1, 2]


def test_a_shallow_copy_of_a_variable_is_the_variable():
    variable = tf.Variable(1)
    assert copy.copy(variable) is variable


@AGAIN
def test_copied_modules_keep_shared_variables(again):
    module = Scale()
    module(tf.ones(2)), module.step(tf.ones(2))  # traced
    other = again(module)
    assert other.name == "scale"
    assert other.weight is other.same
    other.weight.assign([10.0, 20.0])
    assert other(tf.ones(2)).numpy().tolist() == [10.0, 20.0]
    assert other.step(tf.ones(2)).numpy().tolist() == [11.0, 21.0]
    assert module(tf.ones(2)).numpy().tolist() == [2.0, 3.0]


@AGAIN
def test_operations_are_pickled_by_reference(again):
    for operation in (tf.add, tf.nn.relu, tf.reduce_sum, tf.linalg.cholesky):
        assert again(operation) is operation


def test_every_operation_can_be_pickled():
    assert [name for name, operation in REGISTRY.items() if pickled(operation) is not operation] == []


@AGAIN
@pytest.mark.parametrize("functional", [False, True])
def test_copies_of_trained_models_train_independently(again, functional):
    layers = [
        tf.keras.layers.Dense(2, kernel_initializer="ones"),
        tf.keras.layers.Dense(1, activation=tf.nn.relu),
    ]
    if functional:
        inputs = tf.keras.Input((3,))
        model = tf.keras.Model(inputs, layers[1](layers[0](inputs)))
    else:
        model = tf.keras.Sequential(layers)
    model.compile(tf.keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    x, y = np.ones((4, 3), np.float32), np.zeros((4, 1), np.float32)
    model.fit(x, y, verbose=0)
    before = model.get_weights()
    other = again(model)
    for one, two in zip(other.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, two)
    loss = other.evaluate(x, y, verbose=0)[0]
    history = other.fit(x, y, verbose=0).history
    np.testing.assert_allclose(history["loss"], [loss], rtol=1e-5)
    for one, two in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, two)


@AGAIN
def test_functions_are_traced_again(again):
    function = tf.function(doubled)
    function(tf.constant(1))
    other = again(function)
    assert other(tf.constant(3)).numpy() == 6
    assert other.experimental_get_tracing_count() == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.data.Dataset.range(3).map(doubled), "a dataset cannot be"),
        (lambda: iter(tf.data.Dataset.range(3)), "an iterator can be neither pickled nor copied"),
        (
            lambda: tf.function(doubled).get_concrete_function(1),
            "a concrete function cannot be copied or pickled",
        ),
        (
            lambda: tf.function(doubled).get_concrete_function(1).graph,
            "a graph can be neither copied nor pickled",
        ),
    ],
)
@AGAIN
def test_objects_bound_to_the_process_cannot_be_pickled(again, make, message):
    with pytest.raises(TypeError, match=message):
        again(make())


def test_a_shallow_copy_of_a_dataset_is_the_dataset():
    dataset = tf.data.Dataset.range(3).map(doubled)
    assert [int(x) for x in copy.copy(dataset)] == [0, 2, 4]
