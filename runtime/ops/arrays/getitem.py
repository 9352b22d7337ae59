"""`tensor[key]` with all keys of TensorFlow; the base of `slice` and `strided_slice`.

A key is written in the graph as in Python. Each `_` denotes a traced index, which is an operand:

    row = getitem x, i, key='_, ::-1'                 # from `x[i, ::-1]`
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ... import errors
from ...core import conversion
from ...core.dimension import Dimension
from ...core.tensor import EagerTensor, Tensor
from ...ir.batching import Batch
from ...ir.traits import CHEAP
from ...ir.value_types import TensorType
from ..framework.cached_dispatch import cached_dispatch
from ..framework.eager_calls import KeptAttributes, native
from ..framework.op import Input, Inputs, Ints, Name, op
from ..framework.static_values import checked_dims, dims, integer, known_elements
from .gather_ops import gather
from .reshape import ensure_shape
from .where_ops import boolean_mask

Array = Any

_HOLE = "_"


def getitem(tensor: Any, key: Any) -> Any:
    """Return `tensor[key]`: integers, slices, `...`, None (a new axis), scalar tensors, or a mask of booleans.

    >>> x = conversion.convert_to_tensor([[1, 2, 3], [4, 5, 6]])
    >>> getitem(x, (1, slice(None, None, -1)))
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([6, 5, 4], dtype=int32)>
    """
    if type(key) is int:
        return select(tensor, (), str(key))
    if type(key) is not tuple and type(key) is not slice and is_mask(key):
        return boolean_mask(tensor, key)
    parts: list[Tensor] = []
    return select(tensor, parts, key_text(key, parts))


def key_text(key: Any, parts: list[Tensor]) -> str:
    """Return a key's text for the graph; traced indices are appended to `parts`."""
    items = key if isinstance(key, (list, tuple)) else (key,)
    return ", ".join([_item_text(item, parts) for item in items]) or "..."


def is_mask(key: Any) -> bool:
    """Return whether a key is a boolean mask."""
    if isinstance(key, (bool, np.bool_)) or (isinstance(key, np.ndarray) and key.dtype.kind == "b"):
        return True
    return conversion.is_tensor_like(key) and key.dtype.is_bool


def _item_text(item: Any, parts: list[Tensor]) -> str:
    if type(item) is int:
        return str(item)
    if item is None or item is Ellipsis:
        return "None" if item is None else "..."
    if isinstance(item, slice):
        start, stop, step = item.start, item.stop, item.step
        text = ":" if start is None else f"{_integer_text(start, parts)}:"
        if stop is not None:
            text += _integer_text(stop, parts)
        return text if step is None else f"{text}:{_integer_text(step, parts)}"
    return _integer_text(item, parts)


def _integer_text(item: Any, parts: list[Tensor]) -> str:
    """Return the text of an integer; `_` for a traced one, which is appended to `parts`."""
    if type(item) is int:
        return str(item)
    if isinstance(item, (int, np.integer, Dimension)) and not isinstance(item, bool):
        return str(int(item))
    if conversion.is_tensor_like(item):
        tensor = conversion.convert_to_tensor(item)
        if tensor.dtype.is_integer and tensor.shape.rank in (0, None):
            if isinstance(tensor, EagerTensor):
                return str(int(tensor))
            # A tensor of unknown rank is checked at run time: it must be a scalar.
            parts.append(tensor if tensor.shape.rank == 0 else ensure_shape(tensor, ()))
            return _HOLE
    elif isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype.kind in "iu":
        return str(int(item))
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
        f"tensors are valid indices, got {item!r}"
    )


class Hole:
    """A placeholder in a parsed key for an integer operand."""


HOLE = Hole()


_INTEGER = re.compile("-?[0-9]{1,19}")


@functools.lru_cache(maxsize=4096)
def parsed(key: str) -> tuple[Any, ...]:
    """Parse a key's text to a Python index, with a `HOLE` for each operand.

    >>> parsed("-1, ..., None, ::2")
    (-1, Ellipsis, None, slice(None, None, 2))
    """
    return tuple(map(_parsed_item, key.split(", ")))


def _parsed_item(text: str) -> Any:
    if text in ("...", "None"):
        return Ellipsis if text == "..." else None
    if ":" in text:
        return slice(*(_parsed_integer(part) if part else None for part in text.split(":")))
    return _parsed_integer(text)


