"""Functions of one number that agree with Python as graphs, or are refused for an object with two names."""

import dataclasses

import agc.runtime as tf
import pytest
from agc.autograph import StagingError


@dataclasses.dataclass
class Total:
    value: object
    steps: int = dataclasses.field(default=0, init=False)

    def __post_init__(self):
        self.made = True

    def is_the(self, other):
        return self is other

    def add(self, x):
        self.value = self.value + x
        return self


@dataclasses.dataclass(slots=True)
class Slots:
    value: object

    def add(self, x):
        self.value = self.value + x
        return self


def agrees(f, *others):
    """`f` gives the same in a graph, for positive and negative numbers."""
    run = tf.function(f)
    for x in (2.0, -1.0):
        expected = tf.nest.flatten(f(tf.constant(x), *others))
        assert [float(y) for y in tf.nest.flatten(run(tf.constant(x), *others))] == [
            float(y) for y in expected
        ]


def refused(f, name):
    with pytest.raises(
        StagingError, match=f"AGC291.*`{name}` is changed in place, and bound to another object"
    ):
        tf.function(f)(tf.constant(2.0))
