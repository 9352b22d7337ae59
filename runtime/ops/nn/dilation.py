"""Apply an operation with dilation, by moving dilated elements to batches.

x = 1 2 3 4 5 6     with dilation 2: 1 3 5 | 2 4 6, two batches; and back again
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core import shapes
from ...core.conversion import TensorLike, convert_to_tensor
from ...core.export import export
from ..arrays.concat_split import stack
from ..arrays.reshape import transpose
from ..arrays.shape_ops import shape as shape_of
from .space_to_depth import batch_to_space_nd, space_to_batch_nd


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input: TensorLike,
    dilation_rate: Any,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Any:
    """Apply `op` with dilation: separately to each class of elements that are `dilation_rate` apart.

    Args:
        op: called as `op(input, number of axes, "VALID")` on the result of `space_to_batch`; it may change sizes.
        filter_shape: the window, which "SAME" needs.
        spatial_dims: the axes, those after the first one (two for "NC...") if it is None.

    >>> with_space_to_batch([[1, 2, 3, 4]], [2], "VALID", lambda x, axes, padding: -x).numpy().tolist()
    [[-1, -2, -3, -4]]
    """
    x = convert_to_tensor(input)
    given = shapes.as_dims(dilation_rate)
    assert given is not None
    rates = [rate or 0 for rate in given]
    if min(rates, default=1) < 1:
        raise ValueError(f"`dilation_rate` must be positive. Received: {dilation_rate}")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'VALID' or 'SAME'. Received: padding={padding}")
    if max(rates, default=1) == 1:
        return op(x, len(rates), padding)
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = list(spatial_dims) if spatial_dims is not None else [first + i for i in range(len(rates))]
    before, after = _surroundings(padding, filter_shape, rates)
    others = [axis for axis in range(1, _rank(x)) if axis not in axes]
    order = [0, *axes, *others]
    turned = x if order == sorted(order) else transpose(x, order)
    sizes = shape_of(turned)
    ends = [(-(sizes[i + 1] + before[i] + after[i])) % rate for i, rate in enumerate(rates)]
    margins = [stack([before[i], after[i] + ends[i]]) for i in range(len(rates))]
    parts = space_to_batch_nd(turned, rates, stack(margins))
    result = op(_back(parts, order), len(rates), "VALID")
    crops = stack([stack([0, end]) for end in ends])
    whole = batch_to_space_nd(result if order == sorted(order) else transpose(result, order), rates, crops)
    return _back(whole, order)


def _rank(x: Any) -> int:
    rank = x.shape.rank
    if rank is None:
        raise ValueError("with_space_to_batch: the rank of `input` must be known")
    return rank  # type: ignore[no-any-return]


def _back(x: Any, order: list[int]) -> Any:
    return x if order == sorted(order) else transpose(x, [order.index(axis) for axis in range(len(order))])


def _surroundings(padding: str, window: Any, rates: list[int]) -> tuple[list[int], list[int]]:
    """Return the zeros before and after the input, so that "SAME" keeps its size."""
    if padding == "VALID":
        return [0] * len(rates), [0] * len(rates)
    if window is None:
        raise ValueError("`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape=None")
    sizes = [size or 1 for size in shapes.as_dims(window) or ()][: len(rates)]
    total = [(size - 1) * rate for size, rate in zip(sizes, rates, strict=True)]
    return [pads // 2 for pads in total], [pads - pads // 2 for pads in total]
