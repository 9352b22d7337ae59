"""Profiles of native code: what its groups of loops, its products and its `while`s take, line by line."""

from __future__ import annotations

import threading
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import compile_graph, external_symbols, tiering
from agc.runtime.executors.llvm.codegen import instrumentation

pytest.importorskip("llvmlite")

X = tf.constant(np.linspace(-1, 1, 600, dtype=np.float32).reshape(20, 30))
W = tf.constant(np.linspace(-0.2, 0.2, 900, dtype=np.float32).reshape(30, 30))
ROUNDS = 7


def settled(x: Any, w: Any, rounds: Any) -> Any:
    total = tf.reduce_sum(tf.cumsum(x, axis=1))
    for _ in tf.range(rounds):
        x = tf.tanh(tf.matmul(x, w))
        total += tf.reduce_sum(x * x)
    return x, total


@pytest.fixture
def native() -> Any:
    return tf.function(settled, jit_compile=True)


def lines(report: Any) -> dict[str, Any]:
    return {row.name: row for row in report.lines}


def test_each_line_has_its_time_and_each_operation_its_calls(native: Any) -> None:
    before = native(X, W, tf.constant(ROUNDS))
    report = tf.profiler.profile(native, X, W, tf.constant(ROUNDS))
    for one, other in zip(before, report.result, strict=True):
        np.testing.assert_array_equal(one, other)
    calls = {row.name: row.calls for row in report.rows}
    assert calls["settled"] == calls["while"] == 1
    assert calls["matmul"] == ROUNDS
    named = lines(report)
    assert named["x = tf.tanh(tf.matmul(x, w))"].own > 0
    assert named["total = tf.reduce_sum(tf.cumsum(x, axis=1))"].own > 0
    assert "for _ in tf.range(rounds):" in named
    assert {row.origin.line for row in report.rows} >= {
        settled.__code__.co_firstlineno + i for i in (1, 2, 3)
    }


def test_times_of_parts_sum_to_at_most_the_total(native: Any) -> None:
    report = tf.profiler.profile(native, X, W, tf.constant(ROUNDS))
    assert sum(row.own for row in report.rows) <= report.in_graphs <= report.wall
    for node in report.nodes():
        assert 0 <= node.inner <= node.total
        assert node.inner == sum(child.total for child in node.children.values())


def test_memory_is_that_of_the_buffers(native: Any) -> None:
    report = tf.profiler.profile(native, X, W, tf.constant(ROUNDS))
    held = {row.name: row.bytes for row in report.rows}
    assert held["matmul"] >= 20 * 30 * 4


def test_the_iterations_of_a_loop_are_one_event(native: Any) -> None:
    report = tf.profiler.profile(native, X, W, tf.constant(ROUNDS))
    events = [event for event in report.trace()["traceEvents"] if event["ph"] == "X"]
    (whole,) = [event for event in events if event["cat"] == "native"]
    (product,) = [event for event in events if event["name"].startswith("matmul")]
    assert product["args"]["calls"] == ROUNDS
    for event in events:
        assert event["ts"] >= whole["ts"]
        assert event["ts"] + event["dur"] <= whole["ts"] + whole["dur"] + 1e-3
    assert "matmul" in report.page()
    assert "matmul" in report.text()


def test_without_a_profile_nothing_is_measured(native: Any) -> None:
    graph = native.get_concrete_function(X, W, tf.constant(ROUNDS)).graph
    specs = [value.spec for value in graph.inputs]
    assert "cyclecounter" not in compile_graph.lowered(graph, specs).text()
    runner = native.get_concrete_function(X, W, tf.constant(ROUNDS))
    native(X, W, tf.constant(ROUNDS))
    before = runner.runner
    tf.profiler.profile(native, X, W, tf.constant(ROUNDS))
    assert runner.runner is before


def test_without_a_cycle_counter_the_system_clock_is_used(
    native: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (instrumentation, external_symbols):
        monkeypatch.setattr(module, "has_cycles", lambda: False)
    external_symbols.declare.__wrapped__()
    report = tf.profiler.profile(native, X, W, tf.constant(ROUNDS))
    assert {row.name: row.calls for row in report.rows}["matmul"] == ROUNDS
    assert sum(row.own for row in report.rows) <= report.in_graphs


def test_native_code_that_the_automatic_mode_has_chosen_is_measured() -> None:
    graph = tf.function(settled).get_concrete_function(X, W, tf.constant(ROUNDS))
    given = [X.numpy(), W.numpy(), np.array(ROUNDS, np.int32)]
    chosen = tiering.TieredRunner(graph.graph, EXECUTORS["plan"](graph.graph))
    trial = chosen._trial(given)
    tiering._compile(trial, graph.graph, given)
    trial.chosen = trial.native
    graph.executor, graph.runner = "automatic", chosen.run
    report = tf.profiler.profile(graph, X, W, tf.constant(ROUNDS))
    assert next(node.spot.kind for node in report.nodes()) == "native"
    assert {row.name: row.calls for row in report.rows}["matmul"] == ROUNDS


def test_variables_change_once_and_failures_are_the_same() -> None:
    total = tf.Variable(0)

    @tf.function(jit_compile=True)
    def added(x: Any, i: Any) -> Any:
        total.assign_add(x[i])
        return tf.reduce_sum(x) // i

    x = tf.constant([3, 4, 5])
    with tf.profiler.Profiling() as profiling:
        assert int(added(x, tf.constant(2))) == 6
    assert int(total) == 5
    assert "added" in {row.name for row in profiling.report.rows}
    messages = []
    for profiled in (False, True):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            if profiled:
                tf.profiler.profile(added, x, tf.constant(0))
            else:
                added(x, tf.constant(0))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert int(total) == 5 + 3 + 3  # what fails is run by the plan, which comes as far as the assignment


def test_threads_are_measured_each_by_itself(native: Any) -> None:
    def both() -> None:
        threads = [threading.Thread(target=native, args=(X, W, tf.constant(n))) for n in (3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    both()
    report = tf.profiler.profile(both)
    assert {row.name: row.calls for row in report.rows}["matmul"] == 7
