"""`jit_compile=None`: what has run for long is compiled, and the faster way is kept. The clock is the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.config import optimizer
from agc.runtime.executors import EXECUTORS
from agc.runtime.executors.llvm import JitFunction, arena, tiering, trial_times
from agc.runtime.executors.llvm.background_compiler import Job
from agc.runtime.executors.llvm.wait_budget import WaitBudget


class Clock:
    """A clock that advances only when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """A clock, and a compiler that compiles at once instead of in the background."""
    found = Clock()
    monkeypatch.setattr(tiering, "time", found)
    monkeypatch.setattr(trial_times, "time", found)
    monkeypatch.setattr(tiering, "ask", tiering._compile)
    monkeypatch.setattr(tiering.compiler, "left", lambda: np.inf)
    monkeypatch.delenv("AGC_JIT")
    yield found


def slowed(run: Any, clock: Clock, seconds: float) -> Any:
    def slow(arguments: Any) -> Any:
        clock.now += seconds
        return run(arguments)

    return slow


def made(
    function: Any, argument: Any, clock: Clock, plan: float, native: float, mp: Any, code: float | None = None
) -> tiering.TieredRunner:
    """A function whose plan and whose native code take so many seconds a call; `code` of them without Python."""
    graph = tf.function(function).get_concrete_function(argument).graph
    original, rehearsed = JitFunction.run, JitFunction.rehearsed

    def measured(self: JitFunction, results: Any) -> Any:
        self.code_seconds = native if code is None else code
        return results

    mp.setattr(JitFunction, "shortest", None)
    mp.setattr(
        JitFunction,
        "run",
        lambda self, xs: measured(self, slowed(lambda ys: original(self, ys), clock, native)(xs)),
    )
    mp.setattr(
        JitFunction,
        "rehearsed",
        lambda self, xs, copies: measured(
            self, slowed(lambda ys: rehearsed(self, ys, copies), clock, native)(xs)
        ),
    )
    return tiering.TieredRunner(graph, slowed(EXECUTORS["plan"](graph), clock, plan))


