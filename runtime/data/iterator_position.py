"""Positions of iterators in checkpoints: the number of elements that an iteration has given.

checkpoint = tf.train.Checkpoint(iterator=iter(dataset))        saves      iterator/position = 3
checkpoint.restore(path)                                        ==>        the iteration begins again, and passes 3
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .. import dtypes
from ..core.variable import Variable
from ..ir.value_types import TensorType, VariableType
from .iterator_state import Walk
from .pipeline_stage import PipelineStage
from .random_order import Samples, Seeds

_positions: weakref.WeakKeyDictionary[Walk, Position] = weakref.WeakKeyDictionary()


class Position(Variable):
    """The number of elements that an iterator has given, an int64 scalar; assigning it moves the iterator."""

    def __init__(self, walk: Walk) -> None:
        self._walk = weakref.ref(walk)
        self.short_name, self.trainable, self.constraint = "position", False, None
        self.content_spec = TensorType(dtypes.int64, ())
        self.spec = VariableType(self.content_spec)

    @property
    def _array(self) -> Any:
        walk = self._walk()
        return np.array(0 if walk is None else walk.count, np.int64)

    @_array.setter
    def _array(self, value: Any) -> None:
        walk = self._walk()
        if walk is not None:
            walk.move_to(int(value))


def position_of(walk: Walk) -> Position:
    """Return the variable of an iteration's position, always the same one."""
    if walk not in _positions:
        _positions[walk] = Position(walk)
    return _positions[walk]


def draws_numbers(stage: PipelineStage) -> bool:
    """Return whether a stage, or one of its sources, makes random choices of its own."""
    for part in vars(stage).values():
        for item in part if isinstance(part, list) else (part,):
            if isinstance(item, (Samples, Seeds)) or (
                isinstance(item, PipelineStage) and draws_numbers(item)
            ):
                return True
    return False
