"""The threads that share loops: who gives them work, when they are not there, and processes that fork."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, text
from agc.runtime.executors.llvm.codegen import function_builder
from agc.runtime.executors.llvm.lowering import gemm_selection
from agc.runtime.kernels import native_pool

if native_pool.extension() is None:
    pytest.skip("the extension was not built", allow_module_level=True)

Part = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def run_part(part: Callable[[int, int], None], rounds: int, threads: int, wakes: bool = True) -> None:
    """Run a part as compiled code does, which does not hold Python's lock; the part takes it."""
    words = [ctypes.c_int64] * 3
    run = ctypes.CFUNCTYPE(None, Part, ctypes.c_void_p, *words)(native_pool.addresses()["run_parts"])
    run(Part(lambda around, begin, end: part(begin, end)), None, rounds, threads, wakes)


@contextmanager
def no_threads() -> Iterator[None]:
    """The pool has no threads meanwhile, as while a process forks."""
    end, allow = (native_pool.addresses()[name] for name in ("end_threads", "allow_threads"))
    ctypes.CFUNCTYPE(None)(end)()
    try:
        yield
    finally:
        ctypes.CFUNCTYPE(None)(allow)()


def eventually(run: Callable[[], int], wanted: int) -> None:
    """Run until there are so many parts: a caller works alone, in one part, if other callers have all slots."""
    end = time.monotonic() + 60
    while (found := run()) != wanted:
        assert found == 1
        assert time.monotonic() < end
        time.sleep(0.01)


def until_shared(run: Callable[[], Any], here: list[bool]) -> None:
    """Run with new threads until the caller runs parts: on a busy machine, helpers run all of them for a while."""
    end = time.monotonic() + 60
    while True:
        with no_threads():
            here.clear()
        run()
        if any(here):
            return
        assert time.monotonic() < end
        time.sleep(0.01)


def in_parts(rounds: int, threads: int, wanted: int) -> list[range]:
    """Return the parts of a loop, so many."""
    parts: list[range] = []

    def run() -> int:
        parts.clear()
        run_part(lambda begin, end: parts.append(range(begin, end)), rounds, threads)
        return len(parts)

    eventually(run, wanted)
    return parts


def all_rounds(threads: int, rounds: int = 10) -> list[int]:
    """The rounds that were run."""
    found: list[int] = []
    run_part(lambda begin, end: found.extend(range(begin, end)), rounds, threads)
    return sorted(found)


def tasks() -> set[int]:
    """Return the threads of the process, also those that C code started."""
    return {int(path.name) for path in pathlib.Path("/proc/self/task").iterdir()}


def switches() -> int:
    """Return how often the threads of the process have gone to sleep."""
    texts = [path.read_text() for path in pathlib.Path("/proc/self/task").glob("*/status")]
    return sum(
        int(count) for text in texts for count in re.findall(r"\nvoluntary_ctxt_switches:\s+(\d+)", text)
    )


