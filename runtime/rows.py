"""What a staged `for` walks over: a number of items, and a way to get the one with a given index.

for x in tensor                 the rows of a tensor
for i in range(a, b, s)         a + index * s, without making the range
for i, x in enumerate(tensor)   pairs; zip and reversed in the same way
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import dtypes, errors
from .convert import convert_to_tensor, is_tensor_like
from .ir.builder import Builder, current
from .ir.graph import Operand, Value
from .ops import arithmetic, casting, elementwise, extents, selecting
from .ops.declare import wrap
from .tensor import EagerTensor, SymbolicTensor
from .tensor_array import TensorArray


class Rows:
    """`count` items, an int or a scalar int32 tensor; `get(index)` gives one of them."""

    def __init__(self, count: Any, get: Callable[[Any], Any]) -> None:
        self.count = count
        self.get = get

    def __iter__(self) -> Any:
        raise errors.OperatorNotAllowedInGraphError(
            "The number of items of this iterable is known only when the graph runs, so Python cannot walk over it. "
            "A `for` in converted code can; elsewhere use tf.range or tf.while_loop."
        )

    @staticmethod
    def enumerate(items: Any, start: Any = 0) -> Rows:
        """Pairs of a number and an item."""
        rows = rows_of(items)
        return Rows(rows.count, lambda index: (index + start, rows.get(index)))

    @staticmethod
    def reversed(items: Any) -> Rows:
        """The same items from the last to the first."""
        rows = rows_of(items)
        return Rows(rows.count, lambda index: rows.get(rows.count - 1 - index))

    @staticmethod
    def zip(*many: Any, strict: bool = False) -> Rows:
        """Tuples of the items with the same index, as many as the shortest has."""
        columns = [rows_of(items) for items in many]
        count = columns[0].count
        for column in columns[1:]:
            are_known = isinstance(count, int) and isinstance(column.count, int)
            shorter = min if are_known else arithmetic.minimum
            count = shorter(count, column.count)
        return Rows(count, lambda index: tuple(column.get(index) for column in columns))


def rows_of(items: Any) -> Rows:
    """What a loop over `items` walks over. Raises TypeError for a scalar tensor."""
    if isinstance(items, Rows):
        return items
    if isinstance(items, TensorArray):
        return Rows(items.size(), items.read)
    tensor = convert_to_tensor(items)
    if tensor.shape.rank == 0:
        raise TypeError("Cannot iterate over a scalar tensor: it has no rows")
    produced = _as_range(tensor)
    if produced is not None:
        return produced
    known = None if tensor.shape.rank is None else tensor.shape[0]
    return Rows(
        known if known is not None else extents.shape(tensor)[0],
        lambda index: selecting.gather(tensor, index),
    )


def counted(start: Any, limit: Any = None, delta: Any = 1) -> Rows:
    """Python's `range` over tensors: `start + index * delta`, empty when it starts beyond `limit`.

    The arguments are integers, of one dtype where they are tensors. Raises TypeError for others.
    """
    if limit is None:
        start, limit = 0, start
    dtype = next((x.dtype for x in (start, limit, delta) if is_tensor_like(x)), dtypes.int32)
    first, end, step = (
        convert_to_tensor(x, None if is_tensor_like(x) else dtype) for x in (start, limit, delta)
    )
    if not dtype.is_integer:
        raise TypeError(f"range() takes integers, not {dtype.name}: use tf.range")
    return _counted(first, end, step, dtype)


def _counted(start: Any, limit: Any, delta: Any, dtype: dtypes.DType) -> Rows:
    if not dtype.is_integer:
        count = casting.cast(elementwise.ceil((limit - start) / delta), dtypes.int32)
    elif _is(delta, 1):
        count = limit if _is(start, 0) else limit - start
    else:
        count = -((start - limit) // delta)
    exact = casting.cast(count, dtypes.int32)

    def item(index: Any) -> Any:
        steps = casting.cast(index, dtype)
        distance = steps if _is(delta, 1) else steps * delta
        return distance if _is(start, 0) else start + distance

    return Rows(exact, item)


def _is(tensor: Any, number: int) -> bool:
    """Whether a tensor is known to be this number."""
    return isinstance(tensor, EagerTensor) and bool(tensor._array == number)


def _as_range(tensor: Any) -> Rows | None:
    """A range that the graph made a moment ago is counted, not stored."""
    builder = current()
    if builder is None or not builder.operations or not isinstance(tensor, SymbolicTensor):
        return None
    operation = builder.operations[-1]
    if operation.type != "range" or operation.outputs[0] is not tensor._value:
        return None
    start, limit, delta = (_in_dtype(operand, tensor.dtype, builder) for operand in operation.inputs)
    return _counted(start, limit, delta, tensor.dtype)


def _in_dtype(operand: Operand, dtype: dtypes.DType, builder: Builder) -> Any:
    if isinstance(operand, Value):
        return casting.cast(wrap(operand, builder), dtype)
    return EagerTensor(operand.value.astype(dtype.numpy))
