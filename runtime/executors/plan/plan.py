"""The plan, the default executor: a graph as straight-line Python that calls NumPy's functions and operators.

    graph collatz(n: int32[]) -> int32[]                    def collatz(n):
      last, steps = while n, 0          : int32[], int32[]      n = n[()]
        test m, k                                               last, steps = n, int32_0
          go = not_equal m, 1           : bool[]                while True:
          yield go                               ==>                go = last != int32_1
        body m, k                                                   if not go: break
          ...                                                       ...
          k.1 = add k, 1                : int32[]                   steps = steps + int32_1
          yield m.1, k.1                                        return (steps,)
      return steps

Rank 0 is computed with NumPy scalars, whose operators cost a tenth of those of arrays. Every line is mapped
to its operation. So a failure is traced back from its line number, at no cost while nothing fails.
"""

from __future__ import annotations

import ast
import itertools
import os
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, ClassVar, NoReturn

import numpy as np

from ...core.fp_errors import SILENCE, SILENT, begin, end, quietly
from ...errors import OpError
from ...ir.graph import Constant, Graph, Operand, Operation
from ...ir.value_types import TensorType
from ...ops.framework.eager_calls import is_closed
from ...ops.framework.kernel_lookup import kernel_of
from .codegen import compiled
from .escaping import check_names, identifier
from .runtime_errors import located
from .source_module import Location, PlanSource

plans: weakref.WeakSet[Plan] = weakref.WeakSet()
"""All plans that exist."""

Program = tuple[Callable[..., Any], dict[str, Any], dict[int, Location]]
"""A function, its globals, and the operations by line."""


class Plan:
    """A graph compiled to Python. A call takes the values of the inputs and returns those of the outputs.

    `source` is the generated Python source.
    """

    watch: ClassVar[Callable[[Plan], None] | None] = None  # the profiler's callback for new plans
    _numbers = itertools.count(1)

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        module = self._written(graph)
        self.source = "\n".join(module.lines) + "\n"
        self._locations = module.locations
        self._globals = module.globals
        # The name is in this package, so that the plan's frames count as agc's own in tracebacks.
        name = f"<plan {next(self._numbers)} of {identifier(graph.name)}>"
        self._filename = os.path.join(os.path.dirname(__file__), name)
        code = compile(self.source, self._filename, "exec")
        check_names(code, module.known())
        exec(code, self._globals)
        module.bind()
        self._function = self._globals[module.main]
        # This context lacks the program's variables; to copy and enter it takes half the time of `begin` and `end`.
        self._silent = SILENT if all(map(is_closed, graph.ops)) else None
        plans.add(self)
        if Plan.watch is not None:
            Plan.watch(self)

    def _written(self, graph: Graph) -> PlanSource:
        return compiled(graph)

    @property
    def operations(self) -> dict[int, Operation]:
        """By line number of `source`, counted from one, the operation that the line belongs to."""
        return {line: operation for line, (operation, _) in self._locations.items()}

    def swap(self, program: Program | None = None) -> Program:
        """Return the program that runs now, and replace it by `program` if one is passed."""
        before = self._function, self._globals, self._locations
        if program is not None:
            self._function, self._globals, self._locations = program
        return before

    def __call__(self, *arguments: Any) -> Sequence[Any]:
        return self.run(arguments)

    def plan_for(self, arguments: Sequence[Any]) -> Plan | None:
        """Return the plan that runs inputs like `arguments`: this one, for all inputs."""
        return self

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Run the plan with the arguments in one sequence."""
        try:
            if self._silent is not None:
                return self._silent.copy().run(self._function, *arguments)
            before = begin(SILENCE)
            try:
                return self._function(*arguments)  # type: ignore[no-any-return]
            finally:
                end(before)
        except Exception as error:
            self.fail(error)

    def fail(self, error: BaseException) -> NoReturn:
        """Raise a failure of the plan's function in terms of user code; call this while handling `error`."""
        found = self._located(error, error.__traceback__) if isinstance(error, Exception) else error
        if found is error:
            raise
        raise found from None

    @quietly
    def _located(self, error: Exception, traceback: TracebackType | None) -> Exception:
        """Return the failure in terms of user code, located by the innermost line of this plan."""
        innermost = None
        while traceback is not None:
            if traceback.tb_frame.f_globals is self._globals:
                innermost = traceback
            traceback = traceback.tb_next
        location = None if innermost is None else self._locations.get(innermost.tb_lineno)
        if innermost is None or location is None:
            return error
        operation, scope = location
        known = self._globals | innermost.tb_frame.f_locals
        names = [scope.get(operand, "") for operand in operation.inputs]  # type: ignore[arg-type]
        inputs = [
            _value(operand, known.get(name, name))
            for operand, name in zip(operation.inputs, names, strict=True)
        ]
        return located(_kernels_own(error, operation, inputs), operation, inputs)


def _value(operand: Operand, found: Any) -> Any:
    """Return the run-time value of an operand as NumPy value."""
    if isinstance(operand, Constant):
        return operand.value
    if type(found) is str:
        found = _literal(found)
    if type(found) in (bool, int, float) and isinstance(operand.spec, TensorType):
        return operand.dtype.numpy_dtype.type(found)
    if type(found) is tuple and isinstance(operand.spec, TensorType):  # a seed
        return np.array(found, operand.dtype.numpy_dtype)
    return found


def _literal(text: str) -> Any:
    """Return the number that is written in the source as a literal."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _kernels_own(error: Exception, operation: Operation, inputs: list[Any]) -> Exception:
    """Return the error that the kernel raises for inputs on which the operation's expression failed."""
    if not isinstance(error, OpError) and not operation.stateful and not operation.regions:
        try:
            kernel_of(operation)(*operation.op.grouped(inputs), **operation.attrs)
        except Exception as own:
            return own
    return error
