"""A large module is divided into modules that are compiled separately, and linked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import llvmlite.binding as llvm
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import (
    JitFunction,
    compile_graph,
    llvm_engine,
    module_partition,
    parallel_codegen,
    unit_text,
)
from agc.runtime.executors.llvm.codegen import outlining
from agc.runtime.executors.llvm.module_partition import ModulePart, ModuleText, partition
from agc.runtime.executors.llvm.opt_levels import FEWEST, Level
from agc.runtime.executors.llvm.parallel_codegen import Tasks

RANDOM = np.random.default_rng(0)
DEFINED = re.compile(r'^define .*?@"([^"]+)"', re.MULTILINE)


def rows(x: Any) -> Any:
    """Nests that use functions of the math library, with a slow path for large arguments."""
    y = tf.sin(1e3 * x) + tf.exp(x)
    return [y - tf.reduce_max(y, 1, keepdims=True), tf.reduce_sum(y * y), tf.cumsum(tf.tanh(y))]


def constants(x: Any) -> Any:
    """Constants in the module, and others in the table of the host."""
    table = np.arange(x.shape[0] * x.shape[1], dtype=np.float64).reshape(x.shape)
    return [x + table, tf.gather(x, [3, 1, 2]) * 2.0, tf.reduce_min(x * table)]


def checked(x: Any) -> Any:
    """A nest with a check, whose result the function tests after the nest."""
    indices = tf.cast(tf.argsort(x[:, 0]), tf.int32)
    return [tf.gather(x, indices), tf.linalg.matmul(x, x, transpose_b=True) + 1.0]


def repeated(x: Any) -> Any:
    """Nests in a loop, whose memory is taken from buffers by turns."""
    y = x
    for _ in tf.range(3):
        x, y = tf.tanh(y) + 0.5 * x, x - tf.reduce_mean(y, 0)
    return [x, y]


def misleading(x: Any) -> Any:
    """A constant in the module, whose bytes are those of a metadata node and of the definition of a variable."""
    like_a_node = np.frombuffer(b" !999   = global " + bytes(7))
    return [tf.tanh(x[:, :3]) * like_a_node + x[:, 3:6], tf.cumsum(tf.exp(x)), tf.reduce_sum(x * x)]


PROGRAMS = rows, constants, checked, repeated, misleading


def traced(program: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
    x = RANDOM.standard_normal((40, 30))
    return tf.function(program).get_concrete_function(tf.constant(x)).graph, [x]


def text_of(program: Callable[[Any], Any]) -> str:
    graph, _ = traced(program)
    return str(compile_graph.lowered(graph, [value.spec for value in graph.inputs]).text())


def test_a_small_module_stays_whole() -> None:
    text = text_of(lambda x: x + 1.0)
    assert partition(text) == [ModulePart(text)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_function_is_defined_in_one_module(program: Callable[[Any], Any]) -> None:
    text = text_of(program)
    texts = [part.text for part in partition(text, 60)]
    assert len(texts) > 1
    for each in texts:
        llvm.parse_assembly(each).verify()
    own = [name for each in texts for name in DEFINED.findall(each) if not name.startswith("agc.")]
    assert sorted(own) == sorted(name for name in DEFINED.findall(text) if not name.startswith("agc."))


@pytest.mark.parametrize("program", PROGRAMS)
def test_modules_compute_together_what_one_computes(
    program: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit_text, "partition", lambda text: partition(text, 60))
    graph, inputs = traced(program)
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-9, atol=1e-9)


def test_complete_functions_are_compiled_while_others_are_emitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies of parallel loops, with constants and functions of their own; equal ones are one function."""
    monkeypatch.setattr(unit_text, "_EARLY", 1)
    begun: list[ModulePart] = []
    begin = llvm_engine.begin
    monkeypatch.setattr(
        llvm_engine, "begin", lambda part, level, tasks: (begun.append(part), begin(part, level, tasks))
    )
    x = tf.constant(RANDOM.standard_normal((300, 300)))
    table = RANDOM.standard_normal((300, 300))

    def program(x: Any) -> Any:
        y = tf.sin(x) + table + tf.random.stateless_uniform(x.shape, [1, 2], dtype=tf.float64)
        return [tf.exp(y), tf.reduce_max(y, 1), tf.exp(tf.transpose(x)), tf.exp(y * 0.5), tf.cumsum(x)]

    graph = tf.function(program).get_concrete_function(x).graph
    tf.config.threading.set_intra_op_parallelism_threads(2)
    try:
        results = JitFunction(graph).run([x.numpy()])
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    for given, wanted in zip(results, interpret(graph, [x.numpy()]), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-9, atol=1e-9)
    assert len(begun) > 2
    for part in begun:
        llvm.parse_assembly(part.text).verify()
    names = [name for part in begun for name in DEFINED.findall(part.text) if not name.startswith("agc.")]
    assert len(names) == len(set(names)) == len(begun)