class TestParts:
    @pytest.mark.parametrize("threads", [1, 2, 3, 16])
    def test_every_iteration_runs_once(self, threads: int) -> None:
        assert all_rounds(threads) == list(range(10))

    @pytest.mark.parametrize("rounds", [0, 1, 7, 16, 17, 1000])
    def test_the_number_of_parts_is_bounded_by_the_iterations(self, rounds: int) -> None:
        parts = in_parts(rounds, 2, min(max(rounds, 1), 16))
        assert sorted(i for part in parts for i in part) == list(range(rounds))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1

    def test_many_parallel_loops_in_a_row(self) -> None:
        for _ in range(300):
            assert all_rounds(3) == list(range(10))

    def test_python_threads_share_the_pool(self) -> None:
        """More of them than there are slots: who finds none does it alone."""
        wrong: list[Any] = []

        def ask() -> None:
            for _ in range(50):
                if all_rounds(3) != list(range(10)):
                    wrong.append(1)

        askers = [threading.Thread(target=ask) for _ in range(8)]
        for each in askers:
            each.start()
        for each in askers:
            each.join()
        assert not wrong

    def test_parallel_loops_can_be_nested(self) -> None:
        found: list[Any] = []

        def outer(begin: int, end: int) -> None:
            for i in range(begin, end):
                found.extend((i, j) for j in all_rounds(2, 4))

        run_part(outer, 6, 3)
        assert sorted(found) == [(i, j) for i in range(6) for j in range(4)]

    def test_without_threads_the_caller_runs_every_part(self) -> None:
        here: list[bool] = []

        def run() -> int:
            here.clear()
            run_part(lambda begin, end: here.append(threading.current_thread() is self.me), 8, 3)
            return len(here)

        with no_threads():
            eventually(run, 8)
        assert all(here)
        assert all_rounds(3) == list(range(10))

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be bound to a processor")
    def test_a_thread_on_the_processor_of_the_caller_leaves_all_parts_to_it(self) -> None:
        here: list[bool] = []

        def part(begin: int, end: int) -> None:
            here.append(threading.current_thread() is self.me)
            time.sleep(0.001)  # another thread may run

        def run() -> int:
            here.clear()
            run_part(part, 8, 3)
            return len(here)

        processors = os.sched_getaffinity(0)
        try:
            os.sched_setaffinity(0, [min(processors)])  # new threads start on the processors of their caller
            until_shared(run, here)
        finally:
            with no_threads():
                os.sched_setaffinity(0, processors)
        assert all(here)

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be bound to a processor")
    def test_a_thread_that_wakes_on_the_processor_of_the_caller_moves(self) -> None:
        """Linux may wake it there each time, though another processor is idle. It may run on all of them afterwards."""
        here: list[bool] = []

        def run() -> None:
            here.clear()
            run_part(part, 8, 2)

        def part(begin: int, end: int) -> None:
            here.append(threading.current_thread() is self.me)
            time.sleep(0.005)  # a thread may wait for a processor of a busy machine

        processors, before = os.sched_getaffinity(0), tasks()
        try:
            with no_threads():
                os.sched_setaffinity(0, [min(processors)])
            run()
            freed: set[int] = set()
            end = time.monotonic() + 60
            while len(set(here)) < 2 and len(processors) > 1:  # until the caller and another thread run parts
                freed |= tasks() - before
                for task in freed:  # it has slept on that processor
                    os.sched_setaffinity(task, processors)
                run()
                assert time.monotonic() < end
            while any(os.sched_getaffinity(task) != processors for task in freed):
                assert time.monotonic() < end
        finally:
            with no_threads():
                os.sched_setaffinity(0, processors)

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be bound to a processor")
    def test_a_thread_that_could_not_join_is_not_woken_for_each_loop(self) -> None:
        """It is woken once in half a millisecond: each time takes some of the processor, which it shares here."""
        processors = os.sched_getaffinity(0)
        try:
            with no_threads():
                os.sched_setaffinity(0, [min(processors)])
            here: list[bool] = []
            woken, start = 0, time.monotonic()
            for _ in range(400):
                before = switches()
                here.clear()
                run_part(lambda begin, end: here.append(threading.current_thread() is self.me), 2, 2)
                woken += (
                    switches() - before if any(here) else 0
                )  # a busy machine needs helpers, which are woken
            assert woken <= (time.monotonic() - start) / 0.0005 + 50  # other threads sleep, too
        finally:
            with no_threads():
                os.sched_setaffinity(0, processors)

    me = threading.main_thread()


class TestBusyMachine:
    """A long loop takes longer than its caller has a processor: the caller sleeps in the next ones, and helpers run."""

    @staticmethod
    def make_busy(threads: int = 2) -> None:
        """Run long loops that lose time until helpers run one of them."""
        here = [True]

        def part(begin: int, end: int) -> None:
            here.append(threading.current_thread() is TestParts.me)
            start = time.thread_time()
            while time.thread_time() - start < 0.0005:
                pass
            time.sleep(0.005)

        while any(here):
            here.clear()
            run_part(part, 4, threads)

    def test_helpers_run_all_parts_for_a_while(self) -> None:
        here: list[bool] = []
        self.make_busy()
        until_shared(
            lambda: run_part(lambda b, e: here.append(threading.current_thread() is TestParts.me), 8, 2), here
        )

    @pytest.mark.parametrize("rounds", [0, 1, 7, 16, 17, 1000])
    def test_every_iteration_runs_once(self, rounds: int) -> None:
        self.make_busy()
        assert all_rounds(2, rounds) == list(range(rounds))

    def test_after_a_short_loop_that_lost_time_the_caller_works_alone(self) -> None:
        """Programs of short loops would only wait for helpers to wake."""
        here: list[bool] = []

        def part(begin: int, end: int) -> None:
            here.append(threading.current_thread() is TestParts.me)
            time.sleep(0.005)

        self.make_busy()
        end = time.monotonic() + 60
        while here != [True]:  # one part of all rounds, when the helpers' time has ended
            assert time.monotonic() < end
            run_part(part, 1, 2)
            here.clear()
            run_part(part, 16, 2)

    def test_small_loops_run_in_the_caller(self) -> None:
        """It would take longer to wake helpers."""
        here: list[bool] = []
        self.make_busy()
        run_part(
            lambda begin, end: here.append(threading.current_thread() is TestParts.me), 8, 2, wakes=False
        )
        assert any(here)

    def test_nested_loops_do_not_wait_for_helpers(self) -> None:
        """All helpers may run parts of the outer loop: no one would run the inner ones."""
        found: list[Any] = []

        def part(begin: int, end: int) -> None:
            for i in range(begin, end):
                time.sleep(0.002)
                found.extend((i, j) for j in all_rounds(2, 4))

        self.make_busy()
        for _ in range(5):
            found.clear()
            run_part(part, 6, 2)
            assert sorted(found) == [(i, j) for i in range(6) for j in range(4)]

    def test_without_helpers_the_caller_runs_every_part(self) -> None:
        self.make_busy()
        with no_threads():
            assert all_rounds(2) == list(range(10))

    def test_threads_end_while_callers_sleep(self) -> None:
        """The thread that ends them runs the parts that no helper has claimed, so that callers return."""
        wrong: list[Any] = []
        done = threading.Event()

        def ask() -> None:
            while not done.is_set():
                if all_rounds(2) != list(range(10)):
                    wrong.append(1)

        self.make_busy()
        askers = [threading.Thread(target=ask) for _ in range(3)]
        for each in askers:
            each.start()
        for _ in range(50):
            with no_threads():
                pass
            time.sleep(0.002)
        done.set()
        for each in askers:
            each.join(60)
        assert not wrong
        assert not any(each.is_alive() for each in askers)


