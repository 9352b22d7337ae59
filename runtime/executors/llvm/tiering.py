"""Tiering for `jit_compile=None`: the plan runs a graph until it is hot, then native code is tried.

    plan, measured ──50 ms──► compiled in the background ──► a few calls of each, measured ──► the faster one
                                                             three calls if one is five times as fast

Calls never wait for the compiler, which runs in a background thread. The first call with native code runs
both, and native code with different results is discarded (first_call_check.py). Later trial calls run one of
the two. As always, the plan runs a call again if a check fails in native code. Each combination of shapes is
decided separately. If a graph cannot be compiled as a whole, its loops are compiled (loop_compilation.py), or
the plan stays.

`AGC_JIT=0` in the environment and `tf.config.optimizer.set_jit(False)` disable tiering.
"""

from __future__ import annotations

import atexit
import functools
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...config import optimizer
from ...functionalize.errors import CannotCompileError
from ...ir.graph import Graph
from ...ops.lists.tensor_array import PersistentArray
from ..runners import kernel_for
from . import llvm_engine
from .diagnostics import CompilerFaultError, tell, tell_of_difference

if TYPE_CHECKING:
    from ..plan.plan import Plan
    from .jit_function import JitFunction

HOT = 0.05
"""Seconds that a graph must have run before it is compiled."""

FEWEST = 3
"""The minimum number of calls before compilation."""

LONG = 1.0
"""Seconds after which one call is enough."""

TRIALS = 5
"""Measured calls of each kind before one is chosen."""

MOST_VALUES = 16
"""Maximum number of combinations if shapes depend on values; the plan runs all others."""

CLEAR = 5
"""The factor between the times of all calls from which three calls suffice for a decision."""

_MOST_SHAPES = 64
_LARGEST = 4000

Runner = Callable[[Sequence[Any]], Sequence[Any]]


def is_wanted() -> bool:
    """Return whether graphs are compiled automatically."""
    return os.environ.get("AGC_JIT") != "0" and optimizer.is_jit_allowed() and llvm_engine.missing() is None


class TieredRunner:
    """A graph that starts in the plan, and may be compiled while it is in use."""

    def __init__(self, graph: Graph, plan: Runner) -> None:
        self._graph = graph
        self._plan = plan
        self._trials: dict[Any, TierState] = {}
        self._has_one_shape = all(_is_fixed(value.spec) for value in graph.inputs)
        self._only: TierState | None = None
        self._waiting: list[Callable[[], None]] = []
        self._by_value: tuple[int, ...] = ()  # the inputs that native code is specialized for by value

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

    def _trial(self, arguments: Sequence[Any]) -> TierState:
        key = self._key(arguments)
        trial = self._trials.get(key)
        if trial is None:
            if len(self._trials) >= (MOST_VALUES if self._by_value else _MOST_SHAPES):
                if self._by_value:
                    return TierState(self, self._graph, self._plan, is_decided=True)
                self._trials.pop(next(iter(self._trials)))
            trial = self._trials[key] = TierState(self, self._graph, self._plan)
        if self._has_one_shape:
            self._only = trial
        return trial

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

    `chosen` is the final runner, once that is decided.
    """

    def __init__(self, owner: TieredRunner, graph: Graph, plan: Runner, is_decided: bool = False) -> None:
        self.owner = owner
        self.chosen: Runner | None = plan if is_decided else None
        self.native: Runner | None = None
        self.doubted: JitFunction | None = None  # native code whose results have not been compared yet
        self._graph = graph
        self._plan = plan
        self._calls = 0
        self._spent = 0.0
        self._asked = False
        self._vain = 0  # calls in which native code gave up before the comparison
        self._times: tuple[list[float], list[float]] = ([], [])

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run, measure, and decide after enough measurements."""
        native, doubted = self.native, self.doubted
        if doubted is not None:
            return self._trusted(doubted, arguments)
        if native is not None:
            return self._compared(native, arguments)
        start = time.perf_counter()
        results = self._plan(arguments)
        self._spent += time.perf_counter() - start
        self._calls += 1
        is_hot = self._spent > HOT and (self._calls >= FEWEST or self._spent > LONG)
        if is_hot and not self._asked:
            self._asked = True
            compiler.ask(self, self._graph, list(arguments))
        return results

    def _trusted(self, native: JitFunction, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run both, and discard native code with different results."""
        from .first_call_check import compared

        plan = functools.partial(_measured, self._plan, self._times[0])
        results, difference = compared(native, plan, arguments)
        self._vain += difference is None
        if difference == "":
            self.doubted = None
        elif difference is not None or self._vain >= TRIALS:
            if difference is not None:
                tell_of_difference(self._graph, difference)
            self.give_up()
        return results

    def _compared(self, native: Runner, arguments: Sequence[Any]) -> Sequence[Any]:
        planned, compiled = self._times
        run, times = (self._plan, planned) if len(planned) < len(compiled) else (native, compiled)
        results = _measured(run, times, arguments)
        if min(len(planned), len(compiled)) >= TRIALS or _is_clear(planned, compiled):
            self._choose(native if min(compiled) < min(planned) else self._plan)
        return results

    def _choose(self, runner: Runner) -> None:
        self.chosen = runner
        self.owner.decided()

    def give_up(self) -> None:
        """Choose the plan for good."""
        self._choose(self._plan)


def _measured(run: Runner, times: list[float], arguments: Sequence[Any]) -> Sequence[Any]:
    """Run, and record the time."""
    start = time.perf_counter()
    results = run(arguments)
    times.append(time.perf_counter() - start)
    return results


def _is_clear(*times: Sequence[float]) -> bool:
    """Return whether three calls suffice to show which runner is faster by far."""
    if sum(map(len, times)) < 3 or not all(times):
        return False
    faster, slower = sorted(times, key=max)
    return CLEAR * max(faster) < min(slower)


class Compiler:
    """The background thread that compiles one graph after another."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._busy = threading.Lock()
        self._is_closing = False

    def ask(self, trial: TierState, graph: Graph, arguments: list[Any]) -> None:
        """Queue a graph for compilation with arguments like these."""
        self._jobs.put((trial, graph, arguments))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="agc-compiler", daemon=True)
            atexit.register(self.close)
            self._thread.start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            with self._busy:
                if self._is_closing:
                    return
                _compile(*job)
            del job

    def close(self) -> None:
        """Wait for the current compilation: LLVM must not be interrupted when Python exits."""
        self._is_closing = True
        with self._busy:
            pass


compiler = Compiler()


def _compile(trial: TierState, graph: Graph, arguments: list[Any]) -> None:
    if sum(1 for _ in graph.walk()) > _LARGEST:
        trial.give_up()
        return
    try:
        trial.native = _compiled(trial, graph, arguments)
    except Exception as fault:  # a failed optimization must not stop the program
        tell(fault if isinstance(fault, CompilerFaultError) else CompilerFaultError(graph.name, fault))
    if trial.native is None:
        trial.give_up()


def _compiled(trial: TierState, graph: Graph, arguments: list[Any]) -> Runner | None:
    from .jit_function import (
        JitFunction,  # imported late with all lowering rules: most programs end before a graph is hot
    )
    from .loop_compilation import with_native_parts

    native = JitFunction(graph)
    try:
        native.compiled(arguments)
    except CannotCompileError:
        return with_native_parts(graph)
    trial.owner.depends_on(native.by_value, trial, arguments)
    trial.doubted = native
    return native.shortest or native.run
