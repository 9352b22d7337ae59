"""What is said about retracing, what bounds it, and what happens to memory."""

from __future__ import annotations

import functools
import gc
import logging
import threading
import tracemalloc
import weakref

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.tracing import trace_cache


def value(x):
    return x + 0 if isinstance(x, tf.Tensor) else tf.constant(0)


@pytest.fixture
def explain(monkeypatch, caplog):
    monkeypatch.setenv("AGC_EXPLAIN_RETRACES", "1")
    caplog.set_level(logging.WARNING, "agc")
    return caplog


class TestExplanations:
    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            (
                tf.zeros([2]), tf.zeros([3]),
                "`x` was float32[2], and is float32[3]\n"
                "    pass reduce_retracing=True to tf.function, or input_signature=[tf.TensorSpec([None], tf.float32)]",
            ),
            (tf.zeros([2]), tf.zeros([2], tf.int32), "was float32[2], and is int32[2]\n    cast to one dtype"),
            (np.zeros(2), tf.zeros([2]), "`x` was float64[2], and is float32[2]"),
            (1, 2, "`x` was Python int 1, and is Python int 2\n    Python numbers are part of the signature"),
            (1, 2.5, "pass a tensor, such as tf.constant(2.5)"),
            ("a", "b", "`x` was Python str 'a', and is Python str 'b'\n    Python texts"),
            ([1, 2], [1, 3], "`x[1]` was Python int 2, and is Python int 3"),
            ([1, 2], [1], "`x` was a list of 2, and is a list of 1\n    the structure of nests"),
            (tf.Variable(1), tf.Variable(1), "variables are told apart by identity"),
            (len, abs, "objects are told apart by identity"),
            (
                tf.zeros([2]), 3,
                "`x` was float32[2], and is Python int 3\n"
                "    Python numbers are part of the signature: pass a tensor, such as tf.constant(3)",
            ),
            (True, np.zeros(2), "was Python bool True, and is float64[2]\n    Python numbers"),
            (tf.Variable(1), tf.constant(1), "variables are told apart by identity"),
            (None, tf.constant(1), "`x` was None, and is int32[]\n    None is part of the signature"),
        ],
    )  # fmt: skip
    def test_the_warning_names_argument_signatures_and_remedy(self, explain, first, second, expected):
        f = tf.function(value)
        f(first)
        f(second)
        (record,) = explain.records
        assert record.message.startswith("value was traced again, for the 2nd time, at ")
        assert f"{__file__}:" in record.message
        assert expected in record.message

    @pytest.mark.parametrize("second", [1, "a", None, tf.constant(1), tf.Variable(1), len], ids=repr)
    def test_the_warning_mentions_a_freed_object(self, explain, second):
        f = tf.function(value)
        f(Thing(0))
        gc.collect()
        f(second)
        (record,) = explain.records
        assert "`x` was a deleted object, and is " in record.message
        assert "keep one and pass it again" in record.message

    def test_the_most_similar_call_is_compared(self, explain):
        f = tf.function(lambda x, y: x)
        f(1, "a")
        f(2, "b")
        f(1, "c")
        assert "`y` was Python str 'a', and is Python str 'c'" in explain.records[-1].message
        assert "`x`" not in explain.records[-1].message

    def test_only_repeated_retracing_warns_by_default(self, caplog, monkeypatch):
        monkeypatch.delenv("AGC_EXPLAIN_RETRACES", raising=False)
        f = tf.function(lambda x: x)
        for n in range(4):
            f(n)
        f(3)  # finds its graph
        for n in range(10, 14):
            f(n)
        assert not caplog.records
        for n in range(14, 20):
            f(n)
        (record,) = caplog.records
        assert record.message.startswith(
            "5 out of the last 5 calls to lambda_ triggered tf.function retracing"
        )
        assert "`x` was Python int 13, and is Python int 14" in record.message

    def test_recursion_is_not_reported_as_retracing(self, caplog):
        @tf.function
        def down(n):
            return down(n - 1) if n > 0 else 1

        assert down(tf.constant(5)).numpy() == 1
        assert not caplog.records


