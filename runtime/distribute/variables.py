"""Variables of a strategy with several replicas: one component for each replica.

MirroredVariable      all components are equal; an update in replicas is aggregated first, and changes all
SyncOnReadVariable    each replica updates its own component; a read across replicas aggregates them
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autodiff.tape_records import is_continuous
from ..core.conversion import convert_to_tensor
from ..core.tensor import EagerTensor, Tensor
from ..core.variable import Variable
from ..core.variable_enums import VariableAggregation, VariableSynchronization
from ..ops.math.cast import cast
from ..ops.math.comparison import equal
from .context import innermost
from .reduce_op import ReduceOp
from .values import DistributedValues, Mirrored


class DistributedVariable(Variable, DistributedValues):
    """The common base: in a replica it is the component of that replica, across replicas the first one."""

    def __init__(self, strategy: Any, components: list[Variable]) -> None:
        self.distribute_strategy = strategy
        self.values: tuple[Variable, ...] = tuple(components)
        for component in components:
            component._distributed_container = lambda: self  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        if name in ("values", "distribute_strategy"):
            raise AttributeError(name)  # not initialized yet: copied or unpickled
        return getattr(self.values[0], name)

    @property
    def _here(self) -> Variable:
        place = innermost()
        if len(self.values) == 1 or place is None or place.strategy is not self.distribute_strategy:
            return self.values[0]
        return self.values[(place.updated or 0) if place.replica is None else place.replica.component]

    @property
    def here(self) -> tuple[Variable, ...]:
        """The components that this graph or process has: all, or one if the other replicas run the same graph."""
        return self.values[:1] if self.distribute_strategy.spans_processes else self.values

    @property
    def replica_id(self) -> int | None:
        """The number of this replica; None across replicas."""
        return None if self._replica is None else self._replica.replica_id

    @property
    def _bound(self) -> Variable:
        return self if self._replica is None and self._updated is None else self._here

    @property
    def _updated(self) -> Variable | None:
        """The component that `StrategyExtended.update` changes now; None outside of it."""
        place = innermost()
        if place is None or place.strategy is not self.distribute_strategy or place.updated is None:
            return None
        return self.values[place.updated]

    @property
    def _replica(self) -> Any:
        place = innermost()
        return place.replica if place is not None and place.strategy is self.distribute_strategy else None

    @property
    def _array(self) -> np.ndarray[Any, Any]:
        return self._here._array

    @_array.setter
    def _array(self, array: np.ndarray[Any, Any]) -> None:
        for component in self.values:
            component._array = array.copy()

    def value(self) -> Tensor:
        return self._here.value()

    def set_shape(self, shape: Any) -> None:
        for component in self.values:
            component.set_shape(shape)

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return self._update("assign", value, read_value)

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return self._update("assign_add", delta, read_value)

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        return self._update("assign_sub", delta, read_value)

    def _update(self, method: str, value: Any, read_value: bool) -> Any:
        raise NotImplementedError

    def __deepcopy__(self, memo: Any) -> DistributedVariable:
        made = type(self)(self.distribute_strategy, copy.deepcopy(list(self.values), memo))
        memo[id(self)] = made
        return made

    __repr__ = DistributedValues.__repr__


class MirroredVariable(DistributedVariable, Mirrored):
    """A variable with equal components. Without an aggregation, replicas update their own component."""

    synchronization = VariableSynchronization.ON_WRITE

    def _update(self, method: str, value: Any, read_value: bool) -> Any:
        if self._updated is not None:
            return getattr(self._updated, method)(value, read_value=read_value)
        replica = self._replica
        if replica is None:
            for index, component in enumerate(self.here):
                part = value.values[index] if isinstance(value, DistributedValues) else value
                getattr(component, method)(part)
            return self if read_value else None
        if self.aggregation is VariableAggregation.NONE:
            return getattr(self._here, method)(value, read_value=read_value)
        value = convert_to_tensor(value, self.dtype)
        replica.merge_call(self._update_all, args=(method, value))
        return self.value() if read_value else None

    def _update_all(self, strategy: Any, method: str, value: Any) -> None:
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            value = strategy.of_first_replica(value)
        elif (
            isinstance(value, DistributedValues)
            or strategy.communicates
            or self.aggregation is VariableAggregation.SUM
        ):
            op = ReduceOp.from_variable_aggregation(self.aggregation)
            value = strategy.extended.reduce_to(op, value, self)
        for component in self.here:
            getattr(component, method)(value)

    def _scatter(self, how: str, slices: Any, name: str | None) -> Any:
        replica = self._replica
        if replica is None or self.aggregation is VariableAggregation.NONE:
            return self._change(lambda component: component._scatter(how, slices, name))
        if how in ("max", "min", "update") and self.aggregation is not VariableAggregation.ONLY_FIRST_REPLICA:
            raise NotImplementedError(
                f"scatter_{how} is only supported for mirrored variable (variable created within certain "
                "`tf.distribute.Strategy` scope) with NONE or `ONLY_FIRST_REPLICA` aggregation, got: "
                f"{self.aggregation}."
            )

        def update_all(strategy: Any, parts: Any) -> None:
            if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
                total = strategy.of_first_replica(parts)
            else:
                op = ReduceOp.from_variable_aggregation(self.aggregation)
                total = strategy.extended.reduce_to(op, parts, self)
            self._change(lambda component: component._scatter(how, total, name))

        replica.merge_call(update_all, args=(slices,))
        return self

    def _scatter_nd(self, how: str, indices: Any, updates: Any, name: str | None) -> Any:
        if self._replica is not None and self.aggregation is not VariableAggregation.NONE:
            raise NotImplementedError(
                f"scatter_nd updates of {self.name} in a replica are not aggregated: use `scatter_add` and the like "
                "with IndexedSlices, or make the variable without an aggregation."
            )
        return self._change(lambda component: component._scatter_nd(how, indices, updates, name))

    def _change(self, change: Callable[[Variable], Any]) -> Any:
        """Change the component of this replica or update; outside of both, change all."""
        is_one = self._replica is not None or self._updated is not None
        for component in [self._here] if is_one else self.here:
            change(component)
        return self


class SyncOnReadVariable(DistributedVariable):
    """A variable whose components are updated separately, and aggregated by a read across replicas."""

    synchronization = VariableSynchronization.ON_READ

    def value(self) -> Tensor:
        if self._replica is not None:
            return self._here.value()
        if self.aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self.distribute_strategy.of_first_replica(self.values[0].value())  # type: ignore[no-any-return]
        op = ReduceOp.from_variable_aggregation(self.aggregation)
        total: Tensor
        total = self.distribute_strategy.of_parts(op, [component.value() for component in self.here])
        return total

    @property
    def _array(self) -> np.ndarray[Any, Any]:
        if self._replica is not None:
            return self._here._array
        value = self.value()
        assert isinstance(value, EagerTensor)
        return value._array

    @_array.setter
    def _array(self, array: np.ndarray[Any, Any]) -> None:
        for index, component in enumerate(self.values):
            component._array = np.array(self._share(array, index), array.dtype)

    def _update(self, method: str, value: Any, read_value: bool) -> Any:
        if self._replica is not None or self._updated is not None:
            return getattr(self._here, method)(value, read_value=read_value)
        if self.aggregation is VariableAggregation.SUM:
            if method != "assign":
                raise ValueError(
                    f"SyncOnReadVariable does not support `{method}` in cross-replica context when aggregation is set "
                    "to `tf.VariableAggregation.SUM`."
                )
            value = convert_to_tensor(value, self.dtype)
        for index, component in enumerate(self.here):
            getattr(component, method)(self._share(value, index))
        return self if read_value else None

    def _share(self, total: Any, index: int) -> Any:
        """Return the part of a component of a value that reads add up; the first one gets the rest of a division."""
        if self.aggregation is not VariableAggregation.SUM:
            return total
        if not self.dtype.is_integer:
            return total / self._count
        replica = index + self.distribute_strategy.rank
        rest = total % self._count
        if isinstance(replica, Tensor):
            return total // self._count + rest * cast(equal(replica, 0), self.dtype)
        return total // self._count + rest * int(replica == 0)

    @property
    def _count(self) -> int:
        """The number of replicas, in all processes."""
        return self.distribute_strategy.num_replicas_in_sync  # type: ignore[no-any-return]

    def _scatter(self, how: str, slices: Any, name: str | None) -> Any:
        return self._in_replica(f"scatter_{how}")._scatter(how, slices, name)

    def _scatter_nd(self, how: str, indices: Any, updates: Any, name: str | None) -> Any:
        return self._in_replica(f"scatter_nd_{how}")._scatter_nd(how, indices, updates, name)

    def _in_replica(self, method: str) -> Variable:
        if self._replica is None:
            raise NotImplementedError(
                f"Variables with `synchronization=ON_READ` doesn't support `{method}` across replicas: call it in "
                "`Strategy.run`."
            )
        return self._here


class MadeInReplica:
    """The variables that replicas make: the first replica makes them, the others take them in the same order."""

    def __init__(self, replica: int, made: list[tuple[str, DistributedVariable]]) -> None:
        self._replica = replica
        self._made = made  # of all replicas, with the names that were asked for
        self._taken = 0

    def made(self, name: str, make: Callable[[], DistributedVariable]) -> DistributedVariable:
        """Return the next variable; make it if no replica has made it yet.

        Raises RuntimeError if another replica has given this variable another name: the two are not the same one.
        """
        if self._taken == len(self._made):
            self._made.append((name, make()))
        first_name, variable = self._made[self._taken]
        if name != first_name:
            raise RuntimeError(
                f"Tried to create variable {name} with mismatching name on device {self._replica}: replica 0 makes "
                f"{first_name} at this place. All replicas must make the same variables in the same order"
            )
        self._taken += 1
        return variable


def distributed(
    strategy: Any,
    next_creator: Callable[..., Variable],
    kwargs: dict[str, Any],
    count: int,
    kind: type[DistributedVariable],
) -> DistributedVariable:
    """Return a variable of this kind with `count` components, all of the same initial value.

    Raises ValueError for the aggregation MEAN of numbers that are not floating.
    """
    first = next_creator(**kwargs)
    if first.aggregation is VariableAggregation.MEAN and not is_continuous(first.dtype):
        raise ValueError(
            "creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is not supported, please "
            f"use a different aggregation or dtype: {first.name} is {first.dtype.name}"
        )
    components = [first]
    for index in range(1, count):
        copied = {
            **kwargs,
            "initial_value": EagerTensor(first._array.copy()),
            "name": f"{kwargs['name'] or 'Variable'}/replica_{index}",
        }
        components.append(next_creator(**copied))
    return kind(strategy, components)
