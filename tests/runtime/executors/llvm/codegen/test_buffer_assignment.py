"""Buffers of native code share memory without changing results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph
from agc.runtime.executors.llvm.codegen import memory_builder
from agc.runtime.executors.llvm.codegen.liveness import BORN
from agc.runtime.executors.llvm.codegen.llvm_types import integer, ir

SIZE = 9
X, Y = np.random.default_rng(0).standard_normal((2, SIZE, SIZE))


def graph_of(program: Callable[..., Any], size: int = SIZE) -> Any:
    spec = tf.TensorSpec([size, size], tf.float64)
    return tf.function(program).get_concrete_function(spec, spec).graph


def memory(program: Callable[..., Any], size: int = SIZE) -> tuple[int, int]:
    """Return how many matrix-sized buffers a program needs, and how many slots it gets."""
    graph = graph_of(program, size)
    unit = compile_graph.lowered(graph, [value.spec for value in graph.inputs])
    asked = sum(promise.size for place in unit.slots for promise in place.promises)
    return asked // (8 * size**2), sum(place.size for place in unit.slots) // (8 * size**2)


def products(x: Any, y: Any) -> Any:
    for _ in range(10):
        x = tf.matmul(x, y) * 0.1
    return x


def products_and_elements(x: Any, y: Any) -> Any:
    for _ in range(5):
        x = tf.matmul(tf.tanh(tf.matmul(x, y)), y)
    return x


def read_behind(x: Any, y: Any) -> Any:
    """Keep a buffer live through a loop if it is computed before the loop and read after it."""
    before = tf.tanh(tf.matmul(x, y))
    for _ in tf.range(3):
        x = tf.matmul(tf.tanh(tf.matmul(x, y)), y) * 0.1
    return tf.matmul(before, x), tf.transpose(before) + x


def states_change_places(x: Any, y: Any) -> Any:
    for i in tf.range(5):
        x, y = tf.tanh(tf.matmul(y, x)), x
        if i % 2 == 0:
            y = tf.sin(y) + tf.transpose(x)
    return x, y


def branches(x: Any, y: Any) -> Any:
    a = tf.matmul(x, y)
    if tf.reduce_sum(x) > 0.0:
        b, c = tf.sin(a), tf.transpose(a) * 2.0
    else:
        b, c = a, tf.matmul(a, x)
    return tf.matmul(b, c) + a


def loops_within(x: Any, y: Any) -> Any:
    for _ in tf.range(3):
        z = tf.tanh(tf.matmul(x, y))
        for _ in tf.range(2):
            z, y = tf.tanh(tf.matmul(z, y)), z
        x = tf.reverse(z, [0]) + x * 0.5
    return x, y


def starts_again(x: Any, y: Any) -> Any:
    """Each round starts the inner loop with what was there before the outer one."""
    start = tf.cumsum(x[0, :4])
    total = start
    for _ in tf.range(3):
        now = start
        for _ in tf.range(2):
            now = tf.sin(now) + y[0, :4]
        total += now
    return total


def tries_ahead(x: Any, y: Any) -> Any:
    """The test of a loop starts another one with the state, and leaves it as it is."""
    now = tf.cumsum(x[0, :4])
    while furthest(now, y[0, :4]) < 50.0:
        now = now + 1.0
    return now


def furthest(now: Any, step: Any) -> Any:
    for _ in tf.range(3):
        now = now + step
    return tf.reduce_max(now)


def lists(x: Any, y: Any) -> Any:
    rows = tf.TensorArray(tf.float64, 4)
    for i in tf.range(4):
        x = tf.tanh(tf.matmul(x, y))
        rows = rows.write(i, x + tf.transpose(x))
    return tf.reduce_sum(rows.stack(), 0), rows.read(1), x


def same_memory(x: Any, y: Any) -> Any:
    """One tensor under two shapes: the second is read when the first is dead."""
    a = tf.matmul(x, y)
    flat = tf.reshape(a, [-1])
    b = tf.matmul(tf.exp(-tf.abs(a)), y)
    return tf.matmul(tf.sin(b), y), flat[::-1]


def along_axes(x: Any, y: Any) -> Any:
    a = tf.cumsum(tf.matmul(x, y), axis=1)
    b = tf.nn.softmax(a) * tf.reduce_max(a, axis=0, keepdims=True)
    return tf.matmul(b, tf.exp(-b * b)), tf.argmax(b, axis=1)


def one_of_three(x: Any, y: Any) -> Any:
    """What only the last branch reads, in a loop, outlives what is computed before the choice."""
    a = tf.matmul(x, y)
    b = tf.matmul(tf.tanh(a), y)

    def last() -> Any:
        z = x
        for _ in tf.range(2):
            z = tf.sin(tf.cumsum(z)) + a
        return z

    chosen = tf.switch_case(tf.cast(b[0, 0] * 0.0, tf.int32) + 2, [lambda: x, lambda: y, last])
    return chosen, tf.cumsum(b)


PROGRAMS = [
    products, products_and_elements, read_behind, states_change_places, branches, loops_within, starts_again,
    tries_ahead, lists, same_memory, along_axes, one_of_three,
]  # fmt: skip


def agrees(program: Callable[..., Any]) -> None:
    graph = graph_of(program)
    wanted = interpret(graph, [X, Y])
    native = JitFunction(graph)
    for _ in range(2):
        for one, other in zip(native.run([X.copy(), Y.copy()]), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_results_equal_the_interpreters(program: Callable[..., Any]) -> None:
    agrees(program)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_buffer_is_never_read_before_its_first_write(
    program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each buffer is filled with NaNs where it is born: then others must be dead, and itself be written anew."""
    settle = memory_builder.Storage._settle

    def spoil(self: Any, blocks: Any, start: Any, nests: Any) -> None:
        for block in blocks:
            for each in [each for each in block.instructions if each.opname == BORN]:
                b = ir().IRBuilder(block)
                b._anchor = block.instructions.index(each) + 1
                b.call(
                    self.function_named("spoil", ir().VoidType(), [each.promise.type, integer(64)]),
                    [each.promise, integer(64)(each.promise.size)],
                )
        settle(self, blocks, start, [])
        spoiler = self.function_named("spoil", ir().VoidType(), [])
        if spoiler.args and not spoiler.blocks:
            b = ir().IRBuilder(spoiler.append_basic_block("entry"))
            kinds = [spoiler.args[0].type, integer(8), integer(64), integer(1)]
            clear = self.function_named("llvm.memset.p0.i64", ir().VoidType(), kinds)
            b.call(clear, [spoiler.args[0], integer(8)(255), spoiler.args[1], integer(1)(0)])
            b.ret_void()

    monkeypatch.setattr(memory_builder.Storage, "_settle", spoil)
    agrees(program)


