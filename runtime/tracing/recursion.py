"""Recursion that a tensor ends: a traced function calls itself by an operation of its graph.

    @tf.function                            fact n
    def fact(n):                              cond less_equal, n, 1
        if n <= 1:                  ==>         then 1
            return 1                            else multiply, n, py_function [fact]
        return n * fact(n - 1)

The first trace finds the types of the results: a recursive call ends its branch there, so the results are those of
the branches without one. The next trace records recursive calls as operations with these results. Tracing is
repeated until the types stay the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agc.autograph.api import StagingError

from .. import nest
from ..control_flow.diagnostics import staging_error
from ..control_flow.exceptions import RegionNeverReturns
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from ..ir.value_types import TensorType
from .trace import Composite, Output

if TYPE_CHECKING:
    from .concrete_function import ConcreteFunction

_MOST_TRACES = 8


class _Thread(threading.local):
    def __init__(self) -> None:
        self.pending: list[PendingTrace] = []


_thread = _Thread()


class PendingTrace:
    """A trace that is not finished; calls with the same cache key are recursive.

    Attributes: `is_called`, if this trace met a recursive call; `is_provisional`, if it depends on another pending
    trace, so that its graph must not be cached.
    """

    def __init__(self, function: Any, key: Any, name: str) -> None:
        self.function, self.key, self.name = function, key, name
        self.is_called = self.is_provisional = False
        self._concrete: ConcreteFunction | None = None
        self._structure: Any = None
        self._types: list[TensorType] | None = None
        self._others: list[Any] = []  # variables and captured tensors that the graph reads

    def call_flat(self, inputs: Sequence[Any]) -> Any:
        """Record a recursive call; end the branch if the types of the results are not known yet."""
        self.is_called = True
        self._where = refused(self.name, "").diagnostic.where
        for inner in _thread.pending[_thread.pending.index(self) + 1 :]:
            inner.is_provisional = True
        if self._types is None:
            raise RegionNeverReturns
        for leaf in inputs:
            if not isinstance(leaf, Tensor):
                raise refused(
                    self.name, f"it takes a {type(leaf).__name__}, and a recursive call only tensors"
                )
        from ..ops.state.host_call import call_on_tensors  # imported for recursive functions
        from .recursive_call import RecursiveCall

        call = RecursiveCall(self.name, self.finished, self._types, self._others)
        results = iter(call_on_tensors([*inputs, *self._others], call))
        flat = [None if leaf is None else next(results) for leaf in nest.flatten(self._structure)]
        return nest.pack_sequence_as(self._structure, flat)

    def finished(self) -> ConcreteFunction:
        """Return the last trace."""
        assert self._concrete is not None
        return self._concrete

    def trace(self, trace: Callable[[], ConcreteFunction]) -> ConcreteFunction:
        """Trace until the types of the results are those that recursive calls have; return the last trace."""
        for _ in range(_MOST_TRACES):
            self.is_called = self.is_provisional = False
            concrete = trace()
            concrete.is_provisional = self.is_provisional
            if not self.is_called:
                return concrete
            if concrete.ends:
                if self.is_provisional:
                    return concrete
                raise self._refused("each of its branches calls it again, or raises")
            if concrete.belongs_to_outer:
                raise self._refused("it reads tensors of the surrounding function; pass them as arguments")
            if self._is_settled(concrete):
                self._concrete = concrete
                return concrete
        raise self._refused("its results have another type in each nested call")

    def _refused(self, reason: str) -> StagingError:
        """Return the error at the line of the recursive call."""
        error = refused(self.name, reason)
        return StagingError(error.diagnostic._replace(where=self._where))

    def _is_settled(self, concrete: ConcreteFunction) -> bool:
        """Note the types of the results, and what the graph reads; return whether both are as before."""
        specs = concrete.output_specs()
        flat = nest.flatten(concrete.structure)
        types = [self._type_of(leaf, specs) for leaf in flat if leaf is not None]
        structure = nest.pack_sequence_as(concrete.structure, [None if x is None else 0 for x in flat])
        others = [] if self._types is None else self._others_of(concrete, self._types == types)
        is_same = self._types == types and set(map(id, self._others)) == set(map(id, others))
        is_same = is_same and nest.same_structure(self._structure, structure)
        self._types, self._structure, self._others = types, structure, others
        return is_same

    def _others_of(self, concrete: ConcreteFunction, is_complete: bool) -> list[Any]:
        """Return the variables and captured tensors that the graph reads and that can have gradients."""
        read = [x for x in (*concrete.variables, *concrete.captured_tensors) if _can_have_gradient(x)]
        known = set(map(id, self._others))
        new = [x for x in read if id(x) not in known]
        # Constants that the function makes itself are new in each trace.
        if is_complete and self._others and all(isinstance(x, EagerTensor) for x in new):
            return self._others
        return self._others + new

    def _type_of(self, leaf: Any, specs: Sequence[Any]) -> TensorType:
        if isinstance(leaf, Output) and leaf.array is None:
            spec = specs[leaf.number]
        else:
            spec = None if isinstance(leaf, (Composite, Output)) else _constant_type(leaf)
        if not isinstance(spec, TensorType):
            what = "a composite tensor" if isinstance(leaf, Composite) else "a value that is no tensor"
            raise self._refused(f"it returns {what}, and a recursive call returns tensors")
        return spec


def _constant_type(leaf: Any) -> TensorType | None:
    try:
        tensor = convert_to_tensor(leaf)
    except (TypeError, ValueError):
        return None
    return TensorType(tensor.dtype, tensor.shape.sizes)


def _can_have_gradient(value: Any) -> bool:
    return isinstance(value, (Variable, EagerTensor)) and (value.dtype.is_floating or value.dtype.is_complex)


def is_pending(function: Any) -> bool:
    """Return whether this thread traces `function`."""
    return any(each.function is function for each in _thread.pending)


def pending_trace(function: Any, key: Any) -> PendingTrace | None:
    """Return the unfinished trace of `function` for `key` in this thread; None if there is none."""
    for each in _thread.pending:
        if each.function is function and each.key == key:
            return each
    return None


@contextmanager
def pending(function: Any, key: Any, name: str) -> Iterator[PendingTrace]:
    """Register an unfinished trace."""
    made = PendingTrace(function, key, name)
    _thread.pending.append(made)
    try:
        yield made
    finally:
        _thread.pending.remove(made)


def refused(name: str, reason: str) -> StagingError:
    """Return the error for a recursion that cannot become an operation."""
    return staging_error(
        "AGC280",
        f"`{name}` calls itself, and a tensor decides when that ends",
        why=reason,
        fix="write it as a `while` loop",
    )
