"""`BatchableExtensionType`: extension types whose values are batches, which datasets and `map_fn` slice.

Network(shape=[2], work=[[8, 5], [3, 2]])    ==>    Network(shape=[], work=[8, 5]), Network(shape=[], work=[3, 2])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.export import export
from ..core.shapes import TensorShape
from .extension_fields import with_shapes
from .extension_type import ExtensionType, ExtensionTypeSpec


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """The specs of a `BatchableExtensionType`."""

    def _of_rows(self, count: int | None) -> Any:
        """Return the spec with another first size of the fields that are shapes: that of a batch of `count`."""
        return self._with_shapes(lambda shape: TensorShape([count]).concatenate(shape))

    def _row(self) -> Any:
        """Return the spec without the first size of the fields that are shapes: that of a slice."""
        return self._with_shapes(lambda shape: shape[1:])

    def _with_shapes(self, change: Callable[[TensorShape], TensorShape]) -> Any:
        return self._of({name: with_shapes(field, change) for name, field in self._items()})


@export("experimental.BatchableExtensionType")
class BatchableExtensionType(ExtensionType):
    """Base class for extension types that datasets slice and batch: field by field.

    A field that is a `TensorShape` loses and gets the size of the batch, as the tensors do. Other fields that are not
    tensors are the same in all slices.

    >>> import agc.runtime as tf
    >>> class Point(BatchableExtensionType):
    ...     x: tf.Tensor
    ...     unit: str = "m"
    >>> points = tf.data.Dataset.from_tensor_slices(Point([1, 2, 3]))
    >>> points.element_spec
    Point.Spec(x=TensorSpec(shape=(), dtype=tf.int32, name=None), unit='m')
    >>> [each.x.numpy().tolist() for each in points.batch(2)]
    [[1, 2], [3]]
    """

    _spec_base = BatchableExtensionTypeSpec
