"""Automatically compiled code is compared with the plan before it is trusted."""

from __future__ import annotations

import logging
import tracemalloc
from collections.abc import Callable
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import JitFunction, first_call_check, jit_function, tiering
from agc.runtime.executors.llvm.codegen.rule_registry import ELEMENTWISE, load
from agc.runtime.executors.llvm.first_call_check import compared
from agc.runtime.executors.llvm.moved_inputs import with_moved_constants
from agc.runtime.executors.llvm.result_differences import difference
from agc.runtime.executors.llvm.rounding_doubts import Doubts, Places
from agc.runtime.kernels.persistent_array import PersistentArray
from agc.runtime.ops.state import own_arrays
from support.compiled_at_once import compile_at_once


@pytest.fixture
def hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has run twice is compiled, before it goes on."""
    compile_at_once(monkeypatch)


@pytest.fixture
def miswritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code adds where it should multiply."""
    load("multiply")
    rule = ELEMENTWISE["multiply"]
    monkeypatch.setitem(ELEMENTWISE, "multiply", rule._replace(write=ELEMENTWISE["add"].write))


def ran(function: Callable[..., Any], *arguments: Any) -> tuple[tiering.TierState, list[Any]]:
    """What the automatic mode has decided about a function, and its results."""
    graph = tf.function(function).get_concrete_function(*arguments).graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    given = [getattr(x, "_array", x) for x in arguments]
    results = [runner.run(given)[0] for _ in range(20)]
    assert runner._only is not None
    return runner._only, results


def test_a_difference_is_logged_with_its_line_and_native_code_dropped(
    hot: None, miswritten: None, caplog: pytest.LogCaptureFixture
) -> None:
    def tripled(x: Any) -> Any:
        return x * 3.0

    with caplog.at_level(logging.WARNING, "agc"):
        trial, results = ran(tripled, tf.constant([1.0, 4.0]))
    assert [result.tolist() for result in results] == [[3.0, 12.0]] * 20
    assert trial.native is not None and trial.chosen is trial._plan
    assert (
        "AGC221" in caplog.text and "`tripled`" in caplog.text and "test_first_call_check.py:" in caplog.text
    )
    assert "number 0, float32[2], differs by 5 in 2 elements" in caplog.text


def test_integers_are_the_same_to_the_last_bit(
    hot: None, miswritten: None, caplog: pytest.LogCaptureFixture
) -> None:
    _, results = ran(lambda x: x * x, tf.constant([7]))
    assert [result.tolist() for result in results] == [[49]] * 20
    assert "differs in 1 elements" in caplog.text


def test_compiled_loops_of_other_programs_are_compared(
    hot: None, miswritten: None, caplog: pytest.LogCaptureFixture, capsys: Any
) -> None:
    def factorial(n: Any) -> Any:
        total = 1
        for i in tf.range(n):
            total *= i + 1
        tf.print(total)
        return total

    _, results = ran(factorial, tf.constant(5) + 0)
    assert [int(result) for result in results] == [120] * 20
    assert caplog.text.count("gave other results") == 1


def test_agreeing_native_code_is_used_silently(hot: None, caplog: pytest.LogCaptureFixture) -> None:
    def steps(x: Any) -> Any:
        y = x
        while tf.reduce_sum(y) < 1000.0:
            y = tf.sin(y) + y * 1.5 + 1.0
        return y

    trial, _ = ran(steps, tf.constant([1.0, 4.0]))
    assert trial.doubted is None and trial.chosen in (trial.native, trial._plan) and not caplog.records


def test_variables_change_once_per_call_in_either_executor(hot: None, miswritten: None) -> None:
    total = tf.Variable([1.0, 2.0])
    graph = (
        tf.function(lambda x: total.assign(total * 2.0 + x))
        .get_concrete_function(tf.constant([0.5, 0.5]))
        .graph
    )
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    wanted = np.array([1.0, 2.0], np.float32)
    for _ in range(8):
        runner.run([np.array([0.5, 0.5], np.float32), total])
        wanted = wanted * 2 + np.float32(0.5)
        np.testing.assert_array_equal(total.numpy(), wanted)
    assert runner._only is not None and runner._only.chosen is runner._only._plan


