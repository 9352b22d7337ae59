"""`bucket_by_sequence_length`: groups of elements of similar length, padded and batched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nest
from ..control_flow.builtin_errors import raise_unless
from ..core import shapes
from ..core.conversion import convert_to_tensor
from ..core.tensor_spec import TensorSpec
from ..errors import InvalidArgumentError
from ..ops.arrays.gather_ops import gather
from ..ops.math.cast import cast
from ..ops.reduce.reductions import reduce_sum
from .transformations import D, Transformations


def bucketed(
    dataset: Transformations[D],
    length_function: Callable[..., Any],
    boundaries: list[int],
    sizes: list[int],
    padded_shapes: Any,
    padding_values: Any,
    to_boundary: bool,
    no_padding: bool,
    drop: bool,
) -> D:
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`."
        )
    limits = convert_to_tensor(boundaries, "int32")
    batch_sizes = convert_to_tensor(sizes, "int64")

    def bucket_of(*element: Any) -> Any:
        length = length_function(*element)
        return reduce_sum(cast(limits <= cast(length, "int32"), "int64"))

    def window_size(bucket: Any) -> Any:
        return gather(batch_sizes, bucket)

    def batch(bucket: Any, grouped: D) -> Any:
        size = window_size(bucket)
        if no_padding:
            return grouped.batch(size, drop_remainder=drop)
        wanted = _any_size(grouped.element_spec) if padded_shapes is None else padded_shapes
        if not to_boundary:
            return grouped.padded_batch(size, wanted, padding_values, drop)
        limit = bounded(bucket) - 1
        return grouped.padded_batch(size, _filled(wanted, limit), padding_values, drop)

    def bounded(bucket: Any) -> Any:
        raise_unless(
            bucket < len(boundaries),
            InvalidArgumentError(
                "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
            ),
        )
        return gather(limits, bucket)

    return dataset.group_by_window(bucket_of, batch, window_size_func=window_size)


def _any_size(spec: Any) -> Any:
    """Return shapes whose unknown dimensions are padded to the longest of a batch."""
    if isinstance(spec, TensorSpec):
        return shapes.TensorShape(spec.shape)
    return nest.map_structure(lambda leaf: shapes.TensorShape(leaf.shape), spec)


def _filled(wanted: Any, size: Any) -> Any:
    """Return the shapes with unknown dimensions replaced by a size."""
    if isinstance(wanted, shapes.TensorShape):
        wanted = wanted.as_list()
    if isinstance(wanted, (list, tuple)) and all(dim is None or isinstance(dim, int) for dim in wanted):
        return [size if dim in (None, -1) else dim for dim in wanted]
    return nest.rebuilt(wanted, [_filled(child, size) for _, child in nest.children(wanted)])
