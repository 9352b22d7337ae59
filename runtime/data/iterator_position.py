"""Positions of iterators in checkpoints: the number of elements that an iteration has given.

checkpoint = tf.train.Checkpoint(iterator=iter(dataset))        saves      iterator/position = 3
checkpoint.restore(path)                                        ==>        the iteration begins again, and passes 3

For a pipeline with random choices, such as `shuffle`, the position is a vector: the number, and the drawn seeds.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .. import dtypes
from ..core.variable import Variable
from ..ir.value_types import TensorType, VariableType
from .iterator_state import Walk

_positions: weakref.WeakKeyDictionary[Walk, Position] = weakref.WeakKeyDictionary()


class Position(Variable):
    """The number of elements that an iterator has given, with the seeds; assigning it moves the iterator."""

    def __init__(self, walk: Walk) -> None:
        self._walk = weakref.ref(walk)
        self.short_name, self.trainable, self.constraint = "position", False, None
        self.content_spec = TensorType(dtypes.int64, (None,) if walk.draws else ())
        self.spec = VariableType(self.content_spec)

    @property
    def _array(self) -> Any:
        walk = self._walk()
        numbers = [0] if walk is None else walk.state()
        return np.array(numbers, np.int64).reshape(self.content_spec.shape and (-1,))

    @_array.setter
    def _array(self, value: Any) -> None:
        walk = self._walk()
        if walk is not None:
            walk.move_to(value.reshape(-1).tolist())


def position_of(walk: Walk) -> Position:
    """Return the variable of an iteration's position, always the same one."""
    if walk not in _positions:
        _positions[walk] = Position(walk)
    return _positions[walk]
