"""Tiering for `jit_compile=None`: the plan runs a graph until it is hot, then native code is tried.

    plan, measured ──hot──► compiled in the background ──► both run once and are compared ──► the faster one
                            later calls wait               a few more calls, unless it is clear

1. A graph is hot when it is called again after it has run for `HOT` seconds. Then a background thread compiles it.
2. Calls wait for the compiler, as long as a graph of this size takes or as they have run in the plan (wait_budget.py),
   and until all waits and comparisons together have taken half of the time that the program has run
   (background_compiler.py).
3. A call with native code then runs both, as soon as there is time left. Native code with different results is
   discarded (first_call_check.py). Code that another process has compared skips this step.
4. Native code that takes less time than each call of the plan is kept at once. Otherwise the two take turns for some
   calls, and the faster one is kept (trial_times.py). Native code that is slower is tried once more, after the plan has
   run for `AGAIN` times as long, and `HOT` seconds: other programs may have disturbed the first trial.
5. If a graph cannot be compiled as a whole, its parts are tiered (native_parts.py), or the plan stays.

After some combinations of shapes, one decision serves all those of a pattern: native code has the sizes that vary in
registers. Other than that, each combination is decided separately.

So a program that ends at any time has taken at most twice as long as with plans alone, and the time of a call. As
always, the plan runs a call again if a check fails in native code.

`AGC_JIT=0` in the environment and `tf.config.optimizer.set_jit(False)` disable tiering.
"""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...config import optimizer
from ...core.freed_memory import return_freed_memory
from ...core.gc_pause import Pause
from ...functionalize.errors import CannotCompileError
from ...functionalize.varying_shapes import MOST_SHAPES, ByPattern, Shapes
from ...ir.graph import Graph
from ...ir.structured import communicates
from ...ir.value_types import TensorType
from ...kernels.persistent_array import PersistentArray
from ..runners import kernel_for
from . import availability
from .background_compiler import Job, compiler
from .trial_times import TRIALS, is_known, measured
from .wait_budget import WaitBudget

if TYPE_CHECKING:
    from ..plan.plan import Plan
    from .jit_function import JitFunction
    from .native_calls import NativePart
    from .rounding_doubts import Doubts

HOT = 0.1
"""Seconds that a graph must have run before a further call compiles it, which takes about as long for a small graph."""

OFTEN = 20
"""The factor of the time after which shapes that fit a pattern get native code of their own."""

AGAIN = 10
"""The factor of the time of a trial after which native code that was slower is tried once more."""

CALL = 2e-6
"""Seconds that a call spends in Python unless native code runs it: a C extension calls that directly."""

MOST_VALUES = 16
"""Maximum number of combinations if shapes depend on values; the plan runs all others."""

MOST_REFUSED = 3
"""The number of combinations of shapes that cannot be compiled after which no more are tried."""

Runner = Callable[[Sequence[Any]], Sequence[Any]]


def is_wanted() -> bool:
    """Return whether graphs are compiled automatically."""
    return os.environ.get("AGC_JIT") != "0" and optimizer.is_jit_allowed() and availability.missing() is None


