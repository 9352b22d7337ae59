"""`TensorArray`: a list of tensors that loops write and read.

ta = TensorArray(float32, size=n)
for i in range(n):
    ta = ta.write(i, f(i))          # a write returns the new array: keep it
return ta.stack()
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .. import dtypes
from ..ir.builder import current
from . import late_binding, shapes
from .array_positions import read_position, write_position
from .conversion import convert_to_tensor
from .export import export
from .symbolic_tensor import SymbolicArray, SymbolicTensor
from .tensor import EagerArray, EagerTensor, Tensor


@export("TensorArray")
class TensorArray:
    """A list of tensors of one dtype, written and read by index, also in loops of a graph.

    Args:
        dtype: of the elements.
        size: number of elements, an int or a scalar integer tensor; 0 when omitted.
        dynamic_size: whether writing past the end makes the array grow.
        clear_after_read, tensor_array_name, colocate_with_first_write_call: accepted for compatibility.
        element_shape: shape of every element, if known.
        infer_shape: whether all elements have the same shape, so that the first one determines it.

    `write`, `unstack` and `scatter` return the new array; in a graph the old one keeps its elements.

    >>> ta = TensorArray(dtypes.int32, size=2)
    >>> ta = ta.write(0, 10).write(1, 20)
    >>> ta.stack().numpy()
    array([10, 20], dtype=int32)
    >>> int(ta.read(1)), int(ta.size()), ta.gather([1, 0]).numpy().tolist()
    (20, 2, [20, 10])
    >>> TensorArray(dtypes.int32, size=2).unstack([[1, 2], [3, 4]]).concat().numpy().tolist()
    [1, 2, 3, 4]
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self.dtype = dtypes.as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._declared = shapes.as_dims(element_shape)
        if flow is None:
            flow = late_binding.tensor_array_ops.array_new(
                0 if size is None else size, self.dtype, self._declared, self.dynamic_size, name=name
            )
            self._size = None if self.dynamic_size or size is None else _known(size)
        else:
            self._size = None
        self._flow: EagerArray | SymbolicArray = flow

    @property
    def flow(self) -> Any:
        """The array's current state, as operations take it."""
        return self._flow

    @property
    def element_shape(self) -> shapes.TensorShape:
        """The static shape common to all elements."""
        return shapes.of_dims(self._shape())

    def with_flow(self, flow: Any) -> TensorArray:
        """Return this array with another state and the same number of elements."""
        array = self.of_any_size(flow)
        array._size = self._size
        return array

    def of_any_size(self, flow: Any) -> TensorArray:
        """Return an array like this one, which may have another number of elements."""
        return TensorArray(
            self.dtype, dynamic_size=self.dynamic_size, infer_shape=self._infer_shape, element_shape=self._declared,
            flow=flow,
        )  # fmt: skip

    def covering(self, *others: Any) -> TensorArray:
        """Return this array; its number of elements is known only if all others have the same."""
        sizes = {other._size if isinstance(other, TensorArray) else None for other in others}
        return self if self._size is None or sizes <= {self._size} else self.of_any_size(self._flow)

    def _after(self, flow: Any) -> TensorArray:
        if isinstance(flow, EagerArray):  # eager arrays change in place, as in TensorFlow
            self._flow = flow
            return self
        return self.with_flow(flow)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with `value` at `index` (a scalar integer).

        Raises OutOfRangeError when the index is out of range, in a graph InvalidArgumentError; and the latter
        (ValueError in a graph if the shapes are known) when the value's shape differs from that of the other elements.
        """
        tensor = value if type(value) is EagerTensor else self._element_of(value)
        flow = self._reachable()
        at = write_position(flow, index, self.dynamic_size) if type(flow) is EagerArray else index
        return self._after(
            late_binding.tensor_array_ops.array_write(flow, at, tensor, self._infer_shape, name)
        )

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Return the element at `index`; zeros when it was never written and its shape is known.

        Raises OutOfRangeError when the index is out of range, in a graph InvalidArgumentError.
        """
        flow = self._reachable()
        at = read_position(flow, index) if type(flow) is EagerArray else index
        tensor: Tensor = late_binding.tensor_array_ops.array_read(flow, at, self.dtype, self._shape(), name)
        return tensor

    def stack(self, name: str | None = None) -> Tensor:
        """Return all elements as the rows of one tensor."""
        flow = self._reachable()
        shape = self._shape_of_rows(flow, flow)
        tensor: Tensor = late_binding.tensor_array_ops.array_stack(flow, self.dtype, shape, self._size, name)
        return tensor

    def concat(self, name: str | None = None) -> Tensor:
        """Return all elements concatenated along their first axis."""
        flow = self._reachable()
        return late_binding.tensor_array_ops.array_concat(flow, self.dtype, self._shape(), self._size, name)  # type: ignore[no-any-return]

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the elements with the given indices as the rows of one tensor."""
        flow = self._reachable()
        shape = self._shape_of_rows(flow, indices)
        tensor: Tensor = late_binding.tensor_array_ops.array_gather(flow, indices, self.dtype, shape, name)
        return tensor

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Return the array whose elements are the rows of `value`."""
        tensor = self._element_of(value)
        return self._after(late_binding.tensor_array_ops.array_unstack(self._reachable(), tensor, name=name))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the rows of `value` at `indices`, a vector with one integer per row.

        Raises InvalidArgumentError for an index out of range, and when the numbers of rows and indices differ.

        >>> TensorArray(dtypes.int32, size=3).scatter([2, 0], [7, 8]).stack().numpy().tolist()
        [8, 0, 7]
        """
        tensor = self._element_of(value)
        positions = convert_to_tensor(indices)
        counted = positions.shape.rank == 1 and None not in positions.shape and positions.dtype.is_integer
        if not counted or tensor.shape[:1] != positions.shape:
            return self._after(
                late_binding.tensor_array_ops.array_scatter(self._reachable(), positions, tensor, name=name)
            )
        array = self
        for index, row in zip(
            late_binding.concat_split.unstack(positions),
            late_binding.concat_split.unstack(tensor),
            strict=True,
        ):
            array = array.write(index, row)
        return array

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Return the array whose elements are parts of `value`, of these lengths along its first axis.

        Raises InvalidArgumentError unless there are as many lengths as elements (or the array grows), and they add
        up to the size of the axis.

        >>> parts = TensorArray(dtypes.int32, size=2, infer_shape=False).split([1, 2, 3], [1, 2])
        >>> parts.read(1).numpy().tolist()
        [2, 3]
        """
        tensor = self._element_of(value)
        return self._after(
            late_binding.tensor_array_ops.array_split(self._reachable(), tensor, lengths, name=name)
        )

    def close(self, name: str | None = None) -> None:
        """Do nothing: memory is freed with the last reference to the array."""

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> NoReturn:
        """Raise NotImplementedError, as in TensorFlow 2. Tapes differentiate through TensorArrays."""
        raise NotImplementedError("TensorArray.grad is not supported: use tf.GradientTape")

    @property
    def handle(self) -> None:
        """None: a TensorArray is a value."""
        return None

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, a scalar int32 tensor; a constant if it is known before the graph runs."""
        if self._size is not None:
            return EagerTensor(np.array(self._size, np.int32))
        return late_binding.tensor_array_ops.array_size(self._reachable(), name=name)  # type: ignore[no-any-return]

    def identity(self) -> TensorArray:
        """Return an array with the same elements."""
        return self.with_flow(self._flow)

    def _shape(self) -> shapes.Dims:
        """Return the static shape common to all elements."""
        return self._flow.spec.element.shape if self._infer_shape else self._declared

    def _shape_of_rows(self, flow: Any, chosen: Any) -> shapes.Dims:
        """Return the shape of elements that become the rows of one tensor.

        Eager code stacks an empty array of unknown element shape as scalars, as TensorFlow does; graphs refuse.
        """
        shape = self._shape()
        if isinstance(flow, EagerArray) and not shapes.is_static(shape):
            count = len(self) if chosen is flow else convert_to_tensor(chosen).shape[0]
            return shape if count else ()
        return shape

    def _element_of(self, value: Any) -> Any:
        return convert_to_tensor(value, None if isinstance(value, Tensor) else self.dtype)

    def _reachable(self) -> Any:
        """Return the state; an array made outside the graph under construction is recorded in it as constants."""
        builder = current()
        if builder is None or not isinstance(self._flow, EagerArray):
            return self._flow
        return _recorded(self)

    def __len__(self) -> int:
        if isinstance(self._flow, EagerArray):
            return len(self._flow._array.items())
        raise TypeError("len() of a TensorArray is not known before the graph runs: use ta.size()")

    def __repr__(self) -> str:
        return f"<tf.TensorArray {self._flow.spec}>"


def _known(size: Any) -> int | None:
    """Return a number of elements, if it is known before the graph runs."""
    if isinstance(size, SymbolicTensor):
        known = size._value.elements
        return None if known is None else known[0]
    return max(int(size), 0)


def _recorded(array: TensorArray) -> SymbolicArray:
    """Record an eager array's elements as constants of the graph."""
    assert isinstance(array._flow, EagerArray)
    items = array._flow._array.items()
    flow = late_binding.tensor_array_ops.array_new(
        len(items), array.dtype, array.element_shape.sizes, array.dynamic_size
    )
    for index, item in enumerate(items):
        if item is not None:
            flow = late_binding.tensor_array_ops.array_write(flow, index, item)
    return flow  # type: ignore[no-any-return]
