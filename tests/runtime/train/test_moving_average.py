"""Moving averages of variables; the numbers are those of TensorFlow 2.21."""

import agc.runtime as tf
import pytest


def test_an_average_follows_its_variable():
    v = tf.Variable([1.0, 2.0], name="v")
    ema = tf.train.ExponentialMovingAverage(0.9)
    assert ema.average(v) is None
    ema.apply([v])
    assert ema.average(v).numpy().tolist() == [1.0, 2.0]
    v.assign([2.0, 4.0])
    ema.apply([v])
    assert ema.average(v).numpy() == pytest.approx([1.1, 2.2])
    assert ema.average(v).name == "v/ExponentialMovingAverage:0"
    assert not ema.average(v).trainable


def test_a_function_updates_averages_that_are_there():
    v = tf.Variable(1.0)
    ema = tf.train.ExponentialMovingAverage(0.5)
    ema.apply([v])

    @tf.function
    def step():
        v.assign_add(2.0)
        ema.apply([v])

    step()
    step()
    assert float(ema.average(v)) == 3.5


def test_the_number_of_updates_bounds_the_decay():
    v, updates = tf.Variable([2.0, 4.0]), tf.Variable(0)
    ema = tf.train.ExponentialMovingAverage(0.999, num_updates=updates)
    ema.apply([v])
    v.assign([0.0, 0.0])
    updates.assign(10)
    ema.apply([v])
    assert ema.average(v).numpy() == pytest.approx([1.1, 2.2])


@pytest.mark.parametrize(
    "value", [tf.Variable(1), tf.constant(1.0), 1.0], ids=["integer", "tensor", "number"]
)
def test_only_float_variables_have_averages(value):
    with pytest.raises(TypeError):
        tf.train.ExponentialMovingAverage(0.9).apply([value])


def test_averages_are_saved(tmp_path):
    v = tf.Variable(1.0, name="v")
    ema = tf.train.ExponentialMovingAverage(0.5)
    ema.apply([v])
    path = tf.train.Checkpoint(ema=ema).save(tmp_path / "ckpt")
    ema.average(v).assign(9.0)
    tf.train.Checkpoint(ema=ema).restore(path).assert_consumed()
    assert float(ema.average(v)) == 1.0