def test_random_numbers_are_drawn_once_a_call(hot: None) -> None:
    def drawn() -> Any:
        return tf.random.uniform([3], seed=7)

    tf.random.set_seed(1)
    wanted = [drawn().numpy().tolist() for _ in range(20)]
    tf.random.set_seed(1)
    graph = tf.function(drawn).get_concrete_function().graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    assert [runner.run([])[0].tolist() for _ in range(20)] == wanted


def unlike(
    found: Any, function: Callable[..., Any], *arrays: Any, doubts: Doubts | None = None
) -> str | None:
    """How the results differ from the plan's where native code gives `found`."""
    graph = tf.function(function).get_concrete_function(*map(tf.constant, arrays)).graph
    native = JitFunction(graph)
    native._run = lambda arguments: (np.asarray(found),)  # type: ignore[method-assign]
    return compared(native, EXECUTORS["plan"](graph), list(arrays), doubts=doubts)[1]


def test_rounding_errors_are_no_difference() -> None:
    x = np.array([1.0, 1e-7, -1.0], np.float32)
    assert unlike(np.float32(1.1e-7), lambda x: tf.reduce_sum(x), x) == ""
    assert unlike(np.float32(2e-3), lambda x: tf.reduce_sum(x), x)
    near = np.array([1.0, np.nextafter(np.float32(1), np.float32(2))], np.float32)
    assert unlike(np.int64(0), lambda x: tf.argmax(x), near) == ""
    assert unlike(np.int64(0), lambda x: tf.argmax(x), np.array([1, 2], np.float32))


def test_rounding_may_decide_about_other_elements_than_in_the_second_run_of_the_plan() -> None:
    def stepped(x: Any) -> Any:
        return tf.where(x > 1.0, 2.0, 1.0)

    above = np.full(2, np.nextafter(np.float32(1), np.float32(2)))
    assert unlike(np.float32([1, 2]), stepped, above) == ""
    assert unlike(np.float32([1, 2]), stepped, above + np.float32(0.5))


def test_programs_that_multiply_rounding_errors_have_no_difference() -> None:
    """Resampling compares sums of weights with numbers, and each choice that differs changes all later steps."""

    def chosen(x: Any) -> Any:
        ends = tf.cumsum(x / tf.reduce_sum(x))
        return tf.searchsorted(ends, (tf.range(64.0) + 0.5) / 64.0)

    weights = np.ones(64, np.float32)
    weights[::2] += 1.0
    near = np.cumsum(weights / weights.sum())
    other = np.searchsorted(near * np.float32(1 + 3e-6), (np.arange(64, dtype=np.float32) + 0.5) / 64)
    assert unlike(other.astype(np.int32), chosen, weights) == ""
    assert unlike(other.astype(np.int32) + 1, chosen, weights)


def test_steps_that_moved_inputs_cross_hide_no_fault_of_all_elements() -> None:
    def rounded(x: Any) -> Any:
        return tf.round(x * 10.0) / 10.0

    x = np.random.default_rng(0).normal(size=100).astype(np.float32)
    x[:3] = [0.05001, 0.15001, 0.25001]  # moved by many last bits, they are rounded down
    wanted = np.round(x * 10) / np.float32(10)
    assert unlike(wanted * np.float32(1.02), rounded, x)
    wanted[:3] = [0.0, 0.1, 0.2]
    assert not unlike(wanted, rounded, x)


def test_chaos_may_begin_at_constants() -> None:
    def tossed(steps: Any) -> Any:
        angle, speed = 2.5, 0.1
        for _ in tf.range(steps):
            speed -= 1.7 * tf.sin(angle) - 0.3
            angle += speed
        return angle

    def run(found: float, steps: int) -> str | None:
        return unlike(np.float32(found), tossed, np.int32(steps))

    assert run(-100.0, 1000) == ""
    assert run(2.0, 2) == "number 0, float32[], differs by 2.05 in 1 elements"


def test_constants_of_shared_functions_are_moved_once() -> None:
    shared = tf.function(lambda x: tf.sin(x) + 0.1)
    graph = tf.function(lambda x: shared(shared(x))).get_concrete_function(tf.constant(0.5)).graph
    assert len({id(operation.regions[0]) for operation in graph.operations}) == 1
    moved = with_moved_constants(graph, {4: 1e-3})
    assert len({id(operation.regions[0]) for operation in moved.operations}) == 1


