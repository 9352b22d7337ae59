"""Changes that traces make in functions of a staged block: each trace sees the objects as Python leaves them."""

import functools

import agc.runtime as tf
import pytest
from support.hidden_changes import Counter, agrees, refused


class TestTraces:
    def test_a_failed_trace_leaves_objects_as_they_were(self):
        c = Counter()

        @tf.function
        def f(n):
            i = 0
            while i < n:
                c.twice()
                c.log.append(i)
                c.memo["a"] += 1
                c.memo = [i]
                i = tf.zeros([2]) + tf.zeros([3])
            return i

        with pytest.raises(ValueError):
            f(tf.constant(3))
        assert (c.n, c.log, c.memo) == (0, [], {"a": 0})

    def test_an_object_that_creates_its_variables_on_first_use(self):
        class Dense:
            def __init__(self):
                self.is_built = False

            def __call__(self, x):
                if not self.is_built:
                    self.w = tf.Variable(2.0)
                    self.is_built = True
                return self.w * x

        dense = Dense()

        @tf.function
        def f(n):
            i, total = 0, 0.0
            while i < n:
                total += dense(3.0)
                i += 1
            return total

        assert f(tf.constant(3)).numpy() == 18.0
        assert dense.is_built is True

    def test_a_change_in_the_first_trace_only_is_refused(self):
        def f(n):
            made = [0]

            @functools.cache
            def table(k):
                made[0] += 1
                return k * 2

            i, total = 0, 0
            while i < n:
                total += table(3) + made[0]
                i += 1
            return total

        refused(
            f,
            "AGC291",
            "`made[0]` changes when a block is traced for the first time, and not in the next trace",
        )

    def test_a_cached_property_is_read_again(self):
        class Table:
            @functools.cached_property
            def size(self):
                return 7

        def f(n):
            table, i, total = Table(), 0, 0
            while i < n:
                total += table.size
                i += 1
            return total

        agrees(f)
