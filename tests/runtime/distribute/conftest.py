"""Fixtures: a strategy with two replicas."""

import agc.runtime as tf
import pytest


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