def test_chaos_of_drawn_numbers_is_found_by_drawing_them_again() -> None:
    def walked(steps: Any) -> Any:
        place = tf.random.normal([], seed=1)
        for _ in tf.range(steps):
            place = 3.9 * tf.sin(place) + tf.random.normal([], seed=2)
        return place

    graph = tf.function(walked).get_concrete_function(tf.constant(0)).graph
    native = JitFunction(graph)
    run = native._run
    native._run = lambda arguments: (-run(arguments)[0],)  # type: ignore[method-assign]

    def difference_after(steps: int) -> str | None:
        return compared(native, EXECUTORS["plan"](graph), [np.int32(steps)], doubts=Doubts([0]))[1]

    assert difference_after(1000) == ""
    assert "number 0" in (difference_after(2) or "")


def test_a_few_elements_may_differ_more_but_not_the_same_ones_again() -> None:
    """As in the gradient of a ReLU of a number next to zero."""
    x = np.linspace(-1, 1, 64, dtype=np.float32)

    def after(*calls: tuple[list[int], float]) -> list[str | None]:
        doubts = Doubts()
        return [
            unlike(x + np.isin(range(64), at) * np.float32(by), relu, x, doubts=doubts) for at, by in calls
        ]

    def relu(x: Any) -> Any:
        return tf.nn.relu(x) - tf.nn.relu(-x)

    assert after(([3], 0.1), ([5], 0.1)) == [None, ""]
    assert after(([3], 0.1), ([], 0.0)) == [None, ""]
    assert after(([3, 9], 0.1), ([3], 0.1), ([9], 0.1)) == [None, None, ""]
    again = "number 0, [64], differs in elements [9] again"
    assert after(([3, 9], 0.1), ([7, 9], 0.1), ([9], -0.1)) == [None, None, again]
    assert after(([3], 0.2)) == ["number 0, float32[64], differs by 0.2 in 1 elements"]
    assert after(([*range(9)], 0.1)) == ["number 0, float32[64], differs by 0.1 in 9 elements"]


def test_elements_of_results_with_other_shapes_are_not_the_same() -> None:
    doubts = Doubts()
    found = [doubts.after({0: Places((size,), np.array([3]))}) for size in (4, 5, 6, 7, 7, 7)]
    assert found == [None] * 5 + ["number 0, [7], differs in elements [3] again"]


def test_programs_that_draw_random_numbers_have_no_second_run_of_the_plan() -> None:
    wanted = np.linspace(-1, 1, 64, dtype=np.float32)

    def examined(by: float) -> str | None:
        return first_call_check._examined([wanted + np.float32(by)], [wanted], {}, {0}, Doubts([0]))

    assert examined(2e-3) == ""
    assert examined(4e-3) == "number 0, float32[64], differs by 0.004 in 64 elements"


def test_the_last_bits_of_cancelled_numbers_are_no_fault(hot: None, caplog: pytest.LogCaptureFixture) -> None:
    """The loss of a certain prediction is the logarithm of a sum of 1 and of numbers that hardly change it."""

    def loss(logits: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.zeros([1], tf.int32), logits)

    trial, results = ran(loss, tf.constant([[0.0, -15.673377, -18.495441, -15.679727, -17.90859]]))
    assert trial.native is not None and trial.chosen is trial._plan and not caplog.text
    assert all(result == results[0] < 1e-6 for result in results)


def test_kinds_of_numbers_are_compared() -> None:
    x = np.array([np.nan, np.inf, 1.0], np.float32)
    assert unlike(x, lambda x: x + 0.0, x) == ""
    for wrong in ([0.0, np.inf, 1.0], [np.nan, 1e30, 1.0], [np.nan, np.inf, np.nan], [np.nan, -np.inf, 1.0]):
        assert unlike(np.array(wrong, np.float32), lambda x: x + 0.0, x)
    assert unlike(np.float64(1), lambda x: x[2], x) == "number 0 is float64[], not float32[]"
    assert unlike(np.complex64(1 + 1j), lambda x: tf.complex(x, x)[2], x) == ""
    assert unlike(np.complex64(1 + 2j), lambda x: tf.complex(x, x)[2], x)


def test_unwritten_elements_of_lists_are_zeros_in_native_code() -> None:
    """Reading an unwritten element gives zeros in the plan, too."""
    row = np.ones(2, np.float32)
    native = PersistentArray([np.zeros(2, np.float32), row])
    assert difference([native], [PersistentArray([None, row])], [PersistentArray([None, row])]) is None
    assert difference([PersistentArray([row - 1] * 2)], [PersistentArray([None] * 2)]) is None
    assert difference([PersistentArray([row] * 2)], [PersistentArray([None, row])]) is not None


