"""Failures of the compiler are reported as faults of agc; automatic compilation falls back to the plan."""

from __future__ import annotations

import logging
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS, llvm
from agc.runtime.executors.llvm import llvm_engine, runtime_library, tiering
from agc.runtime.executors.llvm.codegen.rule_registry import ELEMENTWISE
from agc.runtime.executors.llvm.diagnostics import CompilerFaultError


def broken(*arguments: Any) -> Any:
    raise AssertionError("no axis 3 in (2,)")


@pytest.fixture
def broken_tanh(monkeypatch: pytest.MonkeyPatch) -> None:
    llvm.text(tf.function(tf.tanh).get_concrete_function(tf.constant(1.0)).graph)  # the table is filled
    monkeypatch.setitem(ELEMENTWISE, "tanh", ELEMENTWISE["tanh"]._replace(write=broken))


@tf.function(jit_compile=True)
def squashed(x: Any) -> Any:
    return tf.tanh(x) * 2.0


@pytest.mark.usefixtures("broken_tanh")
@pytest.mark.parametrize("x", [np.float32(1), np.ones((3, 4), np.float32)], ids=["number", "tensor"])
def test_a_broken_rule_is_a_fault_of_agc(x: Any) -> None:
    with pytest.raises(tf.errors.InternalError) as caught:
        squashed(tf.constant(x))
    message = caught.value.message
    assert message.startswith(
        "error[AGC221]: agc failed to compile `squashed` to native code: AssertionError: no axis 3 in (2,)"
    )
    assert "This is a bug in agc" in message
    assert "jit_compile=False" in message
    assert isinstance(caught.value.__cause__, AssertionError)


@pytest.mark.usefixtures("broken_tanh")
def test_the_line_is_named_inside_of_loops() -> None:
    @tf.function(jit_compile=True)
    def settled(x: Any) -> Any:
        while tf.abs(x) > 0.1:
            x = tf.tanh(x)
        return x

    with pytest.raises(CompilerFaultError, match=r"test_diagnostics.py:\d+, in settled: tanh"):
        settled(tf.constant(1.0))


@pytest.mark.parametrize(
    "error", [KeyError("x"), NotImplementedError(), RuntimeError("LLVM IR parsing error\n1")]
)
def test_code_refused_by_llvm_is_a_fault_of_agc(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(parts: object, level: object, tasks: object) -> bytes:
        raise error

    runtime_library.load()  # which is not to be refused
    monkeypatch.setattr(llvm_engine, "assembled", refuse)
    with pytest.raises(CompilerFaultError, match=f"`squashed`.*{type(error).__name__}"):
        squashed(tf.constant([1.0, 2.0, 3.0]))


@pytest.mark.usefixtures("broken_tanh")
def test_the_code_of_a_graph_is_not_shown_either() -> None:
    graph = tf.function(lambda x: tf.tanh(x)).get_concrete_function(tf.constant([1.0])).graph
    with pytest.raises(CompilerFaultError, match="AGC221"):
        llvm.text(graph)


@pytest.mark.usefixtures("broken_tanh")
def test_automatic_compilation_falls_back_and_logs_the_fault_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    graph = tf.function(lambda x: tf.tanh(x)).get_concrete_function(tf.constant([1.0])).graph
    trial = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))._trial([np.ones(1, np.float32)])
    with caplog.at_level(logging.WARNING, logger="agc"):
        tiering._compile(trial, graph, [np.ones(1, np.float32)])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "AGC221" in caplog.text
    assert "without native code" in caplog.text
    assert trial.chosen is trial._plan
    (found,) = trial.run([np.ones(1, np.float32)])
    assert found == np.tanh(np.float32(1))


@pytest.mark.usefixtures("broken_tanh")
def test_the_plan_runs_a_loop_whose_compilation_is_faulty(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def program(x: Any, text: Any, n: Any) -> Any:
        for _ in tf.range(n):
            x = tf.tanh(x)
        return x, text

    given = [np.float32([1, 0]), np.array(b"text", object), np.array(3, np.int32)]
    graph = tf.function(program).get_concrete_function(*map(tf.constant, ([1.0, 0.0], "text", 3))).graph
    trial = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))._trial(given)
    tiering._compile(trial, graph, given)
    assert trial.native is not None
    with caplog.at_level(logging.WARNING, logger="agc"):
        for _ in range(2):
            found = np.asarray(trial.native(given)[0])[::-1]
            np.testing.assert_allclose(found, [0, np.tanh(np.tanh(np.tanh(1)))], rtol=1e-6)
    assert caplog.text.count("AGC221") == 1