class TestGraphsOfSpecs:
    """A call that fits a graph with unknown dimensions gets it, as in TensorFlow: the one that knows most."""

    def test_calls_share_explicit_concrete_functions(self):
        f = tf.function(lambda x, n=1: x + n)
        rows = f.get_concrete_function(tf.TensorSpec([None, 2]))
        assert f(tf.ones([3, 2])).shape == f(np.ones([3, 2], np.float32)).shape == (3, 2)
        assert f.experimental_get_tracing_count() == 1
        whole = f.get_concrete_function(tf.TensorSpec(None))
        assert f.get_concrete_function(tf.ones([9, 2])) is rows
        assert f.get_concrete_function(tf.ones([9])) is whole is not rows
        assert f.get_concrete_function(tf.ones([9, 2]), 2) not in (rows, whole)
        assert f.get_concrete_function(tf.ones([9, 2], tf.int32)) not in (rows, whole)
        assert f.experimental_get_tracing_count() == 4

    def test_concrete_functions_of_known_shapes_are_not_shared(self):
        f = tf.function(lambda x: x)
        graphs = {f.get_concrete_function(tf.zeros(shape)) for shape in ([2], [3], [2, 3], [])}
        assert len(graphs) == 4

    def test_variables_of_a_method_belong_to_one_object(self):
        class Scale(tf.Module):
            def __init__(self, by):
                self.by = tf.Variable(by)

            @tf.function
            def __call__(self, x):
                return self.by * x

        one, two = Scale(2.0), Scale(3.0)
        one.__call__.get_concrete_function(tf.TensorSpec([None]))
        assert one(tf.ones([1])).numpy() == [2.0]
        assert one.__call__.experimental_get_tracing_count() == 1
        assert two(tf.ones([1])).numpy() == [3.0]

    def test_methods_and_objects_relax_as_functions_do(self):
        class Scale:
            @tf.function(reduce_retracing=True)
            def double(self, xs, way):
                return 2 * xs[0]

        scale = Scale()
        for n in range(1, 6):
            assert scale.double([tf.ones([n])], len).shape == (n,)
        assert scale.double.experimental_get_tracing_count() == 2

    def test_a_graph_with_outer_captures_is_not_reused_outside(self):
        @tf.function
        def outer(x):
            inner = tf.function(lambda y: y * x[0])
            results.append(inner)
            return inner(x)

        results = []
        outer.get_concrete_function(tf.TensorSpec([None]))
        assert outer(tf.constant([3.0])).numpy() == [9.0]
        with pytest.raises(tf.errors.InaccessibleTensorError):
            results[0](tf.constant([1.0]))


class TestMaxTraces:
    def test_exceeding_max_traces_is_refused(self):
        f = tf.function(value, max_traces=2)
        f(tf.zeros([1]))
        f(tf.zeros([2]))
        f(tf.ones([1]))
        with pytest.raises(
            RuntimeError,
            match=r"value needs another trace, but max_traces=2(.|\n)*`x` was float32\[2\], and is",
        ):
            f(tf.zeros([3]))
        assert f(tf.ones([2])).numpy().tolist() == [1.0, 1.0]

    @pytest.mark.parametrize("limit", [0, -1, "many", 1.5])
    def test_an_invalid_max_traces_is_refused(self, limit):
        with pytest.raises(ValueError, match="max_traces must be a positive integer"):
            tf.function(value, max_traces=limit)


class Thing:
    def __init__(self, n):
        self.n = n


class TestMemory:
    def test_graphs_are_freed_with_their_objects(self):
        f = tf.function(lambda thing: tf.constant(1))
        f(Thing(0))
        most = 0
        for n in range(1_000):
            f(Thing(n))
            most = max(most, len(f._list_all_concrete_functions()))
        assert most <= 2 * 64
        assert len(f._calls.traces) == 1

    def test_instances_of_a_class_with_a_method(self):
        class Counter:
            def __init__(self):
                self.v = None

            @tf.function
            def count(self):
                if self.v is None:
                    self.v = tf.Variable(0)
                return self.v.assign_add(1)

        alive = weakref.WeakSet()
        for _ in range(200):
            counter = Counter()
            alive.add(counter)
            assert counter.count().numpy() == 1
        del counter
        gc.collect()
        assert not alive
        assert len(Counter.__dict__["count"]._calls.traces) <= 128
        assert len(Counter.__dict__["count"]._calls.initialized) <= 130

    def test_a_thousand_signatures_and_more_are_bounded(self, monkeypatch):
        monkeypatch.setattr(trace_cache, "LIMIT", 100)
        f = tf.function(lambda n: tf.constant(n))
        for n in range(250):
            assert f(n).numpy() == n
            assert f(0).numpy() == 0  # in use: never given up
        assert len(f._list_all_concrete_functions()) <= 100
        assert f.experimental_get_tracing_count() == 250
        assert f(1).numpy() == 1  # given up long ago: traced again
        assert f.experimental_get_tracing_count() == 251

    def test_many_calls_with_one_signature_use_no_memory(self):
        f = tf.function(lambda x: x + 1)
        x = tf.constant(1.0)
        for _ in range(100):
            f(x)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(10_000):
                f(x)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert after - before < 10_000


