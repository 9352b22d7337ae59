"""`SparseTensor`: the nonzero elements of a large tensor, and their coordinates.

indices [[0, 0], [1, 2]]   values [1, 2]   dense_shape [2, 3]         1 0 0
                                                                     0 0 2
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core import late_binding, shapes
from ..core.conversion import convert_to_tensor
from ..core.export import export
from ..core.shapes import TensorShape
from ..core.tensor import EagerTensor, Tensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import CompositeTensor, TypeSpec
from ..ops.framework.static_values import of_tensor


@export("sparse.SparseTensor", "SparseTensor")
class SparseTensor(CompositeTensor):
    """Elements `values[i]` at `indices[i]` of a tensor of shape `dense_shape` that is zero elsewhere.

    Args:
        indices: a matrix of int64, a row for each element, a column for each axis; most operations need the rows in
            order (see `tf.sparse.reorder`).
        values: a vector, of any dtype.
        dense_shape: a vector of int64.

    Raises ValueError for other ranks, and for sizes that contradict each other.

    >>> from agc.runtime import sparse
    >>> sparse.to_dense(sparse.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])).numpy().tolist()
    [[1, 0, 0], [0, 0, 2]]
    """

    __slots__ = ("__weakref__", "_dense_shape", "_indices", "_static", "_values")
    _is_native = True
    _how_to_densify = " tf.sparse.to_dense gives one; tf.sparse has operations on sparse tensors."

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = _converted(indices, "indices", dtypes.int64)
        self._values = _converted(values, "values", None)
        self._dense_shape = _converted(dense_shape, "dense_shape", dtypes.int64)
        self._static: shapes.Dims = None
        indices_shape = self._indices.shape.with_rank(2)
        count = self._values.shape.with_rank(1)[0]
        rank = self._dense_shape.shape.with_rank(1)[0]
        for one, other in ((indices_shape[0], count), (indices_shape[1], rank)):
            if None not in (one, other) and one != other:
                raise ValueError(f"Dimensions {one} and {other} are not compatible")

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Return a sparse tensor with the `indices`, `values` and `dense_shape` of another object."""
        given = sparse_tensor_value
        return cls(given.indices, given.values, given.dense_shape)

    @property
    def indices(self) -> Tensor:
        """The coordinates of the elements, a row for each."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole tensor, as a tensor."""
        return self._dense_shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the elements."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        known = of_tensor(self._dense_shape)
        rank = self._indices.shape[1] if known is None else None
        found = TensorShape(known if rank is None else [None] * rank)
        return found if self._static is None else found.merge_with(self._static)

    def get_shape(self) -> TensorShape:
        """Return `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merge `shape` into the known shape; ValueError when they contradict each other."""
        self._static = self.shape.merge_with(shape).sizes

    @property
    def graph(self) -> Any:
        """The graph of the values. Eager values have none: AttributeError."""
        return self._values.graph  # type: ignore[attr-defined]

    def consumers(self) -> Any:
        """Return the operations of the graph that read the values."""
        return self._values.consumers()  # type: ignore[attr-defined]

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return other elements at the same coordinates."""
        result = SparseTensor(self._indices, new_values, self._dense_shape)
        result._static = self._static
        return result

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def _shape_invariant_to_type_spec(self, shape: Any) -> SparseTensorSpec:
        return SparseTensorSpec(shape, self.dtype)

    def _printed(self, summarize: int) -> list[Any]:
        indices, values, shape = self._indices, self._values, self._dense_shape
        return ["'SparseTensor(indices=", indices, ", values=", values, ", shape=", shape, ")'"]

    @property
    def _differentiated(self) -> Tensor:
        return self._values

    def _with_differentiated(self, derivatives: Any) -> SparseTensor:
        return self.with_values(derivatives)

    @staticmethod
    def _operation(operation: Any) -> Any:
        return late_binding.sparse_elementwise.operation_for(operation)

    def __mul__(self, other: Any) -> SparseTensor:
        return late_binding.sparse_elementwise.multiply(self, other)

    def __truediv__(self, other: Any) -> SparseTensor:
        return late_binding.sparse_elementwise.divide(self, other)

    def __rmul__(self, other: Any) -> SparseTensor:
        if not isinstance(other, Tensor):
            return NotImplemented
        return self * other

    def _repr_html_(self) -> str | None:
        from ..core.html_repr import parts_html, shown

        if not isinstance(self._values, EagerTensor):
            return None  # the text is displayed
        indices, values = self._indices.numpy(), self._values.numpy()
        return parts_html(
            self, "tf.SparseTensor", ("index", "element"), len(values),
            lambda i: (str(indices[i].tolist()), shown(values[i])),
        )  # fmt: skip

    def __str__(self) -> str:
        indices, values, dense_shape = map(str, (self._indices, self._values, self._dense_shape))
        return f"SparseTensor(indices={indices}, values={values}, dense_shape={dense_shape})"

    __repr__ = __str__


@export("SparseTensorSpec")
class SparseTensorSpec(TypeSpec):
    """The dtype and shape of a `SparseTensor`.

    >>> SparseTensorSpec([None, 3], dtypes.float32)
    SparseTensorSpec(TensorShape([None, 3]), tf.float32)
    """

    __slots__ = ("_dtype", "_shape")
    _component_names = ("indices", "values", "dense_shape")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The static dense shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def value_type(self) -> type:
        return SparseTensor

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """Return the spec of a sparse tensor; TypeError for anything else."""
        if not isinstance(value, SparseTensor):
            raise TypeError("Expected SparseTensor or SparseTensorValue.")
        return value._type_spec

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: SparseTensor) -> list[Tensor]:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> SparseTensor:
        made = SparseTensor(*components)
        made._static = self._shape.sizes
        return made


def _converted(value: Any, name: str, dtype: dtypes.DType | None) -> Tensor:
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
