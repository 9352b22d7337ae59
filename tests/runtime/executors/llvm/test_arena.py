"""Native code keeps memory, and arrays of results, from one call to the next."""

from __future__ import annotations

import itertools
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, arena, runtime_library
from agc.runtime.executors.llvm.codegen import memory_builder
from agc.runtime.executors.llvm.compile_graph import lowered


def test_unreferenced_result_arrays_are_reused() -> None:
    """Leave a result unchanged while a reference to it, or to a view of it, exists."""

    def doubled(x: Any) -> Any:
        return x * 2.0

    graph = tf.function(doubled).get_concrete_function(tf.TensorSpec([64, 64], tf.float64)).graph
    native = JitFunction(graph)
    ones = np.ones((64, 64))
    first = native.run([ones])[0]
    view = native.run([ones * 2])[0][1:, 1:]
    third = native.run([ones * 3])[0]
    assert (first[0, 0], view[0, 0], third[0, 0]) == (2.0, 4.0, 6.0)
    place = third.ctypes.data
    del third
    assert native.run([ones * 4])[0].ctypes.data == place


def test_variables_take_turns_with_their_old_arrays() -> None:
    weight = tf.Variable(tf.ones([64, 64]))

    @tf.function(jit_compile=True)
    def step() -> Any:
        return tf.reduce_sum(weight.assign(weight * 2.0))

    sums, seen = [], []
    for _ in range(4):
        sums.append(float(step()) / 64**2)
        seen.append(weight.numpy()[0, 0] if len(seen) != 1 else weight.value())
    assert sums == [2.0, 4.0, 8.0, 16.0]
    assert float(seen[1][0, 0]) == 4.0


def test_memory_is_kept_for_the_next_call() -> None:
    """Check that a call does not see what an earlier call left in the arena."""

    def total(x: Any) -> Any:
        rows = tf.TensorArray(tf.float64, 40)
        for i in tf.range(20):
            rows = rows.write(2 * i, tf.matmul(x, x, transpose_b=True) + tf.cast(i, tf.float64))
        return tf.reduce_sum(rows.stack(), [1, 2])

    x = np.linspace(-3, 3, 24).reshape(4, 6)
    graph = tf.function(total).get_concrete_function(tf.constant(x)).graph
    native = JitFunction(graph)
    (wanted,) = interpret(graph, [x])
    for _ in range(3):
        np.testing.assert_allclose(native.run([x])[0], wanted)
    assert any(memory.table.any() for memory in arena.tables)
    runtime_library.free_kept_memory()
    assert not any(memory.table.any() for memory in arena.tables)
    np.testing.assert_allclose(native.run([x])[0], wanted)


@pytest.mark.parametrize("size", [40, 100])
def test_each_block_of_memory_is_given_back(size: int) -> None:
    def products(x: Any) -> Any:
        found = [tf.matmul(x, x) + tf.cast(i, tf.float32) for i in range(4)]
        return [tf.matmul(one, other) for one, other in itertools.pairwise(found)]

    x = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
    graph = tf.function(products).get_concrete_function(tf.constant(x)).graph
    unit = lowered(graph, [value.spec for value in graph.inputs])
    text = unit.text()
    assert text.count('call ptr @"agc_take"(') == text.count('call void @"agc_give"(') >= 1
    native = JitFunction(graph)
    for _ in range(2):
        for found, wanted in zip(native.run([x]), interpret(graph, [x]), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize(("size", "blocks"), [(1 << 20, 1), (20_000, 3), (0, 9)])
def test_a_long_function_has_few_blocks_of_memory(
    size: int, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine matrices are too large for the stack, and in use at the same time."""

    def products(x: Any) -> Any:
        found = [tf.matmul(x, x + tf.cast(i, tf.float32)) for i in range(8)]
        return [tf.reduce_sum(one * tf.reduce_max(each)) for one in found for each in found]

    monkeypatch.setattr(memory_builder, "_BLOCK", size)
    x = np.random.default_rng(0).random((34, 34), np.float32)
    graph = tf.function(products).get_concrete_function(tf.constant(x)).graph
    text = lowered(graph, [value.spec for value in graph.inputs]).text()
    assert text.count('call ptr @"agc_take"(') == text.count('call void @"agc_give"(') == blocks
    for found, wanted in zip(JitFunction(graph).run([x]), interpret(graph, [x]), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_too_large_a_result_is_the_plans_error() -> None:
    @tf.function(jit_compile=True)
    def cube(n: Any) -> Any:
        return tf.zeros([n, n, n]) + 1.0

    assert cube(tf.constant(2)).shape == (2, 2, 2)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="in cube"):
        cube(tf.constant(100_000))


def test_running_out_of_memory_is_the_plans_error() -> None:
    """A pebibyte is more than any address reaches."""
    count = 1 << 24

    def product(x: Any) -> Any:
        return tf.matmul(x[:, None], x[None, :])[0, 0]

    graph = tf.function(product).get_concrete_function(tf.TensorSpec([count])).graph
    with pytest.raises(tf.errors.ResourceExhaustedError, match="out of memory"):
        JitFunction(graph).run([np.zeros(count, np.float32)])
