"""`PerReplica`: one value for each replica, as `run` of a strategy with several replicas takes and returns it.

regroup([(1, x0), (1, x1)])     ==>     (1, PerReplica(x0, x1))
select(1, …)                    ==>     (1, x1)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from .. import nest
from ..core.export import export
from ..core.type_spec import CompositeTensor, TypeSpec, type_spec_from_value


@export("distribute.DistributedValues")
class DistributedValues:
    """Values of several replicas: a `PerReplica`, or a variable of a strategy with several replicas.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> numbers = lambda context: context.replica_id_in_sync_group
    >>> values = strategy.experimental_distribute_values_from_function(numbers)
    >>> isinstance(values, DistributedValues), strategy.experimental_local_results(values)
    (True, (0, 1))
    """

    values: tuple[Any, ...]
    _values: Any = property(operator.attrgetter("values"))  # libraries read it

    def __repr__(self) -> str:
        return self._shown(repr)

    def __str__(self) -> str:
        return self._shown(str)

    def _shown(self, text: Callable[[Any], str]) -> str:
        lines = ",\n".join(f"  {index}: {text(value)}" for index, value in enumerate(self.values))
        return f"{type(self).__name__}:{{\n{lines}\n}}"


class Mirrored(DistributedValues):
    """Values of several replicas that are kept equal, such as a mirrored variable; for `isinstance`.

    >>> import agc.runtime as tf
    >>> with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    ...     isinstance(tf.Variable(1.0), Mirrored)
    True
    """


class PerReplica(DistributedValues, CompositeTensor):
    """One value for each replica, in the order of the replicas: `values` is their tuple.

    >>> import agc.runtime as tf
    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> double = lambda: 2 * tf.distribute.get_replica_context().replica_id_in_sync_group
    >>> [int(x) for x in strategy.run(double).values]
    [0, 2]
    """

    _is_native = False

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*map(type_spec_from_value, self.values))


class PerReplicaSpec(TypeSpec):
    """The specs of the values of a `PerReplica`."""

    def __init__(self, *value_specs: Any) -> None:
        self._value_specs = value_specs

    @property
    def value_type(self) -> type:
        return PerReplica

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._value_specs

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        return value.values  # type: ignore[no-any-return]

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(components)


def select(index: int, value: Any, kind: type[DistributedValues] = PerReplica) -> Any:
    """Return the nest with the value of one replica in the place of each value of this kind."""
    return nest.map_structure(lambda x: x.values[index] if isinstance(x, kind) else x, value)


def regroup(values: Sequence[Any]) -> Any:
    """Return one nest from those of all replicas; leaves become `PerReplica` unless they are the same object."""
    return nest.map_structure(_grouped, *values)


def _grouped(*leaves: Any) -> Any:
    first = leaves[0]
    return first if all(leaf is first for leaf in leaves) else PerReplica(leaves)
