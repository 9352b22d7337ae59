"""Strategies of one replica on the CPU: programs for `tf.distribute` run unchanged, with `num_replicas_in_sync` 1."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from agc.autograph import api

from .. import errors, nest
from ..config.devices import list_logical_devices
from ..core.devices import device as placed
from ..core.devices import parsed
from ..core.export import export
from ..data.dataset import Dataset
from ..ir.builder import current
from ..ops.reduce.reductions import reduce_mean, reduce_sum
from .context import ReplicaContext, Scope, entered, innermost
from .options import ValueContext
from .reduce_op import ReduceOp


@export("distribute.InputContext")
class InputContext:
    """The argument of a function for `distribute_datasets_from_function`: one pipeline, for one replica.

    It has the number of pipelines, the index of this one, and the number of replicas as attributes.

    >>> context = InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=2)
    >>> context.get_per_replica_batch_size(8)
    4
    """

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def __str__(self) -> str:
        total = self.num_input_pipelines
        return f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, total: {total})"

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the batch size of one replica. Raises ValueError if the replicas do not divide the global one."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The global batch size {global_batch_size} is not divisible by {self.num_replicas_in_sync} replicas"
            )
        return global_batch_size // self.num_replicas_in_sync


@export("distribute.StrategyExtended")
class StrategyExtended:
    """Members of strategies that optimizers and libraries use; here every variable is on the one device.

    >>> OneDeviceStrategy("CPU:0").extended.worker_devices
    ('/job:localhost/replica:0/task:0/device:CPU:0',)
    """

    def __init__(self, container_strategy: Strategy) -> None:
        self._strategy = container_strategy

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """Return `fn(var, *args, **kwargs)`."""
        return fn(var, *args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """Return the sum or mean over the replicas: the value of the only one."""
        ReduceOp.of(reduce_op)
        return value

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        """Return `reduce_to` of each pair of a value and its destinations."""
        return [self.reduce_to(reduce_op, value, target) for value, target in value_destination_pairs]

    def colocate_vars_with(self, colocate_with_variable: Any) -> contextlib.AbstractContextManager[None]:
        """Return a context that changes nothing."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        """Return True: all strategies share the device of the variable."""
        return True

    def value_container(self, value: Any) -> Any:
        """Return the distributed variable that the value is a component of, or the value itself."""
        return getattr(value, "_distributed_container", lambda: value)()

    experimental_require_static_shapes = False

    def _in_multi_worker_mode(self) -> bool:  # Keras and Keras Tuner ask for it
        return False

    @property
    def should_checkpoint(self) -> bool:
        """True for the worker that writes checkpoints: the only one."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """True for the worker that writes summaries: the same."""
        return self.should_checkpoint

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold the variables."""
        return tuple(f"/job:{self._strategy.job}/device:{name}" for name in self._strategy.device_names)

    worker_devices = parameter_devices