class TestThreads:
    def test_many_threads_and_signatures_trace_each_once(self):
        traced = []

        @tf.function
        def inner(x):
            return x * 2

        @tf.function
        def outer(x):
            traced.append(x.shape)
            return inner(x) + 1

        arguments = [tf.ones([n]) for n in range(1, 5)]
        start = threading.Barrier(8)
        results = []

        def work(number):
            start.wait()
            for k in range(20):
                x = arguments[(number + k) % 4]
                results.append((x.shape, outer(x).shape, outer(x).numpy()[0]))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 160
        assert all(given == got and first == 3.0 for given, got, first in results)
        assert sorted(map(str, traced)) == ["(1,)", "(2,)", "(3,)", "(4,)"]
        assert inner.experimental_get_tracing_count() == 4

    def test_mutually_recursive_functions_do_not_deadlock(self):
        @tf.function
        def even(n, depth):
            return odd(n, depth - 1) if depth else n

        @tf.function
        def odd(n, depth):
            return even(n, depth - 1) if depth else -n

        found = []
        threads = [
            threading.Thread(target=lambda f=f, d=d: found.append(int(f(tf.constant(d), d))))
            for d in range(4)
            for f in (even, odd)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert sorted(found) == [-3, -2, -1, 0, 0, 1, 2, 3]


class TestKeys:
    def test_bound_methods_of_one_object_are_equal_arguments(self):
        class Scale:
            def twice(self, x):
                return x * 2

        scale = Scale()
        f = tf.function(lambda g, x: g(x))
        assert f(scale.twice, 1).numpy() == f(scale.twice, 1).numpy() == 2
        assert f.experimental_get_tracing_count() == 1
        f(Scale().twice, 1)
        assert f.experimental_get_tracing_count() == 2

    def test_partials_and_functions_are_keyed_by_identity(self):
        double = functools.partial(lambda k, x: k * x, 2)
        f = tf.function(lambda g, x: g(x))
        assert f(double, 3).numpy() == f(double, 3).numpy() == 6
        assert f.experimental_get_tracing_count() == 1


class KindOfFruit(tf.types.experimental.TraceType):
    def __init__(self, fruit):
        self.kind, self.fruit = type(fruit), fruit

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context=None):
        return self.fruit

    def __eq__(self, other):
        return isinstance(other, KindOfFruit) and other.kind is self.kind

    def __hash__(self):
        return hash(self.kind)


class Fruit:
    flavour = 1

    def __tf_tracing_type__(self, context):
        return KindOfFruit(self)


class Mango(Fruit):
    flavour = 10


class TestTraceTypes:
    def test_custom_tracing_types_key_their_objects(self):
        """The numbers are TensorFlow's for the example of its guide on functions."""
        mix = tf.function(lambda a, b: tf.constant(a.flavour + b.flavour))
        assert [int(mix(Fruit(), Mango())), int(mix(Fruit(), Mango()))] == [11, 11]
        assert mix.experimental_get_tracing_count() == 1
        assert int(mix(Mango(), Mango())) == 20
        assert mix.experimental_get_tracing_count() == 2
        concrete = mix.get_concrete_function(Fruit(), Mango())
        assert int(concrete(Fruit(), Mango())) == 11
        with pytest.raises(TypeError, match="`a` was"):
            concrete(Mango(), Mango())

    def test_an_invalid_trace_type_is_refused(self):
        class Wrong:
            def __tf_tracing_type__(self, context):
                return 3

        with pytest.raises(TypeError, match="must give a TraceType, not 3"):
            tf.function(value)(Wrong())

    def test_names_for_isinstance(self):
        types = tf.types.experimental
        f = tf.function(lambda: tf.constant(1))
        assert isinstance(f, types.PolymorphicFunction)
        assert isinstance(f, types.GenericFunction)
        assert not isinstance(len, types.GenericFunction)
        assert isinstance(f.get_concrete_function(), types.ConcreteFunction)
        assert isinstance(Fruit(), types.SupportsTracingProtocol)
