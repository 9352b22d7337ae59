"""Classes derived from CompositeTensor itself: which of them are tensors, and the operations that take all of them."""

import agc.runtime as tf
import pytest
from agc.runtime.core.type_spec import CompositeTensor, TypeSpec


class Interval(CompositeTensor):
    """The numbers from `low` to `high`; `name` is no tensor."""

    def __init__(self, low, high, name="interval"):
        self.low, self.high, self.name = low, high, name

    @property
    def _type_spec(self):
        return IntervalSpec(*map(tf.type_spec_from_value, (self.low, self.high)), self.name)


class IntervalSpec(TypeSpec):
    value_type = Interval

    def __init__(self, low, high, name):
        self.low, self.high, self.name = low, high, name

    @property
    def _component_specs(self):
        return self.low, self.high

    def _to_components(self, value):
        return value.low, value.high

    def _from_components(self, components):
        return Interval(*components, self.name)

    def _serialize(self):
        return self.low, self.high, self.name


def ends(interval):
    return [interval.low.numpy(), interval.high.numpy(), interval.name]


def test_only_composites_of_the_kinds_of_tensors_are_tensors():
    rows = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))
    assert all(map(tf.is_tensor, (rows, tf.ragged.constant([[1], []]), tf.sparse.from_dense([1, 0]))))
    others = (
        Interval(tf.constant(1.0), tf.constant(2.0)),
        tf.experimental.Optional.from_value(1),
        iter(tf.data.Dataset.range(1)),
    )
    assert not any(map(tf.is_tensor, (*others, tf.linalg.LinearOperatorDiag([1.0]))))


@pytest.mark.parametrize("way", [lambda function: function, tf.function])
def test_identity_and_stop_gradient_take_all_composites(way):
    given = Interval(tf.constant(1.0), tf.constant(2.0), "unit")
    for operation in (tf.identity, tf.stop_gradient):
        assert ends(way(lambda x, operation=operation: operation(x))(given)) == [1.0, 2.0, "unit"]
    nested = tf.identity(Interval(given, tf.constant(3.0)))
    assert ends(nested.low) == [1.0, 2.0, "unit"]


def test_identity_reads_variables():
    variable = tf.Variable(1.0)
    found = tf.identity(Interval(variable, tf.constant(2.0)))
    variable.assign(5.0)
    assert found.low == 1.0


def test_gradients_pass_through_identity_and_end_at_stop_gradient():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        interval = Interval(x * x, x)
        same, stopped = tf.identity(interval).low, tf.stop_gradient(interval).low
    assert tape.gradient(same, x) == 6.0
    assert tape.gradient(stopped, x) is None
