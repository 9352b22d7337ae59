"""Equal layers are lowered once, and native code calls their function for each; results are those without calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime import errors
from agc.runtime.executors import interpret
from agc.runtime.executors.llvm import compile_graph
from agc.runtime.executors.llvm.codegen import reroll_calls
from agc.runtime.executors.llvm.jit_function import JitFunction
from agc.runtime.ir.graph import Graph
from agc.runtime.ops.state import own_arrays
from agc.runtime.optimize import outline_repeats
from hypothesis import given, settings
from support.matrix_graphs import inputs, matrix_graphs, repeated
from support.selection import at_most, each_nth

RANDOM = np.random.default_rng(5)
LAYERS = 12
WIDTH = 48
X = RANDOM.standard_normal((4, WIDTH)).astype(np.float32)
MATRICES = (RANDOM.standard_normal((LAYERS, WIDTH, WIDTH)) * 0.1).astype(np.float32)

outline = outline_repeats.run


@pytest.fixture(autouse=True, params=["calls", "loops over calls"])
def short_parts_are_worth_a_call(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    if request.param == "loops over calls":
        monkeypatch.setattr(reroll_calls, "FEWEST", 2)
    monkeypatch.setattr(outline_repeats, "WORTH", 4)
    monkeypatch.setattr(outline_repeats, "_SHORTEST", 2)
    monkeypatch.setattr(outline_repeats, "_FUSED", 4)
    monkeypatch.setattr(
        own_arrays, "is_alone", lambda: True
    )  # the test runner's threads are none of the program's
    yield


def both(run: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a program with calls and without; they must return the same bits, and there must be calls."""
    outlined: list[Graph] = []

    def spy(graph: Graph) -> Graph:
        outlined.append(outline(graph))
        return outlined[-1]

    monkeypatch.setattr(outline_repeats, "run", spy)
    found = run()
    assert any(each.type == "call" for graph in outlined for each in graph.operations)
    monkeypatch.setattr(outline_repeats, "run", lambda graph: graph)
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(run()), strict=True):
        if np.ndim(one):
            np.testing.assert_array_equal(one, other)
        else:  # LLVM adds elements along the last axis in an order that depends on the code around the loop
            np.testing.assert_allclose(one, other, rtol=1e-6)


def trained(step: Callable[..., Any], matrices: Sequence[Any] = MATRICES) -> Callable[[], list[Any]]:
    """Return a program of three steps of training; it returns the results and the variables."""

    def run() -> list[Any]:
        variables = [tf.Variable(matrix) for matrix in matrices]
        function = tf.function(lambda x: step(x, variables), jit_compile=True)
        results = [function(tf.constant(X)) for _ in range(3)]
        return [results, [variable.numpy() for variable in variables]]

    return run


def deep(x: Any, variables: Sequence[Any]) -> Any:
    for w in variables:
        x += tf.nn.relu(x @ w)
    return x


def descent(x: Any, variables: Sequence[Any]) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(deep(x, variables))
    for gradient, w in zip(tape.gradient(loss, variables), variables, strict=True):
        w.assign_sub(0.01 * gradient)
    return loss


def descent_with_old_values(x: Any, variables: Sequence[Any]) -> Any:
    old = [w.value() for w in variables]
    return descent(x, variables), old


def descent_with_new_values(x: Any, variables: Sequence[Any]) -> Any:
    return descent(x, variables), [w + 1.0 for w in variables]


def shared(x: Any, variables: Sequence[Any]) -> Any:
    """All layers have the same variable, whose gradient is a sum."""
    return descent(x, [variables[0]] * LAYERS)