class TestResults:
    """They are the same, bit by bit, however many threads there are."""

    def results(self, threads: int, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.setattr(gemm_selection, "SHARED", 1)
        monkeypatch.setattr(function_builder, "WORTH", 1)
        for module in (gemm_selection, function_builder):
            monkeypatch.setattr(module, "count_of_threads", lambda: threads)
        random = np.random.default_rng(0)
        a, b = (random.standard_normal((70, 70)).astype(np.float32) for _ in range(2))

        @tf.function
        def program(a: Any, b: Any) -> Any:
            c = tf.matmul(a, b, transpose_a=True)
            return c, tf.tanh(c) + 1.0, tf.reduce_sum(c * c)

        graph = program.get_concrete_function(tf.constant(a), tf.constant(b)).graph
        wanted = interpret(graph, [a, b])
        found = JitFunction(graph).run([a, b])
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
        return [np.asarray(each).tobytes() for each in found]

    def test_for_any_number_of_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        alone, *others = (self.results(threads, monkeypatch) for threads in (1, 2, 5))
        assert others == [alone] * 2

    def test_intra_op_parallelism_of_one_is_respected(self) -> None:
        graph = tf.function(lambda x: tf.tanh(x)).get_concrete_function(tf.zeros([1 << 19])).graph
        tf.config.threading.set_intra_op_parallelism_threads(1)
        alone = text(graph)
        tf.config.threading.set_intra_op_parallelism_threads(2)
        shared = text(graph)
        tf.config.threading.set_intra_op_parallelism_threads(0)
        assert ("agc_run_parts" in alone, "agc_run_parts" in shared) == (False, True)

    @pytest.mark.parametrize(("elements", "wakes"), [(1 << 14, []), (1 << 16, ["0"]), (1 << 18, ["1"])])
    def test_sleeping_threads_are_woken_for_large_loops(
        self, elements: int, wakes: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The last number that the pool is given says so; those that are awake have a share before."""
        monkeypatch.setattr(function_builder, "count_of_threads", lambda: 2)
        graph = tf.function(lambda x: -x).get_concrete_function(tf.zeros([elements])).graph
        assert re.findall(r"call void @agc_run_parts\(.*i64 (\d)\)", text(graph)) == wakes

    def test_loops_of_costly_elements_are_shared_sooner(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def shared(function: Any) -> bool:
            return "@agc_run_parts(" in text(
                tf.function(function).get_concrete_function(tf.zeros([1 << 14])).graph
            )

        monkeypatch.setattr(function_builder, "count_of_threads", lambda: 2)
        assert not shared(lambda x: x * 2.0)
        assert shared(lambda x: tf.sigmoid(x) * tf.tanh(x + 1.0) + tf.exp(x))


FORKS = """
import multiprocessing, os, threading
import numpy as np
import agc.runtime as tf

tf.config.threading.set_intra_op_parallelism_threads(3)
f = tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True)
x = tf.constant(np.linspace(-3, 3, 1 << 18, dtype=np.float32))
wanted = np.asarray(f(x))

def is_right(_=None):
    return all(np.array_equal(np.asarray(f(x)), wanted) for _ in range(3))

def forked():
    child = os.fork()
    if not child:
        os._exit(0 if is_right() else 1)
    return os.waitpid(child, 0)[1] == 0

assert all(forked() and is_right() for _ in range(3))
done = threading.Event()
busy = threading.Thread(target=lambda: [is_right() for _ in iter(done.is_set, True)])
busy.start()
assert all(forked() for _ in range(10))
done.set()
busy.join()
with multiprocessing.get_context("fork").Pool(2) as processes:
    assert all(processes.map(is_right, range(4)))
print(is_right())
"""


def test_processes_fork_and_end() -> None:
    """A child begins with no threads; who forks has none meanwhile; and none keeps a process from its end."""
    command = [sys.executable, "-W", "error", "-c", FORKS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