@pytest.mark.parametrize("program", PROGRAMS)
def test_nests_are_compiled_while_other_functions_are_printed(
    program: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in (outlining, "LARGE"), (unit_text, "LARGEST"), (unit_text, "_EARLY"):
        monkeypatch.setattr(module, name, 1)
    printed: list[str] = []
    begun: list[str] = []
    begin, define = llvm_engine.begin, ModuleText.define

    def began(part: ModulePart, level: Level, tasks: Tasks) -> None:
        begun.extend(DEFINED.findall(part.text))
        assert "kernel" not in printed
        begin(part, level, tasks)

    monkeypatch.setattr(llvm_engine, "begin", began)
    monkeypatch.setattr(
        ModuleText, "define", lambda self, name, text: (printed.append(name), define(self, name, text))
    )
    graph, inputs = traced(program)
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-9, atol=1e-9)
    assert "nest" in begun
    assert "kernel" in printed


def test_the_heaviest_modules_are_compiled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def stored(name: str, level: Level, write: Callable[[], str]) -> bytes:
        compiled.append(write())
        return b""

    monkeypatch.setattr(llvm_engine, "stored", stored)
    monkeypatch.setattr(parallel_codegen, "processors", lambda: 1)
    short, loop, long = "ret\n" * 20, "br, !llvm.loop !0\n", "store\n" * 90
    tasks = Tasks()
    llvm_engine.begin(ModulePart(loop), FEWEST, tasks)  # with one processor, it waits for the others
    llvm_engine.assembled(
        [ModulePart(loop), ModulePart(long, is_cold=True), ModulePart(short)], FEWEST, tasks
    )
    assert compiled == [loop, long, short]
    assert len(long) > len(short) > len(loop)


def test_the_modules_have_similar_weights() -> None:
    parts = partition("\n".join(function(f"f.{i}", 40, loops=True) for i in range(30)), 300)
    weights = [part.text.count("\n") for part in parts]
    assert len(parts) == 5
    assert max(weights) < 1.2 * min(weights)
    assert not any(part.is_cold for part in parts)


def function(name: str, size: int, loops: bool = False, calls: str = "") -> str:
    """Return a function with one block, which jumps to itself or returns."""
    lines = [f'  call void @"{calls}"()' if calls else "  fence seq_cst"] * size
    end = '  br label %"again"' if loops else "  ret void"
    body = ["entry:", '  br label %"again"', "again:", *lines, end]
    return "\n".join([f'define internal void @"{name}"()', "{", *body, "}"])


@pytest.mark.parametrize(
    ("text", "is_cold"),
    [
        (function("f", 100), False),
        (function("f", 100, calls="g"), True),
        (function("f", 100, calls="g", loops=True), False),
        (function("f", 100, calls="agc_multiply", loops=True), False),
        (function("f", 100, calls="agc_run_parts", loops=True), True),
        (function("f", module_partition.LONG), True),
        (function("f", module_partition.LONG, loops=True), False),
        (function("f", module_partition.HUGE, loops=True), True),
        (function("f", 100, loops=True).replace("()", "() cold noinline", 1), True),
    ],
)
def test_functions_whose_instructions_take_no_time_are_not_optimized(text: str, is_cold: bool) -> None:
    called = [f'declare void @"{name}"()' for name in ("agc_multiply", "agc_run_parts")]
    others = [function("g", 50, loops=True), *called]
    parts = partition("\n".join([text, *others]), 60)
    (part,) = [part for part in parts if 'define hidden void @"f"' in part.text]
    assert part.is_cold == is_cold
    for each in parts:
        llvm.parse_assembly(each.text).verify()


def test_a_partition_depends_on_nothing_but_the_text() -> None:
    text = text_of(rows)
    assert partition(text, 100) == partition(text, 100)
    assert module_partition.LARGEST > 0
