"""The calls of a graph wait for its native code two seconds, longer if it is large, or as long as they have run."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.core import program_time
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import native_parts, tiering
from agc.runtime.executors.llvm.background_compiler import Compiler, Job
from agc.runtime.executors.llvm.tiering import tiered_part
from agc.runtime.executors.llvm.wait_budget import WaitBudget


class OldProgram:
    """A program that has run for long, and waits for a job that never ends. Only its waits and `run` take time."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.now = 1000.0

    def perf_counter(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(pytest.approx(seconds))
        self.now += seconds

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run a plan that takes 0.4 seconds."""
        self.now += 0.4
        return arguments


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> OldProgram:
    """An old program."""
    found, compiler, job = OldProgram(), Compiler(), Job(lambda: None)
    monkeypatch.setattr(job, "done", SimpleNamespace(wait=found.wait, is_set=lambda: False))
    monkeypatch.setattr(compiler, "_start", lambda: None)
    monkeypatch.setattr(program_time, "seconds", found.perf_counter)
    monkeypatch.setattr(tiering, "time", found)
    monkeypatch.setattr(tiering, "compiler", compiler)
    monkeypatch.setattr(tiering, "ask", lambda *arguments: job)
    return found


def test_a_large_graph_may_wait_as_long_as_it_takes_to_compile() -> None:
    budget = WaitBudget(operations=4_000)
    assert budget.left() == pytest.approx(6.0)
    budget.add_run(7.0)
    budget.add_wait(6.0)
    assert budget.left() == pytest.approx(1.0)
    graph = tf.function(lambda x: sum([x] * 3_001)).get_concrete_function(tf.TensorSpec([])).graph
    assert tiering.TieredRunner(graph, list).new_budget().left() == pytest.approx(4.5, rel=1e-3)


def test_a_graph_may_wait_two_seconds_or_as_long_as_it_has_run() -> None:
    budget = WaitBudget()
    budget.add_run(0.1)
    assert budget.left() == 2.0
    budget.add_wait(2.0)
    assert budget.left() == 0.0
    budget.add_run(2.9)
    assert budget.left() == pytest.approx(1.0)


def test_calls_that_take_no_time_wait_two_seconds_even_in_an_old_program(program: OldProgram) -> None:
    graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1)).graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    runner.hot = 0.0
    for number in range(20):
        assert runner.run([np.int32(number)])[0] == number + 1
    assert program.waits == [2.0]


def test_long_calls_wait_as_long_as_they_run(program: OldProgram) -> None:
    graph = tf.function(lambda x: x).get_concrete_function(tf.constant(1)).graph
    runner = tiering.TieredRunner(graph, program.run)
    for number in range(8):
        assert runner.run([number]) == [number]
    assert program.waits == [2.0, 0.4, 0.4]


def test_the_parts_of_a_graph_share_its_budget(program: OldProgram) -> None:
    def two_loops(x: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(3):
            x += 1
        for _ in tf.range(3):
            x *= 2
        return x

    graph = tf.function(two_loops).get_concrete_function(tf.constant(1)).graph
    budget, parts = WaitBudget(), list[Any]()
    run = native_parts.with_native_parts(graph, lambda part: parts.append(part) or tiered_part(part, budget))
    assert run is not None and len(parts) == 2
    for _ in range(5):
        assert run([np.int32(1)])[0] == 32
    assert program.waits == [2.0]
