"""The operation by which a traced function calls itself, and its limit.

    fact n                                    fact 3
      cond less_equal, n, 1                     fact 2
        then 1                        ==>         fact 1        each a run of the same graph
        else multiply, n, py_function [fact]

The operation runs a graph whose trace is not finished when the operation is recorded: see recursion.py.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors, nest
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor
from ..core.variable import Variable
from ..ir.builder import eagerly
from ..ir.graph import Graph, Operation
from ..ir.value_types import TensorType
from ..ops.framework.op_errors import restate
from ..ops.state.host_call import HostFunction
from ..ops.state.print_and_assert import assert_true
from ..ops.state.raise_op import raise_error
from ..ops.state.variable_ops import read_variable

if TYPE_CHECKING:
    from .concrete_function import ConcreteFunction

LIMIT = 1_000
"""The maximum number of calls of traced functions that are nested by recursion when a graph runs."""

_FRAMES = 60
"""The number of Python frames that such a call takes at most."""

_MOST_PLACES = 3
_REPEATABLE = (read_variable, raise_error, assert_true)


class _Thread(threading.local):
    def __init__(self) -> None:
        self.depth = 0


_thread = _Thread()


class RecursiveCall(HostFunction):
    """A function of an operation: it runs a graph whose trace is not finished when the operation is recorded.

    The last operands, `others`, are the variables and captured tensors that the graph reads. Gradients reach them.
    """

    def __init__(
        self,
        name: str,
        finished: Callable[[], ConcreteFunction],
        results: Sequence[TensorType],
        others: Sequence[Any],
    ) -> None:
        super().__init__(finished, results)
        self.__name__ = name
        self._finished, self._others = finished, tuple(others)
        self.is_once_differentiable = bool(others)

    def on_tensors(self, arguments: Sequence[Any]) -> list[EagerTensor]:
        """Run the graph. Raise ResourceExhaustedError if more than `LIMIT` calls are nested."""
        concrete = self._finished()
        given = arguments[: len(arguments) - len(self._others)]
        with _deeper(self.__name__), eagerly():
            flat = nest.flatten(concrete.call_flat(list(given)))
            return [convert_to_tensor(value) for value in flat if value is not None]  # type: ignore[misc]

    def sources(self, arguments: Sequence[Any]) -> list[Any]:
        """Return what gradients reach when the graph runs once more: the arguments, variables, captured tensors.

        Raise NotImplementedError if the graph has effects, or if a variable has changed since the call.
        """
        effect = _effect(self._finished().graph)
        if effect is not None:
            raise self._no_gradient(f"it has an effect ({effect}), and its backward pass runs it once more")
        count = len(arguments) - len(self._others)
        for variable, value in zip(self._others, arguments[count:], strict=True):
            if isinstance(variable, Variable) and not np.array_equal(variable.numpy(), value.numpy(), True):
                raise self._no_gradient(f"the variable `{variable.name}` has changed since the call")
        return [*arguments[:count], *self._others]

    def _no_gradient(self, reason: str) -> NotImplementedError:
        return NotImplementedError(
            f"no gradient of `{self.__name__}`, which calls itself: {reason}. Write the recursion as a `while` loop"
        )


def _effect(graph: Graph) -> str | None:
    """Return the name of an operation with an effect in the graph or its regions; None if there is none."""
    for operation in graph.operations:
        if operation.regions:
            found = next(filter(None, map(_effect, operation.regions)), None)
            if found is not None:
                return found
        elif operation.stateful and operation.op not in _REPEATABLE and not _is_recursive(operation):
            return operation.type
    return None


def _is_recursive(operation: Operation) -> bool:
    return any(isinstance(each, RecursiveCall) for each in operation.attrs.values())


@contextmanager
def _deeper(name: str) -> Iterator[None]:
    """Count a nested call; the outermost one raises Python's limit of frames while it runs."""
    limit = sys.getrecursionlimit()
    is_outermost = _thread.depth == 0
    if is_outermost:
        sys.setrecursionlimit(limit + LIMIT * _FRAMES)
    _thread.depth += 1
    try:
        if _thread.depth > LIMIT:
            raise errors.ResourceExhaustedError(
                f"`{name}` calls itself more than {LIMIT} times deep: does its recursion end? Deeper recursion needs "
                "a `while` loop"
            )
        yield
    except BaseException as error:
        _shorten(error)
        raise
    finally:
        _thread.depth -= 1
        if is_outermost:
            sys.setrecursionlimit(limit)


def _shorten(error: BaseException) -> None:
    """Leave out lines of an error's message that each nested call adds."""
    del getattr(error, "__notes__", [])[_MOST_PLACES:]
    if isinstance(error, errors.OpError):
        lines = error.message.split("\n")
        places = [number for number, line in enumerate(lines) if line.startswith("  at ")]
        if len(places) > _MOST_PLACES:
            del lines[places[_MOST_PLACES] :]
        restate(error, re.sub(r"( \[op py_function\])+$", "", "\n".join(lines)))
