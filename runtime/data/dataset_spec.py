"""Specs of datasets, iterators and optionals, as elements and as arguments of functions.

>>> from agc.runtime import TensorSpec, int32
>>> DatasetSpec(TensorSpec([], int32))
DatasetSpec(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorShape([]))
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core import late_binding, shapes
from ..core.export import export
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from .element_spec import generalized

_HANDLE = TensorSpec((), dtypes.variant)


class _ElementSpec(TypeSpec):
    """The common base of the specs; in graphs such a value is one tensor of dtype variant."""

    __slots__ = ("element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec

    @property
    def _component_specs(self) -> TensorSpec:
        return _HANDLE

    def _serialize(self) -> tuple[Any, ...]:
        return (self.element_spec,)

    def _to_components(self, value: Any) -> Any:
        return value.handle()

    def most_specific_common_supertype(self, others: Any) -> Any:
        """Return the spec that covers this one and the others; None if there is none."""
        common = self.element_spec
        for other in others:
            common = generalized(common, other.element_spec) if type(other) is type(self) else None
            if common is None:
                return None
        return type(self)(common)


class DatasetSpec(_ElementSpec):
    """The spec of a dataset with elements of `element_spec`.

    >>> from agc.runtime import TensorSpec
    >>> DatasetSpec(TensorSpec([], "int64")).element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """

    __slots__ = ()

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        if shapes.as_dims(dataset_shape) != ():
            raise ValueError("a DatasetSpec describes one dataset: dataset_shape must be ()")

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """Return the spec of a dataset."""
        return DatasetSpec(value.element_spec)

    @property
    def value_type(self) -> type:
        return late_binding.data_dataset.Dataset

    def _from_components(self, components: Any) -> Any:
        from .pipeline_stage import Given

        return late_binding.data_dataset.Dataset(Given(components, self.element_spec))

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


class IteratorSpec(_ElementSpec):
    """The spec of an iterator over elements of `element_spec`.

    >>> from agc.runtime import TensorSpec
    >>> IteratorSpec(TensorSpec([], "int64")).element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return late_binding.data_iterator.Iterator

    def _from_components(self, components: Any) -> Any:
        return late_binding.data_iterator.Iterator(components, self.element_spec)

    def __repr__(self) -> str:
        return f"IteratorSpec({self.element_spec!r},)"


@export("OptionalSpec")
class OptionalSpec(_ElementSpec):
    """The spec of an optional with a value of `element_spec`; None if that is not known.

    >>> OptionalSpec(TensorSpec([], dtypes.int32))
    OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return late_binding.data_optional.Optional

    @classmethod
    def from_value(cls, value: Any) -> OptionalSpec:
        """Return the spec of an optional."""
        return cls(value.element_spec)

    def _from_components(self, components: Any) -> Any:
        return late_binding.data_optional.Optional(components, self.element_spec)

    def most_specific_common_supertype(self, others: Any) -> Any:
        """Return the spec that covers this one and the others; an unknown `element_spec` fits all of them."""
        known = [spec for spec in (self, *others) if getattr(spec, "element_spec", self) is not None]
        return super(OptionalSpec, known[0]).most_specific_common_supertype(known[1:]) if known else self
