"""Type specs: the static type of a value, and its decomposition into tensors.

    value                   spec                                    components
    tensor                  TensorSpec(shape, dtype)                the tensor itself
    RaggedTensor            RaggedTensorSpec(shape, dtype, ...)     flat values, row splits
    SparseTensor            SparseTensorSpec(shape, dtype)          indices, values, dense shape
    IndexedSlices           IndexedSlicesSpec(shape, dtype, ...)    values, indices, dense shape
    an ExtensionType        its `Spec` class                        its fields

A value made of tensors is a `CompositeTensor`. `function`, `cond` and `while_loop` carry its components, and
rebuild a value of the same kind from them.

A custom spec class has `value_type`, `_serialize()` (the data that distinguishes two specs), `_component_specs`,
`_to_components(value)` and `_from_components(components)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import late_binding, shapes
from .export import export
from .shapes import TensorShape


@export("TypeSpec")
class TypeSpec:
    """The static type of a value: `value_type`, dtypes, shapes and Python data.

    >>> import agc.runtime as tf
    >>> isinstance(tf.TensorSpec([2]), TypeSpec), tf.TensorSpec([None]).is_compatible_with(tf.zeros([3]))
    (True, True)
    """

    __slots__ = ("__weakref__",)

    _holds_variables = False  # whether variables are among the components

    @property
    def value_type(self) -> type:
        """The class of compatible values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    @property
    def _component_specs(self) -> Any:
        """The specs of the components: a TypeSpec, or a nest of them."""
        raise NotImplementedError(f"{type(self).__name__}._component_specs")

    def _serialize(self) -> tuple[Any, ...]:
        """Return the data that distinguishes specs of one class: nests of shapes, dtypes, specs and Python data."""
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    def _to_components(self, value: Any) -> Any:
        """Return the components of a compatible value, in the structure of `_component_specs`."""
        raise NotImplementedError(f"{type(self).__name__}._to_components")

    def _from_components(self, components: Any) -> Any:
        """Return the value with these components."""
        raise NotImplementedError(f"{type(self).__name__}._from_components")

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls(*serialization)

    def flatten(self) -> list[Any]:
        """Return the TensorSpecs of all components."""
        from .. import nest

        return [
            flat
            for spec in nest.flatten(self._component_specs)
            for flat in (spec.flatten() if late_binding.components.is_composite_spec(spec) else [spec])
        ]

    def to_tensors(self, value: Any) -> list[Any]:
        """Return the component tensors of a compatible value; TypeError for an incompatible one."""
        if not self.is_compatible_with(value):
            raise TypeError(f"{value!r} is not compatible with {self!r}")
        return late_binding.components.flatten(value)

    def from_tensors(self, tensors: Any) -> Any:
        """Return the value with these component tensors."""
        return late_binding.components.made(self, iter(tensors))

    def cast(self, value: Any, casting_context: Any = None) -> Any:
        """Return `value` if it is compatible; else raise TypeError."""
        if self.is_compatible_with(value):
            return value
        raise TypeError(f"{value!r} cannot be cast to {self!r}")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether some value fits both this spec and the other one, or the value fits this spec."""
        try:
            other = (
                spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
            )
        except TypeError:
            return False
        return type(self) is type(other) and are_compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether every value that fits this spec fits the other one."""
        return type(self) is type(other) and _covers(other._serialize(), self._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """Return the most precise spec that covers this one and the others; None if there is none."""
        merged = self._serialize()
        for other in others:
            if type(other) is not type(self):
                return None
            merged = _generalized(merged, other._serialize())
            if merged is _DIFFERENT:
                return None
        return self._deserialize(merged)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """Return the most precise spec that covers both; ValueError if there is none."""
        common = self.most_specific_common_supertype([other]) if isinstance(other, TypeSpec) else None
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return common

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and comparison_key(self._serialize()) == comparison_key(
            other._serialize()
        )

    def __hash__(self) -> int:
        return hash((type(self), comparison_key(self._serialize())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    def __reduce__(self) -> Any:
        return type(self)._deserialize, (self._serialize(),)


class CompositeTensor:
    """A value made of tensors, with a `_type_spec` that describes its components."""

    __slots__ = ()
    _is_native = False  # whether `tf.is_tensor` accepts it

    @property
    def _type_spec(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__}._type_spec")

    def __components__(self) -> Any:
        """Return the nest of the component tensors."""
        return self._type_spec._to_components(self)

    def __recomposed__(self, components: Any) -> Any:
        """Return a value of the same kind with other components, of the same structure."""
        return self._type_spec._from_components(components)

    def _printed(self, summarize: int) -> list[Any]:
        """Return the texts and tensors that `tf.print` shows one after the other."""
        return [repr(self)]

    @property
    def _differentiated(self) -> Any:
        """The tensor that a gradient tape differentiates; TypeError when there is none."""
        raise TypeError(f"a {type(self).__name__} has no derivatives: take those of its parts")

    def _with_differentiated(self, derivatives: Any) -> Any:
        """Return a value of the same kind with derivatives in place of that tensor."""
        raise TypeError(f"a {type(self).__name__} has no derivatives: take those of its parts")

    def _shape_invariant_to_type_spec(self, shape: Any) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")


class MeetsCompositeError(ValueError):
    """A composite value was converted to a tensor; operations catch it to dispatch on the value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value
        self.operation = ""

    def __str__(self) -> str:  # most are caught: printing large values would take longer than the operation
        kind = type(self.value)
        if kind is str:  # Keras raises an error again with its own message
            return str(self.value)
        start = f"{self.operation}: " if self.operation else ""
        fix = getattr(kind, "_how_to_densify", "")
        return f"{start}Attempt to convert a value ({self.value}) with an unsupported type ({kind}) to a Tensor.{fix}"


@export("type_spec_from_value")
def type_spec_from_value(value: Any) -> TypeSpec:
    """Return the spec of a tensor, a composite tensor, a TensorArray or a value that converts to a tensor.

    Raises TypeError for other values.

    >>> type_spec_from_value([1, 2])
    TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec

    if not late_binding.is_tensor_like(value):
        try:
            value = late_binding.convert_to_tensor(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}."
            ) from None
    return late_binding.TensorSpec.from_tensor(value)


_DIFFERENT: Any = object()


def comparison_key(data: Any) -> Any:
    """Return serialized data in a hashable form."""
    if isinstance(data, Mapping):
        return "mapping", frozenset((name, comparison_key(item)) for name, item in data.items())
    if isinstance(data, (list, tuple)):
        return type(data), tuple(map(comparison_key, data))
    if isinstance(data, TensorShape):
        return TensorShape, data.sizes
    if hasattr(data, "dtype") and hasattr(data, "tobytes") and not isinstance(data, type):
        return "array", str(data.dtype), data.shape, data.tobytes()
    return type(data), data


def _same_nest(one: Any, other: Any) -> bool:
    """Return whether both are nests with the same keys, so that their items can be compared."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys()
    both = isinstance(one, (list, tuple)) and isinstance(other, (list, tuple))
    return both and len(one) == len(other)


def _pairs(one: Any, other: Any) -> list[tuple[Any, Any]]:
    if isinstance(one, Mapping):
        return [(one[name], other[name]) for name in one]
    return list(zip(one, other, strict=True))


def are_compatible(one: Any, other: Any) -> bool:
    """Return whether serialized data of two specs are equal, up to shapes and specs that are compatible."""
    if isinstance(one, TypeSpec):
        return one.is_compatible_with(other)
    if isinstance(one, TensorShape) and isinstance(other, TensorShape):
        return one.is_compatible_with(other)
    if _same_nest(one, other):
        return all(are_compatible(a, b) for a, b in _pairs(one, other))
    return bool(comparison_key(one) == comparison_key(other))


def _covers(general: Any, special: Any) -> bool:
    if isinstance(general, TypeSpec):
        return isinstance(special, TypeSpec) and special.is_subtype_of(general)
    if isinstance(general, TensorShape) and isinstance(special, TensorShape):
        return shapes.covers(general.sizes, special.sizes)
    if _same_nest(general, special):
        return all(_covers(a, b) for a, b in _pairs(general, special))
    return bool(comparison_key(general) == comparison_key(special))


def _generalized(one: Any, other: Any) -> Any:
    """Return the most precise data that covers both; `_DIFFERENT` when there is none."""
    if isinstance(one, TypeSpec):
        common = one.most_specific_common_supertype([other]) if isinstance(other, TypeSpec) else None
        return _DIFFERENT if common is None else common
    if isinstance(one, TensorShape) and isinstance(other, TensorShape):
        return one.most_general_common_supershape(other)
    if not _same_nest(one, other):
        return one if comparison_key(one) == comparison_key(other) else _DIFFERENT
    merged = [_generalized(a, b) for a, b in _pairs(one, other)]
    if any(item is _DIFFERENT for item in merged):
        return _DIFFERENT
    return dict(zip(one, merged, strict=True)) if isinstance(one, Mapping) else type(one)(merged)
