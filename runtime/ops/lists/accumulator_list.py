"""Accumulators: a tensor to which every iteration of a loop adds at another index, as a list of one element.

Each addition returns a new version and leaves the old version unchanged. It still costs no more than the
added part: the newest version owns the tensor, and each older version stores the elements that were replaced.

>>> import numpy as np
>>> old = AccumulatorList([np.zeros(3)])
>>> new = old.added(0, 7.0).added(0, 1.0)
>>> new.items()[0].tolist(), old.items()[0].tolist()
([8.0, 0.0, 0.0], [0.0, 0.0, 0.0])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.value_types import ListType, TensorType
from ...kernels.persistent_array import PersistentArray
from ..arrays.gather_ops import take
from ..arrays.getitem import filled, select
from ..framework.op import Array, Input, Inputs, Ints, Name, op
from ..framework.static_values import checked_dims, dims
from .list_gradients import array_item

ROWS = "rows"
"""The key that means rows of the first axis; the row numbers are the only part."""


class AccumulatorList(PersistentArray):
    """A list of one tensor; each version adds a value to the tensor."""

    __slots__ = ("_is_own",)

    _index: Any

    def __init__(self, items: list[Any], is_own: bool = False) -> None:
        super().__init__(items)
        self._is_own = is_own  # no other object refers to the tensor

    def items(self) -> list[Any]:
        items = super().items()
        self._is_own = False
        return items

    def written(self, index: int, item: Any) -> PersistentArray:
        return PersistentArray(list(self.items())).written(index, item)

    def popped(self) -> PersistentArray:
        return PersistentArray(list(self.items())).popped()

    def added(self, index: Any, value: Any) -> AccumulatorList:
        """Return the version with `value` added at `index`."""
        if self._items is None or not self._is_own:
            own = AccumulatorList([np.array(self.items()[0])], is_own=True)
            _add_at(own.items()[0], index, value)
            own._is_own = True
            return own
        (total,) = self._items
        new = AccumulatorList([total], is_own=True)
        self._old, self._index = np.array(total[index]), index
        self._items, self._newer = None, new
        _add_at(total, index, value)
        return new

    def _split_off(self) -> None:
        chain: list[Any] = [self]
        while chain[-1]._items is None:
            chain.append(chain[-1]._newer)
        total = np.array(chain.pop()._items[0])
        for version in reversed(chain):
            total[version._index] = version._old
        self._items, self._newer, self._old = [total], None, None


def _add_at(total: Any, index: Any, value: Any) -> None:
    if isinstance(index, np.ndarray) and index.size != 1:
        np.add.at(total, index, value)
    else:
        total[index] += value


@op
def array_add(
    array: Array, value: Input, parts: Inputs, shape: Ints, key: str, name: Name = None
) -> ListType:
    """Add `value` at a key to the list's only tensor; an empty list means zeros of this shape.

    >>> from .list_gradients import array_item, array_of_rows
    >>> total = array_add(array_of_rows([[1.0, 1.0]]), 5.0, [1], [2], "_")
    >>> total = array_add(total, [1.0, 2.0], [[0, 0]], [2], "rows")
    >>> array_item(total, 0, [2], "float32").numpy().tolist()
    [4.0, 6.0]
    """
    return ListType(TensorType(value.dtype, dims(shape)))


@array_add.kernel
def _(array: PersistentArray, value: Any, parts: list[Any], shape: Any, key: str) -> PersistentArray:
    index = np.asarray(parts[0]) if key == ROWS else filled(key, parts)
    if isinstance(array, AccumulatorList):
        return array.added(index, value)
    items = array.items()
    if items and items[0] is not None:
        return AccumulatorList([items[0]]).added(index, value)
    zeros = np.zeros(checked_dims(shape), np.asarray(value).dtype)
    return AccumulatorList([zeros], is_own=True).added(index, value)


@array_add.gradient
def _(dy: Any, y: Any, array: Any, value: Any, parts: list[Any], shape: Any, key: str) -> Any:
    whole = array_item(dy, 0, shape, value.dtype)
    part = take(whole, parts[0]) if key == ROWS else select(whole, parts, key)
    return dy, part, None, None
