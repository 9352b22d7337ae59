"""Operations that join strings along axes or by segments, and that format values into a template."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...core.export import export
from ...core.tensor import Tensor
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels.orders import stable_order
from ..framework.attribute_parsers import Axes
from ..framework.op import Input, Name, Tensors, op
from ..framework.op_families import STRINGS, require_dtype
from ..framework.static_values import integer
from ..state.print_and_assert import show
from .map_bytes import filled

Array = Any


@export("strings.reduce_join")
@op
def reduce_join(
    inputs: Input, axis: Axes = None, keepdims: bool = False, separator: str = "", name: Name = None
) -> TensorType:
    """Join the strings along `axis`, or along all axes if it is None.

    With several axes, the strings along the first are joined first.

    >>> reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-").numpy().tolist()
    [b'a-b', b'c-d']
    >>> reduce_join([["a", "b"], ["c", "d"]], axis=[0, 1]).numpy()
    b'acbd'
    """
    require_dtype(inputs, STRINGS, "reduce_join")
    if inputs.shape is None:
        return TensorType(dtypes.string, () if axis is None and not keepdims else None)
    axes = _axes(axis, len(inputs.shape))
    kept = [1 if i in axes else size for i, size in enumerate(inputs.shape) if keepdims or i not in axes]
    return TensorType(dtypes.string, tuple(kept))


def _axes(axis: tuple[int, ...] | None, rank: int) -> list[int]:
    if axis is None:
        return list(range(rank))[::-1]
    axes = [shapes.normal_axis(each, rank) for each in axis]
    if len(set(axes)) < len(axes):
        raise ValueError(f"Duplicate reduction dimension in {axis}")
    return axes


@reduce_join.kernel
def _(inputs: Array, axis: Any, keepdims: bool, separator: str) -> Array:
    inputs = np.asarray(inputs, object)
    axes = _axes(axis, inputs.ndim)
    kept = [i for i in range(inputs.ndim) if i not in axes]
    outer = tuple(inputs.shape[i] for i in kept)
    count = int(np.prod(outer))
    rows = inputs.transpose(kept + axes[::-1]).reshape(count, inputs.size // count if count else 0)
    between = separator.encode()
    joined = filled((between.join(row) for row in rows.tolist()), outer)
    return np.expand_dims(joined, sorted(axes)) if keepdims else joined


@export("strings.unsorted_segment_join")
@op(traits=LENIENT)
def unsorted_segment_join(
    inputs: Input, segment_ids: Input, num_segments: Input, separator: str = "", name: Name = None
) -> TensorType:
    """Join the strings with the same segment id, in their order; "" for a segment without strings.

    Args:
        inputs: strings; their shape begins with that of `segment_ids` (integers from 0 to `num_segments` - 1).

    >>> unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2, separator="-").numpy().tolist()
    [b'a-c', b'b']
    """
    require_dtype(inputs, STRINGS, "unsorted_segment_join")
    for operand in (segment_ids, num_segments):
        if not operand.dtype.is_integer:
            raise TypeError(f"unsorted_segment_join takes integers as segments, not {operand.dtype.name}")
    count = integer(num_segments)
    if count is not None and count < 0:
        raise ValueError(f"Number of segments must be non-negative, got {count}")
    if inputs.shape is None or segment_ids.shape is None:
        return TensorType(dtypes.string, None)
    rank = len(segment_ids.shape)
    if not shapes.compatible(inputs.shape[:rank], segment_ids.shape):
        raise ValueError(
            f"the shape of inputs, {inputs.shape}, does not begin with that of segment_ids, {segment_ids.shape}"
        )
    return TensorType(dtypes.string, (count, *inputs.shape[rank:]))


@unsorted_segment_join.kernel
def _(inputs: Array, segment_ids: Array, num_segments: Array, separator: str) -> Array:
    inputs = np.asarray(inputs, object)
    count, inner = int(num_segments), inputs.shape[np.ndim(segment_ids) :]
    numbers = np.ravel(segment_ids)
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
        raise errors.InvalidArgumentError(
            f"segment_ids are not allowed to exceed num_segments or to have negative values: {numbers.tolist()}"
        )
    width = math.prod(inner)
    groups = (numbers.astype(np.int64)[:, None] * width + np.arange(width)).ravel()
    items = inputs.ravel()[stable_order(groups)].tolist()
    ends = np.cumsum(np.bincount(groups, minlength=count * width)).tolist()
    between = separator.encode()
    return filled(
        (between.join(items[begin:end]) for begin, end in itertools.pairwise([0, *ends])), (count, *inner)
    )


@op
def string_format(
    inputs: Tensors, template: str, placeholder: str = "{}", summarize: int = 3, name: Name = None
) -> TensorType:
    """Replace the placeholders in the template by the values, formatted as by `tf.print`.

    >>> string_format([[1, 2], 0.5], "{} and {}").numpy()
    b'[1 2] and 0.5'
    """
    count = template.count(placeholder)
    if count != len(inputs):
        raise ValueError(
            f"The template expects {count} tensors, but the inputs only has {len(inputs)}. Please ensure the number "
            "of placeholders in template matches inputs length."
        )
    return TensorType(dtypes.string, ())


@string_format.kernel
def _(inputs: list[Any], template: str, placeholder: str, summarize: int) -> Array:
    first, *pieces = template.split(placeholder)
    shown = [show(value, summarize, '"') for value in inputs]
    text = first + "".join(value + piece for value, piece in zip(shown, pieces, strict=True))
    return np.array(text.encode("utf-8", "surrogateescape"), object)


@export("strings.format")
def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """Replace the placeholders in the template by the values of `inputs`, formatted as by `tf.print`.

    Args:
        inputs: a tensor, or a list of them, as many as there are placeholders (ValueError for another number).
        summarize: how many elements to show at both ends of each axis; -1 for all.

    >>> format("{} of {}", [1, 2]).numpy()
    b'1 of 2'
    """
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return string_format(values, template, placeholder, summarize, name=name)  # type: ignore[no-any-return]
