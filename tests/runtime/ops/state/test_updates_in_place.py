"""`assign_add` and `assign_sub` write into the array of a variable, unless its old value may still be read."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.data import prefetch_threads
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.plan.fusion import fused_kernel
from agc.runtime.ops.framework.eager_calls import native

needs_llvm = pytest.mark.skipif("native" not in EXECUTORS, reason="native code needs a compiler")
in_place = pytest.mark.skipif(native is None, reason="the C extension updates in place")


def is_of_execnet(frame: Any) -> bool:
    """Return whether a thread is one with which workers of pytest-xdist talk: it lives as long as the process."""
    while frame.f_back is not None:
        frame = frame.f_back
    return "execnet" in frame.f_code.co_filename


@pytest.fixture(autouse=True)
def no_threads_of_the_test_runner(monkeypatch):
    """Hide the threads of the test runner and of other tests: while any runs, no array is overwritten."""
    frames, threads = sys._current_frames, threading.enumerate
    own = threading.get_ident()
    of_runner = {number for number, frame in frames().items() if is_of_execnet(frame)} - {own}
    of_tests = [x for x in threads() if x.ident != own and not isinstance(x, threading._DummyThread)]

    def hidden() -> set[int | None]:  # new threads take the numbers of those that have ended
        return of_runner | {x.ident for x in of_tests if x.is_alive()}

    monkeypatch.setattr(
        sys, "_current_frames", lambda: {i: x for i, x in frames().items() if i not in hidden()}
    )
    monkeypatch.setattr(threading, "enumerate", lambda: [x for x in threads() if x.ident not in hidden()])


def address(v: tf.Variable) -> int:
    return v._array.ctypes.data  # type: ignore[no-any-return]


@in_place
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "complex128"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (300, 400)])
def test_an_update_writes_into_the_memory_of_the_variable(dtype, shape):
    v = tf.Variable(np.ones(shape, dtype))
    v.assign_add(np.ones(shape, dtype))  # of a tensor that the variable shared with the conversion
    before = address(v)
    v.assign_add(tf.fill(shape, tf.cast(5, dtype)))
    v.assign_sub(tf.fill(shape, tf.cast(2, dtype)))
    assert address(v) == before
    np.testing.assert_array_equal(v.numpy(), np.full(shape, 5, dtype))


@pytest.mark.parametrize(
    "read",
    [
        lambda v: v.value(),
        lambda v: v.read_value(),
        lambda v: v[:2],
        lambda v: tf.identity(v),
        lambda v: v.numpy(),
        lambda v: np.asarray(v),
        lambda v: tf.Variable(v),
        lambda v: tf.function(lambda: v.value())(),
        lambda v: memoryview(v._array),
    ],
)
def test_a_value_that_was_read_stays(read):
    v = tf.Variable([1.0, 2.0, 3.0])
    value = read(v)
    before = np.array(value)
    v.assign_add([1.0, 1.0, 1.0])
    v.assign_sub([5.0, 5.0, 5.0])
    np.testing.assert_array_equal(np.array(value), before)
    assert v.numpy().tolist() == [-3.0, -2.0, -1.0]


def test_the_initial_value_and_an_assigned_one_stay():
    first, second = tf.constant([1.0, 2.0]), tf.constant([5.0, 6.0])
    v = tf.Variable(first)
    v.assign_add([1.0, 1.0])
    v.assign(second)
    v.assign_sub([1.0, 1.0])
    v.assign_add(v)
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([1.0, 2.0], [5.0, 6.0])
    assert v.numpy().tolist() == [8.0, 10.0]


def test_a_tape_differentiates_by_the_value_that_it_read():
    v = tf.Variable([3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        v.assign_add([1.0])
        z = y * v
    v.assign_sub([10.0])
    assert tape.gradient(y, v).numpy().tolist() == [6.0]
    assert z.numpy().tolist() == [36.0]


@pytest.mark.parametrize("update", ["assign", "assign_add", "assign_sub"])
def test_an_update_on_a_tape_is_new_memory_and_a_new_source(update):
    v, d = tf.Variable([3.0, 4.0]), tf.constant([1.0, 2.0])
    getattr(v, update)(d)
    old = v._array
    before = old.copy()
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        getattr(v, update)(d)
        z = v * v
    assert old.tolist() == before.tolist()
    assert (
        v.numpy().tolist()
        == {"assign": d, "assign_add": before + d, "assign_sub": before - d}[update].numpy().tolist()
    )
    assert tape.gradient(y, v).numpy().tolist() == (2 * before).tolist()
    assert tape.gradient(z, v).numpy().tolist() == (2 * v).numpy().tolist()
    assert tape.gradient(z, d) is None
    refused = ValueError, tf.errors.InvalidArgumentError
    with tf.GradientTape(), pytest.raises(refused, match=r"the assigned value shape|shapes must be equal"):
        getattr(v, update)(tf.constant([1.0]))


def test_a_wrong_operand_is_refused_as_ever():
    v = tf.Variable([1, 2], dtype=tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes must be equal"):
        v.assign_add([1])
    with pytest.raises((TypeError, ValueError)):
        v.assign_sub([1.5, 2.5])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not take bool"):
        tf.Variable([True]).assign_add([True])
    assert v.numpy().tolist() == [1, 2]


def test_threads_add_to_one_variable_and_read_whole_values():
    v, one = tf.Variable(tf.zeros([20_000])), tf.ones([20_000])
    torn = []

    def add():
        for _ in range(50):
            v.assign_add(one)

    def read():
        for _ in range(50):
            value = v.numpy()
            torn.extend([value] if value.min() != value.max() else [])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for work in (add, add, read, read)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not torn
    assert v.numpy()[0] == 100


def assigned(v: tf.Variable) -> None:
    v.assign(0.5 * v + 1.0)


def read_last(v: tf.Variable) -> None:
    v.assign(2.0 - v)


def subtracted(v: tf.Variable) -> None:
    v.assign_sub(v * 0.25)


def with_new_rows(v: tf.Variable) -> None:
    v.scatter_sub(tf.IndexedSlices(tf.ones([3, 400]), [7, 2, 7]))


def with_new_elements(v: tf.Variable) -> None:
    v.scatter_nd_add([[7, 1], [7, 1]], [3.0, 4.0])


UPDATES = [assigned, read_last, subtracted, with_new_rows, with_new_elements]


@pytest.fixture
def large() -> tf.Variable:
    v = tf.Variable(np.arange(800_000, dtype=np.float32).reshape(2000, 400))
    v.assign_add(tf.ones([2000, 400]))
    return v


@pytest.mark.parametrize("update", UPDATES)
def test_a_plan_overwrites_a_large_array_that_only_the_variable_has(update, large):
    before, eager = address(large), tf.Variable(np.array(large))
    tf.function(update, jit_compile=False)(large)
    update(eager)
    assert address(large) == before
    np.testing.assert_array_equal(large.numpy(), eager.numpy())


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    "read", [lambda v: v.value(), lambda v: v[:2], lambda v: np.asarray(v).T, lambda v: memoryview(v._array)]
)
def test_a_plan_leaves_a_large_array_alone_that_was_read(read, update, large):
    value = read(large)
    before, eager = np.array(value), tf.Variable(np.array(large))
    tf.function(update, jit_compile=False)(large)
    update(eager)
    np.testing.assert_array_equal(np.array(value), before)
    np.testing.assert_array_equal(large.numpy(), eager.numpy())


@pytest.fixture
def halfway(monkeypatch):
    """Return a function that sets what is called once in the middle of the next tiled update."""
    calls: list[Callable[[], Any]] = []
    compute = fused_kernel._Run.compute

    def compute_and_call(run: Any, number: int, buffers: Any) -> None:
        compute(run, number, buffers)
        if number == 1 and calls:
            calls.pop()()

    monkeypatch.setattr(fused_kernel._Run, "compute", compute_and_call)
    return calls.append


def in_thread(work: Callable[[], Any]) -> Any:
    threading.Thread(target=work).start()


def in_foreign_thread(work: Callable[[], Any]) -> Any:
    begun = threading.Event()
    _thread.start_new_thread(lambda: (begun.set(), work()), ())
    begun.wait()


def in_rows(work: Callable[[], Any], transformed: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """Call `work` for row 4 of a dataset, on a thread of the pipeline."""

    def row(x: Any) -> Any:
        if x == 4:
            work()
        return x

    rows = iter(transformed(tf.data.Dataset.range(5), lambda x: tf.py_function(row, [x], tf.int64)))
    assert [int(next(rows)) for _ in range(4)] == [0, 1, 2, 3]
    return rows


def in_parallel_map(work: Callable[[], Any]) -> Any:
    return in_rows(work, lambda rows, row: rows.map(row, num_parallel_calls=2))


def in_prefetch(work: Callable[[], Any]) -> Any:
    return in_rows(work, lambda rows, row: rows.map(row).prefetch(1))


@pytest.mark.parametrize("begin", [in_thread, in_foreign_thread, in_parallel_map, in_prefetch])
def test_other_threads_read_no_half_updated_array(begin, large, halfway, monkeypatch):
    monkeypatch.setattr(prefetch_threads, "_SLOW", 0.0)  # threads help with all rows
    asked, answered = threading.Event(), threading.Event()
    first, seen = large.numpy().copy(), []

    def read() -> None:
        asked.wait(60)
        seen.append(large.numpy().copy())
        answered.set()

    thread = begin(read)
    halfway(lambda: (asked.set(), answered.wait(60)))
    tf.function(assigned, jit_compile=False)(large)
    assert answered.is_set()
    np.testing.assert_array_equal(seen[0], first)
    np.testing.assert_array_equal(large.numpy(), first * 0.5 + 1)
    del thread


@needs_llvm
def test_native_code_overwrites_no_array_that_a_pipeline_may_read(large, monkeypatch):
    monkeypatch.setattr(prefetch_threads, "_SLOW", 0.0)
    step, done = tf.function(assigned, jit_compile=True), threading.Event()
    step(large)
    before = address(large)
    step(large)
    assert address(large) == before
    rows = in_prefetch(done.wait)
    step(large)
    assert address(large) != before
    done.set()
    assert int(next(rows)) == 4


def test_a_signal_is_handled_when_the_update_is_complete(large, halfway):
    first, seen, before = large.numpy().copy(), [], address(large)
    old = signal.signal(signal.SIGTERM, lambda *_: seen.append(large.numpy().copy()))
    try:
        halfway(lambda: signal.raise_signal(signal.SIGTERM))
        tf.function(assigned, jit_compile=False)(large)
        assert address(large) == before
        np.testing.assert_array_equal(seen[0], first * 0.5 + 1)
        large.assign(first)
        large.assign_add(tf.zeros([2000, 400]))
        halfway(lambda: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            tf.function(assigned, jit_compile=False)(large)
        np.testing.assert_array_equal(large.numpy(), first * 0.5 + 1)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, old)


def test_threads_of_the_pool_keep_no_array(large):
    step, before = tf.function(assigned, jit_compile=False), address(large)
    for _ in range(20):
        step(large)
        assert address(large) == before


def test_integers_are_divided_in_a_copy():
    """They are divided one after the other, and a signal handler may run in between."""
    v = tf.Variable(tf.fill([300, 400], 6))
    v.scatter_add(tf.IndexedSlices(tf.fill([1, 400], 2), [7]))
    before = address(v)
    v.scatter_div(tf.IndexedSlices(tf.fill([2, 400], 2), [7, 7]))
    assert address(v) != before
    assert (v.numpy()[6:8, 0] == [6, 2]).all()


@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=needs_llvm)])
def test_a_failed_division_leaves_the_old_value(jit_compile):
    v = tf.Variable(tf.fill([300, 400], 6))
    divisors = np.ones((300, 400), np.int32)
    divisors[-1, -1] = 0

    @tf.function(jit_compile=jit_compile)
    def step(divisor):
        v.assign((v + 1) // divisor * 3)

    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        step(divisors)
    assert (v.numpy() == 6).all()


def test_a_plan_keeps_the_old_value_that_it_reads_after_the_assignment(large):
    @tf.function(jit_compile=False)
    def step():
        old = large.value()
        new = large.assign(old * 0.5)
        return old - new, large.assign(new + old)

    first = large.numpy()
    difference, last = step()
    np.testing.assert_array_equal(difference.numpy(), first * 0.5)
    np.testing.assert_array_equal(last.numpy(), first * 1.5)
    np.testing.assert_array_equal(large.numpy(), first * 1.5)


def test_a_refused_scatter_changes_nothing(large):
    before = large.numpy().copy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        large.scatter_sub(tf.IndexedSlices(tf.ones([2, 400]), [0, 2000]))
    np.testing.assert_array_equal(large.numpy(), before)


@needs_llvm
@pytest.mark.parametrize("kept", [False, True])
def test_native_code_changes_rows_in_place(kept, large):
    """Updates that are computed from the old rows are no obstacle, nor is a refused call."""

    def step(rows, v):
        new = tf.gather(v, rows) * 0.5
        return tf.reduce_sum(new), v.scatter_sub(tf.IndexedSlices(new, rows))[0] if kept else 0.0

    compiled, eager = tf.function(step, jit_compile=True), tf.Variable(np.array(large))
    compiled(tf.constant([3, 5, 3]), large)
    step(tf.constant([3, 5, 3]), eager)
    before, old = address(large), np.array(large)
    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(tf.constant([3, 2000, 3]), large)
    np.testing.assert_array_equal(large.numpy(), old)
    compiled(tf.constant([7, 2, 7]), large)
    step(tf.constant([7, 2, 7]), eager)
    assert address(large) == before
    np.testing.assert_array_equal(large.numpy(), eager.numpy())


@needs_llvm
def test_native_code_scatters_the_old_rows_into_themselves(large):
    def step(rows, v):
        v.scatter_add(tf.IndexedSlices(v.value(), rows))

    rows, eager = tf.constant(np.arange(2000)[::-1].copy()), tf.Variable(np.array(large))
    tf.function(step, jit_compile=True)(rows, large)
    step(rows, eager)
    np.testing.assert_array_equal(large.numpy(), eager.numpy())
