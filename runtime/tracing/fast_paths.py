"""Calls without Python code, for graphs with native code and arguments that are tensors, arrays, objects and nests.

    f(x, n=3), which returns {"y": …}   →   a `FastCall` in f's slot `__call__` from now on

The C extension matches the arguments (argument_patterns.py) and forwards other calls to `Dispatcher.call`; see
executors/llvm/call/native_call.c. Without it, and for graphs without native code, each call takes that way.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agc.autograph import api

from ..core.argument_pattern import ArgumentPattern
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor
from ..executors import kernel_for, when_decided
from .cache_entry import Entry, build_entry
from .cache_key import Parameters
from .flat_arguments import IMMUTABLE, FlatArguments
from .trace import Output

if TYPE_CHECKING:
    from ..executors.llvm.call.kernel import Kernel
    from .concrete_function import ConcreteFunction

MOST = 8
"""The maximum number of fast paths of a function."""


class FastPaths:
    """The fast paths of a function by their fast keys; the newest is tried first."""

    def __init__(self) -> None:
        self._paths: dict[Hashable, Any] = {}
        self._lock = threading.Lock()

    def add(self, key: Hashable, path: Any) -> None:
        """Add a fast path; drop the oldest if there are too many."""
        with self._lock:
            self._paths.pop(key, None)
            if len(self._paths) >= MOST:
                del self._paths[next(iter(self._paths))]
            self._paths[key] = path

    def forget(self, known: dict[Hashable, Any]) -> bool:
        """Remove all fast paths if the key of one is not in `known`; return whether one was removed."""
        with self._lock:
            if all(key in known for key in self._paths):
                return False
            self._paths.clear()
            return True

    def call(self, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """Return a callable that tries the fast paths, and then `fallback`."""
        with self._lock:
            paths = list(reversed(self._paths.values()))
        if not paths:
            return fallback
        from ..executors.llvm.call import native_call

        return native_call.fast_call(paths, fallback)


def build_fast_path(
    concrete: ConcreteFunction,
    parameters: Parameters,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    rebuild: Callable[[], None],
) -> Any:
    """Return the fast path for calls like this one, which just succeeded; None if they need Python.

    `rebuild` is called when it is worth calling this function again.
    """
    tensors: list[Any] = [convert_to_tensor(leaf) for leaf in leaves]
    arguments = [*[tensor._array for tensor in tensors], *concrete.references]
    kernel = kernel_for(concrete.runner, arguments)
    if kernel is None:
        when_decided(concrete.runner, arguments, rebuild)
        return None
    if len(arguments) != len(kernel.inputs):
        return None
    from ..executors.llvm.call import native_call
    from .argument_patterns import parts_of

    parts, result = parts_of(parameters, args, kwargs, leaves), _result_pattern(concrete.structure)
    if parts is None or result is None:
        return None
    flat = FlatArguments(parameters.values(args, kwargs))
    failed = _failing(build_entry(_Failing(concrete, kernel), flat, leaves), parameters)
    names = list(map(sys.intern, kwargs))
    return native_call.fast_path(kernel, parts, names, concrete.references, result, failed)


class _Failing:
    """A substitute for a concrete function that runs the graph after native code has failed."""

    def __init__(self, concrete: ConcreteFunction, kernel: Kernel) -> None:
        self.references = concrete.references
        self.finish = concrete.finish
        self.runner = kernel.fail


def _failing(entry: Entry | None, parameters: Parameters) -> Callable[..., Any]:
    """Return the function to call if the kernel has failed: it raises the error with its reason."""
    assert entry is not None

    def failed(*args: Any, **kwargs: Any) -> Any:
        try:
            return entry(FlatArguments(parameters.values(args, kwargs)).leaves)
        except BaseException as error:
            api.strip_frames(error)
            api.leave_no_trace(error)
            raise

    return failed


def _result_pattern(part: Any) -> ArgumentPattern | None:
    """Return the pattern of a result, with its tensors as outputs of the graph; None if it is not simple."""
    kind = type(part)
    if kind is Output and part.array is None:
        return ArgumentPattern(EagerTensor, number=part.number)
    if kind in IMMUTABLE:
        return ArgumentPattern(object, part)
    if kind not in (tuple, list, dict):
        return None
    keys = tuple(part) if kind is dict else None
    parts = [_result_pattern(child) for child in (part.values() if kind is dict else part)]
    whole = [each for each in parts if each is not None]
    return ArgumentPattern(kind, keys, parts=tuple(whole)) if len(whole) == len(parts) else None
