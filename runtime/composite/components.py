"""Nests with composite tensors expanded into their component tensors, as graphs see them.

    {"x": RaggedTensor, "n": 3}     ==>     flat values, row splits, 3

The functions are those of `nest`. The static data of composites, such as a sparse tensor's static shape,
is in their specs. `widened` finds the specs that cover the values of all branches, or of all iterations of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import nest
from ..core.type_spec import TypeSpec


def flatten(value: Any) -> list[Any]:
    """Return the leaves, and the components of composites."""
    return nest.flatten(value, True)


def pack_sequence_as(like: Any, leaves: list[Any]) -> Any:
    """Return a nest like `like`, with composites made of the leaves."""
    return nest.pack_sequence_as(like, leaves, True)


def flatten_with_path(structure: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, leaf) pairs, in the order of `flatten`; a path reads like Python: `['a'][0].row_splits`."""
    for inner_path, leaf in nest.flatten_with_path(structure, path):
        if nest.is_composite(leaf):
            yield from _with_names(leaf, inner_path)
        else:
            yield inner_path, leaf


def _with_names(composite: Any, path: str) -> Iterator[tuple[str, Any]]:
    parts = composite.__components__()
    names = names_of(getattr(composite, "_type_spec", None), parts)
    for name, part in zip(names, (child for _, child in children(parts)), strict=True):
        yield from flatten_with_path(part, f"{path}.{name}")


def children(parts: Any) -> list[tuple[Any, Any]]:
    """Return the components of a nest, or of a single component."""
    return nest.children(parts) if nest.is_nested(parts) else [(0, parts)]


def names_of(spec: Any, parts: Any) -> list[str]:
    """Return the names of a composite's components, in the order of `children`."""
    keys = [str(key) for key, _ in children(parts)]
    own = getattr(spec, "_component_names", None)
    return keys if own is None else [*own, *keys][: len(keys)]


def is_composite_spec(value: Any) -> bool:
    """Return whether `value` is the spec of a composite tensor."""
    return isinstance(value, TypeSpec) and not hasattr(value, "spec")


def same_structure(one: Any, other: Any) -> bool:
    """Return whether both are nests of the same structure, with compatible composites at the same positions."""
    if not nest.same_structure(one, other):
        return False
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    return all(_go_together(a, b) for a, b in pairs)


def _go_together(one: Any, other: Any) -> bool:
    if not nest.is_composite(one) and not nest.is_composite(other):
        return True
    if not nest.is_composite(one) or not nest.is_composite(other):
        return False
    return _common(one, other) is not None


def _common(one: Any, other: Any) -> Any:
    spec = one._type_spec
    return spec if spec == other._type_spec else spec.most_specific_common_supertype([other._type_spec])


class Shell:
    """The components of a composite, with a more general spec."""

    __slots__ = ("_parts", "_type_spec")

    def __init__(self, spec: TypeSpec, parts: Any) -> None:
        self._type_spec = spec
        self._parts = parts

    def __components__(self) -> Any:
        return self._parts

    def __recomposed__(self, components: Any) -> Any:
        return self._type_spec._from_components(components)


def widened(value: Any, *others: Any) -> Any:
    """Return `value`, or a nest like it whose composites have specs that cover those of `others` as well."""
    if not any(map(nest.is_composite, nest.flatten(value))):
        return value
    columns = zip(nest.flatten(value), *map(nest.flatten, others), strict=True)
    return nest.pack_sequence_as(value, [_widened(*column) for column in columns])


def _widened(leaf: Any, *others: Any) -> Any:
    if not nest.is_composite(leaf):
        return leaf
    specs = [other._type_spec for other in others]
    if all(spec == leaf._type_spec for spec in specs):
        return leaf
    return Shell(leaf._type_spec.most_specific_common_supertype(specs), leaf.__components__())


def differ(one: Any, other: Any) -> bool:
    """Return whether composites at the same positions of two nests have different specs."""
    pairs = zip(nest.flatten(one), nest.flatten(other), strict=True)
    return any(nest.is_composite(a) and a._type_spec != b._type_spec for a, b in pairs)


def made(spec: Any, tensors: Iterator[Any]) -> Any:
    """Return the value of a spec, or of a nest of specs, made of the next tensors."""
    if isinstance(spec, TypeSpec):
        if not is_composite_spec(spec):
            return next(tensors)
        return spec._from_components(made(spec._component_specs, tensors))
    parts = [made(child, tensors) for _, child in nest.children(spec)]
    return nest.rebuilt(spec, parts)
