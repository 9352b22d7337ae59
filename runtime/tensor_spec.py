"""`TensorSpec`: the dtype and shape that a function expects of an argument."""

from __future__ import annotations

from typing import Any

from . import dtypes, shapes
from .ir.specs import Spec


class TensorSpec:
    """A dtype and a shape with None for unknown dimensions, or None for an unknown rank.

    >>> TensorSpec([None, 3], "float32", name="x")
    TensorSpec(shape=(None, 3), dtype=tf.float32, name='x')
    """

    __slots__ = ("name", "spec")

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        self.spec = Spec(dtypes.as_dtype(dtype), shapes.as_dims(shape))
        self.name = name

    @property
    def shape(self) -> shapes.TensorShape:
        return shapes.TensorShape(self.spec.shape)

    @property
    def dtype(self) -> dtypes.DType:
        return self.spec.dtype

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec that fits exactly this tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor or spec has this dtype, and a shape that may fit."""
        return self.dtype is other.dtype and self.shape.is_compatible_with(other.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self.spec == other.spec and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    def __reduce__(self) -> Any:
        return TensorSpec, (self.spec.shape, self.spec.dtype, self.name)
