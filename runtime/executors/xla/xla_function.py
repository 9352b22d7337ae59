"""Graphs that run as XLA programs, with one compilation for each combination of shapes.

>>> from agc.runtime import constant, function
>>> double = function(lambda x: x + x).get_concrete_function(constant([1, 2]))
>>> XlaFunction(double.graph).run([np.array([3, 4], np.int32)])
[array([6, 8], dtype=int32)]
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.gc_pause import Pause
from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...functionalize.random import with_streams
from ...functionalize.variables import without_variables
from ...ir.graph import Graph
from ...ir.value_types import ListType, VariableType
from ...ops.state.compare_and_swap import exchange
from . import rules  # noqa: F401  (registers the rules)
from .buffers import owner
from .diagnostics import FaultBoundary, refused
from .effects import Effects
from .library import device_of, wide
from .region_trace import DeviceAxis, RegionTrace, reasons
from .static_form import static_form

if TYPE_CHECKING:
    from ..plan.plan import Plan

_MOST_SHAPES = 64

_TRIES = 3
"""Attempts before a run falls back to the plan, if other threads keep changing its variables."""

_FAILED = object()

_shape_of = operator.attrgetter("shape")

OPTIONS = {"xla_allow_excess_precision": False}
"""Results of narrow floats are rounded after each operation, as in the other executors."""


class XlaFunction:
    """A graph that is compiled by XLA for each combination of shapes that it is run with.

    If that is impossible, `run` raises CompilationError with the reasons.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._whole, self._streams = with_streams(graph)
        self._in_turn = threading.RLock()  # serializes runs that draw from streams
        self._programs: dict[Any, XlaProgram] = {}
        self._by_value: tuple[int, ...] = ()
        self._plan: Plan | None = None
        self._plain: tuple[Graph, list[int]] | None = None
        inputs = self._whole.inputs
        self._variables = [i for i, value in enumerate(inputs) if isinstance(value.spec, VariableType)]

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs for the values of the inputs; variables are assigned last."""
        try:
            if self._streams:
                with self._in_turn:
                    results = self._run([*arguments, *self._streams])
            else:
                results = self._run(arguments)
        except NeverRunsError as refusal:
            self.fail(arguments)  # which raises the error of the operation
            raise refused(self.graph, refusal) from None
        except CannotCompileError as refusal:
            raise refused(self.graph, refusal) from None
        return self.fail(arguments) if results is _FAILED else results

    def fail(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the plan, which raises the error that the program has detected."""
        if self._plan is None:
            from ..plan.plan import Plan  # rarely needed

            self._plan = Plan(self.graph)
        return self._plan.run(arguments)

    def demand(self, arguments: Sequence[Any]) -> None:
        """Raise the error of `run` if inputs like these cannot be compiled; XLA is not run."""
        try:
            arrays = self._arrays([*arguments, *self._streams])
            self._program(arrays)
        except NeverRunsError:
            return
        except CannotCompileError as refusal:
            raise refused(self.graph, refusal) from None

    def _run(self, arguments: Sequence[Any]) -> Any:
        if self._has_twins(arguments):
            return _FAILED  # only the plan handles the order of updates
        for _ in range(_TRIES):
            arrays = self._arrays(arguments)
            program = self._programs.get(self._key(arrays)) or self._program(arrays)
            results = program(arrays)
            if results is None:
                return _FAILED
            if not program.assigned:
                return results
            count = len(self.graph.outputs)
            new = dict(zip(program.assigned, results[count:], strict=True))
            streams = {i: new.pop(i) for i in program.assigned if i >= len(self.graph.inputs)}
            if exchange([arguments[i] for i in new], [arrays[i] for i in new], [*new.values()]):
                for i, state in streams.items():  # `run` holds the lock of streams
                    arguments[i]._array = state
                return results[:count]
        return _FAILED  # other threads keep changing the variables, which the plan does not wait for

    def _has_twins(self, arguments: Sequence[Any]) -> bool:
        """Return whether one variable is passed twice."""
        count = len(self._variables)
        return count > 1 and len({id(arguments[i]) for i in self._variables}) < count

    def _arrays(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the inputs, with the current values of variables."""
        arrays = list(arguments)
        for i in self._variables:
            arrays[i] = arguments[i]._array
        return arrays

    def _key(self, arrays: Sequence[Any]) -> Any:
        """Return the key of the program for these inputs."""
        values = [np.asarray(arrays[i]).tobytes() for i in self._by_value]
        return (*map(_shape_of, arrays), *values)

    def _program(self, arrays: Sequence[Any]) -> XlaProgram:
        with FaultBoundary(self.graph), Pause():
            if self._plain is None:
                self._plain = self._functional()
            graph, assigned = self._plain
            form, by_value = static_form(graph, arrays, self._by_value)
            if by_value != self._by_value:
                self._by_value = by_value
                self._programs.clear()
            program = self._made(form, assigned, by_value)
            program.trace()
        if len(self._programs) >= _MOST_SHAPES:
            self._programs.pop(next(iter(self._programs)))
        self._programs[self._key(arrays)] = program
        return program

    def _functional(self) -> tuple[Graph, list[int]]:
        return without_state(self._whole)

    def _made(self, graph: Graph, assigned: Sequence[int], by_value: Sequence[int]) -> XlaProgram:
        return XlaProgram(graph, assigned, by_value, splits=True)


def without_state(graph: Graph) -> tuple[Graph, list[int]]:
    """Return the functional form of a graph, and the variable inputs whose new values follow its outputs."""
    for value in graph.inputs:
        if isinstance(value.spec, ListType):
            raise CannotCompileError([f"`{value.name}` is a list, which XLA programs do not take"])
    return without_variables(graph)


class XlaProgram:
    """A graph of static shapes as one function that JAX compiles.

    `assigned` are the inputs of the whole graph whose new values are the last results; `dropped` are the inputs that
    are constants of the program.
    """

    axis: DeviceAxis | None = None

    def __init__(
        self, graph: Graph, assigned: Sequence[int] = (), dropped: Sequence[int] = (), splits: bool = False
    ) -> None:
        found = reasons(graph)
        if found:
            raise CannotCompileError(found)
        self.graph = graph
        self.assigned = assigned
        self._dropped = frozenset(dropped)
        self.can_fail = False
        self._effects = Effects()
        self._device = device_of(graph)
        platform = jax.default_backend() if self._device is None else self._device.platform
        self._splits = splits and platform == "cpu"  # XLA's compilers for other devices inline all functions
        self._jitted = jax.jit(self.compute, compiler_options=OPTIONS)

    @property
    def has_effects(self) -> bool:
        """Return whether the program prints, once it has been traced."""
        return self._effects.exist

    def compute(self, *arrays: Any) -> list[Any]:
        """Compute the results with values that JAX traces. The first is whether a check has failed, if one can."""
        trace = RegionTrace(self._effects, self.axis, self._splits)
        with jax.default_matmul_precision("highest"):
            results = list(map(jnp.asarray, trace.run(self.graph, arrays)))
        self.can_fail = trace.failed is not False
        return [trace.failed, *results] if self.can_fail else results

    def trace(self) -> None:
        """Let JAX trace the program, which raises `CannotCompileError` if a rule refuses an operation.

        Raise `NeverRunsError` if each run fails.
        """
        specs = [jax.ShapeDtypeStruct(value.shape, value.dtype.numpy) for value in self.graph.inputs]
        try:
            with self._scope():
                self._jitted.trace(*specs)
        except NeverRunsError as error:
            raise error.checked(self.graph) from error
        self._effects.is_at_once = not (self.can_fail or self.assigned)

    def __call__(self, arrays: Sequence[Any]) -> list[Any] | None:
        """Return the results for arrays, or None if a check has failed."""
        if self._dropped:
            arrays = [array for i, array in enumerate(arrays) if i not in self._dropped]
        arrays = [*map(owner, arrays)]
        if self._effects.exist:
            return self._with_effects(arrays)
        with self._scope():
            results = self._jitted(*arrays)
        found = list(map(np.asarray, results))
        if not self.can_fail:
            return found
        return None if found[0] else found[1:]

    def _with_effects(self, arrays: Sequence[Any]) -> list[Any] | None:
        """Return the results as `__call__` does, after all that the program prints."""
        with self._effects.lock:
            with self._scope():
                results = self._jitted(*arrays)
                jax.effects_barrier()
            found = list(map(np.asarray, results))
            if self.can_fail and found[0]:
                self._effects.forget()
                return None
            self._effects.finish()
            return found[self.can_fail :]

    def _scope(self) -> AbstractContextManager[Any]:
        """Return the scope of traces and calls: 64-bit types, and the device that the graph names."""
        if self._device is None:
            return wide()
        scope = ExitStack()
        scope.enter_context(wide())
        scope.enter_context(jax.default_device(self._device))
        return scope