def in_pairs(x: Any, variables: Sequence[Any]) -> Any:
    return descent(x, [variables[i // 2] for i in range(LAYERS)])


def moved_along(x: Any, variables: Sequence[Any]) -> Any:
    """Each variable gets the value of the one before it."""
    values = [w + tf.tanh(w @ w) for w in variables]
    for w, value in zip(variables, values[-1:] + values[:-1], strict=True):
        w.assign(value)
    return x


def overwritten_twice(x: Any, variables: Sequence[Any]) -> Any:
    for w in variables:
        w.assign(w @ w)
        w.assign_add(tf.eye(WIDTH))
    return x


def norms(x: Any, variables: Sequence[Any]) -> Any:
    """Numbers of rank 0 go from part to part."""
    total = tf.constant(0.0)
    for w in variables:
        total += tf.reduce_max(tf.abs(x @ w)) * 0.5
    return total


def averages_before_a_check(x: Any, variables: Sequence[Any]) -> Any:
    """Each layer updates an average; the index of an element, which is checked, comes last."""
    for w in variables:
        x = tf.tanh(x @ w)
        w.assign(0.9 * w + 0.1 * tf.matmul(x, x, transpose_a=True))
    return tf.gather(x, tf.cast(tf.abs(x[:, 0]), tf.int32))


PROGRAMS = [
    averages_before_a_check, deep, descent, descent_with_old_values, descent_with_new_values, shared,
    in_pairs, moved_along, overwritten_twice, norms,
]  # fmt: skip


@pytest.mark.parametrize("step", each_nth(2, PROGRAMS), ids=lambda step: step.__name__)
def test_results_and_variables_have_the_bits_that_they_have_without_calls(
    step: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    both(trained(step), monkeypatch)


def unit_of(function: Callable[..., Any], variables: Sequence[Any]) -> Any:
    graph = tf.function(lambda x: function(x, variables)).get_concrete_function(tf.TensorSpec(X.shape)).graph
    plain, assigned = compile_graph.prepared(graph)
    return compile_graph.lowered(plain, [value.spec for value in plain.inputs], assigned)


def test_the_function_of_equal_layers_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reroll_calls, "FEWEST", LAYERS)
    text = unit_of(deep, [*map(tf.Variable, MATRICES)]).text()
    assert text.count('define internal i32 @"repeated') == 1
    assert (
        text.count('call i32 @"repeated') == LAYERS - 1
    )  # the last one may be in a loop nest with what follows


def test_updates_within_calls_overwrite_the_variables() -> None:
    assert len(unit_of(descent, [*map(tf.Variable, MATRICES)]).overwritten) == LAYERS
    assert not unit_of(shared, [tf.Variable(MATRICES[0]) for _ in range(LAYERS)]).overwritten


def test_calls_overwrite_nothing_before_a_check() -> None:
    """Otherwise the function would have to be lowered again without calls."""
    unit = unit_of(averages_before_a_check, [*map(tf.Variable, MATRICES)])
    assert 'call i32 @"repeated' in unit.text()


def test_large_buffers_of_calls_are_in_the_memory_of_the_caller() -> None:
    """Two layers of 400 KB each share what one has already."""

    def wide(x: Any, variables: Sequence[Any]) -> Any:
        for w in variables:
            x = tf.sin(tf.matmul(x, w) @ w) @ w
        return x

    variables = [tf.Variable(tf.zeros([WIDTH, WIDTH])) for _ in range(LAYERS)]
    graph = (
        tf.function(lambda x: wide(x, variables)).get_concrete_function(tf.TensorSpec([2_000, WIDTH])).graph
    )
    plain, _ = compile_graph.prepared(graph)
    unit = compile_graph.lowered(plain, [value.spec for value in plain.inputs])
    assert sum(slot.size for slot in unit.slots) <= 5 * 2_000 * WIDTH * 4


def test_random_numbers_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        generator = tf.random.Generator.from_seed(1)

        @tf.function(jit_compile=True)
        def draws(x: Any) -> Any:
            for matrix in MATRICES:
                x = tf.tanh(tf.tanh(x @ matrix) @ matrix) * generator.uniform([WIDTH])
            return x

        return [draws(tf.constant(X)), draws(tf.constant(X))]

    both(run, monkeypatch)


def test_a_failure_names_the_line_of_its_layer() -> None:
    @tf.function(jit_compile=True)
    def rows(x: Any, numbers: Any) -> Any:
        for i in range(LAYERS):
            x = tf.tanh(x @ x)
            x = tf.gather(x, numbers[i])
        return x

    numbers = np.tile(np.arange(6)[::-1], (LAYERS, 1)).astype(np.int32)
    square = tf.constant(np.eye(6, dtype=np.float32))
    rows(square, tf.constant(numbers))
    numbers[7, 2] = 99
    with pytest.raises(errors.InvalidArgumentError, match=r"99") as raised:
        rows(square, tf.constant(numbers))
    assert "test_repeated_parts.py" in str(raised.value)


@pytest.mark.parametrize("executor", ["interpret", "native"])
def test_the_updates_before_a_failing_layer_remain(executor: str) -> None:
    """The graph is lowered without calls, since a part may fail after a variable was overwritten."""
    variables = [tf.Variable(matrix) for matrix in MATRICES]

    @tf.function(experimental_executor=executor)
    def step(x: Any, numbers: Any) -> Any:
        for i, w in enumerate(variables):
            w.assign(2.0 * w)
            x = tf.tanh(tf.gather(x, numbers[i]) @ w)
        return x

    numbers = np.tile(np.arange(4), (LAYERS, 1))
    step(tf.constant(X), tf.constant(numbers))
    numbers[7, 2] = 4
    with pytest.raises(errors.InvalidArgumentError, match=r"indices\[2\] = 4 is not in"):
        step(tf.constant(X), tf.constant(numbers))
    for i, (w, matrix) in enumerate(zip(variables, MATRICES, strict=True)):
        np.testing.assert_array_equal(w, matrix * (4 if i <= 7 else 2))


def test_prints_are_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def prints(x: Any) -> Any:
        for i in range(LAYERS):
            for matrix in MATRICES[:3]:
                x = tf.tanh(x @ matrix)
            tf.print(i)
        return x

    for _ in range(3):
        prints(tf.constant(X))
    assert capfd.readouterr().err.split() == [*map(str, range(LAYERS))] * 3


def test_threads_have_their_own_buffers() -> None:
    @tf.function(jit_compile=True)
    def run(x: Any) -> Any:
        for matrix in MATRICES:
            x = tf.tanh(x @ matrix)
        return x

    given = [tf.constant(RANDOM.standard_normal((200, WIDTH)).astype(np.float32)) for _ in range(4)]
    wanted = [run(x).numpy() for x in given]
    wrong: list[int] = []

    def check(i: int) -> None:
        wrong.extend(i for _ in range(20) if not np.array_equal(run(given[i]), wanted[i]))

    threads = [threading.Thread(target=check, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_shapes_may_vary() -> None:
    @tf.function(jit_compile=True, reduce_retracing=True)
    def run(x: Any) -> Any:
        for matrix in MATRICES:
            x = tf.tanh(x @ matrix)
        return x

    for rows in (4, 3, 7, 2, 9, 11, 1, 30):
        x = RANDOM.standard_normal((rows, WIDTH)).astype(np.float32)
        wanted = x
        for matrix in MATRICES:
            wanted = np.tanh(wanted @ matrix)
        np.testing.assert_allclose(run(tf.constant(x)), wanted, rtol=1e-4, atol=1e-5)


@given(matrix_graphs())
@settings(max_examples=at_most(8, 20))
def test_random_repetitions_agree_with_the_interpreter(part: Graph) -> None:
    graph = repeated(part, 5)
    for one, other in zip(JitFunction(graph).run(inputs()), interpret(graph, inputs()), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)
