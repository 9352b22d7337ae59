"""Modules are compiled on several threads."""

from __future__ import annotations

import threading

import pytest
from agc.runtime.executors.llvm import parallel_codegen
from agc.runtime.executors.llvm.parallel_codegen import in_parallel


def fail() -> bytes:
    raise ValueError("no code")


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
