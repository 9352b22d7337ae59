"""A part of a module is set apart, and compiled by another thread while the rest is written."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, llvm_engine, parallel_codegen, split_module
from agc.runtime.executors.llvm.compile_graph import lowered
from agc.runtime.executors.llvm.opt_levels import DONE, NONE

RANDOM = np.random.default_rng(0)

ADDITION = "define i32 @add(i32 %x, i32 %y) {\n  %z = add i32 %x, %y\n  ret i32 %z\n}\n"


def several(x: Any, y: Any) -> Any:
    """Run different loop nests in sequence."""
    z = tf.exp(x) + y
    return z - tf.reduce_max(z), tf.reduce_sum(z, 1) * 2.0, tf.transpose(z)


def in_turns(x: Any, y: Any) -> Any:
    """Run loop nests in a loop of the program, and after it."""
    for _ in tf.range(3):
        x = tf.tanh(tf.matmul(x, y, transpose_b=True)) @ y
        x = x / (tf.reduce_sum(tf.abs(x), 1, keepdims=True) + 1.0)
    return x, tf.reduce_sum(tf.sin(x), 0)


def looked_up(x: Any, y: Any) -> Any:
    """A nest that may fail, which stays."""
    i = tf.cast(x[:, 0] * 3.0 + 4.0, tf.int32)
    return tf.gather(y, i), tf.sqrt(tf.abs(x)) * y


def shared(x: Any, y: Any) -> Any:
    """A loop for threads, whose part may be set apart as well."""
    z = tf.tile(x, [16, 200])
    return tf.reduce_sum(tf.exp(z) * 0.5, 0)[:5], tf.reduce_max(y * y)


def graph_of(program: Callable[..., Any]) -> Any:
    spec = tf.TensorSpec([40, 50], tf.float32)
    return tf.function(program).get_concrete_function(spec, spec).graph


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small modules are taken apart, too, on machines with several processors."""
    monkeypatch.setattr(split_module, "LEAST", 1)
    monkeypatch.setattr(split_module, "count_of_threads", lambda: 2)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("part", [0.3, 0.5, 1.0])
@pytest.mark.parametrize(
    "program", [several, in_turns, looked_up, shared], ids=lambda each: str(each.__name__)
)
def test_a_split_module_computes_the_same(
    program: Callable[..., Any], part: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_module, "_PART", part)
    graph = graph_of(program)
    given = [RANDOM.uniform(-1, 1, (40, 50)).astype(np.float32) for _ in graph.inputs]
    for found, expected in zip(JitFunction(graph).run(given), interpret(graph, given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.usefixtures("small")
def test_one_module_declares_what_the_other_defines() -> None:
    graph = graph_of(several)
    unit = lowered(graph, [value.spec for value in graph.inputs])
    (text, level), (rest, _) = unit.code_apart(), unit.code()
    assert level == DONE
    assert 'define void @"agc_apart"(' in text
    assert 'call void @"agc_apart"(' in rest
    assert 'declare void @"agc_apart"(' in rest


@pytest.mark.usefixtures("small")
def test_a_failure_in_a_split_loop_is_raised() -> None:
    graph = graph_of(looked_up)
    outside = np.full([40, 50], 20, np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
        JitFunction(graph).run([outside, outside])


def test_small_modules_stay_whole() -> None:
    graph = graph_of(several)
    assert lowered(graph, [value.spec for value in graph.inputs]).code_apart() is None


@pytest.mark.usefixtures("small")
def test_one_processor_does_not_split_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_module, "count_of_threads", lambda: 1)
    graph = graph_of(several)
    assert lowered(graph, [value.spec for value in graph.inputs]).code_apart() is None


def test_another_thread_makes_the_same_object_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGC_CACHE", "0")
    begun = [llvm_engine.Assembly(ADDITION.replace("@add", f"@f{i}"), NONE).begin() for i in range(4)]
    for i, assembly in enumerate(begun):
        assert assembly.data() == llvm_engine.assembled(ADDITION.replace("@add", f"@f{i}"), NONE)


def test_another_build_of_llvmlite_uses_its_public_interface(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGC_CACHE", "0")
    expected = llvm_engine.assembled(ADDITION, NONE)
    monkeypatch.setattr(parallel_codegen, "_emit", lambda: None)
    assert llvm_engine.Assembly(ADDITION, NONE).begin().data() == expected


def test_without_threads_the_caller_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setenv("AGC_CACHE", "0")
    expected = llvm_engine.assembled(ADDITION, NONE)
    monkeypatch.setattr(threading.Thread, "start", start)
    assert llvm_engine.Assembly(ADDITION, NONE).begin().data() == expected


def test_an_error_in_the_compile_thread_is_raised_in_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def emit(*_: Any) -> int:
        raise RuntimeError("no room for code")

    monkeypatch.setenv("AGC_CACHE", "0")
    monkeypatch.setattr(parallel_codegen, "_emit", lambda: emit)
    assembly = llvm_engine.Assembly(ADDITION, NONE).begin()
    with pytest.raises(RuntimeError, match="no room for code"):
        assembly.data()


def test_an_llvm_error_may_be_garbage_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGC_CACHE", "0")
    found = []
    for text in (ADDITION.replace("%y\n", "%q\n"), ADDITION.replace("ret i32 %z", "ret i32 1.0")):
        with pytest.raises(RuntimeError, match="parsing error") as caught:
            llvm_engine.Assembly(text)
        found.append(caught)
    self_containing: list[Any] = [found]
    self_containing.append(self_containing)
    del found, self_containing, caught
    gc.collect()
    assert llvm_engine.Assembly(ADDITION, NONE).begin().data() == llvm_engine.assembled(ADDITION, NONE)
