"""Modules are compiled on several threads."""

from __future__ import annotations

import sys
import threading

import pytest
from agc.runtime.executors.llvm import parallel_codegen
from agc.runtime.executors.llvm.parallel_codegen import Task, Tasks, frequent_switches


def fail() -> bytes:
    raise ValueError("no code")


def in_parallel(given: list[Task]) -> list[bytes]:
    tasks = Tasks()
    for i, work in enumerate(given):
        tasks.add(str(i), work)
    return tasks.results([str(i) for i in range(len(given))])


def test_results_have_the_order_of_the_works() -> None:
    assert in_parallel([lambda i=i: bytes([i]) for i in range(9)]) == [bytes([i]) for i in range(9)]  # type: ignore[misc]


def test_two_works_run_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_codegen, "processors", lambda: 2)
    meeting = threading.Barrier(2, timeout=30)

    def meet() -> bytes:
        meeting.wait()
        return b"met"

    assert in_parallel([meet, meet]) == [b"met", b"met"]


def test_an_error_of_one_work_is_raised() -> None:
    with pytest.raises(ValueError, match="no code"):
        in_parallel([lambda: b"", fail, lambda: b""])


def test_without_further_threads_this_one_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert in_parallel([lambda: b"1", lambda: b"2"]) == [b"1", b"2"]


def test_works_begin_in_the_background_and_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_codegen, "processors", lambda: 2)
    tasks, done, runs = Tasks(), threading.Event(), []

    def work() -> bytes:
        runs.append(threading.current_thread().name)
        done.set()
        return b"early"

    for _ in range(2):
        tasks.add("early", work)
        tasks.begin()
        assert done.wait(30)
    tasks.add("late", lambda: b"late")
    assert tasks.results(["late", "early"]) == [b"late", b"early"]
    assert runs == ["agc-codegen"]


def test_works_that_are_not_needed_are_dropped() -> None:
    tasks = Tasks()
    tasks.add("needless", fail)
    tasks.add("needed", lambda: b"1")
    assert tasks.results(["needed"]) == [b"1"]


def test_the_last_block_restores_the_switch_interval() -> None:
    before = sys.getswitchinterval()
    first, second = frequent_switches(), frequent_switches()
    with first:
        second.__enter__()
        assert sys.getswitchinterval() < before
    assert sys.getswitchinterval() < before
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == before
