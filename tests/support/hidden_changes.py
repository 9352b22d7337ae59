"""Check functions that change objects out of sight of a staged block."""

import agc.runtime as tf
import pytest
from agc import autograph
from agc.autograph import StagingError

from .versions import converted_version

ROUNDS = 0, 1, 2, 4


def agrees(f, inputs=ROUNDS):
    """Run `f` on Python's numbers, converted and not, on eager tensors and in graphs: all give the same."""
    runs = autograph.convert(f), tf.function(f), tf.function(f, experimental_executor="interpret")
    for n in inputs:
        expected = f(n)
        assert runs[0](n) == converted_version(f)(n) == expected
        for run in (f, *runs[1:]):
            found = tf.nest.map_structure(lambda x: getattr(x, "numpy", lambda: x)(), run(tf.constant(n)))
            assert tf.nest.flatten(found) == tf.nest.flatten(expected)


def refused(f, *said):
    with pytest.raises(StagingError) as caught:
        tf.function(f)(tf.constant(3))
    for text in said:
        assert text in str(caught.value)


class Counter:
    first = True

    def __init__(self):
        self.n = 0
        self.log = []
        self.memo = {"a": 0}
        self.other = None

    def bump(self):
        self.n += 1
        return self.n

    def twice(self):
        self.bump()
        return self.bump()

    def size(self):
        return len(self.log)

    def down(self, depth):
        if depth > 0:
            self.n += 1
            self.down(depth - 1)

    def opening(self):
        if self.first:
            self.first = False
            return 100
        return 1
