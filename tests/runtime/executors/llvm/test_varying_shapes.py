"""Shapes that vary between calls: the first are compiled each, and then one code has the varying sizes in registers."""

from __future__ import annotations

import threading
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS, interpret
from agc.runtime.executors.llvm import JitFunction, tiering
from agc.runtime.executors.llvm.tiering import tiered_part
from agc.runtime.executors.llvm.wait_budget import WaitBudget
from agc.runtime.functionalize.errors import CannotCompileError
from agc.runtime.functionalize.varying_shapes import MOST_STATIC
from agc.runtime.kernels.persistent_array import PersistentArray
from support.compiled_at_once import compile_at_once

RANDOM = np.random.default_rng(3)
SIZES = [(3, 4), (5, 6), (7, 8), (2, 9), (9, 10), (11, 3), (13, 17), (6, 6), (30, 40)]
BATCH = tf.TensorSpec([None, None, 8])


def floats(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def native_of(program: Any, *specs: Any) -> JitFunction:
    return JitFunction(tf.function(program, input_signature=specs).get_concrete_function().graph)


def check(native: JitFunction, *given: Any) -> None:
    """Compare native code with the interpreter; the plan must not run."""
    for found, wanted in zip(native.run(list(given)), interpret(native.graph, list(given)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
    assert native._plan is None


def heads(x: Any) -> Any:
    shape = tf.shape(x)
    return tf.transpose(tf.reshape(x, (shape[0], shape[1], 2, 4)), (0, 2, 1, 3))


def attention(x: Any, mask: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        q = heads(x)
        scores = tf.nn.softmax(tf.matmul(q, q, transpose_b=True) - 1e9 * (1 - mask[:, None, None, :]))
        y = tf.reshape(tf.transpose(scores @ q, (0, 2, 1, 3)), tf.shape(x))
    return y, tape.gradient(y, x)


def recurrence(x: Any) -> Any:
    h = tf.zeros([tf.shape(x)[0], 8])
    for step in tf.range(tf.shape(x)[1]):
        h = tf.tanh(h + x[:, step])
    return h


def pooled(x: Any) -> Any:
    return tf.nn.max_pool2d(tf.nn.conv2d(x[..., None], tf.ones([3, 3, 1, 2]), 1, "SAME"), 2, 2, "SAME")


@pytest.mark.parametrize("program", [recurrence, pooled, lambda x: tf.nn.log_softmax(x, 1)])
def test_one_code_serves_all_sizes(program: Any) -> None:
    native = native_of(program, BATCH)
    for n, length in SIZES:
        check(native, floats(n, length, 8))
    assert len(native._general._values) == 1 and len(native._code) == len(SIZES)
    assert sum(each.is_general for each in native._code.values()) == len(SIZES) - MOST_STATIC


def test_sizes_that_are_equal_in_each_call_are_one_register() -> None:
    native = native_of(attention, BATCH, tf.TensorSpec([None, None]))
    for n, length in SIZES:
        check(native, floats(n, length, 8), np.ones((n, length), np.float32))
    assert list(native._general._values) == [((-1, -2, 8), (-1, -2))]


def test_a_size_that_is_no_longer_equal_makes_a_new_pattern() -> None:
    native = native_of(lambda x, y: x[:2] + y[:2], tf.TensorSpec([None]), tf.TensorSpec([None]))
    for n, m in [(2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 9), (9, 7), (8, 8)]:
        check(native, floats(n), floats(m))
    assert list(native._general._values) == [((-1,), (-1,)), ((-1,), (-2,))]


def test_sizes_of_zero_and_one_are_static() -> None:
    native = native_of(lambda x, y: x + y, tf.TensorSpec([None, None]), tf.TensorSpec([None, None]))
    pairs = [(2, 2), (3, 5), (4, 3), (5, 4), (6, 6), (1, 7), (7, 1), (0, 4), (4, 0), (1, 1), (0, 1), (9, 9)]
    for n, m in pairs:
        check(native, floats(n, m), floats(n, m))
        check(native, floats(1, m), floats(n, m))


def test_variables_are_assigned_by_code_for_all_sizes() -> None:
    weights = tf.Variable(np.ones((8, 8), np.float32))
    copy = tf.Variable(weights)

    def step(w: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(x @ w) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    spec = tf.TensorSpec([None, 8])
    native = tf.function(lambda x: step(weights, x), input_signature=[spec], jit_compile=True)
    plan = tf.function(lambda x: step(copy, x), input_signature=[spec], experimental_executor="plan")
    for n in (3, 5, 8, 13, 21, 34, 55, 4, 2, 1, 89):
        x = floats(n, 8)
        np.testing.assert_allclose(native(tf.constant(x)), plan(tf.constant(x)), rtol=1e-4)
        np.testing.assert_allclose(weights, copy, rtol=1e-4)


def test_inputs_may_be_strided_views_and_results_may_be_inputs() -> None:
    native = native_of(lambda x: (x, x * 2), tf.TensorSpec([None]))
    for n in range(2, 12):
        x = floats(2 * n)[::2]
        kept, twice = native.run([x])
        np.testing.assert_array_equal(kept, x)
        np.testing.assert_array_equal(twice, x * 2)


def test_errors_are_those_of_the_plan() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])], jit_compile=True)
    def total(x: Any, y: Any) -> Any:
        return tf.reduce_sum(x + y)

    for n in (2, 3, 4, 5, 6):
        total(tf.ones(n), tf.ones(n))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)add.*test_varying_shapes.py"):
        total(tf.ones(7), tf.ones(8))
    for n in (2, 3, 4, 9):
        assert total(tf.ones(n), tf.ones(1)).numpy() == 2 * n


