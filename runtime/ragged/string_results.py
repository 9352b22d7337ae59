"""Operations that yield several elements per string: a scalar gives a vector, other tensors a RaggedTensor.

    rows_of(texts)      a vector of all strings, for the operation
    packed_rows(…)      the operation's results, in the shape that matches the strings

>>> texts = rows_of("ab")
>>> packed_rows(texts, convert_to_tensor([97, 98]), convert_to_tensor([2])).numpy().tolist()
[97, 98]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core.conversion import convert_to_tensor
from ..core.tensor import Tensor
from ..ops.arrays.reshape import reshape
from ..ops.arrays.shape_ops import shape as shape_of
from .tensor import RaggedTensor


class Texts(NamedTuple):
    """Strings as they were given, and as a vector."""

    given: Any
    flat: Tensor


def rows_of(input: Any) -> Texts:
    """Return strings of any shape, a tensor or RaggedTensor, with their flat vector."""
    if isinstance(input, RaggedTensor):
        return Texts(input, rows_of(input.flat_values).flat)
    tensor = convert_to_tensor(input)
    if tensor.shape.rank is None:
        raise ValueError("texts must have a known rank here: set it with tf.ensure_shape")
    return Texts(tensor, tensor if tensor.shape.rank == 1 else reshape(tensor, [-1]))


def packed_rows(texts: Texts, values: Tensor, counts: Tensor) -> Any:
    """Pack the elements of all strings, `counts` for each, in the shape that matches the strings."""
    given = texts.given
    if isinstance(given, RaggedTensor):
        return given.with_flat_values(packed_rows(rows_of(given.flat_values), values, counts))
    if given.shape.rank == 0:
        return values
    ragged = RaggedTensor.from_row_lengths(values, counts, validate=False)
    for size in reversed(_inner_sizes(given)):
        ragged = RaggedTensor.from_uniform_row_length(ragged, size, nrows=None, validate=False)
    return ragged


def _inner_sizes(tensor: Tensor) -> list[Any]:
    """Return the sizes of all axes but the first."""
    known = tensor.shape.as_list()[1:]
    return [shape_of(tensor)[i + 1] if size is None else size for i, size in enumerate(known)]
