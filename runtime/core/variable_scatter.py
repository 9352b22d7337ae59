"""Partial updates of a variable: `scatter_*` with the rows of IndexedSlices, `scatter_nd_*` with coordinates.

v.scatter_add(tf.IndexedSlices(values=[5.0], indices=[2]))        v[2] += 5
v.scatter_nd_add([[2]], [5.0])                                    the same
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import dtypes
from . import late_binding
from .conversion import convert_to_tensor, integers_to_tensor
from .tensor import EagerTensor, Tensor


class PartialUpdates:
    """The methods of `Variable` that read or change some of its rows or elements.

    Methods that change elements return the variable. An index out of range raises InvalidArgumentError.
    """

    if TYPE_CHECKING:

        @property
        def dtype(self) -> dtypes.DType: ...
        def value(self) -> Tensor: ...
        def changed(self, result: Any = None) -> Any: ...

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the rows at `indices`, as `tf.gather` does.

        >>> from agc.runtime import Variable
        >>> Variable([1, 2, 3]).sparse_read([2, 0]).numpy()
        array([3, 1], dtype=int32)
        """
        rows: Tensor = late_binding.gather_ops.gather(self.value(), indices, name=name)
        return rows

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the elements or slices of the value at `indices`, as `tf.gather_nd` does."""
        elements: Tensor = late_binding.gather_ops.gather_nd(self.value(), indices, name=name)
        return elements

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Add the rows of IndexedSlices."""
        return self._scatter("add", sparse_delta, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Subtract the rows of IndexedSlices."""
        return self._scatter("sub", sparse_delta, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Multiply by the rows of IndexedSlices."""
        return self._scatter("mul", sparse_delta, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Divide by the rows of IndexedSlices; integers are rounded toward zero."""
        return self._scatter("div", sparse_delta, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace elements by the maximum of each and the rows of IndexedSlices."""
        return self._scatter("max", sparse_delta, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace elements by the minimum of each and the rows of IndexedSlices."""
        return self._scatter("min", sparse_delta, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Replace rows by those of IndexedSlices."""
        return self._scatter("update", sparse_delta, name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows within each batch: all axes of the indices except the last are batch axes.

        >>> from agc.runtime import IndexedSlices, Variable
        >>> v = Variable([[1, 2], [3, 4]])
        >>> v.batch_scatter_update(IndexedSlices([[9], [8]], [[1], [0]])).numpy().tolist()
        [[1, 9], [8, 4]]
        """
        values, indices = self._rows(sparse_delta)
        if indices.shape.rank is None:
            raise ValueError("batch_scatter_update needs indices whose rank is known")

        sizes = late_binding.shape_ops.shape(indices)
        counted = [late_binding.ranges.range(sizes[axis]) for axis in range(indices.shape.rank)]
        *batches, _ = late_binding.tile_and_repeat.meshgrid(*counted, indexing="ij")
        coordinates = late_binding.concat_split.stack(
            [*batches, late_binding.cast(indices, dtypes.int32)], axis=-1
        )
        return self.scatter_nd_update(coordinates, values, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace the elements or slices at `indices`, as `tf.tensor_scatter_nd_update` does.

        >>> from agc.runtime import Variable
        >>> Variable([1, 2, 3]).scatter_nd_update([[0], [2]], [7, 9]).numpy()
        array([7, 2, 9], dtype=int32)
        """
        return self._scatter_nd("update", indices, updates, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add to the elements or slices at `indices`."""
        return self._scatter_nd("add", indices, updates, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract from the elements or slices at `indices`."""
        return self._scatter_nd("sub", indices, updates, name)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace the elements or slices at `indices` by the maximum of each and the updates."""
        return self._scatter_nd("max", indices, updates, name)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replace the elements or slices at `indices` by the minimum of each and the updates."""
        return self._scatter_nd("min", indices, updates, name)

    def _scatter(self, how: str, slices: Any, name: str | None) -> Any:
        values, indices = self._rows(slices)

        result = late_binding.scatter_variable(self, indices, values, how, name=name)
        return self.changed(result)

    def _scatter_nd(self, how: str, indices: Any, updates: Any, name: str | None) -> Any:
        if type(updates) is not EagerTensor or updates.dtype is not self.dtype:
            updates = convert_to_tensor(updates, self.dtype)
        if type(indices) is not EagerTensor:
            indices = integers_to_tensor(indices)
        result = late_binding.scatter_variable(self, indices, updates, how, True, name)
        return self.changed(result)

    def _rows(self, slices: Any) -> tuple[Tensor, Tensor]:
        if not (hasattr(slices, "values") and hasattr(slices, "indices")) or isinstance(slices, dict):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {slices}")
        return convert_to_tensor(slices.values, self.dtype), integers_to_tensor(slices.indices)
