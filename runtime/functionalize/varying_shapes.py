"""Shapes that vary between calls: the sizes that code for all of them has in registers.

    calls of f(x, y)      x: [3, 8]  y: [3]        x: [5, 8]  y: [5]        x: [9, 8]  y: [9]
    pattern               x: [a, 8]  y: [a]        a varies; both sizes were equal in each call

Sizes of 0 and 1 stay static: reductions of nothing and broadcasting are special. PyTorch has these rules for dynamic
shapes, too, but there two sizes become the same if they are equal in the last call, and here only if in all calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from .. import dtypes
from ..ir.value_types import TensorType

T = TypeVar("T")

MOST_STATIC = 4
"""Maximum number of codes for different shapes, and for different values of integers.

After that, one code with dynamic sizes serves all shapes or values, if it is possible.
"""

MOST_SHAPES = 64
"""Maximum number of combinations of shapes that are remembered."""

Shapes = tuple[tuple[int, ...], ...]
"""The shapes of all inputs. In a pattern, a negative size is the number of a dynamic size."""


def pattern_of(seen: Iterable[Shapes], shapes: Shapes) -> Shapes:
    """Return the pattern of `shapes`, which is one of `seen`.

    >>> pattern_of([((3, 8), (3,)), ((5, 8), (5,)), ((4, 8), (4,))], ((4, 8), (4,)))
    ((-1, 8), (-1,))
    """
    ranks = [len(shape) for shape in shapes]
    alike = [each for each in seen if [len(shape) for shape in each] == ranks]
    columns = zip(*[[size for shape in each for size in shape] for each in alike], strict=True)
    numbers: dict[tuple[int, ...], int] = {}
    return tuple(
        tuple(
            -1 - numbers.setdefault(column, len(numbers)) if size > 1 and len(set(column)) > 1 else size
            for size, column in zip(shape, columns)  # noqa: B905 - the columns of later shapes remain
        )
        for shape in shapes
    )


def fits(pattern: Shapes, shapes: Shapes) -> bool:
    """Return whether code for `pattern` serves inputs of these shapes.

    >>> [fits(((-1, 8), (-1,)), shapes) for shapes in (((6, 8), (6,)), ((6, 8), (5,)), ((1, 8), (1,)))]
    [True, False, False]
    """
    found: dict[int, int] = {}
    return [*map(len, pattern)] == [*map(len, shapes)] and all(
        size > 1 and found.setdefault(wanted, size) == size if wanted < 0 else wanted == size
        for one, other in zip(pattern, shapes, strict=True)
        for wanted, size in zip(one, other, strict=True)
    )


class ByPattern(Generic[T]):
    """Values for patterns of shapes; the patterns follow from the shapes of all calls. It is safe for threads.

    >>> table = ByPattern[str]()
    >>> [table.learned(((size,),)) for size in (3, 5, 2, 8, 9)]
    [None, None, None, None, ((-1,),)]
    >>> table.add(((-1,),), "code")
    >>> table.get(((7,),))
    'code'
    """

    def __init__(self, fixed: Iterable[int] = ()) -> None:
        """Make an empty table; the sizes of the inputs in `fixed` are static."""
        self._fixed = frozenset(fixed)
        self._seen: tuple[Shapes, ...] = ()
        self._values: dict[Shapes, T] = {}
        self._is_closed = False

    def get(self, shapes: Shapes) -> T | None:
        """Return the value of the first pattern that fits these shapes."""
        return next((value for pattern, value in self._values.items() if fits(pattern, shapes)), None)

    def learned(self, shapes: Shapes) -> Shapes | None:
        """Record new shapes. Return their pattern if it has dynamic sizes, and more than `MOST_STATIC` are known."""
        if self._is_closed:
            return None
        self._seen = (*self._seen[1 - MOST_SHAPES :], shapes)
        if len(self._seen) <= MOST_STATIC:
            return None
        found = pattern_of(self._seen, shapes)
        pattern = tuple(shapes[i] if i in self._fixed else found[i] for i in range(len(shapes)))
        return None if pattern == shapes else pattern

    def add(self, pattern: Shapes, value: T) -> None:
        """Set the value of a pattern."""
        self._values = {**self._values, pattern: value}

    def close(self) -> None:
        """Forget all patterns, and learn no more: code with dynamic sizes is impossible."""
        self._is_closed, self._values = True, {}


class VaryingType(TensorType):
    """The type of an input with dynamic sizes: one shape of a pattern."""

    __slots__ = ("sizes",)

    def __init__(self, dtype: dtypes.DType, sizes: Sequence[int]) -> None:
        super().__init__(dtype, tuple(None if size < 0 else size for size in sizes))
        self.sizes = tuple(sizes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VaryingType) and (self.dtype, self.sizes) == (other.dtype, other.sizes)

    def __hash__(self) -> int:
        return hash((self.dtype, self.sizes))
