"""`MirroredStrategy`: one process, with one replica for each of its devices."""

from __future__ import annotations

import contextlib
import functools
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agc.autograph import api

from .. import errors, nest
from ..config.devices import list_logical_devices
from ..core.devices import device as placed
from ..core.export import export
from ..core.variable_enums import VariableSynchronization
from ..data.dataset import Dataset
from ..executors import xla
from ..executors.xla import MissingDeviceError
from ..ir.builder import current
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import ones_like
from ..ops.collective.reductions import replica_id
from ..ops.reduce.reductions import reduce_sum
from ..tracing.function import BoundFunction, Function, make_function
from . import options, process_values
from .context import ReplicaContext, Scope, entered, innermost
from .device_replicas import DeviceReplicas, TakesTurnsError, is_tracing
from .input import in_turn, split
from .lock_step import run_in_lock_step
from .options import CommunicationOptions, InputReplicationMode, ValueContext
from .reduce_op import ReduceOp
from .strategy import InputContext, Strategy, StrategyExtended, check_device
from .values import DistributedValues, PerReplica, regroup, select
from .variables import DistributedVariable, MadeInReplica, MirroredVariable, SyncOnReadVariable, distributed


class MirroredExtended(StrategyExtended):
    """Members for optimizers and libraries: updates run once for each component of a variable."""

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """Call `fn` for each component of the variable, with its part of `PerReplica` arguments."""
        if not isinstance(var, DistributedVariable):
            return super().update(var, fn, args, kwargs, group)
        results = []
        for index, component in enumerate(var.here):
            own_args, own_kwargs = select(index, (tuple(args), dict(kwargs or {})))
            with entered(self._strategy, None, index):
                results.append(fn(component, *own_args, **own_kwargs))
        return regroup(results) if group else tuple(results)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Return the sum or mean over the replicas."""
        return self._strategy.reduce(reduce_op, value)

    _strategy: MirroredStrategy

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        """Return the sum or mean of all values over the replicas, in one collective operation if there are any."""
        if not self._strategy.communicates:
            return super().batch_reduce_to(reduce_op, value_destination_pairs, options)
        values = [local_sum(value) for value, _ in value_destination_pairs]
        reduced: list[Any] = self._strategy.all_reduce(ReduceOp.of(reduce_op), values, options)
        return reduced

    def variable_created_in_scope(self, v: Any) -> bool:
        """Return whether the variable was made in the scope of the strategy, if there are several replicas."""
        several = self._strategy.num_replicas_in_sync > 1
        return not several or getattr(v, "distribute_strategy", None) is self._strategy


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """A strategy with a replica for each device: variables made in its scope have a component for each.

    Replicas run one after another, and wait for the others in `merge_call`, `all_reduce` and updates of variables
    with an aggregation.

    Args:
        devices: names of logical CPUs, such as `["CPU:0", "CPU:1"]`. Default: all logical CPUs.
        cross_device_ops: one of TensorFlow's `CrossDeviceOps`, without effect.

    Raises ValueError for a device that is not a CPU, and for a device that is given twice. Raises UnimplementedError
    for a class of the program as `cross_device_ops`.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> def replica():
    ...     context = tf.distribute.get_replica_context()
    ...     return context.all_reduce("sum", 1 + context.replica_id_in_sync_group)
    >>> [x.numpy() for x in strategy.run(replica).values]
    [np.int32(3), np.int32(3)]
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        if devices is None:
            found = list_logical_devices("GPU") or list_logical_devices("CPU")
            devices = [device.name for device in found]
        names = list(devices)
        for name in names:
            check_device(name)
        if len(set(names)) < len(names):
            raise ValueError(f"Duplicates in devices argument to `MirroredStrategy`: {names}")
        if cross_device_ops is not None and type(cross_device_ops).__module__ != options.__name__:
            raise errors.UnimplementedError(
                f"`cross_device_ops` is a {type(cross_device_ops).__name__}: values are added in order. "
                "Reduce them in another way with `tf.distribute.ReplicaContext.merge_call`."
            )
        super().__init__(MirroredExtended(self))
        self.num_replicas_in_sync = self.local_count = max(len(names), 1)
        self.device_names = [str(name).rpartition("device:")[2].strip("/").upper() for name in names]
        self._device_replicas: DeviceReplicas | None = None
        self._functions: weakref.WeakKeyDictionary[Function[..., Any], Any] = weakref.WeakKeyDictionary()

    _options = CommunicationOptions()

    def _places(self) -> list[ReplicaContext]:
        return [ReplicaContext(self, self.rank + index, index) for index in range(self.local_count)]

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Make this the current strategy in the block, and mirror the variables that it makes."""
        return Scope(self, self._created)

    def _created(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        place = innermost()
        if (
            place is None
            or place.strategy is not self
            or place.replica is None
            or place.replica.variables is None
        ):
            return self._distributed(next_creator, kwargs)
        return place.replica.variables.made(
            kwargs["name"] or "Variable", lambda: self._distributed(next_creator, kwargs)
        )

    def _distributed(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> DistributedVariable:
        if kwargs["synchronization"] is VariableSynchronization.NONE:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with tf.distribute strategy: use ON_READ or "
                "ON_WRITE"
            )
        is_on_read = kwargs["synchronization"] is VariableSynchronization.ON_READ
        kind = SyncOnReadVariable if is_on_read else MirroredVariable
        return distributed(self, next_creator, kwargs, self.local_count, kind)

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """Call `fn` in each replica with its part of `PerReplica` arguments, and return the results alike.

        A result that is the same object in all replicas is returned as it is.
        """
        if self.local_count == 1:
            with placed(self.device_names[0] if self._is_accelerated else None):
                return super().run(fn, args, kwargs, options)
        if isinstance(fn, BoundFunction):
            fn, args = fn.__func__, (fn.__self__, *args)
        if self._runs_by_xla(fn):
            try:
                return self._run_on_devices(fn, tuple(args), dict(kwargs or {}))
            except (TakesTurnsError, MissingDeviceError) as reason:
                name = getattr(fn, "__name__", "a function")
                warnings.warn(
                    f"the replicas take turns to run {name}: {reason}", RuntimeWarning, stacklevel=2
                )
        with self.scope():
            if not isinstance(fn, Function):
                return self._run(fn, tuple(args), dict(kwargs or {}))
            if current() is not None:
                return self._run(fn.python_function, tuple(args), dict(kwargs or {}))
            if fn not in self._functions:
                stepped = functools.partial(self._run, fn.python_function)
                made = make_function(lambda args, kwargs: stepped(args, kwargs), fn._calls.options)
                self._functions[fn] = made
            return self._functions[fn](tuple(args), dict(kwargs or {}))

    @property
    def _is_accelerated(self) -> bool:
        """True if replicas are on devices that are no CPUs."""
        return any("CPU" not in name for name in self.device_names)

    def _runs_by_xla(self, fn: Callable[..., Any]) -> bool:
        """Return whether XLA runs a function on the devices: because it must be compiled, or they are no CPUs."""
        executors = {fn._calls.options.executor} if isinstance(fn, Function) else set()
        builder = current()
        while builder is not None:
            executors.add(builder.executor)
            builder = builder.parent
        if "xla" in executors:
            return True
        if not xla.available() or not executors:
            return False
        return self._is_accelerated or ("native" in executors and xla.has_several_cpus(self.local_count))

    def _run_on_devices(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the results of all replicas, which run one XLA program on their devices."""
        if self._device_replicas is None:
            self._device_replicas = DeviceReplicas(self, xla.local_devices(self.device_names))
        with self.scope():
            return self._device_replicas.run(fn, args, kwargs)

    @property
    def spans_processes(self) -> bool:  # type: ignore[override]
        """True while this thread traces the graph that all replicas share."""
        return is_tracing()

    @property
    def rank(self) -> Any:  # type: ignore[override]
        """0, or the tensor that is the number of the replica in a graph that all replicas share."""
        return replica_id() if is_tracing() else 0

    @property
    def communicates(self) -> bool:
        """True if a reduction over the replicas is a collective operation."""
        return self.spans_processes or self.workers > 1

    def all_reduce(self, reduce_op: ReduceOp, value: Any, options: Any = None) -> Any:
        """Return the sum or mean over all replicas, of a nest with the sums of those of this process or graph."""
        if not self.communicates:
            return value
        size = (options or self._options).bytes_per_pack
        return process_values.all_reduced(reduce_op, value, self.num_replicas_in_sync, size)

    def of_first_replica(self, value: Any) -> Any:
        """Return the value of the first replica."""
        first = value if self.spans_processes else super().of_first_replica(value)
        return process_values.broadcast(first, 0) if self.communicates else first

    def _run(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called = fn if current() is None else api.convert(fn)

        def call(index: int) -> Any:
            own_args, own_kwargs = select(index, (args, kwargs))
            with placed(f"CPU:{index}"):
                return called(*own_args, **own_kwargs)

        places = self._places()
        made: list[Any] = []
        for index, place in enumerate(places):
            place.variables = MadeInReplica(index, made)
        calls = [functools.partial(call, index) for index in range(len(places))]
        return regroup(run_in_lock_step(places, calls))

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """Return the sum or mean over replicas, and over an axis of each tensor if `axis` is not None.

        The mean over an axis weighs all elements alike. Raises ValueError for the sum of a value that is not
        distributed.
        """
        if self.num_replicas_in_sync == 1:
            return super().reduce(reduce_op, value, axis)
        self._check_across()
        chosen = ReduceOp.of(reduce_op)
        if self.spans_processes:
            return process_values.reduced(chosen, value, axis, self.num_replicas_in_sync)
        return nest.map_structure(functools.partial(self._reduce, chosen, axis), value)

    def _reduce(self, reduce_op: ReduceOp, axis: Any, value: Any) -> Any:
        if axis is None:
            return self._reduced_over_replicas(reduce_op, value)
        is_distributed = isinstance(value, DistributedValues)
        parts = value.values if is_distributed else [value] * self.local_count
        totals = [ReduceOp.SUM.of_all([reduce_sum(part, axis) for part in parts])]
        if reduce_op is ReduceOp.MEAN:
            totals.append(ReduceOp.SUM.of_all([reduce_sum(ones_like(part), axis) for part in parts]))
        total, *count = self.all_reduce(ReduceOp.SUM, totals)
        return total / count[0] if count else total

    def _reduced_over_replicas(self, reduce_op: ReduceOp, value: Any) -> Any:
        if isinstance(value, DistributedValues):
            return self.of_parts(reduce_op, value.values)
        if self.communicates and reduce_op is ReduceOp.MEAN:
            return self.of_parts(reduce_op, [value] * self.local_count)
        if reduce_op is ReduceOp.MEAN or (isinstance(value, int) and value == 0):
            return value
        raise ValueError(
            f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {reduce_op}: it is the "
            "same in all replicas. For the sum over replicas, let each replica make its own: `tf.identity(x)`."
        )

    def of_parts(self, reduce_op: ReduceOp, parts: Sequence[Any]) -> Any:
        """Return the sum or mean over all replicas; `parts` are those of this process."""
        if not self.communicates:
            return reduce_op.of_all(parts)
        return self.all_reduce(reduce_op, ReduceOp.SUM.of_all(parts))

    def gather(self, value: Any, axis: int) -> Any:
        """Return the values of the replicas joined along an axis, for each leaf of a nest."""
        self._check_across()
        if self.spans_processes:
            return process_values.all_gathered(value, axis)
        local = nest.map_structure(functools.partial(_gathered, axis), value)
        return process_values.all_gathered(local, axis) if self.communicates else local

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the values of the replicas in a tuple; a leaf that is not distributed is its only element."""
        if is_tracing():
            raise TakesTurnsError("it uses the values of all replicas in `merge_call`")
        if isinstance(value, DistributedValues):
            return value.values
        count = self.local_count if nest.is_nested(value) else 1
        return tuple(select(index, value, DistributedValues) for index in range(count))

    def experimental_distribute_dataset(self, dataset: Dataset, options: Any = None) -> Any:
        """Return a dataset whose batches are split among the replicas. Raises ValueError for elements without rows."""
        return split(dataset, self.local_count) if self.local_count > 1 else dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Dataset], options: Any = None
    ) -> Any:
        """Return the dataset `dataset_fn(InputContext(…))`, each element of which is for the next replica.

        If `options` has the replication mode `PER_REPLICA`, the function is called for each replica.
        """
        is_each = getattr(options, "experimental_replication_mode", None) is InputReplicationMode.PER_REPLICA
        pipelines = self.local_count if is_each else 1
        datasets = [self._pipeline(dataset_fn, pipelines, index) for index in range(pipelines)]
        return in_turn(datasets, self.local_count) if self.local_count > 1 else datasets[0]

    def _pipeline(self, dataset_fn: Callable[[InputContext], Dataset], pipelines: int, index: int) -> Any:
        """Return the dataset of one of the pipelines of this process."""
        return dataset_fn(InputContext(pipelines, index, self.num_replicas_in_sync))

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """Return the values of `value_fn` for the context of each replica."""
        count = self.num_replicas_in_sync
        values = [value_fn(ValueContext(self.rank + index, count)) for index in range(self.local_count)]
        return nest.map_structure(lambda *parts: PerReplica(parts), *values) if len(values) > 1 else values[0]


def local_sum(value: Any) -> Any:
    """Return the sum of the values of the replicas of this process."""
    return ReduceOp.SUM.of_all(value.values) if isinstance(value, DistributedValues) else value


def _gathered(axis: int, value: Any) -> Any:
    return concat(value.values, axis) if isinstance(value, DistributedValues) else value
