"""Calls without Python code, for graphs with native code and arguments that are tensors, arrays, objects and nests.

    f(x, n=3), which returns {"y": …}   →   a built-in function that is f's `__call__` from now on

The built-in function matches the arguments itself (argument_flattening.py). It forwards other calls to the built-in
functions that were made earlier. The last of them calls `Dispatcher.call`. The built-in function is made by
executors/llvm/call/call_descriptor.py.

A graph that has a plan, and will have no native code, needs less Python: see plan_fast_path.py.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agc.autograph import api

from ..core.conversion import convert_to_tensor
from ..executors import kernel_for, when_decided
from .cache_entry import IMMUTABLE, build_entry
from .cache_key import Parameters
from .plan_fast_path import PlanFastPath, direct
from .trace import Output

if TYPE_CHECKING:
    from ..executors.llvm.call.call_codegen import Row
    from ..executors.llvm.call.call_descriptor import NativeFastPath
    from ..executors.llvm.loader import Kernel
    from .concrete_function import ConcreteFunction

MOST = 8
"""The maximum number of fast paths of a function."""

MOST_PLANNED = 3
"""The maximum number of fast paths that run a plan. With more of them, forwarding would be slower than the lookup."""


class FastPaths:
    """The fast paths of a function by their fast keys; the newest is tried first."""

    def __init__(self) -> None:
        self._ways: dict[Hashable, NativeFastPath | PlanFastPath] = {}
        self._planned: set[Hashable] = set()  # the keys of fast paths that run a plan
        self._lock = threading.Lock()

    def add(self, key: Hashable, way: NativeFastPath | PlanFastPath) -> None:
        """Add a fast path; drop the oldest if there are too many, and all if too many of them run a plan."""
        with self._lock:
            self._ways.pop(key, None)
            if type(way) is PlanFastPath and len(self._planned) <= MOST_PLANNED:
                self._planned.add(key)
            if len(self._planned) > MOST_PLANNED:
                self._ways.clear()
                return
            if len(self._ways) >= MOST:
                del self._ways[next(iter(self._ways))]
            self._ways[key] = way

    def forget(self, known: dict[Hashable, Any]) -> bool:
        """Remove all fast paths if the key of one is not in `known`; return whether one was removed."""
        with self._lock:
            if all(key in known for key in self._ways):
                return False
            self._ways.clear()
            return True

    def chain(self, last: Callable[..., Any]) -> Callable[..., Any]:
        """Return the newest fast path, which forwards other calls to the next one, and the last one to `last`."""
        with self._lock:
            ways = list(self._ways.values())
        return functools.reduce(lambda fallback, way: way.call(fallback), ways, last)


def build_fast_path(
    concrete: ConcreteFunction,
    parameters: Parameters,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    again: Callable[[], None],
) -> NativeFastPath | PlanFastPath | None:
    """Return the fast path for calls like this one, which just succeeded; None if they need Python.

    `again` is called when it is worth calling this function again.
    """
    tensors: list[Any] = [convert_to_tensor(leaf) for leaf in leaves]
    arguments = [*[tensor._array for tensor in tensors], *concrete.references]
    kernel = kernel_for(concrete.runner, arguments)
    if kernel is None:
        when_decided(concrete.runner, arguments, again)
        return direct(concrete, parameters, args, kwargs, leaves, arguments)
    if len(arguments) != len(kernel.inputs):
        return None
    from ..executors.llvm.call import call_descriptor
    from .argument_flattening import parts_of

    parts, program = parts_of(parameters, args, kwargs, leaves), _program(concrete)
    if parts is None or program is None or not call_descriptor.has_room_for(kernel, parts, program[0]):
        return None
    failed = _failing(concrete, kernel, parameters, args, kwargs, leaves)
    return call_descriptor.NativeFastPath(
        kernel, parts, list(map(sys.intern, kwargs)), concrete.references, program[0], failed, program[1]
    )


class _Failing:
    """A substitute for a concrete function that runs the graph after native code has failed."""

    def __init__(self, concrete: ConcreteFunction, kernel: Kernel) -> None:
        self.references = concrete.references
        self.finish = concrete.finish
        self.runner = kernel.fail


def _failing(
    concrete: ConcreteFunction,
    kernel: Kernel,
    parameters: Parameters,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
) -> Callable[..., Any]:
    """Return the function to call if the kernel has failed: it raises the error with its reason."""

    def values_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        bound = parameters.values(tuple(args), kwargs) if kwargs else args
        assert bound is not None
        return bound

    found = build_entry(_Failing(concrete, kernel), values_of(args, kwargs), leaves)  # type: ignore[arg-type]
    assert found is not None
    entry = found

    def failed(*args: Any, **kwargs: Any) -> Any:
        try:
            return entry(values_of(args, kwargs))
        except BaseException as error:
            api.strip_frames(error)
            api.leave_no_trace(error)
            raise

    return failed


def _program(concrete: ConcreteFunction) -> tuple[list[Row], list[Any]] | None:
    """Return the steps that build the result and the objects in it; None if the result is not simple."""
    steps: list[Row] = []
    objects: list[Any] = []
    return (steps, objects) if _describe(concrete._structure, steps, objects) else None


def _describe(part: Any, steps: list[Row], objects: list[Any]) -> bool:
    """Append the steps that build `part` to `steps`; return whether that is possible."""
    from ..executors.llvm.call import dispatch_stub

    kind = type(part)
    if kind is Output and part.array is None:
        steps.append((dispatch_stub.PUSH_TENSOR, part.number))
        return True
    if kind in IMMUTABLE:
        objects.append(part)
        steps.append((dispatch_stub.PUSH_OBJECT, id(part)))
        return True
    if kind is dict and all(type(key) is str for key in part):
        parts = [x for pair in part.items() for x in pair]
        return _described(parts, (dispatch_stub.MAKE_DICT, len(part)), steps, objects)
    if kind is tuple or kind is list:
        step = dispatch_stub.MAKE_TUPLE if kind is tuple else dispatch_stub.MAKE_LIST
        return _described(part, (step, len(part)), steps, objects)
    return False


def _described(parts: Sequence[Any], step: Row, steps: list[Row], objects: list[Any]) -> bool:
    if not all(_describe(part, steps, objects) for part in parts):
        return False
    steps.append(step)
    return True
