"""`IndexedSlices`: some rows of a tensor that is zero elsewhere, such as the gradient of `gather`.

    dense = zeros(dense_shape); dense[indices[i]] += values[i]

>>> from agc.runtime import IndexedSlices, constant, convert_to_tensor
>>> rows = IndexedSlices(constant([[1.0, 2.0]]), constant([1]), constant([3, 2]))
>>> convert_to_tensor(rows).numpy().tolist()
[[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from ..core.conversion import convert_to_tensor, register_conversion
from ..core.export import export
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import CompositeTensor, TypeSpec
from ..ops.arrays.reshape import expand_dims
from ..ops.arrays.scatter import scatter_nd
from ..ops.framework.static_values import of_tensor
from ..ops.math.cast import cast
from ..ops.math.elementwise import negative
from ..ops.math.scalar_product import scalar_mul


@export("IndexedSlices")
class IndexedSlices(CompositeTensor):
    """Rows `values[i]`, of any rank, at the positions `indices[i]` along the first axis of a larger tensor.

    Args:
        values: a tensor, rows along its first axis.
        indices: a vector of integers, one for each row; rows with equal indices add up.
        dense_shape: the shape of the whole tensor, a vector of integers; required for conversion to a tensor.

    Operations take the equivalent dense tensor; `-slices`, `tf.cast`, `tf.math.scalar_mul` and `tf.clip_by_value`
    return IndexedSlices.

    >>> import agc.runtime as tf
    >>> rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    >>> tf.convert_to_tensor(rows).numpy().tolist()
    [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    """

    _is_native = True
    _is_rows = True

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """The indices of the rows."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole tensor, None if it is unknown."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        return TensorShape(
            None if self._dense_shape is None else of_tensor(convert_to_tensor(self._dense_shape))
        )

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def name(self) -> Any:
        """The name of the values in a graph. Eager values have none: AttributeError."""
        return self._values.name

    @property
    def graph(self) -> Any:
        """The graph of the values. Eager values have none: AttributeError."""
        return self._values.graph

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        values, indices = convert_to_tensor(self._values), convert_to_tensor(self._indices)
        shape = values.shape
        shape_dtype = None
        if self._dense_shape is not None:
            given = convert_to_tensor(self._dense_shape)
            shape, shape_dtype = TensorShape(of_tensor(given)), given.dtype
        elif shape.rank is not None:
            shape = TensorShape([None, *shape[1:]])
        return IndexedSlicesSpec(shape, values.dtype, indices.dtype, shape_dtype, indices.shape)

    def _shape_invariant_to_type_spec(self, shape: Any) -> IndexedSlicesSpec:
        """Return the spec for a shape of the values."""
        _, dtype, indices_dtype, shape_dtype, _ = self._type_spec._serialize()
        rows = TensorShape(shape)
        return IndexedSlicesSpec([None, *rows[1:]], dtype, indices_dtype, shape_dtype, rows[:1])

    @property
    def _differentiated(self) -> Any:
        return self._values

    def _with_differentiated(self, derivatives: Any) -> IndexedSlices:
        return IndexedSlices(derivatives, self._indices, self._dense_shape)

    @staticmethod
    def _operation(operation: Any) -> Any:
        return _operations().get(operation)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(negative(self._values), self._indices, self._dense_shape)

    def __str__(self) -> str:
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{dense})"


@export("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """The spec of `IndexedSlices`; `dense_shape_dtype` is None without a dense shape.

    >>> IndexedSlicesSpec([None, 3], dtypes.float32)
    IndexedSlicesSpec(TensorShape([None, 3]), tf.float32, tf.int64, None, TensorShape([None]))
    """

    __slots__ = ("_dense_shape_dtype", "_indices_dtype", "_indices_shape", "_shape", "_values_dtype")
    _component_names = ("values", "indices", "dense_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape([None] if indices_shape is None else indices_shape)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._values_dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> list[TensorSpec]:
        count = self._indices_shape[0] if self._indices_shape.rank else None
        rows = TensorShape(None if self._shape.rank is None else [count, *self._shape[1:]])
        specs = [TensorSpec(rows, self._values_dtype), TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return specs

    def _to_components(self, value: IndexedSlices) -> list[Any]:
        parts = [value.values, value.indices]
        return parts if value.dense_shape is None else [*parts, value.dense_shape]

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)


def as_dense(slices: IndexedSlices, dtype: dtypes.DType | None = None) -> Tensor:
    """Return the whole tensor. Raises ValueError without a dense shape, and for another dtype."""
    if dtype is not None and dtype is not slices.dtype:
        raise ValueError(
            f"Incompatible tensor conversion requested to `dtype` {dtype.name} for IndexedSlices ({slices}) with "
            f"dtype {slices.dtype.name}"
        )
    if slices.dense_shape is None:
        raise ValueError(
            "Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: "
            f"{slices}"
        )
    indices = convert_to_tensor(slices.indices)
    shape = cast(slices.dense_shape, indices.dtype)
    dense: Tensor = scatter_nd(expand_dims(indices, -1), slices.values, shape)
    return dense


def _multiplied(scalar: Any, slices: IndexedSlices, name: str | None = None) -> IndexedSlices:
    return slices._with_differentiated(scalar_mul(scalar, slices.values, name))


def _on_rows(function: Callable[..., Any]) -> Callable[..., IndexedSlices]:
    """Return `function` of the rows, which are its first argument."""
    return lambda slices, *rest: slices._with_differentiated(function(slices.values, *rest))


@functools.cache
def _operations() -> Mapping[Any, Callable[..., Any]]:
    from ..ops.math.clip import clip_by_value  # few programs clip

    return {cast: _on_rows(cast), clip_by_value: _on_rows(clip_by_value), scalar_mul: _multiplied}


register_conversion(IndexedSlices, as_dense)
