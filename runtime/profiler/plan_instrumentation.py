"""Instrumented plans: the same program, with a timestamp before and after each operation.

    enter(at_multiply)
    y = x * float32_2
    leave(y)

During a session, each plan runs this version instead of its own program. Native code runs an instrumented version
that reads the clock (llvm_instrumentation.py); the interpreter is timed as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.fast_path_guard import block_fast_path
from ..executors.plan.codegen import PlanCodegen, compiled
from ..executors.plan.plan import Plan, Program, plans
from ..executors.plan.source_module import PlanSource, Scope
from ..ir.graph import Graph, Operation, Value
from ..ir.structured import is_fused
from ..tracing.concrete_function import ConcreteFunction, concretes
from .recorder import ProfilePoint, ProfileSession, enter, leave

if TYPE_CHECKING:
    from ..ir.source_location import Origin


class _TimedWriter(PlanCodegen):
    _is_new = True  # whether the last operation written returns a new array

    def operation(self, operation: Operation, scope: Scope, depth: int, dead: list[Value]) -> None:
        name = self.module.name_of
        spot = name(("spot", operation), f"op_at_{operation.type}", spot_of(operation))
        self.line(depth, f"{name(enter, 'op_enter', enter)}({spot})")
        self._is_new = not operation.regions or is_fused(operation)
        super().operation(operation, scope, depth, dead)
        results = [scope[value] for value in operation.outputs] if self._is_new else []
        self.line(depth, f"{name(leave, 'op_leave', leave)}({', '.join(results)})")
        self._is_new = False  # for the enclosing operation

    def _into(
        self, operation: Operation, inputs: list[str], targets: list[str], scope: Scope, place: str | None
    ) -> str | None:
        text = super()._into(operation, inputs, targets, scope, place)
        self._is_new = text is None
        return text


class _TimedPlan(Plan):
    def _written(self, graph: Graph) -> PlanSource:
        return compiled(graph, _TimedWriter)

    def plan_for(self, arguments: Sequence[Any]) -> None:
        """Return None: calls must not bypass the measurement."""


def spot_of(operation: Operation) -> ProfilePoint:
    """Return the profile point of an operation; a fused one lists its parts."""
    name = operation.type
    if is_fused(operation):
        parts = [inner.type for inner in operation.regions[0].operations]
        name = f"fused {'+'.join(parts[:4])}{'+…' if len(parts) > 4 else ''}"
    result = operation.outputs[0].name if operation.outputs else ""
    return ProfilePoint("operation", name, operation.origin, "" if result == operation.type else result)


class Watching:
    """Instruments graphs to record their operations in a session, until `end`."""

    def __init__(self, session: ProfileSession) -> None:
        self.session = session
        self._programs: list[tuple[Plan, Program]] = []
        self._runners: list[tuple[ConcreteFunction, Any, Any]] = []
        for plan in list(plans):
            self._plan(plan)
        for concrete in list(concretes):
            self._concrete(concrete)
        Plan.watch, ConcreteFunction.watch = self._plan, self._concrete
        block_fast_path(self, True)

    def end(self) -> None:
        """Restore the original programs."""
        block_fast_path(self, False)
        Plan.watch = ConcreteFunction.watch = None
        for plan, program in self._programs:
            plan.swap(program)
        for concrete, runner, watched in self._runners:
            if concrete.runner is watched:
                concrete.runner = runner

    def _plan(self, plan: Plan) -> None:
        if isinstance(plan, _TimedPlan):
            return
        own = plan.swap()
        self._programs.append((plan, own))
        session, graph = self.session, plan.graph
        spot = ProfilePoint("graph", graph.name, _origin_of(graph))
        timed: list[Program] = []  # compiled at the first run

        def watched(*arguments: Any) -> Any:
            if not timed:
                timed.append(_TimedPlan(graph).swap())
                plan.swap((watched, *timed[0][1:]))
            return _noted(session, spot, timed[0][0], arguments)

        plan.swap((watched, *own[1:]))

    def _concrete(self, concrete: ConcreteFunction) -> None:
        if concrete.executor == "plan" or concrete.runner == concrete._first_run:
            return
        session, own = self.session, concrete.runner
        kind = "native" if concrete.executor == "automatic" else concrete.executor
        spot = ProfilePoint(kind, concrete.name, _origin_of(concrete.graph))
        measured: list[Any] = []  # native code, compiled at the first run

        def watched(arguments: Sequence[Any]) -> Any:
            if concrete.executor == "automatic" and not _is_native(own, arguments):
                return own(arguments)
            if concrete.executor == "interpret":
                return _noted(session, spot, own, (arguments,))
            if not measured:
                from .llvm_instrumentation import MeasuredNative

                measured.append(MeasuredNative(concrete.graph, session, spot))
            return measured[0].run(arguments)

        self._runners.append((concrete, own, watched))
        concrete.runner = watched


def _is_native(runner: Any, arguments: Sequence[Any]) -> bool:
    """Return whether the automatic executor has chosen native code for such arguments."""
    automatic = getattr(runner, "__self__", None)
    chosen = getattr(automatic, "chosen_for", lambda arguments: None)(arguments)
    return chosen is not None and not isinstance(getattr(chosen, "__self__", None), Plan)


def _noted(
    session: ProfileSession, spot: ProfilePoint, run: Callable[..., Any], arguments: Sequence[Any]
) -> Any:
    recorder = session.recorder()
    depth = recorder.depth()
    recorder.enter(spot)
    try:
        return run(*arguments)
    finally:
        recorder.leave_to(depth)


def _origin_of(graph: Graph) -> Origin | None:
    """Return the location of a graph: that of its first operation with an origin in user code."""
    return next((each.origin for each in graph.operations if each.origin is not None), None)
