"""Synchronization and aggregation modes of variables. With one replica they have no effect.

>>> chosen_aggregation(VariableAggregation.SUM, "v"), chosen_synchronization(None, "v")
(<VariableAggregation.SUM: 1>, <VariableSynchronization.AUTO: 0>)
"""

from __future__ import annotations

import enum
from typing import Any

from .export import export


@export("VariableAggregation")
class VariableAggregation(enum.Enum):
    """The aggregation of updates from several devices.

    >>> from agc.runtime import Variable
    >>> Variable(1.0, aggregation=VariableAggregation.SUM).aggregation.name
    'SUM'
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


@export("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """The time at which copies on several devices are synchronized.

    >>> from agc.runtime import Variable
    >>> Variable(1.0, synchronization=VariableSynchronization.ON_READ).synchronization.name
    'ON_READ'
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


def chosen_aggregation(given: Any, name: str | None) -> VariableAggregation:
    """Return the given aggregation, NONE for None. Raises ValueError for anything else."""
    if given is None:
        return VariableAggregation.NONE
    if not isinstance(given, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {given} for variable: {name}")
    return given


def chosen_synchronization(given: Any, name: str | None) -> VariableSynchronization:
    """Return the given synchronization, AUTO for None. Raises ValueError for anything else."""
    if given is None:
        return VariableSynchronization.AUTO
    if not isinstance(given, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {given} for variable: {name}")
    return given
