"""Nests (pytrees): flatten tuples, lists, dicts, and objects with fields into leaves, and pack them again.

A ragged or sparse tensor, or another `CompositeTensor`, is a leaf. With `expand_composites` its component tensors are
the leaves. A class customizes its flattening with `__tf_flatten__` and `__tf_unflatten__`.

>>> flatten({"b": [1, 2], "a": 3})
[3, 1, 2]
>>> pack_sequence_as({"b": [0, 0], "a": 0}, [3, 1, 2])
{'b': [1, 2], 'a': 3}
>>> map_structure(lambda x, y: x + y, (1, [2]), (10, [20]))
(11, [22])
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MappingView
from typing import Any

from agc.autograph.staging import field_names, has_fields, is_opaque_leaf

from .core import late_binding as _late_binding
from .core.missing_names import explain as _explain

_NO_FACTORY: Any = object()


def is_nested(seq: Any) -> bool:
    """Return whether `seq` is a nest (strings and composite tensors are not).

    >>> is_nested([1]), is_nested({"a": 1}), is_nested("text"), is_nested(1)
    (True, True, False, False)
    """
    return is_nest_type(type(seq))  # type: ignore[arg-type]  # mypy: classes are not hashable


@functools.lru_cache(maxsize=1024)
def is_nest_type(kind: type) -> bool:
    """Return whether instances of a class are nests; a dataclass that is a `tf.Module` as well is not."""
    return not is_opaque_leaf(kind) and (
        issubclass(kind, (tuple, list, Mapping, deque, MappingView))
        or has_fields(kind)
        or hasattr(kind, "__nest__")
        or hasattr(kind, "__tf_flatten__")
    )


def is_composite(value: Any) -> bool:
    """Return whether `value` is a composite: one object made of several tensors."""
    return hasattr(type(value), "__components__")


def children(value: Any) -> list[tuple[Any, Any]]:
    """Return the (key, child) pairs of a nest; dicts in the order of their sorted keys, as in TensorFlow."""
    if isinstance(value, (tuple, list)):
        return list(enumerate(value))
    if isinstance(value, Mapping):
        return [(key, value[key]) for key in _sorted_keys(value)]
    if hasattr(value, "__nest__"):
        pairs: list[tuple[Any, Any]] = value.__nest__()
        return pairs
    if hasattr(value, "__tf_flatten__"):
        return list(enumerate(value.__tf_flatten__()[1]))
    if isinstance(value, (deque, MappingView)):
        return list(enumerate(iter(value)))  # type: ignore[arg-type]
    return [(name, getattr(value, name)) for name in field_names(type(value))]  # type: ignore[arg-type]


def _sorted_keys(value: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def rebuilt(like: Any, parts: list[Any]) -> Any:
    """Return a nest of `like`'s type with these children, in `children` order."""
    if hasattr(like, "__rebuilt__"):
        return like.__rebuilt__(parts)
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*parts)
    if isinstance(like, (tuple, list)):
        return type(like)(parts)
    if isinstance(like, Mapping):
        by_key = dict(zip(_sorted_keys(like), parts, strict=True))
        ordered = {key: by_key[key] for key in like}
        if type(like) is dict:
            return ordered
        factory = getattr(like, "default_factory", _NO_FACTORY)
        return type(like)(ordered) if factory is _NO_FACTORY else type(like)(factory, ordered)  # type: ignore[call-arg]
    if hasattr(like, "__tf_flatten__"):
        return type(like).__tf_unflatten__(like.__tf_flatten__()[0], tuple(parts))
    if isinstance(like, (deque, MappingView)):
        return type(like)(parts) if isinstance(like, deque) else parts
    return _with_fields(like, parts)


def _with_fields(like: Any, parts: list[Any]) -> Any:
    """Return an object with other fields, without a second initialization."""
    new = object.__new__(type(like))
    getattr(new, "__dict__", {}).update(getattr(like, "__dict__", {}))
    for name, part in zip(field_names(type(like)), parts, strict=True):  # type: ignore[arg-type]
        object.__setattr__(new, name, part)
    return new


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves, from left to right.

    >>> flatten([1, (2, {"a": 3})])
    [1, 2, 3]
    """
    leaves: list[Any] = []
    try:
        _collect(structure, leaves, expand_composites)
    except RecursionError as error:
        raise _late_binding.cyclic_nests.told(error, structure) from None
    return leaves


def _collect(structure: Any, leaves: list[Any], expand: bool) -> None:
    if type(structure) is list or type(structure) is tuple:
        for child in structure:
            _collect(child, leaves, expand)
    elif expand and is_composite(structure):
        _collect(structure.__components__(), leaves, True)
    elif is_nested(structure):
        for _, child in children(structure):
            _collect(child, leaves, expand)
    elif expand and _is_composite_spec(structure):
        _collect(structure._component_specs, leaves, True)
    else:
        leaves.append(structure)


def flatten_with_path(structure: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, leaf) pairs; a path is written as in Python: `['a'][0].x`."""
    if not is_nested(structure):
        yield path, structure
        return
    for key, child in children(structure):
        yield from flatten_with_path(child, path_of(structure, key, path))


