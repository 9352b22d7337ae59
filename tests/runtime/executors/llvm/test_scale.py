"""Graphs of many operations: code in pieces of bounded size, equal pieces once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph, module_partition
from agc.runtime.executors.llvm.codegen import lazy_values, materialization, output_groups
from agc.runtime.executors.llvm.codegen.lazy_values import LazyElementwise, is_heavier
from llvmlite.ir import Block

RANDOM = np.random.default_rng(0)


def traced(f: Callable[..., Any], *inputs: Any) -> Any:
    return tf.function(f, autograph=False).get_concrete_function(*map(tf.constant, inputs)).graph


def module_of(graph: Any) -> Any:
    return compile_graph.lowered(graph, [value.spec for value in graph.inputs]).module


def agrees(graph: Any, inputs: list[Any]) -> None:
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-9)


def many_sines(x: Any) -> Any:
    for _ in range(120):
        x = tf.sin(x) + 0.1
    return x


def test_a_long_expression_is_computed_in_equal_nests() -> None:
    x = RANDOM.standard_normal(100)
    graph = traced(many_sines, x)
    text = str(module_of(graph))
    assert text.count('call void @"twins"') > 2
    assert text.count('call double @"agc.sin.f64"') < 60
    agrees(graph, [x])


def test_a_sum_of_many_terms_is_computed_in_several_nests() -> None:
    def sum_of_sines(x: Any) -> Any:
        return tf.add_n([tf.sin(x * float(i)) for i in range(120)])

    x = RANDOM.standard_normal(100)
    graph = traced(sum_of_sines, x)
    loops = str(module_of(graph)).split("br i1")
    assert max(loop.count('call double @"agc.sin.f64"') for loop in loops) < 60
    agrees(graph, [x])


def test_the_cost_of_an_expression_counts_common_values_once() -> None:
    def lazy(*operands: Any) -> Any:
        return LazyElementwise(tf.float64, (9,), None, SITE, operands, 10)

    class Site:
        may_fail = False

    SITE = Site()  # noqa: N806
    node = lazy()
    for _ in range(9):
        node = lazy(node, node)
    assert node.cost > 1000
    assert is_heavier(node, 99) and not is_heavier(node, 100)
    assert lazy_values.LazyValue.own_cost == 0 < materialization.HEAVIEST


def test_outputs_that_read_a_common_value_stay_together() -> None:
    def outputs(*xs: Any) -> Any:
        return [y for x in xs for y in (0.9 * x, 0.9 * x + tf.square(0.9 * x))]

    inputs = [RANDOM.standard_normal(70) for _ in range(40)]
    graph = traced(outputs, *inputs)
    text = str(module_of(graph))
    assert text.count('call void @"twins"') == 2 * len(inputs) / output_groups.MOST
    agrees(graph, inputs)


@pytest.mark.parametrize("count", [10, 70])
def test_a_kernel_of_many_arguments_loads_them(count: int) -> None:
    def outputs(*xs: Any) -> Any:
        return [tf.reduce_sum(x) * xs[0] for x in xs]

    inputs = [RANDOM.standard_normal(5) for _ in range(count)]
    graph = traced(outputs, *inputs)
    assert len(module_of(graph).globals["kernel"].args) == (2 if count == 70 else 2 * count + 1)
    agrees(graph, inputs)


def test_layers_that_are_equal_are_compiled_once() -> None:
    def network(x: Any, w: Any, b: Any) -> Any:
        for _ in range(50):
            x = tf.nn.relu(tf.matmul(x, w) + b)
        return x

    inputs = [RANDOM.standard_normal(shape) * 0.3 for shape in ((20, 30), (30, 30), (30,))]
    graph = traced(network, *inputs)
    text = compile_graph.lowered(graph, [value.spec for value in graph.inputs]).text()
    assert text.count('call void @"twins"') == 49
    assert text.count("!llvm.loop ") < 10
    assert sum(part.is_cold for part in module_partition.partition(text, 100)) == 1
    agrees(graph, inputs)


def test_a_loop_is_lowered_without_a_search_through_the_loops_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def loops(x: Any, n: Any) -> Any:
        for _ in range(30):
            _, x = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 0.5), (0, x))
        return x

    def compared(block: Block, other: Any) -> bool:
        comparisons.append((block, other))
        return block is other

    comparisons: list[Any] = []
    graph = traced(loops, 1.0, 3)
    monkeypatch.setattr(Block, "__eq__", compared)
    module_of(graph)
    assert len(comparisons) < 30


def test_many_operations_are_optimized_planned_and_compiled() -> None:
    def recurrence(x: Any) -> Any:
        for _ in range(10_000):
            x = x * 0.99 + 0.1
        return x

    x = np.array(0.5)
    graph = traced(recurrence, x)
    agrees(graph, [x])
