"""Loops over elements are written in lanes before LLVM sees them; what is not worth it stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction
from agc.runtime.executors.llvm.compile_graph import lowered
from agc.runtime.executors.llvm.opt_levels import ALL, DONE, FEWEST, level
from agc.runtime.executors.llvm.vectorize.loop_collapsing import merge
from agc.runtime.executors.llvm.vectorize.loop_info import cycles
from llvmlite import ir

RANDOM = np.random.default_rng(0)


def chain(x: Any) -> Any:
    return tf.tanh(x) * 0.5 + tf.sqrt(tf.abs(x))


def rare(x: Any) -> Any:
    """Functions that branch for what is rare."""
    return tf.sin(x * 1e6) + tf.math.lgamma(tf.abs(x) + 0.5)


def truths(x: Any) -> Any:
    return tf.logical_and(x > 0.0, x < 1.0), tf.where(x > 0.5, x, -x), tf.cast(x > 0.0, x.dtype)


def gathered(x: Any) -> Any:
    """Sums, the largest, and whether any holds: what is taken together begins with what is there."""
    return tf.reduce_sum(x, -1), tf.reduce_max(x), tf.reduce_min(x, 0), tf.reduce_any(x > 1.5)


def rows(x: Any) -> Any:
    """Vectorize values that are uniform in a row, and sums in adjacent memory."""
    y = x - tf.reduce_mean(x, -1, keepdims=True)
    return y / tf.sqrt(tf.reduce_mean(y * y, -1, keepdims=True) + 1e-3), tf.reduce_sum(x, 0)


def shifted(x: Any) -> Any:
    return x[..., 1:] - x[..., :-1], tf.concat([x, x], -1)


def whole(x: Any) -> Any:
    i = tf.cast(x * 10.0, tf.int32)
    return i * 3 - 4, tf.reduce_sum(i), tf.cast(i, x.dtype)


def repeated(x: Any) -> Any:
    for _ in tf.range(3):
        x = tf.tanh(x) + 0.5 * x
    return x


def unit_of(program: Callable[[Any], Any], shape: Any, dtype: Any) -> tuple[Any, Any]:
    graph = tf.function(program).get_concrete_function(tf.TensorSpec(shape, dtype)).graph
    return lowered(graph, [value.spec for value in graph.inputs]), graph


def check(graph: Any, shape: Any, dtype: Any) -> None:
    x = RANDOM.standard_normal(shape).astype(dtype.as_numpy_dtype)
    for found, expected in zip(JitFunction(graph).run([x]), interpret(graph, [x]), strict=True):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        exact = found.dtype.kind != "f"
        np.testing.assert_allclose(found, expected, *((0, 0) if exact else (2e-5, 2e-5)))


@pytest.mark.parametrize("shape", [(3, 5), (37, 29), (16, 64)], ids=str)
@pytest.mark.parametrize(
    "program",
    [chain, rare, truths, gathered, rows, shifted, whole, repeated],
    ids=lambda each: str(each.__name__),
)
def test_elementwise_loops_are_vectorized(program: Callable[[Any], Any], shape: Any) -> None:
    for dtype in (tf.float32, tf.float64):
        unit, graph = unit_of(program, shape, dtype)
        text, level = unit.code()
        assert level == DONE
        assert f" x {'float' if dtype == tf.float32 else 'double'}>" in text
        check(graph, shape, dtype)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 16, 31, 40, 63, 64, 65, 1000])
def test_remaining_iterations_are_computed(size: int) -> None:
    def program(x: Any) -> Any:
        return tf.exp(x) - x, tf.reduce_sum(tf.exp(x)), tf.reduce_max(x)

    check(unit_of(program, [size], tf.float32)[1], [size], tf.float32)


def test_parts_of_threads_begin_and_end_anywhere() -> None:
    shape = [3, 50_001]
    check(unit_of(chain, shape, tf.float32)[1], shape, tf.float32)


def apart(x: Any) -> Any:
    """Elements that are read, or written, each by itself, or picked out of vectors; and those that go backward."""
    every = x[..., ::2] * x[..., ::2], x[:, 1::3] + 1.0, x[..., ::7] - 1.0, x[..., ::-1] + 2.0
    return *every, tf.stack([x, -x], -1), tf.transpose(x) + 1.0, tf.reduce_sum(tf.transpose(x), -1)


def looked_up(x: Any) -> Any:
    flat = tf.reshape(x, [-1])
    pairs = tf.stack([tf.range(300) % 3, tf.range(300) % 5], -1)
    return tf.gather(flat, tf.range(300) * 7 % 15), tf.gather_nd(x, pairs)


def slow(x: Any) -> Any:
    """What no machine does in lanes at once, or at all."""
    i = tf.cast(x * 10.0, tf.int64)
    small, divisors = tf.cast(i, tf.int8), tf.cast(x * x, tf.int32) + 1
    return (
        i * i,
        i // 7,
        i % 3,
        tf.cast(i, x.dtype),
        small * small,
        tf.cast(i, tf.int32) // divisors,
        small // 3,
    )


def extremes(x: Any) -> Any:
    i = tf.cast(x * 100.0, tf.int32)
    return tf.reduce_max(i), tf.reduce_min(i, -1), tf.maximum(i, 3), tf.reduce_max(tf.cast(i, tf.uint8), -1)


def halves(x: Any) -> Any:
    y = tf.cast(x, tf.float16)
    return y * y + y, tf.where(y > 0.5, y, -y)


@pytest.mark.parametrize("shape", [(3, 5), (16, 64), (37, 29)], ids=str)
@pytest.mark.parametrize(
    "program", [apart, looked_up, slow, extremes, halves], ids=lambda each: str(each.__name__)
)
def test_strided_and_unsupported_loops_agree(program: Callable[[Any], Any], shape: Any) -> None:
    unit, graph = unit_of(program, shape, tf.float32)
    assert unit.code()[1] == DONE
    check(graph, shape, tf.float32)


def in_order(x: Any) -> Any:
    return tf.cumsum(x, -1), tf.argmax(x, -1)


def test_order_dependent_loops_are_not_vectorized() -> None:
    unit, graph = unit_of(in_order, [31, 40], tf.float32)
    text, level = unit.code()
    assert level == DONE and " x float>" not in text
    check(graph, [31, 40], tf.float32)


def test_sums_in_order_are_not_changed() -> None:
    """Without leave to add up in another order a sum stays as it is."""
    unit, _ = unit_of(lambda x: tf.reduce_sum(x), [100], tf.float32)
    for block in unit.kernel.blocks:
        for each in block.instructions:
            if each.opname == "fadd":
                each.flags.remove("reassoc")
    text, level = unit.code()
    assert level == DONE and " x float>" not in text


def test_only_scalar_loops_are_left_to_llvm() -> None:
    def program(x: Any) -> Any:
        i, total = 0, tf.constant(0)
        while i < tf.size(x):
            i, total = i + 1, total + i * i
        return total, x + 1.0

    unit, graph = unit_of(program, [3, 5], tf.float32)
    text, level = unit.code()
    assert level == FEWEST and " x float>" in text
    check(graph, [3, 5], tf.float32)


def places(x: Any) -> Any:
    """What LLVM finds out about numbers of elements is worth more than lanes."""
    return tf.roll(x, 3, -1), tf.reshape(tf.transpose(x), x.shape) + 1.0


def test_loops_with_computed_indices_are_left_to_llvm() -> None:
    unit, graph = unit_of(places, [31, 40], tf.float32)
    assert unit.code()[1] == FEWEST
    check(graph, [31, 40], tf.float32)


def test_loops_over_many_elements_have_no_branch() -> None:
    """Where each round computes many elements, it does not matter how its jumps are written."""

    def program(x: Any) -> Any:
        i = 0
        while i < 5 and tf.reduce_max(x) > 0.001:
            if i % 2 == 0:
                x = tf.tanh(x)
            x, i = x * 0.5, i + 1
        return x

    unit, graph = unit_of(program, [31, 40], tf.float32)
    assert level(graph) == ALL
    assert unit.code()[1] == DONE
    check(graph, [31, 40], tf.float32)
    assert unit_of(program, [3, 4], tf.float32)[0].code()[1] == ALL


@pytest.mark.parametrize(
    ("program", "loops"),
    [
        (lambda x: x[..., 1] * 2.0, 1),
        (lambda x: x / x[..., :1], 2),
        (lambda x: x[..., 1:, 1] * 2.0, 2),
        (lambda x: tf.transpose(x[..., 1], [0, 2, 1]) * 2.0, 3),
    ],
    ids=["strides", "rows", "parts", "turned"],
)
def test_nested_loops_are_collapsed(program: Callable[[Any], Any], loops: int) -> None:
    shape = [3, 4, 5, 2]
    unit, graph = unit_of(program, shape, tf.float32)
    merge(unit.kernel)
    assert len(cycles(unit.kernel)) == loops
    check(graph, shape, tf.float32)


def test_natural_loops_are_listed_inner_first() -> None:
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(1)]), "f")
    entry, outer, inner, back, leave = (function.append_basic_block(name) for name in "eoibl")
    (test,) = function.args
    ir.IRBuilder(entry).branch(outer)
    ir.IRBuilder(outer).branch(inner)
    ir.IRBuilder(inner).cbranch(test, inner, back)
    ir.IRBuilder(back).cbranch(test, outer, leave)
    ir.IRBuilder(leave).ret_void()
    found = [(cycle.head, set(cycle.blocks)) for cycle in cycles(function)]
    assert found == [(inner, {inner}), (outer, {outer, inner, back})]


@pytest.mark.parametrize("columns", [3, 7, 10, 21])
@pytest.mark.parametrize("program", [rows, whole, rare], ids=lambda each: str(each.__name__))
def test_short_rows_use_a_masked_tail(program: Callable[[Any], Any], columns: int) -> None:
    """The elements of a row that fill no vector are one of which some lanes count."""
    unit, graph = unit_of(program, [6, columns], tf.float32)
    assert unit.code()[1] == DONE
    own = [each for each in unit.module.functions if each.blocks and not each.name.startswith("agc.")]
    inner = [cycle.head for function in own for cycle in cycles(function) if len(cycle.blocks) == 1]
    assert all(any(isinstance(each.type, ir.VectorType) for each in head.instructions) for head in inner)
    check(graph, [6, columns], tf.float32)


def test_masked_lanes_change_nothing() -> None:
    """They hold numbers that are there: no sum, product or extreme takes them twice."""

    def program(x: Any) -> Any:
        return tf.reduce_sum(x, -1), tf.reduce_prod(x, -1), tf.reduce_min(x, -1), tf.reduce_max(x, -1)

    x = np.array([[3, 2, 5, -1, 1, 1, 2], [-1, -4, 2, 1, 1, 1, 1]], np.float32)
    _, graph = unit_of(program, [2, 7], tf.float32)
    assert [list(each) for each in JitFunction(graph).run([x])] == [[13, 1], [-60, 8], [-1, -4], [5, 2]]


def test_merged_sizes_divisible_by_the_vector_have_no_tail() -> None:
    def program(x: Any) -> Any:
        return [tf.nn.relu(part) * 2.0 - tf.square(part) for part in (x[:128], x[:256], x[:640])]

    unit, graph = unit_of(program, [1000], tf.float32)
    assert unit.code()[1] == DONE
    (twins,) = (each for name, each in unit.module.globals.items() if name.startswith("twins"))
    assert not any(block.name.startswith("loop") for block in twins.blocks)
    check(graph, [1000], tf.float32)
