"""Replicas of `MirroredStrategy` on devices of JAX: one graph, which XLA runs on all devices together.

strategy.run(f, args)     ==>     y0, y1 = run_in_replicas x0, x1, w0, w1 [part=<the graph of f>]

`f` is traced once, as a replica whose number is a tensor. Its reductions are collective operations.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agc.autograph import api

from .. import nest
from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..core.type_spec import CompositeTensor, type_spec_from_value
from ..core.variable import Variable
from ..executors.replicas import RUN_IN_REPLICAS, ReplicatedGraph
from ..functionalize.errors import CannotCompileError
from ..functionalize.random import with_streams
from ..functionalize.variables import without_variables
from ..ir.builder import Builder, current, recorders
from ..ir.graph import Value
from ..ops.collective.reductions import replica_id
from ..ops.framework.op import wrap
from ..tracing.cache_key import Identity
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import Function, make_function
from ..tracing.options import FunctionOptions
from ..tracing.output_packing import filled
from .context import ReplicaContext, entered, graphs_for
from .values import regroup, select
from .variables import DistributedVariable


class _State(threading.local):
    is_tracing = False


_state = _State()


def is_tracing() -> bool:
    """Return whether this thread traces a graph that the replicas of a strategy share."""
    return _state.is_tracing


class TakesTurnsError(Exception):
    """Error for a function that replicas cannot share as one graph; the message is the reason."""


class DeviceReplica(ReplicaContext):
    """The view of all replicas while their common graph is traced: `replica_id_in_sync_group` is a tensor."""

    def __init__(self, strategy: Any) -> None:
        super().__init__(strategy, replica_id())  # with the component 0: in a run, the devices get one each

    @property
    def devices(self) -> tuple[str, ...]:
        return self.strategy.extended.worker_devices  # type: ignore[no-any-return]


class DeviceReplicas:
    """The functions of a strategy that run on these devices of JAX, with a graph for each kind of arguments."""

    def __init__(self, strategy: Any, devices: Sequence[Any]) -> None:
        self._strategy = strategy
        self._devices = devices
        self._functions: weakref.WeakKeyDictionary[Function[..., Any], Function[..., Any]] = (
            weakref.WeakKeyDictionary()
        )
        self._parts: weakref.WeakKeyDictionary[ConcreteFunction, ReplicatedGraph] = (
            weakref.WeakKeyDictionary()
        )

    def _function_of(self, fn: Any) -> Function[..., Any]:
        """Return the function that traces a replica of `fn`."""
        if not isinstance(fn, Function):
            return self._traced(fn, FunctionOptions.checked())
        if fn not in self._functions:
            options = fn._calls.options._replace(input_signature=None)
            self._functions[fn] = self._traced(fn.python_function, options)
        return self._functions[fn]

    def _traced(self, function: Callable[..., Any], options: FunctionOptions) -> Function[..., Any]:
        def replica(args: Any, kwargs: Any) -> Any:
            called = api.convert(function)
            with self._tracing(), entered(self._strategy, DeviceReplica(self._strategy)):
                return called(*args, **kwargs)

        return make_function(lambda args, kwargs: replica(args, kwargs), options)

    @contextlib.contextmanager
    def _tracing(self) -> Iterator[None]:
        """Let functions that the replica calls have a graph for replicas of devices."""
        was_tracing, _state.is_tracing = _state.is_tracing, True
        try:
            with graphs_for((Identity(self._strategy), "devices")):
                yield
        finally:
            _state.is_tracing = was_tracing

    def run(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the results of all replicas. Raise TakesTurnsError if they cannot run one graph."""
        if recorders():
            raise TakesTurnsError("a gradient tape around it records its operations")
        given = [select(index, (args, dict(kwargs))) for index in range(len(self._devices))]
        concrete = self._function_of(fn).get_concrete_function(*nest.map_structure(_like, *given))
        captured = [item if isinstance(item, Value) else item.deref() for item in concrete.captured]
        rows = [
            [
                self._component(leaf, replica)
                for leaf in (*concrete.traced_arguments.inputs_of(own, {}), *captured)
            ]
            for replica, own in enumerate(given)
        ]
        part = self._parts.get(concrete)
        if part is None:
            _check(concrete, rows)
            part = self._parts[concrete] = ReplicatedGraph(
                concrete.graph, self._devices, self._strategy.workers > 1
            )
        builder = current()
        if builder is None:
            found = part.run([x if isinstance(x, Variable) else x._array for row in rows for x in row])
            return regroup([concrete.finish(results) for results in found])
        return regroup([filled(concrete.structure, row) for row in _added(builder, part, rows, concrete)])

    def _component(self, leaf: Any, replica: int) -> Any:
        """Return the component for a replica if the leaf is a variable of this strategy, else the leaf."""
        container = leaf if isinstance(leaf, DistributedVariable) else None
        if isinstance(leaf, Variable) and container is None:
            container = getattr(leaf, "_distributed_container", lambda: None)()
        if container is None or container.distribute_strategy is not self._strategy:
            return leaf
        return container.values[replica]


def _check(concrete: ConcreteFunction, rows: Sequence[Sequence[Any]]) -> None:
    """Raise TakesTurnsError for a graph that replicas must not run at the same time, with these inputs."""
    if concrete.ends:
        raise TakesTurnsError("it always fails")
    graph, streams = with_streams(concrete.graph)
    if streams:
        raise TakesTurnsError("it draws from a global random stream, which the replicas share")
    try:
        _, assigned = without_variables(graph)
    except CannotCompileError as refusal:
        raise TakesTurnsError(str(refusal)) from None
    for number in assigned:
        if len({id(row[number]) for row in rows}) < len(rows):
            name = rows[0][number].name
            raise TakesTurnsError(f"it assigns {name}, which was not made in the scope of the strategy")


def _added(
    builder: Builder, part: ReplicatedGraph, rows: Sequence[Sequence[Any]], concrete: ConcreteFunction
) -> list[list[Any]]:
    """Record the operation in the graph that is being built. Return the results of each replica, as tensors."""
    owner = concrete.owner or builder
    operands = [
        builder.captured(x, owner) if isinstance(x, Value) else builder.operand(x)
        for row in rows
        for x in row
    ]
    count = len(part.graph.outputs)
    specs = [output.spec for output in part.graph.outputs] * part.count
    made = builder.add(RUN_IN_REPLICAS, operands, {"part": part}, specs, (), [concrete.name] * len(specs))
    tensors = [wrap(value, builder) for value in made]
    return [tensors[first : first + count] for first in range(0, len(tensors), count or 1)] or [
        [] for _ in range(part.count)
    ]


def _like(*leaves: Any) -> Any:
    """Return an argument of the trace for those of the replicas, which may differ in their shapes.

    Raise TakesTurnsError if they differ in more than the values of tensors.
    """
    first = leaves[0]
    if all(leaf is first for leaf in leaves):
        return first
    if not all(isinstance(leaf, (Tensor, CompositeTensor)) for leaf in leaves):
        if not all(isinstance(leaf, (int, float, bool, complex)) for leaf in leaves):
            raise TakesTurnsError(f"the replicas get different Python values, such as {first!r}")
        leaves = tuple(map(convert_to_tensor, leaves))
    specs = list(map(type_spec_from_value, leaves))
    spec = specs[0].most_specific_common_supertype(specs[1:])
    if spec is None:
        raise TakesTurnsError("the replicas get tensors of different dtypes, ranks or kinds")
    return spec
