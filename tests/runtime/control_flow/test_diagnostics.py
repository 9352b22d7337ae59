"""Errors of staging show the block, both lines that disagree, and both types."""

import re

import agc.runtime as tf
import pytest
from agc.autograph import StagingError


def excerpt(f, *args):
    """The code and title of an error, and the lines of the program that it shows, without their numbers."""
    with pytest.raises(StagingError) as caught:
        tf.function(f)(*args)
    lines = str(caught.value).splitlines()
    assert re.match(r"  --> .*test_diagnostics\.py:\d+:\d+, in " + f.__name__, lines[1])
    shown = [line.partition(" | ")[2].strip() for line in lines if re.match(r" +\d* \| ", line)]
    return [lines[0], *(re.sub(" {2,}", "  ", line) for line in shown)]


def test_dtypes_of_branches():
    def fit(loss):
        if loss < 1:
            step = 0
            step = tf.constant(1)
        else:
            step = tf.constant(0.5)
        return step

    assert excerpt(fit, tf.constant(2)) == [
        "error[AGC201]: the branches give `step` different types: int32[] and float32[]",
        "if loss < 1:",
        "^^^^^^^^^^^^ the graph decides",
        "step = tf.constant(1)  int32[]",
        "step = tf.constant(0.5)  float32[]",
    ]


def test_a_value_from_before_the_branches():
    def fit(loss):
        step = None
        if loss < 1:
            step = loss
        return step

    assert excerpt(fit, tf.constant(2)) == [
        "error[AGC203]: the branches give `step` values that a graph cannot choose between: int32[] and None",
        "if loss < 1:",
        "^^^^^^^^^^^^ the graph decides",
        "step = None  None, as before",
        "step = loss  int32[]",
    ]


def test_an_item_that_an_elif_changes():
    def fit(loss):
        kept = {"step": loss}
        if loss > 3:
            pass
        elif loss > 2:
            kept["step"] = "long"
        return kept["step"]

    assert excerpt(fit, tf.constant(2)) == [
        "error[AGC201]: the branches give `kept['step']` different types: str (Python) and int32[]",
        "if loss > 3:",
        "^^^^^^^^^^^^ the graph decides",
        'kept = {"step": loss}  int32[], as before',
        'kept["step"] = "long"  str (Python)',
    ]


def test_branches_that_choose_a_function():
    def activate(x):
        f = tf.sin if x > 0 else abs
        return f(x)

    assert excerpt(activate, tf.constant(2.0)) == [
        "error[AGC203]: the branches give values that a graph cannot choose between: "
        "the function `sin` and the function `abs`",
        "f = tf.sin if x > 0 else abs",
        "^^^^^^^^^^^^^^^^^^^^^^^^ the graph decides",
    ]
    with pytest.raises(StagingError, match="fix: call each function in its own branch"):
        tf.function(activate)(tf.constant(2.0))


class Point:
    def __init__(self, x):
        self.x = x


def test_objects_that_a_block_makes():
    def branch(x):
        point = Point(x)
        if x > 0:
            point = Point(x + 1)
        return point.x

    def loop(x):
        point = Point(x)
        for _ in tf.range(3):
            point = Point(point.x + 1)
        return point.x

    for f, title in (
        (branch, "the branches give `point` values"),
        (loop, "the loop changes `point` from Point"),
    ):
        with pytest.raises(StagingError, match=title) as caught:
            tf.function(f)(tf.constant(2))
        assert (
            "fix: make `Point` a dataclass, whose fields a graph carries, or make the objects before"
            in str(caught.value)
        )


def test_results_of_a_function():
    def fit(loss):
        if loss < 1:
            return 1.5
        return loss

    assert excerpt(fit, tf.constant(2))[3:] == ["return 1.5  Python float 1.5", "return loss  int32[]"]


def test_structures():
    def fit(loss):
        pair = (loss, loss)
        for i in tf.range(3):
            pair = (*pair, i)
        return pair

    assert excerpt(fit, tf.constant(2)) == [
        "error[AGC205]: the loop changes the structure of `pair`",
        "for i in tf.range(3):",
        "^^^^^^^^^^^^^^^^^^^^^",
        "pair = (loss, loss)  ('int32[]', 'int32[]')",
        "pair = (*pair, i)  ('int32[]', 'int32[]', 'int32[]')",
    ]


def test_a_list_that_only_the_loop_assigns():
    def fit(n):
        found = []
        for i in tf.range(n):
            earlier = list(found)
            found.append(i)
        return earlier

    with pytest.raises(StagingError, match="the structure of `earlier`") as caught:
        tf.function(fit)(tf.constant(2))
    assert "[], or undefined" in str(caught.value)
    assert "fix: assign `earlier` before the loop, too" in str(caught.value)


def test_the_attribute_that_a_loop_changes():
    class Model:
        def __init__(self):
            self.rate = tf.constant(1)

    def fit(model, n):
        model.rate = tf.constant(2)
        while n > 2:
            model.rate = tf.constant(0.5)
            n -= 1
        return n

    title, _, _, *lines = excerpt(fit, Model(), tf.constant(4))
    assert title == "error[AGC204]: the loop changes the type of `model.rate` from int32[] to float32[]"
    assert lines == ["model.rate = tf.constant(2)  int32[]", "model.rate = tf.constant(0.5)  float32[]"]


def test_functions_given_to_cond():
    def fit(loss):
        return tf.cond(loss < 1, lambda: loss, lambda: tf.constant(0.5))

    assert excerpt(fit, tf.constant(2))[0].startswith("error[AGC201]")