def test_complex_results_that_share_elements_are_compared() -> None:
    one = np.broadcast_to(np.complex64(1 + 2j), [3])
    assert difference([one.copy()], [one]) is None
    assert difference([one.copy() + 1], [one]) is not None


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 2)], ids=str)
def test_a_loop_body_that_writes_a_list_agrees_with_its_plan(
    hot: None, caplog: pytest.LogCaptureFixture, shape: tuple[int, ...]
) -> None:
    sizes = [None] * len(shape)
    rows = tf.TensorArray(tf.float32, 4, element_shape=sizes)
    body = tf.function(lambda i, rows, x: rows.write(i, x * 2.0))
    graph = body.get_concrete_function(tf.constant(1), rows, tf.TensorSpec(sizes)).graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    one = np.ones(shape, np.float32)
    for _ in range(20):
        (found,) = runner.run([np.int32(1), PersistentArray([one, None, None, None]), one])
    items = [item for item in found.items() if item is not None]
    assert [item.tolist() for item in items[:2]] == [one.tolist(), (one * 2).tolist()]
    assert not caplog.text


def test_native_code_that_always_falls_back_is_dropped(hot: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit_function.JitFunction, "_run", lambda self, arguments: jit_function.FAILED)
    graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1)).graph
    runner = tiering.TieredRunner(graph, EXECUTORS["plan"](graph))
    assert [int(runner.run([np.int32(2)])[0]) for _ in range(tiering.TRIALS)] == [3] * tiering.TRIALS
    trial = runner._only
    assert trial is not None and trial.native is not None and trial.chosen is trial._plan


def test_large_results_are_compared_in_little_memory() -> None:
    wanted = np.linspace(-1, 1, 1 << 20, dtype=np.float32)
    found = wanted.copy()
    found[[3, 1 << 19, -1]] += np.float32([2.0, 3.0, 1e-5])
    tracemalloc.start()
    text = difference([found], [wanted])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text == "number 0, float32[1048576], differs by 3 in 2 elements"
    assert peak < wanted.nbytes


