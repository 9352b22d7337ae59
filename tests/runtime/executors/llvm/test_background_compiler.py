"""The background thread makes calls one after another, also after a fork. An exit does not wait for Python code."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from agc.runtime.executors.llvm.background_compiler import Compiler

FOREVER = 60.0


def test_jobs_run_in_order_on_one_thread() -> None:
    compiler, threads, order = Compiler(), [], []
    jobs = [
        compiler.ask(lambda i=i: (order.append(i), threads.append(threading.current_thread())))  # type: ignore[misc]
        for i in range(3)
    ]
    for job in jobs:
        compiler.wait(job, FOREVER)
        assert job.done.is_set()
    assert order == [0, 1, 2]
    assert len(set(threads)) == 1 and threads[0] is not threading.current_thread()


def test_a_wait_ends_before_the_job() -> None:
    compiler, gate = Compiler(), threading.Event()
    job = compiler.ask(lambda: gate.wait(FOREVER) and None)
    compiler.wait(job, 0.001)
    assert not job.done.is_set()
    gate.set()
    compiler.wait(job, FOREVER)
    assert job.done.is_set()


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
    compiler.wait(late, 0.01)
    assert not late.done.is_set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_waits_for_the_job_and_its_child_makes_those_that_are_left() -> None:
    program = """
import os, threading
from agc.runtime.executors.llvm.background_compiler import compiler
has_begun, gate, made = threading.Event(), threading.Event(), []
first = compiler.ask(lambda: (has_begun.set(), gate.wait(), made.append(1)))
second = compiler.ask(lambda: made.append(2))
has_begun.wait()
threading.Timer(0.05, gate.set).start()
child = os.fork()
assert 1 in made
compiler.wait(second, 60)
assert made == [1, 2], made
third = compiler.ask(lambda: made.append(3))
compiler.wait(third, 60)
assert made == [1, 2, 3]
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=FOREVER)