def _parsed_integer(text: str) -> int | Hole:
    if text == _HOLE:
        return HOLE
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not an integer of a key")
    return int(text)


def filled(key: str, parts: Sequence[Any]) -> tuple[Any, ...]:
    """Return a key's text as a Python index, with `parts` in place of its holes."""
    index = parsed(key)
    if not parts:
        return index
    rest = iter(parts)
    return tuple(_filled_slice(item, rest) if type(item) is slice else _filled(item, rest) for item in index)


def _filled(item: Any, rest: Iterator[Any]) -> Any:
    return next(rest) if item is HOLE else item


def _filled_slice(item: slice, rest: Iterator[Any]) -> slice:
    return slice(_filled(item.start, rest), _filled(item.stop, rest), _filled(item.step, rest))


def _holes(index: tuple[Any, ...]) -> int:
    """Return the number of operands of an index."""
    items = [(item.start, item.stop, item.step) if type(item) is slice else (item,) for item in index]
    return sum(each is HOLE for parts in items for each in parts)


@op(name="getitem", traits=CHEAP)
def select(tensor: Input, parts: Inputs, key: str, name: Name = None) -> TensorType:
    """Return `tensor[key]`, where `parts` are the values of the `_` in the key.

    >>> select([[1, 2], [3, 4]], [1], "_, :1")
    <tf.Tensor: shape=(1,), dtype=int32, numpy=array([3], dtype=int32)>
    """
    if any(part.shape for part in parts):
        raise ValueError("an index of a key is a scalar tensor")
    values = [integer(part) for part in parts]
    if _holes(parsed(key)) != len(parts):
        raise ValueError(f"the key {key!r} has another number of holes than {len(parts)}")
    index = filled(key, [HOLE if value is None else value for value in values])
    if index.count(Ellipsis) > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    if tensor.shape is None:
        return TensorType(tensor.dtype, None)
    return TensorType(tensor.dtype, tuple(result_sizes(index, tensor.shape)))


def result_sizes(index: tuple[Any, ...], shape: tuple[int | None, ...]) -> Iterator[int | None]:
    """Yield the sizes of the selected part, None for unknown sizes; ValueError for an index out of bounds."""
    for item, dim in matched(index, len(shape)):
        if item is None:
            yield 1
            continue
        size = shape[dim]
        if type(item) is slice:
            yield _sliced_size(item, size, dim)
        elif size is not None and item is not HOLE and not -size <= item < size:
            raise ValueError(_out_of_bounds(item, size, dim))


def matched(index: tuple[Any, ...], rank: int) -> Iterator[tuple[Any, int]]:
    """Yield each item of the index with the axis that it indexes; omitted axes get a full slice."""
    used = sum(item is not None and item is not Ellipsis for item in index)
    if used > rank:
        raise ValueError(
            f"Index out of range using input dim {rank}; input has only {rank} dims (a list is one index for each "
            "axis, as a tuple is; tf.gather takes several rows)"
        )
    dim = 0
    for item in index if Ellipsis in index else (*index, Ellipsis):
        if item is Ellipsis:
            for _ in range(rank - used):
                yield slice(None), dim
                dim += 1
        else:
            yield item, dim
            dim += item is not None


def _sliced_size(item: slice, size: int | None, dim: int) -> int | None:
    if item.step == 0:
        raise ValueError(f"strides[{dim}] must be non-zero")
    if item == slice(None) or (item.start is None and item.stop is None and item.step in (1, -1)):
        return size
    if size is None or HOLE in (item.start, item.stop, item.step):
        return None
    return len(range(*item.indices(size)))


def _out_of_bounds(index: int, size: int, dim: int) -> str:
    return f"slice index {index if index >= 0 else index + size} of dimension {dim} out of bounds."


@select.elements
def _(tensor: Array, parts: list[Array], key: str) -> Any:
    elements = known_elements(tensor)
    if elements is None or parts or tensor.shape == ():
        return None
    found = np.array(elements, object)[parsed(key)]  # a vector of integers, or of None for unknown ones
    if isinstance(found, np.ndarray):
        return tuple(found) if found.ndim == 1 else None
    return (found,)