def refuse(*arguments: Any) -> None:
    raise CannotCompileError(["a size is divided"])


def test_graphs_that_need_static_sizes_are_compiled_for_each_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JitFunction, "generalized", refuse)
    native = native_of(recurrence, BATCH)
    for n in range(2, 10):
        check(native, floats(n, 3, 8))
    assert native._general._is_closed and len(native._code) == 8
    assert not any(each.is_general for each in native._code.values())


def test_a_shape_that_runs_for_long_gets_code_of_its_own() -> None:
    native = native_of(recurrence, BATCH)
    for n in range(2, 10):
        check(native, floats(n, 3, 8))
    native._seconds = 0.0  # the time of a compilation
    for _ in range(3):
        check(native, floats(9, 3, 8))
    assert [each.is_general for each in native._code.values()] == [False] * 4 + [True] * 3 + [False]


def test_threads_share_the_code() -> None:
    native = native_of(recurrence, BATCH)
    faults: list[BaseException] = []

    def run(first: int) -> None:
        try:
            for n in range(first, first + 12):
                check(native, np.full((n, 3, 8), 0.5, np.float32))
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(first,)) for first in (2, 5, 8)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert faults == []


def test_automatic_mode_decides_once_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_at_once(monkeypatch)
    graph = tf.function(recurrence, input_signature=[BATCH]).get_concrete_function().graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    for n in range(2, 40):
        x = floats(n, 3, 8)
        np.testing.assert_allclose(runner.run([x])[0], interpret(graph, [x])[0], rtol=1e-4, atol=1e-5)
    (general,) = runner._general._values.values()
    assert general.pattern == ((-1, 3, 8),) and general.chosen is not None


def test_automatic_mode_compiles_a_shape_that_is_used_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.delenv("AGC_JIT", raising=False)
    monkeypatch.setattr(tiering, "ask", lambda state, graph, arguments: asked.append(arguments[0].shape))
    graph = tf.function(recurrence, input_signature=[BATCH]).get_concrete_function().graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    for n in range(2, 9):
        runner.run([floats(n, 3, 8)])
    runner._trial([floats(8, 3, 8)])._spent = tiering.OFTEN * runner.hot + 1
    runner.run([floats(8, 3, 8)])
    runner.run([floats(7, 3, 8)])
    assert asked == [(8, 3, 8)]


def test_a_hot_part_of_a_graph_compiles_only_its_first_shape_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.delenv("AGC_JIT", raising=False)
    monkeypatch.setattr(tiering, "HOT", 1e9)
    monkeypatch.setattr(tiering, "ask", lambda state, graph, arguments: asked.append(arguments[0].shape))
    graph = tf.function(recurrence, input_signature=[BATCH]).get_concrete_function().graph
    part = tiered_part(graph, WaitBudget())
    for n in [2, 2, 3, 3, 3]:
        part.run([floats(n, 3, 8)])
    assert asked == [(2, 3, 8)]


def test_automatic_mode_goes_on_for_each_shape_if_sizes_must_be_static(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AGC_JIT", raising=False)
    monkeypatch.setattr(tiering, "ask", tiering._compile)
    monkeypatch.setattr(tiering, "HOT", -1.0)
    monkeypatch.setattr(JitFunction, "generalized", refuse)
    graph = tf.function(recurrence, input_signature=[BATCH]).get_concrete_function().graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    for n in [*range(2, 12), *range(2, 12)]:
        x = floats(n, 3, 8)
        np.testing.assert_allclose(runner.run([x])[0], interpret(graph, [x])[0], rtol=1e-4, atol=1e-5)
    assert runner._general._is_closed and not runner._general._values
    assert sum(state.native is not None or state.doubted is not None for state in runner._trials.values()) > 5


def test_lists_are_no_part_of_a_pattern() -> None:
    def total(x: Any, rows: Any) -> Any:
        return tf.reduce_sum(x) + tf.reduce_sum(rows.stack())

    rows = tf.TensorArray(tf.float32, 2, element_shape=None).unstack(tf.ones([2, 3]))
    graph = tf.function(total).get_concrete_function(tf.TensorSpec([None]), rows).graph
    with pytest.raises(CannotCompileError, match="lists"):
        JitFunction(graph).generalized([floats(3), PersistentArray([floats(3)] * 2)], ((-1,), ()))
