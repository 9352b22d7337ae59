"""The iterables of a staged `for`: a number of items, and a function from an index to the item.

for x in tensor                 the rows of a tensor
for i in range(a, b, s)         a + index * s, without making the range
for i, x in enumerate(tensor)   pairs; zip, reversed and map in the same way
for x in filter(f, tensor)      the rows, and a test of each
for x in deck                   the result of an object's method `__rows__`, if its class is registered

If the number of items is known, Python can unroll such an object (`map(f, t)`): `list(map(f, t))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from agc.autograph.api import converted

from .. import dtypes, errors
from ..control_flow.builtin_errors import raise_unless
from ..control_flow.diagnostics import staging_error
from ..control_flow.tensor_list import TensorList
from ..core.conversion import convert_to_tensor, is_tensor_like
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor
from ..core.tensor_array import TensorArray
from ..ir.builder import Builder, current
from ..ir.graph import Operand, Value
from ..ops.arrays import gather_ops, shape_ops, where_ops
from ..ops.arrays.ranges import number_range
from ..ops.framework.op import wrap
from ..ops.math import arithmetic, cast, comparison, elementwise


class IndexedItems:
    """`count` items, an int or a scalar int32 tensor; `get(index)` returns an item.

    With a `test`, iteration skips items for which it is false. `functions` are those of the user's that `get` and
    `test` call: a loop over the items carries what these change.
    """

    def __init__(
        self,
        count: Any,
        get: Callable[[Any], Any],
        test: Callable[[Any], Any] | None = None,
        functions: tuple[Any, ...] = (),
    ) -> None:
        self.count = count
        self.get = get
        self.test = test
        self.functions = functions

    def __iter__(self) -> Iterator[Any]:
        if not isinstance(self.count, int) or self.test is not None:
            raise errors.OperatorNotAllowedInGraphError(
                "The number of items of this iterable is known only when the graph runs, so Python cannot walk over "
                "it. A `for` in converted code can; elsewhere use tf.range or tf.while_loop."
            )
        return map(self.get, range(self.count))

    def __length_hint__(self) -> int:
        known = isinstance(self.count, int) and self.test is None
        return self.count if known else NotImplemented

    def apart(self) -> tuple[IndexedItems, Callable[..., Any]]:
        """Return the indices, and a function from a loop body to one that makes the item of an index.

        A loop over the indices carries what `functions` change, as its body calls them.
        """
        rows = rows_of(self)

        def within(body: Callable[..., Any], names: tuple[str, ...], cond: Callable[..., Any]) -> Any:
            taken = passing(rows, body, names, cond)

            def step(index: Any, *state: Any) -> Any:
                return taken(rows.get(index), *state)

            step.__wrapped__ = body  # type: ignore[attr-defined]  # errors show the lines of the block itself
            return step

        return IndexedItems(rows.count, lambda index: index), within

    def counted(self, what: str) -> IndexedItems:
        """Return the object; raise a StagingError if there is a `test`, since `what` needs the number of items."""
        if self.test is not None:
            raise staging_error(
                "AGC271",
                f"`{what}` of a `filter` over a tensor cannot be staged",
                why="which items are left, and how many, is known only when the graph runs",
                fix="loop over the tensor and write the condition as an `if` in the loop, with a counter of your own",
            )
        return self


class Range(IndexedItems):
    """Python's `range` over tensors: it supports `len`, indexing and `in`."""

    def __init__(self, count: Any, get: Callable[[Any], Any], start: Any, step: Any) -> None:
        super().__init__(count, get)
        self.start, self.step = start, step

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            raise TypeError(
                "a range over tensors cannot be sliced: compute its bounds, or slice tf.range(...)"
            )
        is_negative = comparison.less(key, 0)
        index = where_ops.where(is_negative, arithmetic.add(self.count, key), key)
        fits = comparison.logical_and(comparison.less_equal(0, index), comparison.less(index, self.count))
        raise_unless(fits, IndexError("range object index out of range"))
        return self.get(index)

    def contains(self, number: Any) -> Any:
        """Return `number in range(...)`."""
        distance = arithmetic.subtract(number, self.start)
        steps = arithmetic.floordiv(distance, self.step)
        on_step = comparison.equal(arithmetic.floormod(distance, self.step), 0)
        count = cast.cast(self.count, steps.dtype)
        within = comparison.logical_and(comparison.less_equal(0, steps), comparison.less(steps, count))
        return comparison.logical_and(on_step, within)


