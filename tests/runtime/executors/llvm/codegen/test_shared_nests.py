"""Loop nests of native code with equal keys are emitted once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import JitFunction, compile_graph
from agc.runtime.executors.llvm.codegen import parallel_loops
from agc.runtime.executors.llvm.codegen.dynamic_sizes import Size
from agc.runtime.executors.llvm.codegen.function_builder import Emitter
from agc.runtime.executors.llvm.codegen.lazy_values import Buffer, LazyElementwise
from agc.runtime.executors.llvm.codegen.llvm_types import integer, ir, pointer
from agc.runtime.executors.llvm.codegen.nest_keys import key_of
from agc.runtime.executors.llvm.codegen.rule_registry import site_of

RANDOM = np.random.default_rng(0)


def graph_of(program: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    return tf.function(program).get_concrete_function(*map(tf.constant, inputs)).graph


def unit_of(graph: Any) -> Any:
    return compile_graph.lowered(graph, [value.spec for value in graph.inputs])


def check(program: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Compare a program's results with the interpreter's; return its unit."""
    graph = graph_of(program, inputs)
    for given, wanted in zip(JitFunction(graph).run(inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-6, atol=1e-6)
    return unit_of(graph)


def normal(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def scaled(*xs: Any) -> Any:
    return [tf.square(x) * 0.5 - x for x in xs]


def means(*xs: Any) -> Any:
    return [tf.reduce_mean(tf.square(x), axis) for x in xs for axis in (0, 1)]


def joined(*xs: Any) -> Any:
    return [tf.concat([x, tf.square(x) + x], 1) for x in xs]


def convolved(*xs: Any) -> Any:
    filters = tf.constant(np.linspace(-1, 1, 9 * 4 * 4).reshape(3, 3, 4, 4), tf.float32)
    return [tf.nn.relu(tf.nn.conv2d(tf.reshape(x, [64, 16, 16, 4]), filters, 1, "SAME")) for x in xs]


PROGRAMS = [(scaled, (16, 32)), (means, (16, 32)), (joined, (16, 32)), (convolved, (128, 512))]


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The nests that are emitted, also those in others."""
    found: list[Any] = []
    nest = Emitter.nest

    def noted(e: Any, counts: Any, *arguments: Any, **options: Any) -> Any:
        found.append(counts)
        return nest(e, counts, *arguments, **options)

    monkeypatch.setattr(Emitter, "nest", noted)
    return found


@pytest.mark.parametrize(("program", "shape"), PROGRAMS)
def test_equal_nests_are_emitted_once(program: Any, shape: Any, emitted: list[Any]) -> None:
    graph = graph_of(program, [normal(*shape)])
    unit_of(graph)
    count = len(emitted)
    emitted.clear()
    unit_of(graph_of(program, [normal(*shape) for _ in range(5)]))
    assert len(emitted) == count


@pytest.mark.parametrize(("program", "shape"), PROGRAMS)
def test_shared_nests_compute_the_interpreters_results(program: Any, shape: Any) -> None:
    check(program, [normal(*shape) for _ in range(4)])


@pytest.mark.parametrize(("program", "shape"), PROGRAMS)
def test_threads_share_equal_nests(program: Any, shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from agc.runtime.executors.llvm.codegen import function_builder

    monkeypatch.setattr(function_builder, "WORTH", 1)
    monkeypatch.setattr(function_builder, "count_of_threads", lambda: 2)
    monkeypatch.setattr(parallel_loops, "count", lambda: 2)
    check(program, [normal(*shape) for _ in range(4)])


def test_functions_of_other_sizes_become_one() -> None:
    """Each of two sizes has a function; one function with the sizes as parameters replaces both."""
    unit = check(scaled, [normal(*shape) for shape in [(70, 80), (96, 128)] * 2])
    functions = [each.name for each in unit.module.functions if each.blocks]
    assert [name.partition(".")[0] for name in functions if name not in ("kernel", "run")] == ["twins"]


def test_nests_that_differ_in_what_they_compute_stay_apart() -> None:
    def different(x: Any, y: Any, i: Any) -> Any:
        numbers = [x * 2.0 + y, x * 3.0 + y, x + x * 2.0, y + x * 2.0]
        turned = [
            tf.transpose(tf.reshape(x, [8, 8, 8]), order) * 2.0 for order in ([0, 2, 1], [2, 1, 0], [1, 0, 2])
        ]
        steps = [tf.reverse(x, [axis]) + y for axis in (0, 1)]
        casts = [tf.cast(tf.cast(i, kind) + 1, tf.float32) for kind in (tf.int32, tf.uint8, tf.float32)]
        zeros = [tf.atan2(zero, -tf.abs(x) - 1.0) for zero in (0.0, -0.0)]  # π and -π
        return [*numbers, *turned, *steps, *casts, *zeros]

    check(different, [normal(16, 32), normal(16, 32), np.arange(512, dtype=np.int64).reshape(16, 32)])


def test_a_nest_may_work_in_place_of_its_operand_each_time() -> None:
    def chains(*xs: Any) -> Any:
        found = []
        for x in xs:
            product = tf.matmul(x, x)
            for _ in range(3):
                product = tf.matmul(tf.square(product) - product * 0.5, x)
            found.append(product)
        return found

    check(chains, [RANDOM.standard_normal((24, 24)) / 10 for _ in range(3)])


def test_nests_read_operands_of_equal_or_different_addresses() -> None:
    def products(a: Any, b: Any) -> Any:
        return [tf.square(x) * y + y for x in (a, b) for y in (a, b)]

    check(products, [normal(16, 32), normal(16, 32)])


def test_nests_in_branches_may_equal_others() -> None:
    def chosen(flag: Any, x: Any) -> Any:
        y = tf.matmul(tf.square(x) * 0.5 - x, x) if flag else x
        return tf.matmul(tf.square(y) * 0.5 - y, x), tf.square(x) * 0.5 - x

    for flag in (True, False):
        check(chosen, [np.array(flag), RANDOM.standard_normal((24, 24))])


def test_scalars_are_given_to_a_nest() -> None:
    def shifted(x: Any, y: Any, a: Any, b: Any) -> Any:
        return [tf.square(x) - a, tf.square(y) - b, tf.square(x) - b]

    check(shifted, [normal(16, 32), normal(16, 32), np.float32(2), np.float32(3)])


# The keys themselves


def key(*content: Any, e: Any = None) -> Any:
    found = key_of(e, content)
    return found and found.key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0), (1, True), (1, 1.0), ("1", 1), ((1, 2), (2, 1)), ([1], (1,)), ({"a": 1}, {"b": 1}),
        (np.float32(1), np.float64(1)), (np.zeros(3), np.zeros(4)), (np.zeros(2), np.array([0.0, -0.0])),
        (range(3), range(4)), (tf.float32, tf.float64), (np.zeros(1000), np.zeros(1000)),
        (ir().Constant(ir().DoubleType(), 0.0), ir().Constant(ir().DoubleType(), -0.0)),
        (functools.partial(max, 1), functools.partial(max, 2)), (lambda: 1, lambda: 1),
    ],
)  # fmt: skip
def test_keys_of_different_objects_differ(one: Any, other: Any) -> None:
    assert key(one) == key(one) != key(other) == key(other)


def test_functions_are_equal_if_they_refer_to_equal_values() -> None:
    def adding(number: Any) -> Any:
        return lambda x, default=number: x + number + default

    assert key(adding(1)) == key(adding(1)) != key(adding(2))


@pytest.mark.parametrize("unknown", [{1, 2}, object(), iter([1]), Size(3)])
def test_unknown_objects_have_no_key(unknown: Any) -> None:
    assert key(unknown) is None
    assert key(lambda: unknown) is None


def test_registers_are_numbered_in_the_order_in_which_they_are_found() -> None:
    kinds = [pointer(), pointer(), integer(64)]
    function = ir().Function(ir().Module(), ir().FunctionType(ir().VoidType(), kinds), "function")
    x, y, n = function.args

    def node(first: Any, second: Any) -> Any:
        operands = [Buffer(tf.float32, (3,), first), Buffer(tf.float32, (3,), second)]
        return LazyElementwise(tf.float32, (3,), max, site_of(tf.float32), operands, 1)

    found = key_of(None, (node(x, y), n))
    assert found is not None
    assert found.given == [x, y, n]
    assert found.key == key(node(y, x), n)
    assert found.key != key(node(x, x), n)
    n.below = 7
    assert found.key != key(node(x, y), n)
