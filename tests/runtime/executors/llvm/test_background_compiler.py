"""The background thread makes calls one after another, also after a fork. An exit does not wait for Python code."""

from __future__ import annotations

import math
import os
import runpy
import subprocess
import sys
import threading
import time

import pytest
from agc.runtime.core import program_time
from agc.runtime.executors.llvm import background_compiler
from agc.runtime.executors.llvm.background_compiler import Compiler, Job
from agc.runtime.executors.llvm.wait_budget import WaitBudget

FOREVER = 60.0

LARGE = WaitBudget()
LARGE.add_run(FOREVER)


@pytest.fixture(autouse=True)
def old_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that has run for so long that calls may wait."""
    monkeypatch.setattr(program_time, "seconds", lambda: time.perf_counter() + 2 * FOREVER)


def test_the_program_has_run_before_the_runtime_was_imported() -> None:
    before = time.thread_time()
    assert before <= runpy.run_path(program_time.__file__)["seconds"]() < FOREVER + time.thread_time()


def test_jobs_run_in_order_on_one_thread() -> None:
    compiler, threads, order = Compiler(), [], []
    jobs = [
        compiler.ask(lambda i=i: (order.append(i), threads.append(threading.current_thread())))  # type: ignore[misc]
        for i in range(3)
    ]
    for job in jobs:
        compiler.wait(job, LARGE)
        assert job.done.is_set()
    assert order == [0, 1, 2]
    assert len(set(threads)) == 1 and threads[0] is not threading.current_thread()


def test_other_threads_wait_less_for_the_interpreter_lock_during_a_job() -> None:
    compiler, during = Compiler(), list[float]()
    compiler.wait(compiler.ask(lambda: during.append(sys.getswitchinterval())), LARGE)
    assert during[0] < 2e-4


def test_a_wait_ends_before_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, gate = Compiler(), threading.Event()
    job = compiler.ask(lambda: gate.wait(FOREVER) and None)
    with monkeypatch.context() as young:
        young.setattr(program_time, "seconds", lambda: 0.001)
        compiler.wait(job, LARGE)
    assert not job.done.is_set()
    gate.set()
    compiler.wait(job, LARGE)
    assert job.done.is_set()


def test_all_waits_together_take_at_most_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, job, now, waits = Compiler(), Job(lambda: None), 0.1, []

    def wait(seconds: float) -> None:
        nonlocal now
        waits.append(seconds)
        now += seconds

    monkeypatch.setattr(program_time, "seconds", lambda: now)
    monkeypatch.setattr(compiler, "_start", lambda: None)
    monkeypatch.setattr(job.done, "wait", wait)
    for call in (0.03, 0.0002, 0.0002, 0.0007):
        compiler.wait(job, LARGE)
        now += call
    assert waits == [pytest.approx(0.1), pytest.approx(0.03)]  # short times add up
    compiler.wait(job, LARGE)
    assert waits[2:] == [pytest.approx(0.0011)]
    job.done.set()
    now += 1.0
    compiler.wait(job, LARGE)
    assert len(waits) == 3
    assert compiler.left() == pytest.approx(1.0)
    compiler.spend(0.2)  # by a comparison
    assert compiler.left() == pytest.approx(0.6)


def test_the_compiler_pauses_while_a_plan_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_compiler, "PAUSE", FOREVER)
    monkeypatch.setattr(background_compiler, "REST", math.inf)
    compiler, begun, steps = Compiler(), threading.Event(), []

    def lower() -> None:
        begun.wait(FOREVER)
        compiler.pause()
        steps.append("lowered")

    def run(name: str) -> None:
        compiler.pause()  # pauses the compiler's own thread only
        begun.set()
        job.done.wait(0.01)
        steps.append(name)

    job = compiler.ask(lower)
    compiler.undisturbed(run, "run")
    compiler.wait(job, LARGE)
    assert steps == ["run", "lowered"]


def test_a_pause_ends_before_a_long_run_of_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_compiler, "PAUSE", FOREVER)
    compiler, begun = Compiler(), threading.Event()

    def lower() -> None:
        begun.wait(FOREVER)
        compiler.pause()

    job = compiler.ask(lower)

    def run() -> bool:
        begun.set()
        return job.done.wait(FOREVER / 2)

    assert compiler.undisturbed(run)


def test_an_exit_interrupts_python_code() -> None:
    compiler, has_begun = Compiler(), threading.Event()

    def endless() -> None:
        has_begun.set()
        while True:
            pass

    job = compiler.ask(endless)
    assert has_begun.wait(FOREVER)
    compiler.close()
    assert job.done.is_set()
    late = compiler.ask(lambda: None)
    late.done.wait(0.01)
    assert not late.done.is_set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_waits_for_the_job_and_its_child_makes_those_that_are_left() -> None:
    program = """
import os, threading
from agc.runtime.core import program_time
from agc.runtime.executors.llvm.background_compiler import compiler
from agc.runtime.executors.llvm.wait_budget import WaitBudget
LARGE = WaitBudget()
program_time.seconds = lambda: 120.0
has_begun, gate, made = threading.Event(), threading.Event(), []
first = compiler.ask(lambda: (has_begun.set(), gate.wait(), made.append(1)))
second = compiler.ask(lambda: made.append(2))
has_begun.wait()
threading.Timer(0.05, gate.set).start()
child = os.fork()
assert 1 in made
compiler.wait(second, LARGE)
assert made == [1, 2], made
third = compiler.ask(lambda: made.append(3))
compiler.wait(third, LARGE)
assert made == [1, 2, 3]
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=FOREVER)
