"""`MirroredStrategy`: one process, with one replica for each of its devices."""

from __future__ import annotations

import contextlib
import functools
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
from ..ir.builder import current
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import ones_like
from ..ops.reduce.reductions import reduce_sum
from ..tracing.function import BoundFunction, Function, make_function
from . import options
from .context import ReplicaContext, Scope, entered, innermost
from .input import in_turn, split
from .lock_step import run_in_lock_step
from .options import InputReplicationMode, ValueContext
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
        for index, component in enumerate(var.values):
            own_args, own_kwargs = select(index, (tuple(args), dict(kwargs or {})))
            with entered(self._strategy, None, index):
                results.append(fn(component, *own_args, **own_kwargs))
        return regroup(results) if group else tuple(results)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Return the sum or mean over the replicas."""
        return self._strategy.reduce(reduce_op, value)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Return whether the variable was made in the scope of the strategy, if there are several replicas."""
        several = self._strategy.num_replicas_in_sync > 1
        return not several or getattr(v, "distribute_strategy", None) is self._strategy

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        count = self._strategy.num_replicas_in_sync
        return tuple(ReplicaContext(self._strategy, index).devices[0] for index in range(count))

    worker_devices = parameter_devices


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
    ...     return context.all_reduce("sum", tf.constant(1.0 + context.replica_id_in_sync_group))
    >>> [x.numpy() for x in strategy.run(replica).values]
    [np.float32(3.0), np.float32(3.0)]
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        names = [one.name for one in list_logical_devices("CPU")] if devices is None else list(devices)
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
        self.num_replicas_in_sync = max(len(names), 1)
        self._functions: weakref.WeakKeyDictionary[Function[..., Any], Any] = weakref.WeakKeyDictionary()

    def _places(self) -> list[ReplicaContext]:
        return [ReplicaContext(self, index) for index in range(self.num_replicas_in_sync)]

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
        is_on_read = kwargs["synchronization"] is VariableSynchronization.ON_READ
        kind = SyncOnReadVariable if is_on_read else MirroredVariable
        return distributed(self, next_creator, kwargs, self.num_replicas_in_sync, kind)

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
        if self.num_replicas_in_sync == 1:
            return super().run(fn, args, kwargs, options)
        if isinstance(fn, BoundFunction):
            fn, args = fn.__func__, (fn.__self__, *args)
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
        return nest.map_structure(functools.partial(self._reduce, ReduceOp.of(reduce_op), axis), value)

    def _reduce(self, reduce_op: ReduceOp, axis: Any, value: Any) -> Any:
        if axis is None:
            return self._reduced_over_replicas(reduce_op, value)
        is_distributed = isinstance(value, DistributedValues)
        parts = value.values if is_distributed else [value] * self.num_replicas_in_sync
        total = ReduceOp.SUM.of_all([reduce_sum(part, axis) for part in parts])
        if reduce_op is ReduceOp.SUM:
            return total
        return total / ReduceOp.SUM.of_all([reduce_sum(ones_like(part), axis) for part in parts])

    def _reduced_over_replicas(self, reduce_op: ReduceOp, value: Any) -> Any:
        if isinstance(value, DistributedValues):
            return reduce_op.of_all(value.values)
        if reduce_op is ReduceOp.MEAN or (isinstance(value, int) and value == 0):
            return value
        raise ValueError(
            f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {reduce_op}: it is the "
            "same in all replicas. For the sum over replicas, let each replica make its own: `tf.identity(x)`."
        )

    def gather(self, value: Any, axis: int) -> Any:
        """Return the values of the replicas joined along an axis, for each leaf of a nest."""
        self._check_across()
        return nest.map_structure(functools.partial(_gathered, axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the values of the replicas in a tuple; a nest without distributed values is its only element."""
        values = [one for one in nest.flatten(value) if isinstance(one, DistributedValues)]
        count = max((len(one.values) for one in values), default=1)
        return tuple(select(index, value, DistributedValues) for index in range(count))

    def experimental_distribute_dataset(self, dataset: Dataset, options: Any = None) -> Any:
        """Return a dataset whose batches are split among the replicas. Raises ValueError for elements without rows."""
        return split(dataset, self.num_replicas_in_sync) if self.num_replicas_in_sync > 1 else dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Dataset], options: Any = None
    ) -> Any:
        """Return the dataset `dataset_fn(InputContext(…))`, each element of which is for the next replica.

        If `options` has the replication mode `PER_REPLICA`, the function is called for each replica.
        """
        replicas = self.num_replicas_in_sync
        is_each = getattr(options, "experimental_replication_mode", None) is InputReplicationMode.PER_REPLICA
        pipelines = replicas if is_each else 1
        datasets = [dataset_fn(InputContext(pipelines, index, replicas)) for index in range(pipelines)]
        return in_turn(datasets, replicas) if replicas > 1 else datasets[0]

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """Return the values of `value_fn` for the context of each replica."""
        if self.num_replicas_in_sync == 1:
            return super().experimental_distribute_values_from_function(value_fn)
        contexts = [
            ValueContext(index, self.num_replicas_in_sync) for index in range(self.num_replicas_in_sync)
        ]
        return nest.map_structure(lambda *parts: PerReplica(parts), *[value_fn(one) for one in contexts])


def _gathered(axis: int, value: Any) -> Any:
    return concat(value.values, axis) if isinstance(value, DistributedValues) else value