def enumerated(iterable: Any, start: Any = 0) -> IndexedItems:
    """Return `enumerate`: pairs of a number and an item."""
    rows = rows_of(iterable).counted("enumerate")
    return IndexedItems(rows.count, lambda index: (index + start, rows.get(index)), None, rows.functions)


def backwards(sequence: Any, /) -> IndexedItems:
    """Return `reversed`: the same items from the last to the first."""
    rows = rows_of(sequence).counted("reversed")
    return IndexedItems(rows.count, lambda index: rows.get(rows.count - 1 - index), None, rows.functions)


def zipped(*many: Any, strict: bool = False) -> Any:
    """Return `zip`: tuples of the items with the same index, as many as the shortest iterable has."""
    if not all(map(_can_be_indexed, many)):
        return zip(*many, strict=strict)  # Python iterates
    columns = [rows_of(items).counted("zip") for items in many]
    counts = [column.count for column in columns]
    if strict and len({count for count in counts if isinstance(count, int)}) > 1:
        raise ValueError(f"zip() arguments differ in length: {', '.join(map(str, counts))}")
    count = counts[0]
    for other in counts[1:]:
        are_known = isinstance(count, int) and isinstance(other, int)
        if strict and not are_known:
            raise_unless(comparison.equal(count, other), ValueError("zip() arguments differ in length"))
        count = min(count, other) if are_known else arithmetic.minimum(count, other)
    functions = tuple(function for column in columns for function in column.functions)
    return IndexedItems(count, lambda index: tuple(column.get(index) for column in columns), None, functions)


def mapped(function: Callable[..., Any], /, *many: Any) -> Any:
    """Return `map`: the results of the function for each item, or for the items with the same index."""
    call = converted(function)
    if not all(map(_can_be_indexed, many)):
        return map(call, *many)
    rows = rows_of(many[0]) if len(many) == 1 else zipped(*many)
    functions = (*rows.functions, function)
    if len(many) > 1:
        return IndexedItems(rows.count, lambda index: call(*rows.get(index)), None, functions)
    if rows.test is None:
        return IndexedItems(rows.count, lambda index: call(rows.get(index)), None, functions)
    kept: Callable[[Any], Any] = rows.test
    get = lambda index: _Late(rows.get(index), call)  # noqa: E731
    return IndexedItems(rows.count, get, lambda late: kept(late.item), functions)


class _Late:
    """An item of a filter, and the function that `map` applies to it after the test."""

    def __init__(self, item: Any, call: Callable[[Any], Any]) -> None:
        self.item, self.call = item, call


def _now(item: Any) -> Any:
    return item.call(_now(item.item)) if isinstance(item, _Late) else item


def filtered(function: Callable[[Any], Any] | None, items: Any, /) -> IndexedItems:
    """Return `filter`: the items for which the function is true; without a function, the items that are true."""
    test = (lambda item: item) if function is None else converted(function)
    rows = rows_of(items)
    if rows.test is None:
        functions = rows.functions if function is None else (*rows.functions, function)
        return IndexedItems(rows.count, rows.get, test, functions)
    raise staging_error(
        "AGC271",
        "`filter` of a `filter` over a tensor cannot be staged",
        why="each item can have one condition",
        fix="combine both in one function: filter(lambda x: p(x) and q(x), t)",
    )


