"""Calls of plans, of functions that are called in one way: nothing is looked up, and nothing else changes."""

import gc
import traceback
import weakref

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.tracing.calling import Calls

ONE, TWO = tf.constant(1.0), tf.constant(2.0)


def called(python_function, *args):
    """A function that has traced for such arguments, and knows how it is called."""
    function = tf.function(python_function, jit_compile=False)
    function(*args), function(*args)
    return function


@pytest.fixture
def searches(monkeypatch):
    """The calls that search for what they run."""
    seen = []
    usual = Calls.call

    def call(self, *args, **kwargs):
        seen.append(args)
        return usual(self, *args, **kwargs)

    monkeypatch.setattr(Calls, "call", call)
    return seen


@pytest.mark.parametrize(
    ("python_function", "args", "result"),
    [
        (lambda: tf.constant(3.0), (), 3.0),
        (lambda x: x + 1, (ONE,), 2.0),
        (lambda x, how, n: x * n if how == "times" else x, (TWO, "times", 3), 6.0),
        (lambda x, rest, o: x + 1, (ONE, None, np), 2.0),
        (lambda *xs: xs[0] - xs[9], (TWO, *[ONE] * 9), 1.0),
    ],
    ids=["nothing", "a tensor", "numbers and texts", "objects", "ten"],
)
def test_a_call_like_those_before_searches_for_nothing(python_function, args, result, searches):
    function = called(python_function, *args)
    searches.clear()
    assert float(function(*args)) == result
    assert not searches


def test_a_tensor_that_nobody_has_asked_for_its_kind_is_told_by_it(searches):
    function = called(lambda x: x + 1, ONE)
    searches.clear()
    assert float(function(tf.constant(5.0))) == 6.0
    assert not searches


def test_a_function_that_is_called_in_several_ways_searches(searches):
    function = called(lambda x: x + 1, ONE)
    for x in (tf.constant(1), tf.constant([1.0, 2.0])):
        assert [np.asarray(function(x)).tolist() for _ in range(3)] == [(x + 1).numpy().tolist()] * 3
    searches.clear()
    assert float(function(ONE)) == 2.0
    assert len(searches) == 1


class TestOtherCalls:
    def test_other_kinds_keywords_and_counts(self):
        function = called(lambda x, y=2.0: x - y, ONE)
        assert float(function(tf.constant(5.0), 3.0)) == 2.0
        assert float(function(y=TWO, x=ONE)) == -1.0
        assert function(tf.constant([5.0])).numpy().tolist() == [3.0]
        assert float(function(ONE)) == -1.0

    def test_other_numbers_texts_and_signs_of_zero(self):
        function = called(lambda n: tf.constant(str(n)), 0.0)
        assert [function(n).numpy() for n in (-0.0, 0, False, 0.0)] == [b"-0.0", b"0", b"False", b"0.0"]

    def test_an_object_that_came_to_stand_where_another_was(self):
        class Box:
            def __init__(self, content):
                self.content = content

        function = tf.function(lambda box: tf.constant(box.content), jit_compile=False)
        for content in range(12):
            box = Box(content)
            assert [int(function(box)) for _ in range(3)] == [content] * 3
            del box
            gc.collect()

    def test_the_function_is_not_kept(self):
        function = called(lambda x: x + 1, ONE)
        reference = weakref.ref(function)
        del function
        gc.collect()
        assert reference() is None


class TestWhoWantsToKnow:
    def test_tapes(self):
        function = called(lambda x: x * x, TWO)
        with tf.GradientTape() as tape:
            tape.watch(TWO)
            y = function(TWO)
        assert float(tape.gradient(y, TWO)) == 4.0

    def test_graphs_around(self):
        function = called(lambda x: x * 3, TWO)
        assert float(tf.function(lambda x: function(x) + 1)(TWO)) == 7.0

    def test_running_eagerly(self):
        calls = []
        function = called(lambda x: calls.append(x) or x, ONE)
        calls.clear()
        tf.config.run_functions_eagerly(True)
        try:
            function(ONE)
        finally:
            tf.config.run_functions_eagerly(False)
        assert calls == [ONE]

    def test_profiles(self):
        function = called(lambda x: x * 3, TWO)
        report = tf.profiler.profile(function, TWO)
        assert {"multiply": 1}.items() <= {row.name: row.calls for row in report.rows}.items()
        assert float(function(TWO)) == 6.0


def test_variables_are_those_of_the_function():
    v = tf.Variable(0.0)
    function = called(lambda x: v.assign_add(x), ONE)
    assert [float(function(TWO)), float(v)] == [4.0, 4.0]


def test_a_failure_shows_the_lines_of_the_user():
    def picked(x, i):
        return tf.gather(x, i)

    function = called(picked, tf.constant([1.0, 2.0]), tf.constant(1))
    shown = []
    for call in (function, tf.function(picked, jit_compile=False)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            call(tf.constant([1.0, 2.0]), tf.constant(7))
        shown.append([entry.name for entry in traceback.extract_tb(caught.value.__traceback__)])
        assert "picked" in str(caught.value)
    assert shown[0] == shown[1]
    assert float(function(tf.constant([1.0, 2.0]), tf.constant(0))) == 1.0
