"""The native parts of graphs that cannot be compiled as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.config import optimizer
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, tiering
from agc.runtime.executors.llvm.native_calls import NativePart
from agc.runtime.executors.llvm.native_parts import with_native_parts
from agc.runtime.executors.llvm.wait_budget import WaitBudget
from support.compiled_at_once import compile_at_once

ROW = np.array([1.0, 2.0], np.float32)


@pytest.fixture(autouse=True)
def _compiled_by_the_second_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_at_once(monkeypatch)


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The graphs whose native results were those of their plans."""
    graphs: list[Any] = []
    choose = tiering.TierState._choose

    def recording(state: tiering.TierState, runner: Any) -> None:
        native = getattr(state.native, "__self__", None)
        if isinstance(native, JitFunction) and state.doubted is None:
            graphs.append(native.graph)
        choose(state, runner)

    monkeypatch.setattr(tiering.TierState, "_choose", recording)
    return graphs


def parts_of(function: Any, *args: Any) -> tuple[Any, list[Any]]:
    """Return the runner with native parts of a function, None if there is none, and the graphs of the parts."""
    graphs: list[Any] = []

    def make(graph: Any) -> NativePart:
        graphs.append(graph)
        return tiering.tiered_part(graph, WaitBudget())

    return with_native_parts(function.get_concrete_function(*args).graph, make), graphs


def waves(x: Any) -> Any:
    for _ in range(10):
        x = tf.sin(x) * 0.5
    return x


def test_a_step_that_is_inlined_next_to_an_iterator_is_native(
    trusted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimizer, "_jit", dict(optimizer._jit))
    weights, steps = tf.Variable(ROW), tf.Variable(0)

    @tf.function
    def step(x: Any) -> Any:
        steps.assign_add(1)
        weights.assign(waves(weights + x) + tf.random.uniform([2]))
        return tf.reduce_sum(weights)

    def totals(is_native: bool) -> list[float]:
        weights.assign(ROW)
        tf.random.set_seed(1)
        tf.config.optimizer.set_jit(is_native)
        iterator = iter(tf.data.Dataset.from_tensors(ROW).repeat())
        multi_step = tf.function(lambda: step(next(iterator)))
        return [float(multi_step()) for _ in range(20)]

    expected = totals(is_native=False)
    assert not trusted
    assert totals(is_native=True) == pytest.approx(expected, rel=1e-4)
    assert len(trusted) == 1 and int(steps) == 40


def test_a_step_in_a_loop_over_a_dataset_is_native(trusted: list[Any]) -> None:
    total = tf.Variable(ROW)
    dataset = tf.data.Dataset.range(12).batch(5)

    @tf.function
    def epoch() -> Any:
        for x in dataset:
            total.assign(waves(total) + tf.cast(tf.reduce_sum(x), tf.float32))
        return total.value()

    for _ in range(20):
        total.assign(ROW)
        assert epoch().numpy().tolist() == pytest.approx([20.9, 21.0], abs=0.2)
    assert trusted


def test_parts_end_where_something_is_printed(capsys: Any) -> None:
    @tf.function
    def function(x: Any) -> Any:
        x = waves(x)
        tf.print(tf.shape(x))
        y = waves(x)
        tf.print("done")
        return y + 1, x

    run, parts = parts_of(function, tf.constant(ROW))
    assert [len(part.operations) for part in parts] == [20, 20]
    assert [len(part.outputs) for part in parts] == [1, 1]
    expected = interpret(function.get_concrete_function(ROW).graph, [ROW])
    capsys.readouterr()
    for _ in range(8):
        for found, wanted in zip(run([ROW]), expected, strict=True):
            assert found.tolist() == pytest.approx(wanted.tolist())
    assert capsys.readouterr().err.split() == ["[2]", "done"] * 8


def test_a_loop_that_writes_a_tensor_array_is_in_a_part() -> None:
    @tf.function
    def function(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            rows = rows.write(i, waves(x))
        return tf.strings.as_string(rows.stack())

    run, parts = parts_of(function, tf.constant(ROW))
    assert [[each.type for each in part.operations][-2:] for part in parts] == [["while", "array_stack"]]
    for _ in range(8):
        assert run([ROW])[0].tolist() == function(tf.constant(ROW)).numpy().tolist()


def test_few_operations_are_no_part() -> None:
    assert parts_of(tf.function(lambda x: tf.strings.as_string(x + 1)), tf.constant(ROW)) == (None, [])


def test_demanded_native_code_is_no_part() -> None:
    native = tf.function(waves, jit_compile=True)
    assert parts_of(tf.function(lambda x: tf.strings.as_string(native(x))), tf.constant(ROW)) == (None, [])


def test_the_error_of_a_part_names_the_line_of_user_code() -> None:
    @tf.function
    def function(x: Any, i: Any) -> Any:
        x = waves(tf.reshape(x, [2]))
        return tf.strings.as_string(x[i])

    run, parts = parts_of(function, tf.constant(ROW), tf.constant(0))
    assert len(parts) == 1
    for _ in range(8):
        run([ROW, np.int32(1)])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_native_parts.*x\[i\]|out of bounds"):
        run([ROW, np.int32(2)])


def test_loops_inside_uncompilable_regions_are_parts(capsys: Any) -> None:
    @tf.function
    def totals(n: Any, flag: Any) -> Any:
        total = 0
        if flag:
            k = 0
            while k < n:
                total += k % 7
                k += 1
        for i in tf.range(3):
            tf.print(i)
            j = 0
            while j < n:
                total += j * i
                j += 1
        return total

    run, parts = parts_of(totals, tf.constant(1) + 0, tf.constant(True))
    assert len(parts) == 2
    graph = totals.get_concrete_function(tf.constant(1) + 0, tf.constant(True)).graph
    for n, flag in [(1000, True), (500, False), (0, True)]:
        arguments = [np.int32(n), np.bool_(flag)]
        (found,), (wanted,) = run(arguments), interpret(graph, arguments)
        assert found == wanted and found.dtype == np.int32
    assert capsys.readouterr().err.split() == ["0", "1", "2"] * 6


def test_a_loop_of_a_refused_graph_is_a_part_of_its_own() -> None:
    def function(x: Any) -> Any:
        total = 0
        for i in tf.range(100):
            total += i * 2
        return tf.unique(x)[0], total

    run, parts = parts_of(tf.function(function), tf.constant([3, 1]))
    assert [[each.type for each in part.operations] for part in parts] == [["while"]]
    for _ in range(8):
        values, total = run([np.array([3, 1], np.int32)])
        assert (values.tolist(), int(total)) == ([3, 1], 9900)