def passing(
    rows: IndexedItems, body: Callable[..., Any], names: tuple[str, ...], cond: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the body of a loop over `rows`, restricted to the items that pass their test."""
    if rows.test is None:
        return body
    test = rows.test

    def passed(item: Any, *state: Any) -> Any:
        def then(*now: Any) -> Any:
            return body(_now(item), *now)

        return cond(test(item), then, lambda *now: now, state, names)

    return passed


def _can_be_indexed(items: Any) -> bool:
    """Return whether items have an index; an iterator, a set or a list of objects has none."""
    if isinstance(items, (list, tuple)):
        try:
            convert_to_tensor(items)
        except (TypeError, ValueError):
            return False
        return True
    return (
        isinstance(items, (IndexedItems, TensorArray, TensorList, range, np.ndarray))
        or is_tensor_like(items)
        or hasattr(items, "__rows__")
    )


def rows_of(items: Any) -> IndexedItems:
    """Return the indexed items of `items` for a loop. Raise TypeError for a scalar tensor."""
    if hasattr(items, "__rows__"):
        rows: IndexedItems = items.__rows__()
        return rows
    if isinstance(items, IndexedItems):
        return items
    if isinstance(items, TensorArray):
        return IndexedItems(items.size(), items.read)
    if isinstance(items, TensorList):
        return IndexedItems(items.size(), items.copy().__getitem__)
    # An empty range is one of integers; other empty sequences have no dtype.
    tensor = convert_to_tensor(items, dtypes.int32 if isinstance(items, range) and not items else None)
    if tensor.shape.rank == 0:
        raise TypeError("Cannot iterate over a scalar tensor: it has no rows")
    produced = _as_range(tensor)
    if produced is not None:
        return produced
    known = None if tensor.shape.rank is None else tensor.shape[0]
    return IndexedItems(
        known if known is not None else shape_ops.shape(tensor)[0],
        lambda index: gather_ops.gather(tensor, index),
    )


def counted(start: Any, limit: Any = None, delta: Any = 1, /) -> Range:
    """Return Python's `range` over tensors: `start + index * delta`, empty when it starts beyond `limit`.

    The arguments are integers, of one dtype if they are tensors. Raise TypeError for others.
    """
    if limit is None:
        start, limit = 0, start
    dtype = next((x.dtype for x in (start, limit, delta) if is_tensor_like(x)), dtypes.int32)
    first, end, step = (
        convert_to_tensor(x, None if is_tensor_like(x) else dtype) for x in (start, limit, delta)
    )
    if not dtype.is_integer:
        raise TypeError(f"range() takes integers, not {dtype.name}: use tf.range")
    if _is(step, 0):
        raise ValueError("range() arg 3 must not be zero")
    return _counted(first, end, step, dtype)


def _counted(start: Any, limit: Any, delta: Any, dtype: dtypes.DType) -> Range:
    if not dtype.is_integer:
        count = cast.cast(elementwise.ceil((limit - start) / delta), dtypes.int32)
    elif _is(delta, 1):
        count = limit if _is(start, 0) else limit - start
    else:
        count = -((start - limit) // delta)
    exact = cast.cast(count, dtypes.int32)

    def item(index: Any) -> Any:
        steps = cast.cast(index, dtype)
        distance = steps if _is(delta, 1) else steps * delta
        return distance if _is(start, 0) else start + distance

    return Range(exact, item, start, delta)


def _is(tensor: Any, number: int) -> bool:
    """Return whether a tensor is a constant with this value."""
    return isinstance(tensor, EagerTensor) and bool(tensor._array == number)


def _as_range(tensor: Any) -> IndexedItems | None:
    """Return the items of a range that was the last operation of the graph, computed from the index; else None."""
    builder = current()
    if builder is None or not builder.operations or not isinstance(tensor, SymbolicTensor):
        return None
    operation = builder.operations[-1]
    if operation.op is not number_range or operation.outputs[0] is not tensor._value:
        return None
    start, limit, delta = (_in_dtype(operand, tensor.dtype, builder) for operand in operation.inputs)
    return _counted(start, limit, delta, tensor.dtype)


def _in_dtype(operand: Operand, dtype: dtypes.DType, builder: Builder) -> Any:
    if isinstance(operand, Value):
        return cast.cast(wrap(operand, builder), dtype)
    return EagerTensor(operand.value.astype(dtype.numpy_dtype))
