"""A function reuses the arrays of its last results, unless something still refers to them."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from support.shortest_calls import compiled, frames, needs_extension

pytestmark = needs_extension

ONE = tf.constant(1.0)
CALLS = 4  # enough for what is kept to come to its turn


@pytest.fixture
def successor() -> Callable[[Any], Any]:
    f = compiled(lambda x: x + 1.0, ONE)
    assert frames(f, ONE)[1] == [], "the shortest way is what is tested"
    return f


def test_unreferenced_results_are_reused(successor: Callable[[Any], Any]) -> None:
    seen = {id(successor(tf.constant(float(i)))._array) for i in range(20)}
    assert len(seen) == 2


def test_referenced_results_keep_their_values(successor: Callable[[Any], Any]) -> None:
    results = [successor(tf.constant(float(i))) for i in range(10)]
    assert [float(x) for x in results] == [i + 1.0 for i in range(10)]


def test_a_result_as_the_next_argument(successor: Callable[[Any], Any]) -> None:
    x = ONE
    for i in range(10):
        x = successor(x)
        assert float(x) == i + 2.0


@pytest.mark.parametrize(
    "of",
    [
        lambda x: np.array(x, copy=False),
        lambda x: x.__array__(copy=False)[...],
        np.from_dlpack,
        lambda x: tf.Variable(x),
        lambda x: tf.identity(x),
        lambda x: tf.reshape(x, [1]),
    ],
    ids=["array", "view", "dlpack", "variable", "identity", "reshape"],
)
def test_a_view_of_a_result_keeps_its_value(
    of: Callable[[Any], Any], successor: Callable[[Any], Any]
) -> None:
    for start in range(3):
        shared = of(successor(tf.constant(float(start))))
        for _ in range(CALLS):
            successor(tf.constant(100.0))
        assert np.asarray(shared).ravel().tolist() == [start + 1.0]


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype) on:DeprecationWarning")  # of NumPy 2.5
@pytest.mark.parametrize(
    "change",
    [
        lambda array: setattr(array, "shape", (2, 3)),
        lambda array: setattr(array, "dtype", np.int32),
        lambda array: array.resize((1,), refcheck=False),
        lambda array: setattr(array.flags, "writeable", False),
    ],
    ids=["shape", "dtype", "memory", "read-only"],
)
def test_arrays_that_were_changed_in_place_are_not_reused(change: Callable[[Any], Any]) -> None:
    start = tf.constant(np.arange(6, dtype=np.float32))
    f = compiled(lambda x: x + 1.0, start)
    for _ in range(CALLS):
        change(f(start)._array)
    for _ in range(CALLS):
        array = f(start)._array
        assert array.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        assert array.dtype == np.float32
        assert array.flags.writeable


def test_weak_references_never_see_another_result(successor: Callable[[Any], Any]) -> None:
    for _ in range(3):
        seen = weakref.ref(successor(ONE))
        for _ in range(CALLS):
            successor(tf.constant(100.0))
            result = seen()
            assert result is None or float(result) == 2.0
            del result
        assert seen() is None


def test_tapes_distinguish_reused_results(successor: Callable[[Any], Any]) -> None:
    for i in range(5):
        x = successor(tf.constant(float(i)))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        del x
        z = successor(ONE)
        assert tape.gradient(y, z) is None


def test_one_of_several_results_is_kept_by_the_caller() -> None:
    f = compiled(lambda x: (x + 1.0, [x * 2.0, x]), ONE)
    kept = []
    for i in range(6):
        first, (second, _) = f(tf.constant(float(i)))
        assert (float(first), float(second)) == (i + 1.0, i * 2.0)
        kept.append(second)
    assert [float(x) for x in kept] == [i * 2.0 for i in range(6)]


def test_variables_assigned_next_to_results() -> None:
    v = tf.Variable(0.0)

    def count(x: Any) -> Any:
        v.assign_add(x)
        return v * 10.0

    f = compiled(count, ONE)
    before = float(v)
    found = [float(f(ONE)) for _ in range(6)]
    assert found == [(before + i + 1) * 10.0 for i in range(6)]
    assert float(v) == before + 6


def test_checks_that_fail_leave_results_alone() -> None:
    x = tf.range(5)
    f = compiled(lambda i: tf.gather(x, i) + 1, tf.constant(1))
    for i in range(5):
        assert int(f(tf.constant(i))) == i + 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(7))


def test_reused_results_leak_no_references(successor: Callable[[Any], Any]) -> None:
    kind = type(ONE)
    x = successor(ONE)
    counts = []
    for _ in range(3):
        gc.collect()
        counts.append((sum(type(each) is kind for each in gc.get_objects()), sys.getrefcount(x)))
        for _ in range(100):
            successor(ONE)
    assert len(set(counts[1:])) == 1


def test_reusable_results_are_freed_with_the_function() -> None:
    f = compiled(lambda x: x + 1.0, ONE)
    seen = weakref.ref(f(ONE))
    del f
    gc.collect()
    assert seen() is None
