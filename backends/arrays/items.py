"""The iterables of a staged `for`: how many items there are, and an item from its index or from rows of arrays.

for row in x              rows of x
for i in range(n)         0 + i * 1
for i, x in enumerate(x)  pairs; zip and reversed likewise

A scan takes the rows apart: it differentiates faster than indexing by the loop's counter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .failures import library
from .leaves import is_array


class Items:
    """`count` items; `get(index, rows)` makes one of the rows of `arrays` at the index.

    `count` is an int or a traced scalar; there are no items if it is negative.
    """

    def __init__(self, count: Any, arrays: Sequence[Any], get: Callable[[Any, Sequence[Any]], Any]) -> None:
        self.count, self.arrays, self.get = count, list(arrays), get

    def at(self, index: Any) -> Any:
        return self.get(index, [library().item(array, index) for array in self.arrays])

    def __len__(self) -> int:
        return self.known_count("len")

    def __getitem__(self, index: Any) -> Any:
        return self.at(library().where(index < 0, index + self.count, index))

    def __iter__(self) -> Iterator[Any]:
        return map(self.at, range(self.known_count("iteration in Python")))

    def known_count(self, what: str) -> int:
        if not isinstance(self.count, int):
            raise TypeError(
                f"{what}: the number of items is known only when the program runs; write a `for` loop over them"
            )
        return self.count


def items_of(value: Any) -> Items:
    """Return the items themselves, or the rows of an array."""
    if isinstance(value, Items):
        return value
    if is_array(value):
        if not value.ndim:
            raise TypeError("a `for` iterates over the first axis of an array, and a scalar has none")
        return Items(value.shape[0], [value], lambda index, rows: rows[0])
    raise TypeError(f"a staged `for` cannot iterate over {type(value).__name__}")


def length(value: Any) -> Any:
    """Return `len`. Loops need no bound of 0, which would be one more kernel to compile."""
    count = items_of(value).count
    return count if isinstance(count, int) else library().maximum(count, 0)


def in_range(*bounds: Any) -> Any:
    """Return `range` with traced bounds; the step may be traced, but not zero."""
    if all(map(library().is_concrete, bounds)):
        return range(*map(int, bounds))
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    for bound in bounds:
        if not library().is_integer(bound):
            dtype = library().dtype_name(library().type_of(bound).dtype)
            raise TypeError(f"range() takes integers, and got one of {dtype}: convert it with int(...)")
    if library().is_concrete(step) and int(step) == 0:
        raise ValueError("range() arg 3 must not be zero")
    distance = stop if _is(start, 0) else stop - start
    count = distance if _is(step, 1) else -(-distance // step)
    return Items(count, [], lambda index, rows: _sum(start, index if _is(step, 1) else index * step))


def _is(bound: Any, number: int) -> bool:
    return isinstance(bound, int) and bound == number


def _sum(start: Any, index: Any) -> Any:
    """Return the sum; programs without additions of 0 compile faster."""
    return index if _is(start, 0) else start + index


def enumerated(iterable: Any, start: Any = 0) -> Items:
    items = items_of(iterable)
    return Items(items.count, items.arrays, lambda index, rows: (_sum(start, index), items.get(index, rows)))


def backwards(sequence: Any, /) -> Items:
    items = items_of(sequence)
    arrays = [library().reversed(array) for array in items.arrays]
    return Items(items.count, arrays, lambda index, rows: items.get(items.count - 1 - index, rows))


def zipped(*many: Any, strict: bool = False) -> Any:
    """Return `zip`; with a Python iterable among them, Python iterates over all."""
    if not all(isinstance(each, Items) or is_array(each) for each in many):
        return zip(*many, strict=strict)
    columns = [items_of(each) for each in many]
    counts = [column.count for column in columns]
    if strict and len(set(counts)) > 1:
        raise ValueError(f"zip() arguments differ in length: {', '.join(map(str, counts))}")
    if all(isinstance(count, int) for count in counts):
        count: Any = min(counts)
    else:
        count = counts[0]
        for other in counts[1:]:
            count = library().minimum(count, other)
    arrays = [
        array[:count] if isinstance(count, int) else array for column in columns for array in column.arrays
    ]

    def get(index: Any, rows: Sequence[Any]) -> Any:
        left, found = list(rows), []
        for column in columns:
            found.append(column.get(index, left[: len(column.arrays)]))
            left = left[len(column.arrays) :]
        return tuple(found)

    return Items(count, arrays, get)
