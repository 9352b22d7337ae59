"""Iterators over datasets, for Python and for graphs.

    it = iter(ds)              a new iteration
    next(it)                   the next element; StopIteration at the end
    it.get_next()              the same with OutOfRangeError
    f(it)                      as an argument: one graph serves all iterators with its spec

In a graph, `next` is an operation, and a `for` over an iterator is staged (see `autograph_loops`).
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

from .. import errors, nest
from ..core.tensor import EagerTensor, Tensor
from ..core.type_spec import CompositeTensor
from ..ir.builder import current
from . import ops
from .dataset_spec import IteratorSpec
from .drawn_seeds import can_repeat
from .element_spec import boxed, leaf_specs, made, packer, unboxed
from .iterator_position import position_of
from .iterator_state import Walk
from .optional import Optional

_MANY = 32


class Iterator(CompositeTensor):
    """The iterator of a dataset, returned by `iter(dataset)`.

    >>> from agc.runtime.data import Dataset
    >>> iterator = iter(Dataset.range(2))
    >>> next(iterator).numpy(), iterator.get_next().numpy(), list(iterator)
    (np.int64(0), np.int64(1), [])
    """

    def __init__(self, handle: Any, element_spec: Any) -> None:
        self._handle = handle  # a tensor of dtype variant
        self._spec = element_spec
        self._walk: Walk | None = unboxed(handle._array) if isinstance(handle, EagerTensor) else None
        self._pack = packer(element_spec)
        self._calls_in_graph = 0

    def __children__(self) -> dict[str, Any]:
        """Return the position, which checkpoints save; nothing if its random choices cannot be repeated."""
        if self._walk is None or not can_repeat(self._walk.stage):
            return {}
        return {"position": position_of(self._walk)}

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an iterator can be neither pickled nor copied: it holds the position of one iteration"
        )

    @classmethod
    def of(cls, walk: Walk, element_spec: Any) -> Iterator:
        """Return the iterator of a run of a pipeline; programs call `iter(dataset)`."""
        return cls(EagerTensor(boxed(walk)), element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._spec)

    def handle(self) -> Tensor:
        """Return the tensor of dtype variant that represents the iterator."""
        if self._walk is None or current() is None:
            return self._handle  # type: ignore[no-any-return]
        return ops.iterator_handle(self._walk)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        """Return the next element. Raises StopIteration at the end."""
        if current() is None and self._walk is not None:
            return self._pack(self._walk.next())
        self._calls_in_graph += 1
        if self._calls_in_graph > _MANY:
            raise ValueError(
                f"An iterator was asked for {_MANY} elements, one by one, while a graph was made: Python cannot see "
                "its end there. Loop over it in code that AutoGraph converts, or use Dataset.reduce."
            )
        return self.taken()

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """Return the next element. Raises OutOfRangeError when there is none."""
        if current() is not None or self._walk is None:
            return self.taken()
        if not self._walk.advance():
            raise errors.OutOfRangeError("End of sequence")
        return self._pack(self._walk.current)

    def get_next_as_optional(self) -> Optional:
        """Return the next element as an Optional, empty at the end.

        >>> from agc.runtime.data import Dataset
        >>> iter(Dataset.range(0)).get_next_as_optional().has_value().numpy()
        np.False_
        """
        if current() is None and self._walk is not None:
            element = tuple(self._walk.current) if self._walk.advance() else None
            return Optional(EagerTensor(boxed(element)), self._spec)
        return Optional(ops.iterator_next_as_optional(self.handle()), self._spec)

    def taken(self) -> Any:
        """Return the next element, as an operation of the graph."""
        return self.packed(ops.iterator_next(self.handle(), tuple(leaf_specs(self._spec))))

    def packed(self, leaves: Any) -> Any:
        """Return the element with these tensors as leaves."""
        return made(self._spec, leaves)


class NumpyIterator:
    """An iterator over a dataset's elements as NumPy arrays and scalars.

    >>> from agc.runtime.data import Dataset
    >>> list(Dataset.range(2).as_numpy_iterator())
    [np.int64(0), np.int64(1)]
    """

    def __init__(self, dataset: Any) -> None:
        self._iterator = iter(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return _as_numpy(next(self._iterator))

    def next(self) -> Any:
        """Return the next element as NumPy arrays. Raises StopIteration at the end."""
        return self.__next__()

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _as_numpy(element: Any) -> Any:
    if hasattr(element, "as_numpy_iterator"):
        return element.as_numpy_iterator()
    if isinstance(element, EagerTensor):
        return element.numpy()
    if element is None or nest.is_composite(element):
        return element
    return nest.rebuilt(element, [_as_numpy(child) for _, child in nest.children(element)])
