"""Shapes, with dimensions or the whole rank unknown.

Inside the runtime a shape is a plain tuple of `int` or `None` (an unknown dimension), or `None` (an unknown
rank). `TensorShape` is the public class, with TensorFlow's methods.

>>> broadcast((None, 3), (4, 1))
(4, 3)
>>> TensorShape([None, 3]).merge_with([2, None])
TensorShape([2, 3])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .dimension import Dimension
from .export import export

Dims = tuple[int | None, ...] | None


@export("TensorShape")
class TensorShape:
    """The shape of a tensor: `rank`, dimensions that may be None, `TensorShape(None)` for an unknown rank.

    >>> shape = TensorShape([None, 3])
    >>> shape.rank, shape[1], shape.is_fully_defined()
    (2, 3, False)
    >>> shape.is_compatible_with([5, 3])
    True
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any = None) -> None:
        self._dims = as_dims(dims)

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if it is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions; None if it is unknown."""
        return self.rank

    @property
    def sizes(self) -> Dims:
        """The sizes in a tuple, None for an unknown one; None if the rank is unknown."""
        return self._dims

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as `tf.compat.v1.Dimension`, which computes with unknown ones; None if the rank is unknown.

        >>> TensorShape([None, 3]).dims
        [Dimension(None), Dimension(3)]
        """
        return None if self._dims is None else [Dimension(size) for size in self._dims]

    def as_list(self) -> list[int | None]:
        """Return the dimensions; ValueError when the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """Return the number of elements; None if a dimension is unknown."""
        return num_elements(self._dims)

    def is_fully_defined(self) -> bool:
        """Return whether the rank and all dimensions are known."""
        return is_static(self._dims)

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether a tensor can have both shapes: known dimensions are equal."""
        return compatible(self._dims, as_dims(other))

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether each tensor of this shape has the shape `other`, too."""
        return covers(as_dims(other), self._dims)

    def merge_with(self, other: Any) -> TensorShape:
        """Return the shape that combines both; ValueError when they contradict each other."""
        return of_dims(merge(self._dims, as_dims(other)))

    def most_general_common_supershape(self, other: Any) -> TensorShape:
        """Return the most precise shape that covers both."""
        return of_dims(generalize(self._dims, as_dims(other)))

    def concatenate(self, other: Any) -> TensorShape:
        """Return the dimensions of this shape, then those of `other`."""
        tail = as_dims(other)
        return TensorShape(None if self._dims is None or tail is None else self._dims + tail)

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape with a rank; ValueError for another known rank."""
        return self.merge_with((None,) * rank)

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape; ValueError when it has fewer dimensions than `rank`."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return this shape; ValueError when it has more dimensions than `rank`."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the most precise shape that covers both.

        >>> TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
        TensorShape([2, None])
        """
        return self.most_general_common_supershape(other)

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError when both ranks are known and differ."""
        if None not in (self._dims, as_dims(other)) and len(self) != len(TensorShape(other)):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} must have the same rank")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError when the rank or a dimension is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless a tensor can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError for another known rank."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return None if not isinstance(key, slice) else TensorShape(None)
        found = self._dims[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __bool__(self) -> bool:
        return self._dims is not None

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_dims(other)
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return show(self._dims)

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)


def of_dims(dims: Dims) -> TensorShape:
    """Return a TensorShape of dimensions that need no checks."""
    shape = TensorShape.__new__(TensorShape)
    shape._dims = dims
    return shape


def as_dims(value: Any) -> Dims:
    """Return a user's shape (TensorShape, sequence, int, None) as a tuple."""
    if isinstance(value, TensorShape):
        return value._dims
    if value is None:
        return None
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{value!r} is not a shape")
    items = value if hasattr(value, "__iter__") else (value,)
    return tuple(map(_size, items))


def _size(item: Any) -> int | None:
    if type(item) is int and 0 <= item < 1 << 63:
        return item
    if isinstance(item, Dimension):
        item = item.value
    if item is None:
        return None
    try:
        size = item.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"Dimension value must be integer or None, got value {item!r}") from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    if size >= 1 << 63:
        raise ValueError(f"Dimension {size} must be less than 2**63")
    return int(size)


def show(dims: Dims) -> str:
    """Return the shape as TensorFlow prints it: `(2, None)`, `<unknown>`."""
    if dims is None:
        return "<unknown>"
    return "(" + ", ".join(map(str, dims)) + (",)" if len(dims) == 1 else ")")


def is_static(dims: Dims) -> bool:
    return dims is not None and None not in dims


def num_elements(dims: Dims) -> int | None:
    if dims is None:
        return None
    count = 1
    for size in dims:
        if size is None:
            return None
        count *= size
    return count


def compatible(one: Dims, other: Dims) -> bool:
    """Return whether some concrete shape fits both."""
    if one is None or other is None or one == other:
        return True
    return len(one) == len(other) and all(
        a is None or b is None or a == b for a, b in zip(one, other, strict=True)
    )


def covers(general: Dims, special: Dims) -> bool:
    """Return whether every concrete shape that fits `special` fits `general`."""
    if general is None:
        return True
    if special is None or len(general) != len(special):
        return False
    return all(a is None or a == b for a, b in zip(general, special, strict=True))


def merge(one: Dims, other: Dims) -> Dims:
    """Return the shape that combines both; ValueError when they contradict each other."""
    if one is None or other is None:
        return other if one is None else one
    if not compatible(one, other):
        raise ValueError(f"Shapes {show(one)} and {show(other)} are not compatible")
    return tuple(b if a is None else a for a, b in zip(one, other, strict=True))


def generalize(one: Dims, other: Dims) -> Dims:
    """Return the most precise shape that covers both."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else None for a, b in zip(one, other, strict=True))


def broadcast(one: Dims, other: Dims) -> Dims:
    """Return the shape of an elementwise operation on both; ValueError when they do not broadcast."""
    if one == other and (one is None or None not in one):
        return one
    if one == () or other == ():  # a scalar broadcasts with everything
        return other if one == () else one
    if one is None or other is None:
        return None
    rank = max(len(one), len(other))
    left = (1,) * (rank - len(one)) + one
    right = (1,) * (rank - len(other)) + other
    return tuple(_broadcast_size(a, b, one, other) for a, b in zip(left, right, strict=True))


def _broadcast_size(a: int | None, b: int | None, one: Dims, other: Dims) -> int | None:
    if a == 1:
        return b
    if b == 1 or a == b:
        return a
    if a is None or b is None:
        return a if b is None else b
    raise ValueError(f"Incompatible shapes: {show(one)} vs. {show(other)}")


def normal_axis(axis: int, rank: int) -> int:
    """Return `axis` counted from the front; ValueError when it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(
            f"axis {axis} is out of range for a tensor of rank {rank}: expected [{-rank}, {rank})"
        )
    return axis % rank if rank else 0


def reduced(shape: Dims, axis: tuple[int, ...] | None, keepdims: bool) -> Dims:
    """Return the shape after a reduction; ValueError for an axis out of range or given twice.

    >>> reduced((2, 3, None), (0, -1), False), reduced((2, 3), None, True), reduced(None, None, False)
    ((3,), (1, 1), ())
    """
    if shape is None:
        return () if axis is None and not keepdims else None
    gone = set(range(len(shape))) if axis is None else {normal_axis(one, len(shape)) for one in axis}
    if axis is not None and len(gone) < len(axis):
        raise ValueError(f"Invalid reduction arguments: Axes contains duplicate dimension: {axis}")
    if keepdims:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)
