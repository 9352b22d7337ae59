"""Every operation that updates a variable does it in one step, whatever other threads do, in every executor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.ops.state import compare_and_swap

THREADS, TIMES = 4, 25

Update = Callable[[Any], Any]


def rows(*values: float) -> Any:
    return tf.IndexedSlices(tf.constant([values]), tf.constant([0]))


UPDATES: dict[str, tuple[Update, float, float]] = {
    "assign_add": (lambda v: v.assign_add(tf.ones([2, 2])), 0.0, 1.0),
    "assign_sub": (lambda v: v.assign_sub(tf.ones([2, 2])), 0.0, -1.0),
    "assign_add of what it gave": (
        lambda v: v.assign_sub(tf.zeros([2, 2])).assign_add(tf.ones([2, 2])),
        0.0,
        1.0,
    ),
    "scatter_add": (lambda v: v.scatter_add(rows(1.0, 1.0)), 0.0, 1.0),
    "scatter_sub": (lambda v: v.scatter_sub(rows(1.0, 1.0)), 0.0, -1.0),
    "scatter_nd_add": (lambda v: v.scatter_nd_add([[0]], [[1.0, 1.0]]), 0.0, 1.0),
    "scatter_nd_sub": (lambda v: v.scatter_nd_sub([[0]], [[1.0, 1.0]]), 0.0, -1.0),
    "scatter_mul": (lambda v: v.scatter_mul(rows(1.01, 1.01)), 1.0, 1.01),
    "scatter_div": (lambda v: v.scatter_div(rows(1.01, 1.01)), 1.0, 1 / 1.01),
}
"""What is done, the value before, and what is added or multiplied with each time."""


def staged(**options: Any) -> Callable[[Update, Any], Callable[[], Any]]:
    return lambda update, v: tf.function(lambda: update(v), **options)  # type: ignore[no-any-return]


EXECUTORS: dict[str, Callable[[Update, Any], Callable[[], Any]]] = {
    "eager": lambda update, v: lambda: update(v),
    "interpret": staged(experimental_executor="interpret"),
    "plan": staged(jit_compile=False),
    "native": staged(jit_compile=True),
}


@pytest.fixture(autouse=True)
def _switching() -> Iterator[None]:
    """Change threads as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run(*calls: Callable[[], Any], times: int = TIMES) -> None:
    """Call each in threads that begin at once."""
    start = Barrier(len(calls))

    def repeat(call: Callable[[], Any]) -> None:
        start.wait()
        for _ in range(times):
            call()

    with ThreadPoolExecutor(len(calls)) as executor:
        list(executor.map(repeat, calls))


def expected(begin: float, step: float, count: int) -> float:
    return begin + step * count if begin == 0.0 else step**count


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", UPDATES)
def test_no_update_is_lost(name: str, executor: str) -> None:
    update, begin, step = UPDATES[name]
    v = tf.Variable(np.full((2, 2), begin, np.float32))
    call = EXECUTORS[executor](update, v)
    call()
    run(*[call] * THREADS)
    found = float(v[0, 0].numpy())
    assert found == pytest.approx(expected(begin, step, THREADS * TIMES + 1), rel=1e-4)


@pytest.mark.parametrize("name", ["assign_add", "scatter_add"])
def test_executors_may_be_mixed(name: str) -> None:
    update, begin, step = UPDATES[name]
    v = tf.Variable(np.zeros((2, 2), np.float32))
    calls = [make(update, v) for make in EXECUTORS.values()]
    for call in calls:
        call()
    run(*calls, times=40)
    assert float(v[0, 0].numpy()) == expected(begin, step, 164)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_updates_of_large_arrays_are_atomic(executor: str) -> None:
    """NumPy lets other threads run within such a sum, and a plan computes it into the array of the other operand."""
    v, one = tf.Variable(np.zeros((100, 100), np.float32)), tf.ones([100, 100])
    call = EXECUTORS[executor](lambda v: v.assign_add(one * 2.0 - 1.0), v)
    call()
    run(*[call] * THREADS, times=50)
    assert (v.numpy() == 4 * 50 + 1).all()


@pytest.mark.parametrize("executor", ["plan", "native"])
def test_long_graphs_update_several_variables(executor: str) -> None:
    """Code that takes long lets other threads run."""
    v, w = tf.Variable(np.zeros((2,), np.float32)), tf.Variable(np.zeros((2,), np.float32))
    big = tf.constant(np.full((64, 64), 1 / 64, np.float32))

    def update(v: Any) -> Any:
        x = big
        for _ in tf.range(20):
            x = x @ big
        v.assign_add(x[0, :2] * 64.0)
        w.assign_sub(x[0, :2] * 64.0)

    call = EXECUTORS[executor](update, v)
    call()
    run(*[call] * THREADS, lambda: v.assign_add(tf.ones([2])), times=20)
    assert (v.numpy()[0], w.numpy()[0]) == pytest.approx((101.0, -81.0), rel=1e-3)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_threads_draw_different_numbers_from_a_generator(executor: str) -> None:
    generator = tf.random.Generator.from_seed(1)
    drawn: list[float] = []
    call = EXECUTORS[executor](lambda g: generator.uniform([]), None)
    call()
    run(*[lambda: drawn.append(float(call()))] * THREADS)
    assert len(set(drawn)) == THREADS * TIMES


class Changing:
    """A variable that another thread gives a value right after it has been read."""

    def __init__(self, first: Any, then: Any) -> None:
        self._values = [then, first]

    @property
    def _array(self) -> Any:
        return self._values.pop() if len(self._values) > 1 else self._values[0]

    @_array.setter
    def _array(self, array: Any) -> None:
        self._values = [array]


@pytest.mark.parametrize(("ufunc", "result"), [(np.add, 105.0), (np.subtract, 95.0)])
def test_an_update_is_retried_after_its_operand_was_overwritten(ufunc: np.ufunc, result: float) -> None:
    """A plan computes `v + d` into the array of `d`: where `v` has changed meanwhile, `d` is what it has changed by."""
    v = Changing(np.array([1.0, 2.0]), np.array([100.0, 100.0]))
    delta = np.array([5.0, 5.0])
    assert compare_and_swap.update_into(v, ufunc, delta, delta).tolist() == [result, result]
    assert v._array.tolist() == [result, result]
