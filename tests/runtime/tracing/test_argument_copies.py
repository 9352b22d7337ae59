"""A function with a graph gets copies of the lists, dicts and dataclasses it is given, and may not change them."""

import dataclasses

import agc.runtime as tf
import pytest


@dataclasses.dataclass
class State:
    total: object


def item(state, x):
    state["total"] += x


def append(found, x):
    found.append(x)


def nested(state, x):
    state["seen"][0] = x


def field(state, x):
    state.total = x


def in_a_loop(found, x):
    for _ in tf.range(3):
        found[0] = found[0] + x


ONE = tf.constant(1)


@pytest.mark.parametrize(
    ("function", "argument", "changed", "line"),
    [
        (item, {"total": ONE}, "state['total']", 'state["total"] += x'),
        (append, [ONE], "found", "found.append(x)"),
        (nested, {"seen": [ONE]}, "state['seen'][0]", "def nested(state, x):"),
        (field, State(ONE), "state.total", "state.total = x"),
        (in_a_loop, [ONE], "found[0]", "found[0] = found[0] + x"),
    ],
)
def test_mutating_an_argument_is_an_error_with_name_and_line(function, argument, changed, line):
    with pytest.raises(ValueError, match="AGC292") as caught:
        tf.function(function)(argument, tf.constant(2))
    assert f"changes its argument `{changed}`" in str(caught.value)
    assert line in str(caught.value)


def test_a_copy_of_an_argument_may_be_mutated():
    @tf.function
    def added(totals, x, *more, **named):
        totals = dict(totals)
        totals["sum"] += x
        named["x"] = x
        return totals, len(more)

    given = {"sum": tf.constant(1)}
    totals, count = added(given, tf.constant(2), [1], y=3)
    assert (totals["sum"], given["sum"], count) == (3, 1, 1)


def test_functions_of_datasets_may_mutate_their_elements():
    data = tf.data.Dataset.from_tensor_slices({"x": [1, 2], "label": [0, 1]})
    pairs = data.map(lambda row: (row, row.pop("label")))
    assert [(int(row["x"]), int(label)) for row, label in pairs] == [(1, 0), (2, 1)]


def test_an_object_that_is_no_nest_may_be_mutated():
    class Counter:
        calls = 0

    @tf.function
    def called(counter, x):
        counter.calls += 1
        return x

    counter = Counter()
    called(counter, tf.constant(1))
    assert counter.calls == 1