@export("distribute.Strategy")
class Strategy:
    """A strategy with one replica, on the CPU.

    >>> OneDeviceStrategy("CPU:0").num_replicas_in_sync
    1
    """

    def __init__(self, extended: Any = None) -> None:
        self.extended = extended or StrategyExtended(self)

    num_replicas_in_sync = 1
    cluster_resolver = None
    local_count = 1  # the number of replicas in this process
    workers = 1  # the number of processes
    spans_processes = False  # whether this process has one of several replicas, or traces a graph for all
    rank = 0  # the number of the first replica in this process
    job = "localhost/replica:0/task:0"  # the first part of the names of devices
    device_names: Sequence[str] = ("CPU:0",)

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Make this the current strategy in the block. Raises RuntimeError in a replica, or in another strategy."""
        return Scope(self)

    def _check_across(self) -> None:
        """Raise RuntimeError in a replica, and in the scope of another strategy."""
        place = innermost()
        if self is DEFAULT or place is None:
            return
        if place.strategy is not self:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {place.strategy} is not {self}: leave the scope of "
                "the first one, or call its methods."
            )
        if place.replica is not None:
            raise RuntimeError(
                "Method requires being in cross-replica context, use get_replica_context().merge_call(): this is code "
                "that `Strategy.run` calls in each replica."
            )

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """Return `fn(*args, **kwargs)`, called in the one replica."""
        called = fn if current() is None else api.convert(fn)
        with self.scope(), entered(self, ReplicaContext(self, self.rank)):
            return called(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """Return the sum or mean over replicas, and over an axis of each tensor if `axis` is not None."""
        reduced = reduce_sum if ReduceOp.of(reduce_op) is ReduceOp.SUM else reduce_mean
        return value if axis is None else nest.map_structure(lambda x: reduced(x, axis), value)

    def gather(self, value: Any, axis: int) -> Any:
        """Return the values of the replicas joined along an axis: those of the only one."""
        return value

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Return the values of the replicas in a tuple."""
        return (value,)

    def of_first_replica(self, value: Any) -> Any:
        """Return the value of the first replica."""
        return self.experimental_local_results(value)[0]

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """Return `experimental_local_results(value)`, which is the newer name."""
        return self.experimental_local_results(value)

    def experimental_distribute_dataset(self, dataset: Dataset, options: Any = None) -> Dataset:
        """Return the dataset: the only replica gets whole batches."""
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Dataset], options: Any = None
    ) -> Dataset:
        """Return `dataset_fn(InputContext())`."""
        return dataset_fn(InputContext())

    def experimental_distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """Return `distribute_datasets_from_function(dataset_fn, options)`, which is the newer name."""
        return self.distribute_datasets_from_function(dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """Return the value of the only replica: `value_fn` of its `ValueContext`."""
        return value_fn(ValueContext())


DEFAULT = Strategy()
_chosen = contextlib.ExitStack()  # the scope of the strategy that the program has set


@export("distribute.get_strategy")
def get_strategy() -> Strategy:
    """Return the strategy whose scope or replica this is; outside of all, one for one device.

    >>> with OneDeviceStrategy("CPU:0").scope() as strategy:
    ...     get_strategy() is strategy
    True
    """
    place = innermost()
    return DEFAULT if place is None else place.strategy


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Enter the scope of a strategy until the next call, in the calling thread; None only leaves the last one.

    Raises RuntimeError in the scope of a strategy.

    >>> experimental_set_strategy(OneDeviceStrategy("CPU:0"))
    >>> has_strategy()
    True
    >>> experimental_set_strategy(None)
    """
    _chosen.close()
    if innermost() is not None:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is not None:
        _chosen.enter_context(strategy.scope())


@export("distribute.has_strategy")
def has_strategy() -> bool:
    """Return whether this is in a strategy that the program made.

    >>> has_strategy()
    False
    """
    return get_strategy() is not DEFAULT


@export("distribute.get_replica_context")
def get_replica_context() -> ReplicaContext | None:
    """Return the context of this replica; None in a strategy's scope outside of `run`.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    >>> strategy.run(lambda: tf.distribute.get_replica_context().num_replicas_in_sync)
    1
    """
    place = innermost()
    return ReplicaContext(DEFAULT) if place is None else place.replica


@export("distribute.in_cross_replica_context")
def in_cross_replica_context() -> bool:
    """Return whether this is in a strategy's scope and outside of `run`.

    >>> in_cross_replica_context()
    False
    >>> with OneDeviceStrategy("CPU:0").scope():
    ...     in_cross_replica_context()
    True
    """
    return get_replica_context() is None


def replicas_here(name: str) -> int:
    """Return the number of replicas. Raises RuntimeError across the replicas of a strategy; `name` calls this."""
    if in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{name}` in cross replica context, while it was expected to be called in replica "
            "context: call it in the function that `Strategy.run` gets."
        )
    return get_strategy().num_replicas_in_sync


@export("distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """A strategy for one device: a CPU, or a device of JAX. Raises ValueError for another device.

    >>> OneDeviceStrategy("CPU:0").run(lambda x: x + 1, args=(2,))
    3
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        check_device(device)
        self._device = None if is_cpu(device) else device

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """Return `fn(*args, **kwargs)`, called in the one replica, on the device."""
        with contextlib.nullcontext() if self._device is None else placed(self._device):
            return super().run(fn, args, kwargs, options)


def is_cpu(device: str) -> bool:
    """Return whether this is the name of a CPU."""
    return "CPU" in str(device).upper()


def check_device(device: str) -> None:
    """Raise ValueError for a device that this machine does not have; CPUs are logical ones, of any number."""
    if is_cpu(device):
        return
    name = parsed(str(device))
    found = list_logical_devices(name.kind) if name.kind is not None else []
    if (name.number or 0) >= len(found):
        raise ValueError(
            f"Device {device!r} does not exist: JAX has {len(found)} such devices; the CPU is '/cpu:0'."
        )


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refused(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise errors.UnimplementedError(
            f"tf.distribute.{name} needs servers or accelerators, which agc does not use. "
            "tf.distribute.MultiWorkerMirroredStrategy() trains in several processes."
        )

    return refused


@export("distribute.TPUStrategy", "distribute.experimental.TPUStrategy")
class TPUStrategy(Strategy):
    """A strategy of TPUs: its constructor raises UnimplementedError.

    >>> TPUStrategy(None)
    Traceback (most recent call last):
        ...
    agc.runtime.errors.UnimplementedError: tf.distribute.TPUStrategy needs servers or accelerators...
    """

    __init__ = _refuse("TPUStrategy")


@export("distribute.ParameterServerStrategy", "distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(Strategy):
    """A strategy of parameter servers: its constructor raises UnimplementedError.

    >>> ParameterServerStrategy(None)
    Traceback (most recent call last):
        ...
    agc.runtime.errors.UnimplementedError: tf.distribute.ParameterServerStrategy needs servers or accelerators...
    """

    __init__ = _refuse("ParameterServerStrategy")