def test_native_code_overwrites_the_arrays_that_the_plan_has_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A comparison needs one more array for each large variable; training steps store it where a gradient was."""
    monkeypatch.setattr(own_arrays, "is_alone", lambda: True)
    monkeypatch.setattr(first_call_check, "_LARGE", 0)
    total = tf.Variable(np.ones(1 << 18, np.float32))
    old = total._array.ctypes.data

    def step(x: Any) -> None:
        total.assign(total * 2.0 + x)

    graph = tf.function(step).get_concrete_function(tf.constant(0.5)).graph
    native, addresses = JitFunction(graph), []
    native.compiled([np.float32(0.5), total])

    def rehearse(arguments: Any, copies: Any) -> Any:
        found = native.rehearsed(arguments, copies)
        addresses.extend(copy._array.ctypes.data for copy in copies.values())
        return found

    assert compared(native, EXECUTORS["plan"](graph), [np.float32(0.5), total], rehearse)[1] == ""
    assert addresses == [old] != [total._array.ctypes.data]
    assert total.numpy().tolist() == [2.5] * (1 << 18)


def test_a_value_that_was_read_before_a_comparison_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_arrays, "is_alone", lambda: True)
    total = tf.Variable(np.ones(1 << 18, np.float32))
    monkeypatch.setattr(first_call_check, "_LARGE", 0)
    kept = total.value()
    graph = tf.function(lambda: total.assign(total * 2.0)).get_concrete_function().graph
    native = JitFunction(graph)
    native.compiled([total])
    assert compared(native, EXECUTORS["plan"](graph), [total])[1] == ""
    assert kept.numpy().tolist() == [1.0] * (1 << 18)


@pytest.mark.parametrize("stopped", ["plan", "native code"])
def test_an_interrupted_comparison_leaves_whole_variables(
    stopped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_arrays, "is_alone", lambda: True)
    monkeypatch.setattr(first_call_check, "_LARGE", 0)
    total = tf.Variable(np.ones(1 << 18, np.float32))
    graph = tf.function(lambda: total.assign(total * 2.0)).get_concrete_function().graph
    native, plan = JitFunction(graph), EXECUTORS["plan"](graph)
    native.compiled([total])

    def interrupted(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    def rehearse(arguments: Any, copies: Any) -> Any:
        native.rehearsed(arguments, copies)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compared(native, interrupted if stopped == "plan" else plan, [total], rehearse)
    assert total.numpy().tolist() == [1.0 if stopped == "plan" else 2.0] * (1 << 18)


@pytest.mark.parametrize("large", [0, 1 << 20])
def test_variables_get_the_values_of_the_plan(
    large: int, miswritten: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_call_check, "_LARGE", large)
    total = tf.Variable([1.0])
    graph = tf.function(lambda x: total.assign(total * 3.0 + x)).get_concrete_function(tf.constant(0.5)).graph
    native, plan, arguments = JitFunction(graph), EXECUTORS["plan"](graph), [np.float32(0.5), total]
    native.compiled(arguments)
    for value in (3.5, 11.0):
        assert "differs" in (compared(native, plan, arguments)[1] or "")
        assert total.numpy().tolist() == [value]


def test_a_large_result_that_differs_is_examined_by_the_next_comparison() -> None:
    """Which one differs is not known before the run with moved inputs, which keeps only small ones at first."""
    wanted = [np.ones(64, np.float32)] * 2
    first, second = ([wanted[0] + np.float32(by), wanted[1]] for by in (1.0, 0.0))
    doubts = Doubts()
    assert first_call_check._examined(first, wanted, {1: wanted[1]}, {0}, doubts) is None
    assert doubts.results == {0}
    assert first_call_check._examined(second, wanted, {}, {0}, doubts) == ""
    assert "number 0" in (first_call_check._examined(first, wanted, {}, {0}, doubts) or "")


def test_the_largest_variables_are_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of them would need more memory than a step."""
    small, large = (tf.Variable(np.ones(count, np.float32)) for count in (1, 1 << 10))
    monkeypatch.setattr(first_call_check, "_MOST_MOVED", 1 << 11)
    monkeypatch.setattr(first_call_check, "_KEPT", 0)

    def step() -> Any:
        return small.assign(small * 3.0) + large.assign(large * 3.0)

    graph = tf.function(step).get_concrete_function().graph
    variables = [small, large]
    before = {id(variable): variable._array for variable in variables}
    plan = EXECUTORS["plan"](graph)
    found = first_call_check._of_moved_inputs(plan, variables, before, [1, 2])
    assert found is not None and found.keys() == {1, 2}
    assert 0 < abs(found[1][0] - 3.0) < 1e-6 and found[2][0] == 3.0
    assert small.numpy()[0] == large.numpy()[0] == 1.0


def test_a_check_that_moved_inputs_fail_is_no_error_of_the_program() -> None:
    def cancelled(x: Any) -> Any:
        tf.debugging.assert_equal(x[0], 1.5)
        return tf.reduce_sum(x)

    x = np.array([1.5, 1e-7, -1.5], np.float32)
    assert unlike(np.float32(3e-4), cancelled, x) is None


def test_variables_without_room_for_copies_are_not_compared(
    miswritten: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = tf.Variable([1.0])
    graph = tf.function(lambda x: total.assign_add(x * x)).get_concrete_function(tf.constant([0.5])).graph
    native, plan = JitFunction(graph), EXECUTORS["plan"](graph)

    def full(array: Any, shares: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(first_call_check, "moved_array", full)
    arguments = [np.array([0.5], np.float32), total]
    results, text = compared(native, plan, arguments)
    assert text is None
    assert np.asarray(results[0]).tolist() == total.numpy().tolist() == [1.25]


LONG = np.linspace(-1.0, 1.0, 40_000, dtype=np.float32)


@pytest.mark.parametrize(
    ("place", "value"), [(0, -1.0), (0, -0.9), (39_999, 2.0), (20_000, np.nan), (20_000, np.inf), (7, 0.0)]
)
@pytest.mark.parametrize("wanted", [LONG, np.where(LONG > 0.9, np.nan, LONG), LONG + 1j * LONG])
def test_a_brief_description_is_of_a_difference_if_the_whole_one_is(
    place: int, value: float, wanted: Any
) -> None:
    found = wanted.copy()
    found[place] = value
    brief, whole = (difference([found], [wanted], is_brief=short) for short in (True, False))
    assert (brief is None) == (whole is None)
    assert (brief is None) == np.allclose(found, wanted, 1e-4, 1e-4, equal_nan=True)
