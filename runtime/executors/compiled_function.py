"""The base of functions that a compiler takes whole: state as values, refusals, and failed runs.

run x, v     ==>     compiled code for these shapes: results, and the next value of v
                     a check has failed: the plan runs the same inputs, and raises the error with its line
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..functionalize.errors import CannotCompileError, NeverRunsError
from ..functionalize.random import with_streams
from ..ir.graph import Graph
from ..ir.value_types import VariableType

if TYPE_CHECKING:
    from .plan.plan import Plan

FAILED = object()
"""The result of a run in which a check has failed."""


class CompiledFunction:
    """A graph that is compiled for each combination of shapes that it is run with.

    If that is impossible, `run` raises CompilationError with the reasons.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._whole, self._streams = with_streams(graph)
        # serializes runs that draw from streams, so that none draws the same numbers
        self._in_turn = threading.RLock()
        self._plan: Plan | None = None
        self._variables = [
            i for i, value in enumerate(self._whole.inputs) if isinstance(value.spec, VariableType)
        ]

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs for the values of the inputs; variables are assigned last."""
        results: Sequence[Any] = self._attempt(arguments)
        return self.fail(arguments) if results is FAILED else results

    def fail(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the plan, which raises the error that compiled code has detected."""
        if self._plan is None:
            from .plan.plan import Plan  # rarely needed

            self._plan = Plan(self.graph)
        return self._plan.run(arguments)

    def demand(self, arguments: Sequence[Any]) -> None:
        """Raise the error of `run` if inputs like these cannot be compiled; the compiler itself is not run."""
        try:
            self._prepare([*arguments, *self._streams])
        except NeverRunsError:
            return
        except CannotCompileError as refusal:
            raise self._refused(refusal) from None

    def _attempt(self, arguments: Sequence[Any]) -> Any:
        """Return the outputs, or `FAILED` if the plan must run."""
        if self._has_twins(arguments):
            return FAILED  # only the plan handles the order of updates
        try:
            if self._streams:
                with self._in_turn:
                    return self._run([*arguments, *self._streams])
            return self._run(arguments)
        except NeverRunsError as refusal:
            return self._never_runs(arguments, refusal)
        except CannotCompileError as refusal:
            raise self._refused(refusal) from None

    def _run(self, arguments: Sequence[Any]) -> Any:
        """Return the outputs for inputs and streams, or `FAILED`."""
        raise NotImplementedError

    def _never_runs(self, arguments: Sequence[Any], refusal: NeverRunsError) -> Any:
        """Return or raise what a run does whose shapes an operation refuses."""
        return FAILED

    def _prepare(self, arguments: Sequence[Any]) -> None:
        """Do what precedes the compiler itself for inputs like these."""
        raise NotImplementedError

    def _refused(self, refusal: CannotCompileError) -> Exception:
        """Return the error for a graph that must be compiled, but cannot be."""
        raise NotImplementedError

    def _has_twins(self, arguments: Sequence[Any]) -> bool:
        """Return whether one variable is passed twice, which `tf.function` does not do."""
        count = len(self._variables) - len(self._streams)
        return count > 1 and len({id(arguments[i]) for i in self._variables[:count]}) < count

    def _arrays(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the inputs, with the current values of variables."""
        arrays = list(arguments)
        for i in self._variables:
            arrays[i] = arguments[i]._array
        return arrays