class TieredRunner:
    """A graph that starts in the plan, and may be compiled while it is in use."""

    def __init__(
        self, graph: Graph, plan: Runner, new_budget: Callable[[], WaitBudget] | None = None
    ) -> None:
        self.hot = HOT
        # For a combination of shapes; parts of a graph get that of the graph.
        self.new_budget = new_budget or functools.partial(WaitBudget, len([*graph.walk()]))
        self._graph = graph
        self._plan = plan
        self._trials: dict[Any, TierState] = {}
        self._has_one_shape = all(_is_fixed(value.spec) for value in graph.inputs)
        self._only: TierState | None = None
        self._waiting: list[Callable[[], None]] = []
        self._general = ByPattern[TierState](
            [i for i, value in enumerate(graph.inputs) if not isinstance(value.spec, TensorType)]
        )
        self._by_value: tuple[int, ...] = ()  # the inputs that native code is specialized for by value
        self._refused = 0  # combinations of shapes without native code

    def refuse(self) -> None:
        """Count a combination of shapes that cannot be compiled."""
        self._refused += 1

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs for the values of the inputs."""
        trial = self._only or self._trial(arguments)
        if trial.chosen is not None:
            return trial.chosen(arguments)
        return trial.run(arguments)

    def chosen_for(self, arguments: Sequence[Any]) -> Runner | None:
        """Return the runner that was chosen for such arguments, or None if there is no decision yet."""
        return self._trial(arguments).chosen

    def kernel_for(self, arguments: Sequence[Any]) -> Any:
        """Return the native kernel for such arguments if native code was chosen for them, else None."""
        chosen = self.chosen_for(arguments)
        return None if chosen is None else kernel_for(chosen, arguments)

    def plan_for(self, arguments: Sequence[Any]) -> Plan | None:
        """Return the plan if it was chosen for all arguments, else None. Then callers can skip the runner."""
        is_chosen = self._has_one_shape and self.chosen_for(arguments) == self._plan
        owner = getattr(self._plan, "__self__", None)
        return owner if is_chosen else None

    def when_decided(self, arguments: Sequence[Any], call: Callable[[], None]) -> None:
        """Register `call` for the next decision, unless there is already a decision for such arguments."""
        if self.chosen_for(arguments) is None:
            self._waiting.append(call)

    def decided(self) -> None:
        """Call the registered callbacks."""
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()

    def settle(self, trial: TierState) -> None:
        """Take the decision of a combination of shapes for all of them."""
        self._only = trial

    def _trial(self, arguments: Sequence[Any]) -> TierState:
        if self._only is not None:
            return self._only
        key = self._key(arguments)
        trial = self._trials.get(key)
        if trial is None:
            if len(self._trials) >= (MOST_VALUES if self._by_value else MOST_SHAPES):
                if self._by_value:
                    return TierState(self, self._graph, self._plan, is_decided=True)
                self._trials.pop(next(iter(self._trials)))
            trial = self._trials[key] = self._new_trial(key)
            self.hot = HOT  # what was hot before this runner existed has run with the first shapes
        if self._has_one_shape:
            self._only = trial
        return trial

    def _new_trial(self, key: Any) -> TierState:
        """Return the state for new shapes or values. With a known pattern, its state is the plan of the new one."""
        is_vain = self._refused >= MOST_REFUSED
        if self._has_one_shape or self._by_value or is_vain:
            return TierState(self, self._graph, self._plan, is_vain)
        general = self._general.get(key)
        if general is None:
            pattern = self._general.learned(key)
            if pattern is None:
                return TierState(self, self._graph, self._plan)
            general = TierState(self, self._graph, self._plan, pattern=pattern)
            self._general.add(pattern, general)
        return TierState(self, self._graph, general.run, hot=OFTEN * self.hot)

    def close_patterns(self) -> None:
        """Decide each combination of shapes separately: native code with dynamic sizes is impossible."""
        self._general.close()
        self._trials = {key: trial for key, trial in self._trials.items() if trial.is_of(self._plan)}

    def _key(self, arguments: Sequence[Any]) -> Any:
        if self._has_one_shape:
            return ()
        shapes = [np.shape(getattr(x, "_array", x)) for x in arguments]
        return (*shapes, *[_value(arguments[i]) for i in self._by_value])

    def depends_on(self, by_value: tuple[int, ...], trial: TierState, arguments: Sequence[Any]) -> None:
        """Extend the key of `trial` to the values of these inputs; all other states are discarded."""
        if by_value != self._by_value:
            self._by_value, self._has_one_shape, self._only = by_value, False, None
            self._trials = {self._key(arguments): trial}


def _value(argument: Any) -> Any:
    """Return the key of an input specialized by value: the length of a list, or the bytes of an array."""
    return len(argument.items()) if isinstance(argument, PersistentArray) else np.asarray(argument).tobytes()


def _is_fixed(spec: Any) -> bool:
    tensor = getattr(spec, "content", spec)
    shape = getattr(tensor, "shape", None)
    return shape is not None and None not in shape


class TierState:
    """The state of a graph for one combination of shapes: times of the plan, and native code if there is any.

    With `pattern`, it is the state for all shapes that fit it. `chosen` is the final runner, once that is decided.
    """

    def __init__(
        self,
        owner: TieredRunner,
        graph: Graph,
        plan: Runner,
        is_decided: bool = False,
        pattern: Shapes | None = None,
        hot: float | None = None,
    ) -> None:
        self.owner = owner
        self.pattern = pattern
        self._hot = owner.hot if hot is None else hot
        self.chosen: Runner | None = plan if is_decided else None
        self.native: Runner | None = None
        self.doubted: JitFunction | None = None  # native code whose results have not been compared yet
        self.budget = owner.new_budget()
        self._graph = graph
        self._plan = plan
        self._spent = 0.0
        self._best = math.inf  # seconds of the shortest call of the plan
        self._asked = False
        self._job: Job | None = None
        self.kernel_of: JitFunction | None = None  # native code that later calls run without Python
        self._again = 0.0  # seconds of the plan after which native code that was slower is tried again
        self._vain = 0  # comparisons that left the difference unknown
        self._doubts: Doubts | None = None
        self._times: tuple[list[float], list[float]] = ([], [])

    def is_of(self, plan: Runner) -> bool:
        """Return whether native code is compared with `plan`, and not with the state of a pattern."""
        return self._plan == plan

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run, measure, and decide after enough measurements."""
        if not self._asked and self._spent > self._hot:
            self._asked = True
            self._job = ask(self, self._graph, list(arguments))
        job = self._job
        if job is not None:
            compiler.wait(job, self.budget)
            if not job.done.is_set():
                return compiler.undisturbed(self._planned, arguments)
            self._job = None
        native, doubted = self.native, self.doubted
        if self.chosen is not None:
            return self.chosen(arguments)
        if self._spent < self._again:
            return self._planned(arguments)
        if doubted is not None:
            return self._trusted(doubted, arguments) if compiler.left() > 0 else self._planned(arguments)
        if native is not None:
            return self._compared(native, arguments)
        return self._planned(arguments)

    def _planned(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the plan, and measure."""
        start = time.perf_counter()
        results = self._plan(arguments)
        seconds = time.perf_counter() - start
        self._spent += seconds + CALL
        self.budget.add_run(seconds)
        self._best = min(self._best, seconds)
        return results

    def _trusted(self, native: JitFunction, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run both, and discard native code with different results."""
        from .first_call_check import compared
        from .rounding_doubts import Doubts

        self._doubts = self._doubts or Doubts()
        planned, compiled = self._times
        plan = functools.partial(measured, self._plan, planned)
        rehearse = functools.partial(self._measured, native.rehearsed, compiled)
        start = time.perf_counter()
        results, difference = compared(native, plan, arguments, rehearse, self._doubts)
        compiler.spend(time.perf_counter() - start - planned[0])
        if difference == "":
            if self.pattern is None:
                self.doubted = None  # later calls run one of them: the times of equal shapes are comparable
            self._decide()
            return results
        _free_native_memory()  # the next call may run the plan
        self._times = (planned, [])  # without runs that gave up
        self._vain += difference is None
        if difference is not None or self._vain >= TRIALS:
            if difference is not None:
                from .diagnostics import tell_of_difference

                tell_of_difference(self._graph, difference)
            self.give_up()
        return results

    def _compared(self, native: Runner, arguments: Sequence[Any]) -> Sequence[Any]:
        planned, compiled = self._times
        if len(planned) < len(compiled):
            _free_native_memory()
            results = measured(self._plan, planned, arguments)
        else:
            results = self._measured(native, compiled, arguments)
        self._decide()
        return results

    def _measured(self, run: Callable[..., Any], times: list[float], *arguments: Any) -> Any:
        """Run native code, and record the time that later calls take, which may skip the Python code around it."""
        results = measured(run, times, *arguments)
        if self.kernel_of is not None:
            times[-1] = min(times[-1], self.kernel_of.code_seconds)
        return results

    def _decide(self) -> None:
        """Choose the faster runner if that is known."""
        planned, compiled = self._times
        self._best = min([self._best, *planned])
        # A short call of native code for a pattern may be one of small shapes.
        best = self._best if self.pattern is None else 0.0
        if self.native is not None and is_known(planned, compiled, best):
            time_of = min if self.pattern is None else sum
            gain = 0.0 if self.kernel_of is None else CALL
            is_faster = min(compiled) < best or time_of(compiled) - gain < time_of(planned)
            if is_faster or 0 < self._again <= self._spent:
                self._choose(self.native if is_faster else self._plan)
            else:
                self._again = self._spent + max(HOT, AGAIN * (sum(planned) + sum(compiled)))
                self._times = ([], [])  # other threads may read the old ones
                _free_native_memory()

    def _choose(self, runner: Runner) -> None:
        self.chosen, self.doubted = runner, None
        if runner is self.native:
            return_freed_memory()  # of the plan
        elif self.native is not None:
            _free_native_memory()
        self.owner.decided()

    def give_up(self) -> None:
        """Choose the plan for good."""
        self._choose(self._plan)

    def settle(self, runner: Runner) -> None:
        """Choose a runner for all shapes."""
        self.native = runner
        self.owner.settle(self)
        self._choose(runner)


def _free_native_memory() -> None:
    """Free the memory that native code keeps between calls: the plan needs as much."""
    from .runtime_library import free_kept_memory  # loaded with native code

    free_kept_memory()


def ask(trial: TierState, graph: Graph, arguments: list[Any]) -> Job | None:
    """Have a graph compiled for arguments like these."""
    return compiler.ask(functools.partial(_compile, trial, graph, arguments))


def _compile(trial: TierState, graph: Graph, arguments: list[Any]) -> None:
    try:
        with Pause():  # imports allocate as much as the compilation
            trial.native = _compiled(trial, graph, arguments)
    except Exception as fault:  # a failed optimization must not stop the program
        from .diagnostics import CompilerFaultError, tell

        tell(fault if isinstance(fault, CompilerFaultError) else CompilerFaultError(graph.name, fault))
    if trial.native is None:
        trial.owner.refuse()
        trial.give_up()


def _compiled(trial: TierState, graph: Graph, arguments: list[Any]) -> Runner | None:
    # Imported late with all lowering rules: most programs end before a graph is hot.
    from .first_call_check import is_trusted
    from .jit_function import JitFunction
    from .native_parts import is_refused

    if communicates(graph) or is_refused(graph):  # a comparison of two runs would communicate twice
        return _in_parts(trial, graph)
    native = JitFunction(graph)
    try:
        if trial.pattern is not None:
            native.generalized(arguments, trial.pattern)
        else:
            native.compiled(arguments)
    except CannotCompileError:
        if trial.pattern is not None:
            trial.owner.close_patterns()
            return None
        return _in_parts(trial, graph)
    trial.owner.depends_on(native.by_value, trial, arguments)
    trial.kernel_of = native if native.kernel_for(arguments) is not None else None
    trial.doubted = None if trial.pattern is None and is_trusted(native, arguments) else native
    return native.shortest or native.run


def _in_parts(trial: TierState, graph: Graph) -> Runner | None:
    """Return the plan of a graph with its native parts, if any, and choose that plan: each part is tiered by itself."""
    from .native_parts import with_native_parts

    found = with_native_parts(graph, functools.partial(tiered_part, budget=trial.budget))
    if found is not None:
        trial.settle(found)
    return found


def tiered_part(graph: Graph, budget: WaitBudget) -> NativePart:
    """Return a part of a hot graph, which the plan runs first, and whose calls wait as those of the graph."""
    from .native_calls import NativePart, planned

    runner = TieredRunner(graph, planned(graph).run, lambda: budget)
    runner.hot = 0.0
    return NativePart(graph, runner.run)