@select.kernel
def _(tensor: Array, parts: list[Array], key: str) -> Array:
    index = filled(key, parts) if parts else parsed(key)
    try:
        found = tensor[index]
    except IndexError as error:
        raise errors.InvalidArgumentError(reason(index, tensor.shape) or str(error)) from None
    if type(found) is np.ndarray or isinstance(found, np.generic):
        return found
    return np.asarray(found, tensor.dtype)


@select.specialize
def _(specs: list[TensorType], key: str) -> Any:
    tensor, *parts = specs
    return None if parts or not tensor.shape or tensor.dtype.kind == "S" else operator.itemgetter(parsed(key))


@select.batching
def _(batch: Batch) -> Any:
    tensor, *parts = batch.arguments
    key = batch.attrs["key"]
    if not any(part.has_rows for part in parts):
        return batch.call(tensor.tensor, *(part.tensor for part in parts), key=f":, {key}" if key else ":")
    if key != "_" or parts[0].rank != 0:
        return None
    return gather(tensor.tensor, parts[0].tensor, batch_dims=1 if tensor.has_rows else 0)


@op
def put_back_item(value: Input, shape: Ints, parts: Inputs, key: str, name: Name = None) -> TensorType:
    """Scatter `value` into zeros of this shape at the key: the transpose of `getitem`.

    >>> put_back_item([5, 7], [4], [], "::2")
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([5, 0, 7, 0], dtype=int32)>
    """
    return TensorType(value.dtype, dims(shape))


@put_back_item.kernel
def _(value: Array, shape: Array, parts: list[Array], key: str) -> Array:
    result = np.zeros(checked_dims(shape), value.dtype)
    result[filled(key, parts)] = value
    return result


put_back_item.gradient(lambda dy, y, value, shape, parts, key: (select(dy, parts, key), None, None))


def reason(index: tuple[Any, ...], shape: tuple[int, ...]) -> str | None:
    """Return the error message for the index that is out of bounds in an array of this shape, if any."""
    for item, dim in matched(index, len(shape)):
        if item is not None and type(item) is not slice and not -shape[dim] <= item < shape[dim]:
            return _out_of_bounds(int(item), shape[dim], dim)
    return None


def _rows(self: EagerTensor) -> Iterator[Any]:
    """Iterate over the rows of a tensor, for a Python loop."""
    if not self._array.ndim:
        raise TypeError("Cannot iterate over a scalar tensor.")
    return map(self.__getitem__, range(len(self._array)))


_PATTERNS: dict[tuple[Any, ...], KeptAttributes] = {}
"""Attributes of `select` by patterns of keys: NotImplemented is an integer, True a full slice.

The type `slice` and two parts are a slice with bounds.
"""

_CONSTANT = 64
"""The number of calls that are recorded with constants as the bounds of slices, for each pattern."""

_counts: dict[tuple[Any, ...], int] = {}


def _item_attributes(pattern: tuple[Any, ...]) -> KeptAttributes | None:
    """Return the attributes of `select` for a pattern, whose integers are operands; None for constant bounds."""
    if slice in pattern:
        _counts[pattern] = _counts.get(pattern, 0) + 1
        if _counts[pattern] <= _CONSTANT:
            return None
    texts = {NotImplemented: _HOLE, True: ":", None: "None", Ellipsis: "..."}
    parts = iter(pattern)
    items = [_bounds(next(parts), next(parts)) if part is slice else texts[part] for part in parts]
    key = ", ".join(items)
    kept = KeptAttributes({"key": key}, (None,) * (1 + key.count(_HOLE)))
    return _PATTERNS.setdefault(pattern, kept)


def _bounds(start: Any, stop: Any) -> str:
    return ":".join(["" if bound is None else _HOLE for bound in (start, stop)])


def install() -> None:
    """Let Python index tensors, and iterate over those that have a value."""
    recorded: Any = cached_dispatch(getitem)
    method = native.getitem(getitem, recorded.__call__) if native else getitem
    if native:
        native.register(item_op=select, item_attributes=_item_attributes, patterns=_PATTERNS)
    Tensor.__getitem__ = Tensor._item = method  # type: ignore[method-assign, assignment]
    EagerTensor.__iter__ = _rows  # type: ignore[assignment, method-assign]