def test_few_buffers_serve_many_operations() -> None:
    for program in (products, products_and_elements):
        asked, taken = memory(program)
        assert asked >= 10
        assert taken == 2


def test_loop_buffers_are_freed_at_the_end_of_each_iteration() -> None:
    asked, taken = memory(loops_within, size=64)
    assert taken < asked


def test_elementwise_results_replace_a_dead_operand() -> None:
    def program(x: Any, y: Any) -> Any:
        return tf.matmul(tf.tanh(tf.matmul(x, y)), y)

    def again(x: Any, y: Any) -> Any:
        a = tf.matmul(x, y)
        return tf.matmul(tf.tanh(a), a)

    assert memory(program, size=40) == (2, 1)
    assert memory(again, size=40) == (2, 2)


def test_large_nests_that_threads_share_compute_in_place() -> None:
    def program(x: Any, y: Any) -> Any:
        z = tf.cumsum(tf.exp(-tf.cumsum(x, axis=0)), axis=1)
        return tf.cumsum(tf.tanh(z * y), axis=0)

    size = 600  # enough elements for threads
    x, y = np.random.default_rng(1).standard_normal((2, size, size)) ** 2
    graph = graph_of(program, size)
    for one, other in zip(JitFunction(graph).run([x, y]), interpret(graph, [x, y]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    asked, taken = memory(program, size)
    assert (asked, taken) == (4, 2)