def path_of(structure: Any, key: Any, path: str) -> str:
    """Return the path of a child of a nest with the path `path`."""
    if hasattr(structure, "_fields"):
        return f"{path}.{structure._fields[key]}"
    return f"{path}.{key}" if has_fields(type(structure)) else f"{path}[{key!r}]"


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return a nest like `structure` with the leaves of `flat_sequence`.

    Raises TypeError when `flat_sequence` is no sequence, ValueError when the number of leaves differs.

    >>> pack_sequence_as((0, [0]), [1, 2])
    (1, [2])
    """
    if type(flat_sequence) in (list, tuple) and len(flat_sequence) == 1 and not expand_composites:
        if not is_nested(structure):
            return flat_sequence[0]
    elif isinstance(flat_sequence, (str, bytes)) or not hasattr(flat_sequence, "__iter__"):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    given = list(flat_sequence)
    is_leaf = not is_nested(structure) and not (expand_composites and _has_spec(structure))
    if is_leaf and len(given) == 1:
        return given[0]
    if is_leaf:
        raise ValueError(
            f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a sequence "
            f"({type(flat_sequence)}) of length {len(given)}.\n  {given}\n"
            "nest cannot guarantee that it is safe to map one to the other."
        )
    count = len(flatten(structure, expand_composites))
    if count != len(given):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(given)} items.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return pack_leaves(structure, iter(given), expand_composites)


def pack_leaves(structure: Any, leaves: Iterator[Any], expand: bool) -> Any:
    """Return the structure with the next leaves of `leaves`; the components of composites too if `expand`."""
    if type(structure) is list:
        return [pack_leaves(child, leaves, expand) for child in structure]
    if expand and is_composite(structure):
        return structure.__recomposed__(pack_leaves(structure.__components__(), leaves, True))
    if expand and _is_composite_spec(structure):
        return structure._from_components(pack_leaves(structure._component_specs, leaves, True))
    if not is_nested(structure):
        return next(leaves)
    parts = [pack_leaves(child, leaves, expand) for _, child in children(structure)]
    return rebuilt(structure, parts)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply `func` to the corresponding leaves of nests with the same structure; return a nest of the results.

    Keywords are `check_types` (True: sequences must be of the same type) and `expand_composites` (False).

    >>> map_structure(lambda x, y: x + y, [1, 2], (10, 20), check_types=False)
    [11, 22]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types, expand)
    columns = zip(*(flatten(one, expand) for one in structure), strict=True)
    return pack_leaves(first, iter([func(*leaves) for leaves in columns]), expand)


def same_structure(one: Any, other: Any) -> bool:
    """Return whether both nests have the same shape, types and keys."""
    if not is_nested(one) or not is_nested(other):
        return not is_nested(one) and not is_nested(other)
    if type(one) is not type(other):
        return False
    left, right = children(one), children(other)
    return [key for key, _ in left] == [key for key, _ in right] and all(
        same_structure(a, b) for (_, a), (_, b) in zip(left, right, strict=True)
    )


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ValueError unless both nests have the same structure, TypeError when sequences have different types.

    Mappings of different classes are equivalent when they have the same keys. With `expand_composites` the specs of
    composite tensors must be compatible.

    >>> assert_same_structure({"a": 1, "b": (2, 3)}, {"b": (0, 0), "a": 0})
    """
    difference = _difference(nest1, nest2, check_types, expand_composites)
    if difference is None:
        return
    error, reason = difference
    first, second = (_pack_dots(nest) for nest in (nest1, nest2))
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_said(nest1)}\n\nSecond structure: {_said(nest2)}\n\n"
        f"More specifically: {reason}\n"
        f"Entire first structure:\n{first}\nEntire second structure:\n{second}"
    )


def _said(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


class _Dot:
    def __repr__(self) -> str:
        return "."


def _pack_dots(nest: Any) -> Any:
    return pack_leaves(nest, iter([_Dot()] * len(flatten(nest))), False)


def _difference(one: Any, other: Any, check: bool, expand: bool) -> tuple[type[Exception], str] | None:
    """Return the class and the message of the error for two nests that differ; None if they do not."""
    if not (expand or is_nested(one) or is_nested(other)):
        return None
    composites = expand and (_has_spec(one) or _has_spec(other))
    nested = [is_nested(nest) or (expand and _has_spec(nest)) for nest in (one, other)]
    if nested[0] != nested[1]:
        inner, outer = (one, other) if nested[0] else (other, one)
        return (
            ValueError,
            f'Substructure "{_said(inner)}" is a sequence, while substructure "{_said(outer)}" is not',
        )
    if not nested[0]:
        return None
    if composites:
        return _difference_of_specs(one, other)
    mappings = isinstance(one, Mapping) and isinstance(other, Mapping)
    if check and type(one) is not type(other) and not mappings:
        return TypeError, (
            f"The two namedtuples don't have the same sequence type. First structure {_said(one)} has type "
            f"{type(one).__name__}, while second structure {_said(other)} has type {type(other).__name__}"
        )
    if mappings and set(one) != set(other):
        return ValueError, (
            f"The two dictionaries don't have the same set of keys. First structure has keys {_said(list(one))}, "
            f"while second structure has keys {_said(list(other))}"
        )
    left, right = children(one), children(other)
    if len(left) != len(right):
        return ValueError, (
            f"The two structures don't have the same number of elements. First structure: {_said(one)}. "
            f"Second structure: {_said(other)}"
        )
    pairs = zip(left, right, strict=True)
    differences = (_difference(a, b, check, expand) for (_, a), (_, b) in pairs)
    return next((difference for difference in differences if difference is not None), None)


def _has_spec(value: Any) -> bool:
    return is_composite(value) or _is_composite_spec(value)


def _is_composite_spec(value: Any) -> bool:
    return hasattr(type(value), "_component_specs") and value._component_specs is not value


def _difference_of_specs(one: Any, other: Any) -> tuple[type[Exception], str] | None:
    specs = [
        nest if hasattr(nest, "_component_specs") else getattr(nest, "_type_spec", None)
        for nest in (one, other)
    ]
    if None not in specs and specs[0].most_specific_common_supertype([specs[1]]) is not None:  # type: ignore[union-attr]
        return None
    return ValueError, f"Incompatible CompositeTensor TypeSpecs: {_said(specs[0])} vs. {_said(specs[1])}"


_explain(__name__)
