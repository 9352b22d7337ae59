"""Python's built-in functions over tensors, and over lists of tensors.

max(t)              the largest element of a vector, ValueError when there is none
sum([a, b])         a + b
sorted(t, key=f)    a tensor in the order of f(row)
i in range(n)       computed, without making the range

The semantics are Python's. Calls that a graph cannot run (`max` of a matrix, `round` to decimal places) raise errors.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable
from typing import Any

from agc.autograph.api import converted, for_loop

from .. import dtypes
from ..control_flow import regions
from ..control_flow.builtin_errors import raise_unless
from ..control_flow.functional_api import cond
from ..control_flow.tensor_list import TensorList
from ..core.conversion import convert_to_tensor, is_tensor_like
from ..core.tensor_array import TensorArray
from ..ops.arrays import concat_split, gather_ops, shape_ops
from ..ops.arrays.reshape import reshape
from ..ops.math import arithmetic, cast, comparison, elementwise
from ..ops.reduce import reductions
from ..ops.state import print_op
from .indexed_iterables import (
    IndexedItems,
    Range,
    backwards,
    counted,
    enumerated,
    filtered,
    mapped,
    rows_of,
    zipped,
)
from .iterators import advanced, iterator
from .list_and_tuple import as_list, as_tuple
from .numeric_builtins import power, rounded, to_bool, to_complex, to_float, to_int

Binary = Callable[[Any, Any], Any]
_NOTHING: Any = object()


def length(obj: Any, /) -> Any:
    if isinstance(obj, IndexedItems):
        return obj.counted("len").count
    if isinstance(obj, (TensorArray, TensorList)):
        return obj.size()
    if hasattr(obj, "__rows__"):
        return rows_of(obj).counted("len").count
    tensor = convert_to_tensor(obj)
    if tensor.shape.rank == 0:
        raise TypeError("object of type 'Tensor' has no len(): it is a scalar")
    known = None if tensor.shape.rank is None else tensor.shape[0]
    return known if known is not None else shape_ops.shape(tensor)[0]


def extreme(name: str, choose: Binary, better: Binary, reduce: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return `max` or `min`: of several arguments, of a list of them, or of the items of a tensor."""

    def of(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        values = args if len(args) > 1 else _listed(args[0])
        several = isinstance(values, (list, tuple))
        if several and not values:
            return _empty(name, default)
        if several and key is None:
            for value in values:
                _one(name, value)
            return _folded(choose, values)
        if several:
            return _best(IndexedItems(len(values), values.__getitem__), key, better)
        rows = rows_of(values).counted(name)
        if isinstance(rows.count, int) and rows.count == 0:
            return _empty(name, default)
        if key is None and is_tensor_like(values):
            tensor = convert_to_tensor(values)
            if tensor.shape.rank not in (1, None):
                raise _ambiguous(name, tensor)
            return _unless_empty(name, rows, default, lambda: reduce(tensor))
        return _unless_empty(name, rows, default, lambda: _best(rows, key, better))

    return of


def _listed(items: Any) -> Any:
    """Convert generators, views of dicts and sets to lists; return values that a graph can iterate over unchanged."""
    is_of_graph = is_tensor_like(items) or isinstance(items, (IndexedItems, TensorArray, TensorList))
    is_taken = is_of_graph or isinstance(items, (list, tuple)) or hasattr(items, "__rows__")
    return list(items) if isinstance(items, Iterable) and not is_taken else items


def _one(name: str, value: Any) -> None:
    if is_tensor_like(value) and value.shape.rank not in (0, None):
        raise _ambiguous(name, value)


def _ambiguous(name: str, value: Any) -> Exception:
    return TypeError(
        f"{name}() compares items one by one, and those of shape {value.shape} have no order: "
        f"use tf.reduce_{name}(x), or tf.{name}imum(x, y) element by element"
    )


def _empty(name: str, default: Any) -> Any:
    if default is _NOTHING:
        raise ValueError(f"{name}() arg is an empty sequence")
    return default


def _unless_empty(name: str, rows: IndexedItems, default: Any, found: Callable[[], Any]) -> Any:
    """Call `found` if there are items at run time; otherwise raise ValueError or return `default`."""
    if isinstance(rows.count, int):
        return found()
    some = comparison.greater(rows.count, 0)
    if default is _NOTHING:
        raise_unless(some, ValueError(f"{name}() arg is an empty sequence"))
        return found()
    return cond(some, found, lambda: default)


def _folded(choose: Binary, values: Any) -> Any:
    first, *others = values
    for other in others:
        first = choose(first, other)
    return first


def _best(rows: IndexedItems, key: Any, better: Binary) -> Any:
    """Return the first item with the best key."""
    score: Callable[[Any], Any] = converted(key) if key is not None else lambda item: item
    best = rows.get(0)
    state = (best, score(best))

    def step(item: Any, best: Any, mark: Any) -> Any:
        new = score(item)
        return cond(better(new, mark), lambda: (item, new), lambda: (best, mark))

    if isinstance(rows.count, int) and rows.count <= 8:
        for index in range(1, rows.count):
            state = step(rows.get(index), *state)
        return state[0]

    functions = rows.functions if key is None else (*rows.functions, key)
    others = IndexedItems(rows.count - 1, lambda index: rows.get(index + 1), None, functions)
    return for_loop(others, step, state)[0]


def total(items: Any, /, start: Any = 0) -> Any:
    items = _listed(items)
    if isinstance(items, (list, tuple)):
        return _folded(lambda x, y: x + y, [start, *items])
    if isinstance(items, IndexedItems) or not is_tensor_like(items):
        rows = rows_of(items).counted("sum")
        if isinstance(rows.count, int):
            return _folded(lambda x, y: x + y, [start, *rows])
        return for_loop(rows, lambda item, total: (total + item,), (start,))[0]
    tensor = convert_to_tensor(items)
    if tensor.shape.rank == 0:
        raise TypeError("Cannot iterate over a scalar tensor: it has no rows")
    if tensor.dtype.is_bool:
        tensor = cast.cast(tensor, dtypes.int32)
    result = reductions.reduce_sum(tensor, axis=0)
    return result if isinstance(start, int) and start == 0 else start + result


def quantifier(name: str, reduce: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return `any` or `all` for the elements of a vector."""

    def of(iterable: Any, /) -> Any:
        if isinstance(iterable, IndexedItems):
            return _decided(iterable, name)
        tensor = convert_to_tensor(iterable)
        if tensor.shape.rank == 0:
            raise TypeError("Cannot iterate over a scalar tensor: it has no rows")
        if tensor.shape.rank not in (1, None):
            regions.require_single(tensor.shape[1:], name)
            tensor = reshape(tensor, shape_ops.shape(tensor)[:1])
        is_text = tensor.dtype is dtypes.string
        zero = convert_to_tensor("" if is_text else 0, tensor.dtype) if not tensor.dtype.is_bool else None
        return reduce(tensor if zero is None else comparison.not_equal(tensor, zero))

    return of


def _decided(items: IndexedItems, name: str) -> Any:
    """Return `any` or `all` of the items; none after the one that decides is computed."""
    is_all = name == "all"

    def step(item: Any, is_decided: Any) -> tuple[Any]:
        truth = regions.truth(item, name)
        return (comparison.logical_not(truth) if is_all else truth,)

    (is_decided,) = for_loop(items, step, (False,), "is_decided")
    return comparison.logical_not(is_decided) if is_all else is_decided


def in_order(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    """Return a tensor of the sorted rows; if the tensors were in a list, return a list."""
    from ..ops.arrays import sort  # rarely used, so imported late

    if isinstance(iterable, (list, tuple)):
        stacked = concat_split.stack([convert_to_tensor(item) for item in iterable])
        return concat_split.unstack(in_order(stacked, key=key, reverse=reverse), len(iterable))
    rows = rows_of(iterable).counted("sorted")
    tensor = iterable if is_tensor_like(iterable) else _stacked(rows)
    tensor = convert_to_tensor(tensor)
    if not isinstance(reverse, (bool, int)):
        raise TypeError("sorted() needs `reverse` while the graph is made: it cannot be a tensor")
    marks = tensor if key is None else _stacked(mapped(key, tensor))
    if marks.shape.rank not in (1, None):
        raise TypeError(
            f"sorted() compares items one by one, and these have shape {marks.shape[1:]}: give it a `key`"
        )
    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        return sort.sort(tensor, direction=direction)
    return gather_ops.gather(tensor, sort.argsort(marks, direction=direction, stable=True))


def _stacked(rows: IndexedItems) -> Any:
    """Return the items as one tensor."""
    get = lambda index: convert_to_tensor(rows.get(index))  # noqa: E731
    return concat_split.stack(as_list(IndexedItems(rows.count, get, None, rows.functions)))


def contained(container: Any, item: Any, /) -> Any:
    """Return `item in container`."""
    if isinstance(container, range):
        container = counted(container.start, container.stop, container.step)
    if isinstance(container, Range):
        return container.contains(item)
    if isinstance(container, IndexedItems):
        raise TypeError("`in` needs a tensor, a range or a list, not items that a graph makes one by one")
    if is_tensor_like(container):
        tensor = convert_to_tensor(container)
        if tensor.shape.rank not in (1, None):
            raise TypeError(
                f"`in` compares rows, and these have shape {tensor.shape[1:]}: use tf.reduce_any(t == x)"
            )
        return reductions.reduce_any(comparison.equal(tensor, item))
    if is_tensor_like(item) and item.shape.rank not in (0, None):
        raise TypeError(f"`in` needs a scalar, but this has shape {item.shape}: use tf.reduce_any(t == x)")
    equal = [item == element for element in container]
    known = [truth for truth in equal if not is_tensor_like(truth)]
    if any(known):
        return True
    tensors = [regions.truth(truth, "in") for truth in equal if is_tensor_like(truth)]
    return _folded(comparison.logical_or, tensors) if tensors else False


BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = {
    builtins.abs: elementwise.abs,
    builtins.all: quantifier("all", reductions.reduce_all),
    builtins.any: quantifier("any", reductions.reduce_any),
    builtins.bool: to_bool,
    builtins.complex: to_complex,
    builtins.divmod: lambda x, y, /: (x // y, x % y),
    builtins.enumerate: enumerated,
    builtins.filter: filtered,
    builtins.float: to_float,
    builtins.int: to_int,
    builtins.iter: iterator,
    builtins.len: length,
    builtins.list: as_list,
    builtins.map: mapped,
    builtins.max: extreme("max", arithmetic.maximum, comparison.greater, reductions.reduce_max),
    builtins.min: extreme("min", arithmetic.minimum, comparison.less, reductions.reduce_min),
    builtins.next: advanced,
    builtins.pow: power,
    builtins.print: print_op.print_now,
    builtins.range: counted,
    builtins.reversed: backwards,
    builtins.round: rounded,
    builtins.sorted: in_order,
    builtins.sum: total,
    builtins.tuple: as_tuple,
    builtins.zip: zipped,
    operator.contains: contained,
    operator.eq: comparison.equal,
    operator.ne: comparison.not_equal,
}
