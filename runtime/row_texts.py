"""Functions that make several elements of each text: of a scalar a vector, of other tensors a RaggedTensor.

    rows_of(texts)      a vector of all texts, for the operation
    packed_rows(…)      what the operation gave, in the shape that goes with the texts

>>> texts = rows_of("ab")
>>> packed_rows(texts, convert_to_tensor([97, 98]), convert_to_tensor([2])).numpy().tolist()
[97, 98]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import errors
from .convert import convert_to_tensor
from .ops.shaping import reshape
from .tensor import Tensor


class Texts(NamedTuple):
    """Texts as they were given, and as a vector."""

    given: Any
    flat: Tensor


def rows_of(input: Any) -> Texts:
    """Texts of any shape, as a tensor or RaggedTensor."""
    tensor = convert_to_tensor(input)
    if tensor.shape.rank is None:
        raise ValueError("texts must have a known rank here: say it with tf.ensure_shape")
    return Texts(tensor, tensor if tensor.shape.rank == 1 else reshape(tensor, [-1]))


def packed_rows(texts: Texts, values: Tensor, counts: Tensor) -> Any:
    """The elements of all texts, of which each has `counts`, in the shape that goes with the texts."""
    if texts.given.shape.rank == 0:
        return values
    raise errors.UnimplementedError(
        "several texts have different numbers of elements, which no tensor holds: take them one by one"
    )
