"""A trace may wait, by whatever means, for a thread that traces: nothing hangs."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime.tracing import tracing_lock


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find out within 0.1 seconds that a thread makes no progress."""
    monkeypatch.setattr(tracing_lock, "_POLL", 0.01)


def traced_elsewhere() -> int:
    """Trace a function that is new, which takes a turn, and call it."""
    return int(tf.function(lambda y: y + 1)(tf.constant(3)))


def join() -> int:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(traced_elsewhere()))
    thread.start()
    thread.join()
    return found[0]


def pool() -> int:
    with ThreadPoolExecutor(3) as executor:
        return sum(executor.map(lambda _: traced_elsewhere(), range(3))) // 3


def items() -> int:
    found: queue.Queue[int] = queue.Queue()
    threading.Thread(target=lambda: found.put(traced_elsewhere())).start()
    return found.get()


def event() -> int:
    done, found = threading.Event(), []
    threading.Thread(target=lambda: (found.append(traced_elsewhere()), done.set())).start()
    while not done.wait(0.05):
        pass
    return found[0]


def thread_in_thread() -> int:
    found: list[int] = []
    outer = tf.function(lambda x: x + join())
    thread = threading.Thread(target=lambda: found.append(int(outer(tf.constant(0)))))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("wait", [join, pool, items, event, thread_in_thread])
def test_a_trace_waits_for_a_thread_that_traces(wait: Callable[[], int]) -> None:
    @tf.function(autograph=False)
    def outer(x: Any) -> Any:
        return x + wait()

    assert int(outer(tf.constant(1))) == 5


@pytest.mark.usefixtures("quick")
def test_traces_of_two_threads_wait_for_each_other() -> None:
    meeting = threading.Barrier(2)

    def met(x: Any) -> Any:
        meeting.wait()
        return x + 1

    functions = [tf.function(met, autograph=False) for _ in range(2)]
    with ThreadPoolExecutor(2) as executor:
        assert [int(y) for y in executor.map(lambda f: f(tf.constant(1)), functions)] == [2, 2]


@pytest.mark.usefixtures("quick")
def test_a_function_that_is_called_by_a_thread_within_its_own_trace() -> None:
    found: list[float] = []

    @tf.function(autograph=False)
    def outer(x: Any) -> Any:
        if x.dtype is tf.int32:
            thread = threading.Thread(target=lambda: found.append(float(outer(tf.constant(1.5)))))
            thread.start()
            thread.join()
        return x + 1

    assert (int(outer(tf.constant(1))), found) == (2, [2.5])


@pytest.mark.usefixtures("quick")
def test_a_deadlock_of_traces_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing_lock, "_DEEPEST", 3)
    said: list[str] = []

    @tf.function(autograph=False)
    def circle(x: Any) -> Any:
        def again() -> None:
            try:
                circle(tf.constant(1))
            except RuntimeError as error:
                said.append(str(error))

        thread = threading.Thread(target=again)
        thread.start()
        thread.join()
        return x

    circle(tf.constant(1))
    (message,) = said
    assert "start a thread that calls the same function" in message


def test_concurrent_calls_trace_a_function_once() -> None:
    traces = []

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        traces.append(1)
        return x + sum(range(1000))

    start = threading.Barrier(8)

    def call(_: int) -> int:
        start.wait()
        return int(f(tf.constant(1)))

    with ThreadPoolExecutor(8) as executor:
        assert set(executor.map(call, range(8))) == {499501}
    assert len(traces) == 1
