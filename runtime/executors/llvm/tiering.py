"""`jit_compile=None`: the plan runs a graph until that has taken long enough, then native code is tried.

    plan, measured ──50 ms──► compiled in the background ──► a few calls of each, measured ──► the faster one
                                                             three where one takes a fifth of the other's time

Nothing waits for the compiler: one thread compiles, while calls go on. The first call with native code is run by both,
and native code whose results differ is left (first_call_check.py). Others are run by the one or by the other,
and what fails in native code is run again by the plan, as always. Each combination of shapes is decided about
by itself. What cannot be compiled as a whole has its loops compiled (loop_compilation.py), or stays with the plan.

AGC_JIT=0 in the environment and `tf.config.optimizer.set_jit(False)` switch this off.
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
from ...ir.graph import Graph
from ...ops.lists.tensor_array import PersistentArray
from .. import kernel_for
from . import llvm_engine
from .diagnostics import CannotCompileError, CompilerFaultError, tell, tell_of_difference

if TYPE_CHECKING:
    from .. import Plan
    from .jit_function import JitFunction

HOT = 0.05
"""Seconds that a graph must have run for before it is compiled."""

FEWEST = 3
"""Calls that it must have had."""

TRIALS = 5
"""Calls of either kind that are measured before one is chosen."""

MOST_VALUES = 16
"""Combinations of shapes and values of a graph whose shapes depend on values; the plan runs all others."""

CLEAR = 5
"""How many times as long each call of one kind must take as each of the other, that three calls in all are enough."""

_MOST_SHAPES = 64
_LARGEST = 4000

Runner = Callable[[Sequence[Any]], Sequence[Any]]


def is_wanted() -> bool:
    """Whether graphs are compiled without being asked."""
    return os.environ.get("AGC_JIT") != "0" and optimizer.is_jit_allowed() and llvm_engine.missing() is None


class TieredRunner:
    """A graph that may become native code while it is used."""

    def __init__(self, graph: Graph, plan: Runner) -> None:
        self._graph = graph
        self._plan = plan
        self._trials: dict[Any, TierState] = {}
        self._has_one_shape = all(_is_fixed(value.spec) for value in graph.inputs)
        self._only: TierState | None = None
        self._waiting: list[Callable[[], None]] = []
        self._by_value: tuple[int, ...] = ()  # the inputs whose values native code is compiled for

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The outputs for the values of the inputs."""
        trial = self._only or self._trial(arguments)
        if trial.chosen is not None:
            return trial.chosen(arguments)
        return trial.run(arguments)

    def chosen_for(self, arguments: Sequence[Any]) -> Runner | None:
        """What runs such arguments from now on, once that is decided."""
        return self._trial(arguments).chosen

    def kernel_for(self, arguments: Sequence[Any]) -> Any:
        """The machine code for such arguments, once it is decided that it runs them."""
        chosen = self.chosen_for(arguments)
        return None if chosen is None else kernel_for(chosen, arguments)

    def plan_for(self, arguments: Sequence[Any]) -> Plan | None:
        """The plan, once it is decided that it runs all arguments, for then nothing needs to be asked."""
        is_chosen = self._has_one_shape and self.chosen_for(arguments) == self._plan
        owner = getattr(self._plan, "__self__", None)
        return owner if is_chosen else None

    def when_decided(self, arguments: Sequence[Any], call: Callable[[], None]) -> None:
        """Have `call` called when something is decided, if nothing is about such arguments yet."""
        if self.chosen_for(arguments) is None:
            self._waiting.append(call)

    def decided(self) -> None:
        """Tell those who wait."""
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
        """From now on this trial is for the values of these inputs in these arguments, too; others begin anew."""
        if by_value != self._by_value:
            self._by_value, self._has_one_shape, self._only = by_value, False, None
            self._trials = {self._key(arguments): trial}


def _value(argument: Any) -> Any:
    """What native code knows of an input whose value it is for; of a list that is its length."""
    return len(argument.items()) if isinstance(argument, PersistentArray) else np.asarray(argument).tobytes()


def _is_fixed(spec: Any) -> bool:
    tensor = getattr(spec, "content", spec)
    shape = getattr(tensor, "shape", None)
    return shape is not None and None not in shape


class TierState:
    """What is known of a graph with inputs of some shapes: how long the plan took, and native code if there is any.

    `chosen` is what runs it from now on, once that is decided.
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
        self._vain = 0  # calls in which native code gave up before it could be compared
        self._times: tuple[list[float], list[float]] = ([], [])

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run, measure, and decide when enough has been measured."""
        native, doubted = self.native, self.doubted
        if doubted is not None:
            return self._trusted(doubted, arguments)
        if native is not None:
            return self._compared(native, arguments)
        start = time.perf_counter()
        results = self._plan(arguments)
        self._spent += time.perf_counter() - start
        self._calls += 1
        if self._spent > HOT and self._calls >= FEWEST and not self._asked:
            self._asked = True
            compiler.ask(self, self._graph, list(arguments))
        return results

    def _trusted(self, native: JitFunction, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run both, and leave native code that gives other results."""
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
        """Leave it to the plan for good."""
        self._choose(self._plan)


def _measured(run: Runner, times: list[float], arguments: Sequence[Any]) -> Sequence[Any]:
    """Run, and note how long that takes."""
    start = time.perf_counter()
    results = run(arguments)
    times.append(time.perf_counter() - start)
    return results


def _is_clear(*times: Sequence[float]) -> bool:
    """Whether three calls have shown which of two kinds is faster by far."""
    if sum(map(len, times)) < 3 or not all(times):
        return False
    faster, slower = sorted(times, key=max)
    return CLEAR * max(faster) < min(slower)


class Compiler:
    """The thread that compiles, one graph after the other."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._busy = threading.Lock()
        self._is_closing = False

    def ask(self, trial: TierState, graph: Graph, arguments: list[Any]) -> None:
        """Compile a graph for arguments like these, some time soon."""
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
        """Wait for what is being compiled: LLVM must not be cut off when Python ends."""
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
    except Exception as fault:  # it must not stop a program that did not ask for it
        tell(fault if isinstance(fault, CompilerFaultError) else CompilerFaultError(graph.name, fault))
    if trial.native is None:
        trial.give_up()


def _compiled(trial: TierState, graph: Graph, arguments: list[Any]) -> Runner | None:
    from .jit_function import (
        JitFunction,  # and the rules of all operations: most programs end before anything is hot
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
