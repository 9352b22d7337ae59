"""Threads of pipelines: they help functions that wait, keep the order, and go away with the iterator."""

from __future__ import annotations

import gc
import threading
import time

import agc.runtime as tf
import pytest
from agc.runtime.data import prefetch_threads

D = tf.data.Dataset


def waiting(x):
    return tf.py_function(lambda value: (time.sleep(0.01), value)[1], [x], tf.int64)


def threads():
    """The threads of pipelines; the crew that computes big blocks stays for the next computation."""
    return [thread for thread in threading.enumerate() if thread.name.startswith(("agc-map", "agc-prefetch"))]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    gc.collect()
    deadline = time.monotonic() + 60
    while threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not threads()


def test_blocking_calls_overlap_and_keep_their_order():
    together = threading.Barrier(5)  # blocks until five calls wait at the same time

    def meet(x):
        if x < 20:
            return waiting(x)  # the first calls only show that threads will pay
        return tf.py_function(lambda value: (together.wait(timeout=120), value)[1], [x], tf.int64)

    found = [int(x) for x in D.range(40).map(meet, num_parallel_calls=10)]
    assert found == list(range(40))


def test_a_nondeterministic_map_yields_all_elements():
    found = [int(x) for x in D.range(30).map(waiting, num_parallel_calls=8, deterministic=False)]
    assert sorted(found) == list(range(30))


@pytest.mark.parametrize(
    "ds", [D.range(50).map(lambda x: x + 1, num_parallel_calls=4), D.range(50).prefetch(4)]
)
def test_quick_rows_need_no_threads(ds, monkeypatch):
    monkeypatch.setattr(prefetch_threads, "_SLOW", 60.0)
    for _ in zip(ds, range(40), strict=False):
        assert not threads()


def test_prefetch_stays_within_its_buffer():
    made = []

    def numbers():
        for i in range(100):
            made.append(i)
            time.sleep(0.001)
            yield i

    iterator = iter(D.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int32)).prefetch(3))
    assert not made  # until the first element is requested
    for _ in range(3):  # the first two only show that a thread will pay
        next(iterator)
    deadline = time.monotonic() + 60
    while len(made) < 7 and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.02)
    assert len(made) == 7  # three for the user, three in the buffer, one that waits for a place


def test_an_iterator_that_is_dropped_ends_its_threads():
    iterator = iter(D.counter().map(waiting, num_parallel_calls=4).prefetch(2))
    for _ in range(6):
        next(iterator)
    assert threads()


def test_a_loop_that_is_left_ends_its_threads():
    for x in D.counter().map(waiting).prefetch(4):
        assert x < 2 or threads()
        if x > 5:
            break


def test_interleaved_datasets_are_fetched_ahead_in_the_same_order():
    def part(x):
        return D.range(x * 10, x * 10 + 3).map(waiting)

    plain = D.range(4).interleave(part, cycle_length=2, block_length=2)
    ahead = D.range(4).interleave(part, cycle_length=2, block_length=2, num_parallel_calls=2)
    assert [int(x) for x in ahead] == [int(x) for x in plain]


def test_several_threads_can_share_one_iterator():
    iterator, found = iter(D.range(2000)), []

    def pull():
        for x in iterator:
            found.append(int(x))

    pulling = [threading.Thread(target=pull) for _ in range(4)]
    for thread in pulling:
        thread.start()
    for thread in pulling:
        thread.join()
    assert sorted(found) == list(range(2000))


def test_memory_is_bounded():
    import tracemalloc

    ds = D.counter().map(lambda x: tf.fill([1000], x)).batch(10).prefetch(2).shuffle(3)
    iterator = iter(ds)
    for _ in range(20):
        next(iterator)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(100):
        next(iterator)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 2_000_000  # 100 batches are 8 MB