def test_hot_code_is_compiled_and_kept_if_faster(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(lambda x: x * 2 + 1, tf.constant([1, 2]), clock, 0.02, 0.001, monkeypatch)
    results = [found.run([tf.constant([i, 2]).numpy()])[0].tolist() for i in range(30)]
    assert results == [[2 * i + 1, 5] for i in range(30)]
    trial = found._only
    assert trial is not None and trial.native is not None and trial.chosen is trial.native


def test_slower_native_code_is_dropped(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(lambda x: x * 2 + 1, tf.constant([1, 2]), clock, 0.02, 0.03, monkeypatch)
    for _ in range(100):
        found.run([tf.constant([1, 2]).numpy()])
    trial = found._only
    assert trial is not None and trial.native is not None and trial.chosen is trial._plan
    assert clock.now < 1.1 * 100 * 0.02


def test_slower_native_code_keeps_no_memory(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(lambda x: tf.sin(x @ x) @ x, tf.ones([64, 64]), clock, 0.02, 0.03, monkeypatch)
    while found._only is None or not found._only._again:
        found.run([np.ones((64, 64), np.float32)])
    assert not any(memory.table.any() for memory in arena.tables)
    native = found._only.native
    assert native is not None
    native([np.ones((64, 64), np.float32)])
    assert any(memory.table.any() for memory in arena.tables)  # until the plan runs


def test_native_code_is_tried_again_if_something_disturbed_its_trial(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(lambda x: x * 2, tf.constant(1), clock, 0.02, 0.03, monkeypatch)
    while found._only is None or not found._only._again:
        found.run([np.int32(1)])
    trial = found._only
    undisturbed = trial.native = slowed(EXECUTORS["plan"](found._graph), clock, 0.01)
    while trial.chosen is None:
        assert found.run([np.int32(1)])[0] == 2
    assert trial.chosen is undisturbed
    assert trial._spent == pytest.approx(trial._again, abs=0.03)  # long after the first trial


@pytest.mark.parametrize(
    ("plan", "native", "calls"),
    [
        (0.9, 0.6, 1),  # the comparison has run both once
        (0.006, 0.005, 1),
        (0.6, 0.9, 3),  # two runs of each: the first one may be slow
        (0.02, 0.03, 4),  # trials take a tenth of a second at most …
        (0.004, 0.006, 2 * tiering.TRIALS - 1),  # … or five calls of each
    ],
)
def test_faster_native_code_is_kept_at_once_and_slower_code_is_tried_again(
    plan: float, native: float, calls: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(lambda x: x * 2 + 1, tf.constant([1, 2]), clock, plan, native, monkeypatch)
    while found._only is None or found._only.native is None:
        found.run([tf.constant([1, 2]).numpy()])
    for _ in range(calls - 1):
        assert found._only.chosen is None and not found._only._again
        found.run([tf.constant([1, 2]).numpy()])
    if native < plan:
        assert found._only.chosen is found._only.native
    else:
        assert found._only._again and found._only.chosen is None  # until another trial


def test_one_slow_run_of_the_plan_is_no_reason_for_native_code() -> None:
    assert not trial_times.is_known([0.075], [0.051, 0.060], best=0.025)
    assert trial_times.is_known([0.075, 0.025], [0.051, 0.060], best=0.025)


def test_a_short_call_of_small_shapes_does_not_decide_for_a_pattern() -> None:
    graph = tf.function(lambda x: x + 1).get_concrete_function(tf.constant([1.0])).graph

    def decided(pattern: Any) -> tiering.TierState:
        owner: Any = SimpleNamespace(hot=0.0, new_budget=WaitBudget, decided=lambda: None)
        trial = tiering.TierState(owner, graph, list, pattern=pattern)
        trial.native = tuple
        trial._times[0].append(0.010)
        trial._times[1].append(0.009)
        trial._decide()
        return trial

    assert decided(pattern=None).chosen is tuple
    assert decided(pattern=((4,),)).chosen is None


def test_the_calls_before_the_comparison_count(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(lambda x: x * 2, tf.constant(1), clock, 0.02, 0.03, monkeypatch)
    for _ in range(6):
        found.run([np.int32(1)])
    assert found._only is not None
    found._only._plan = slowed(found._plan, clock, 0.05)  # memory that is new, or a busy processor
    found.run([np.int32(1)])
    assert found._only.native is not None and found._only.chosen is None


def test_cheap_graphs_are_never_compiled(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    found = made(lambda x: x + 1, tf.constant(1), clock, 0.0001, 0.0, monkeypatch)
    for _ in range(400):
        found.run([tf.constant(1).numpy()])
    assert found._only is not None and found._only.native is None and found._only.chosen is None


def test_a_graph_is_not_compiled_before_it_is_called_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(lambda x: x * 2 + 1, tf.constant([1, 2]), clock, 2.0, 0.001, monkeypatch)
    found.run([np.array([1, 2], np.int32)])
    trial = found._only
    assert trial is not None and trial.native is None
    found.run([np.array([1, 2], np.int32)])
    assert trial.native is not None


def test_a_loop_is_tiered_when_the_graph_cannot_be_compiled(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def distinct(x: Any) -> Any:
        total = 0
        for i in tf.range(100):
            total += i * 2
        return tf.unique(x)[0], total

    found = made(distinct, tf.constant([3, 1]), clock, 0.1, 0.0, monkeypatch)
    for _ in range(20):
        values, total = found.run([tf.constant([3, 1]).numpy()])
        assert (values.tolist(), int(total)) == ([3, 1], 9900)
    trial = found._only
    assert trial is not None and trial.chosen is trial.native is not None


def test_variables_change_once_a_call(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    count = tf.Variable(0)
    step = tf.function(lambda x: count.assign_add(x)).get_concrete_function(tf.constant(1))
    found = tiering.TieredRunner(step.graph, slowed(EXECUTORS["plan"](step.graph), clock, 0.1))
    for _ in range(25):
        found.run([tf.constant(1).numpy(), count])
    assert int(count) == 25


def test_automatic_compilation_can_be_disabled(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimizer, "_jit", dict(optimizer._jit))
    assert tiering.is_wanted()
    tf.config.optimizer.set_jit(False)
    assert not tiering.is_wanted()
    tf.config.optimizer.set_jit(True)
    tf.config.experimental.enable_op_determinism()
    assert not tiering.is_wanted()
    optimizer.set_deterministic(False)
    assert tiering.is_wanted()
    monkeypatch.setenv("AGC_JIT", "0")
    assert not tiering.is_wanted()


def test_every_value_that_shapes_depend_on_has_its_own_trial(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(lambda n: tf.range(n) * 2, tf.constant(3), clock, 0.02, 0.001, monkeypatch)
    for number in [3] * 30 + [5, 5]:
        assert found.run([tf.constant(number).numpy()])[0].tolist() == list(range(0, 2 * number, 2))
    of_three, of_five = found._trials.values()
    assert of_three.chosen is of_three.native
    assert of_five.native is None  # five has not run for long yet
    for number in range(100):
        found.run([tf.constant(number).numpy()])
    assert len(found._trials) == tiering.MOST_VALUES


def test_the_plan_runs_until_the_compiler_is_done(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    job, events = Job(lambda: None), []
    monkeypatch.setattr(tiering, "ask", lambda *arguments: (events.append("ask"), job)[1])
    monkeypatch.setattr(tiering.compiler, "wait", lambda job, budget: events.append("wait"))
    found = made(lambda x: x + 1, tf.constant(1), clock, 0.06, 0.0, monkeypatch)
    for _ in range(4):
        assert found.run([np.int32(1)])[0] == 2
    assert events == ["ask", "wait", "wait"]
    assert found._only is not None
    tiering._compile(found._only, found._graph, [np.int32(1)])
    job.done.set()
    assert found.run([np.int32(1)])[0] == 2
    assert found._only.chosen is found._only.native


def test_a_comparison_waits_until_there_is_time_for_it(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[float] = []
    monkeypatch.setattr(tiering.compiler, "left", lambda: clock.now - 0.1)
    monkeypatch.setattr(tiering.compiler, "spend", spent.append)
    found = made(lambda x: x * 2, tf.constant(1), clock, 0.06, 0.01, monkeypatch)
    for calls in range(1, 5):
        assert found.run([np.int32(4)])[0] == 8
        assert found._only is not None
        assert (found._only.chosen is None) == (calls < 3)
    assert spent == [pytest.approx(0.01)]


@pytest.mark.parametrize(("seconds", "calls"), [(0.9, 1), (0.06, 2), (0.004, 25)])
def test_hot_graphs_are_compiled_by_the_next_call(
    seconds: float, calls: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr(tiering, "ask", lambda *job: asked.append(clock.now))
    found = made(lambda x: x + 1, tf.constant(1), clock, seconds, 0.0, monkeypatch)
    for _ in range(50):
        found.run([np.int32(1)])
    assert asked == [pytest.approx(calls * seconds)]


def test_refused_graphs_are_not_tried_again_for_every_shape(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def refuse(trial: tiering.TierState, graph: Any, arguments: Any) -> None:
        asked.append(len(arguments[0]))
        trial.owner.refuse()
        trial.give_up()

    monkeypatch.setattr(tiering, "ask", refuse)
    graph = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([None], tf.int32)).graph
    found = tiering.TieredRunner(graph, slowed(EXECUTORS["plan"](graph), clock, 0.1))
    for size in range(10):
        for _ in range(5):
            assert len(found.run([np.ones(size, np.int32)])[0]) == size
    assert asked == [0, 1, 2]


@pytest.mark.parametrize("has_kernel", [True, False])
def test_native_calls_save_the_time_of_python(
    has_kernel: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JitFunction, "kernel_for", lambda self, arguments: self if has_kernel else None)
    monkeypatch.setattr(tiering, "HOT", 1e-3)
    found = made(lambda x: x + 1, tf.constant(1), clock, 3e-7, 1e-6, monkeypatch)
    for _ in range(2000):
        found.run([np.int32(1)])
    trial = found._only
    assert trial is not None and trial.chosen is (trial.native if has_kernel else trial._plan)


@pytest.mark.parametrize(("code", "is_native"), [(1e-7, True), (8e-6, False)])
def test_the_trial_counts_what_a_kernel_takes_without_the_python_code_around_it(
    code: float, is_native: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = tf.Variable(0)
    monkeypatch.setattr(tiering, "HOT", 1e-3)
    found = made(lambda x: count.assign_add(x), tf.constant(1), clock, 5e-6, 9e-6, monkeypatch, code)
    for _ in range(1000):
        found.run([np.int32(1), count])
    trial = found._only
    assert trial is not None and trial.chosen is (trial.native if is_native else trial._plan)
    assert int(count) == 1000
