"""Graphs that run as XLA programs, with one compilation for each combination of shapes.

>>> from agc.runtime import constant, function
>>> double = function(lambda x: x + x).get_concrete_function(constant([1, 2]))
>>> XlaFunction(double.graph).run([np.array([3, 4], np.int32)])
[array([6, 8], dtype=int32)]
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np

from ... import dtypes
from ...core.gc_pause import Pause
from ...core.held_values import Snapshot, Turn, hold, snapshot
from ...core.shapes import is_static
from ...core.variable import Variable
from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...functionalize.variables import without_variables
from ...ir.graph import Graph, Operand
from ...ir.value_types import ListType, VariableType
from ..compiled_function import FAILED, CompiledFunction
from ..llvm.diagnostics import FaultBoundary
from .buffers import moved
from .diagnostics import refused
from .static_form import static_form
from .xla_program import XlaProgram

_MOST_SHAPES = 64

_LARGE = 1 << 14
"""The size in bytes from which a variable that is only read becomes an array of JAX."""


class XlaFunction(CompiledFunction):
    """A graph that is compiled by XLA for each combination of shapes that it is run with."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._programs: dict[Any, XlaProgram] = {}
        self._by_value: tuple[int, ...] = ()
        self._plain: tuple[Graph, list[int]] | None = None
        self._numbers = {i: n for n, i in enumerate(self._variables)}
        self._varying = [i for i, value in enumerate(self._whole.inputs) if not _is_fixed(value.spec)]

    def _run(self, arguments: Sequence[Any]) -> Any:
        program, raw = self._ran(arguments) if self._variables else self._ran_without_state(arguments)
        results = program.outputs(raw)
        return FAILED if results is None else results

    def _ran_without_state(self, arguments: Sequence[Any]) -> tuple[XlaProgram, list[Any]]:
        program = self._programs.get(self._key(arguments)) or self._program(arguments)
        found: list[Any] = []
        program(arguments, found)
        return program, found[0]

    def _ran(self, arguments: Sequence[Any]) -> tuple[XlaProgram, list[Any]]:
        """Return the program for the arguments, and all that it returns."""
        while True:
            before = snapshot([arguments[i] for i in self._variables])
            given = self._given(arguments, before)
            program = self._programs.get(self._key(given)) or self._program(given)
            is_numpy = any(map(operator.is_not, before.arrays, repeat(None)))
            if is_numpy and self._is_moved(program, arguments, before, given):
                continue
            raw = self._called(program, arguments, given, before)
            if raw is not None:
                return program, raw

    def _given(self, arguments: Sequence[Any], before: Snapshot) -> list[Any]:
        """Return the inputs, with the values of variables. Streams compute theirs, and so do some variables."""
        given = list(arguments)
        for i, value in zip(self._variables, before.values, strict=True):
            given[i] = arguments[i]._array if value is None else value
        return given

    def _is_moved(
        self, program: XlaProgram, arguments: Sequence[Any], before: Snapshot, given: list[Any]
    ) -> bool:
        """Let JAX hold the variables that are assigned, and large ones; return whether NumPy held one of them.

        `before` and `given` then have no more references to its array.
        """
        found = False
        for n, i in enumerate(self._variables):
            array = before.arrays[n]
            is_wanted = array is not None and (i in program.assigned or array.nbytes >= _LARGE)
            if is_wanted and isinstance(arguments[i], Variable):
                before.arrays[n] = given[i] = array = None
                hold(before.states[n], moved)
                found = True
        return found

    def _called(
        self, program: XlaProgram, arguments: Sequence[Any], given: Sequence[Any], before: Snapshot
    ) -> list[Any] | None:
        """Return all that a program returns, after variables have their new values.

        Return None if another thread changes a variable.
        """
        numbers = [self._numbers[i] for i in program.assigned]
        places = [place for place, n in enumerate(numbers) if before.held[n] is not None]
        own = [numbers[place] for place in places]
        after = functools.partial(program.state, places)
        turn = Turn([before.states[n] for n in own], [before.held[n] for n in own], after)
        if not turn.begin():
            return None
        try:
            with turn:
                program(given, turn.results)
        except Exception:
            if turn.results or not self._have_changed(arguments, before):
                raise
            return None
        raw: list[Any] = turn.results[0]
        if len(places) < len(numbers) and not program.has_failed(raw):
            for place in set(range(len(numbers))).difference(places):
                arguments[program.assigned[place]]._array = np.asarray(raw[place])
        return raw

    def _have_changed(self, arguments: Sequence[Any], before: Snapshot) -> bool:
        """Return whether another thread has overwritten a variable that a program was given."""
        now = snapshot([arguments[i] for i in self._variables])
        return any(map(operator.is_not, before.values, now.values))

    def _key(self, arrays: Sequence[Any]) -> Any:
        """Return the key of the program for these inputs."""
        values = [np.asarray(arrays[i]).tobytes() for i in self._by_value]
        return (*[arrays[i].shape for i in self._varying], *values)

    def _prepare(self, arguments: Sequence[Any]) -> None:
        before = snapshot([arguments[i] for i in self._variables])
        self._program(self._given(arguments, before))

    def _program(self, arrays: Sequence[Any]) -> XlaProgram:
        with FaultBoundary(self.graph, "by XLA"), Pause():
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

    def _never_runs(self, arguments: Sequence[Any], refusal: NeverRunsError) -> Any:
        self.fail(arguments)  # which raises the error of the operation
        raise self._refused(refusal) from None

    def _refused(self, refusal: CannotCompileError) -> Exception:
        return refused(self.graph, refusal)


def _is_fixed(spec: Any) -> bool:
    """Return whether all values of a type have one shape."""
    content = spec.content if isinstance(spec, VariableType) else spec
    return is_static(getattr(content, "shape", None))


def without_state(graph: Graph) -> tuple[Graph, list[int]]:
    """Return the functional form of a graph, and the variable inputs whose new values follow its outputs."""
    for value in graph.inputs:
        if isinstance(value.spec, ListType):
            raise CannotCompileError([f"`{value.name}` is a list, which XLA programs do not take"])
        if _is_text(value):
            raise CannotCompileError([f"`{value.name}` is of strings, which XLA programs do not take"])
    if any(map(_is_text, graph.outputs)):
        raise CannotCompileError(["it returns strings, which XLA programs do not compute"])
    return without_variables(graph)


def _is_text(operand: Operand) -> bool:
    """Return whether an operand is of strings, or a variable of them."""
    spec = operand.spec
    return getattr(getattr(spec, "content", spec), "dtype", None) is dtypes.string
