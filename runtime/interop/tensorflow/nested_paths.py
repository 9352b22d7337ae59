"""The functions of `tensorflow.python.util.nest` beyond `tf.nest`: partial nests, and the paths of leaves.

    flatten_up_to([0, 0], [1, (2, 3)])          ==>    [1, (2, 3)]       the first nest says where leaves begin
    flatten_with_tuple_paths({"a": [1, 2]})     ==>    [(("a", 0), 1), (("a", 1), 2)]

As there, `expand_composites` concerns the leaves' own components, which `tf.nest` handles; here a composite is a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ... import nest

Path = tuple[Any, ...]


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Return whether `instance` is a namedtuple; with `strict`, whether its class adds nothing to the tuple."""
    named = isinstance(instance, tuple) and hasattr(instance, "_fields")
    return named and (not strict or type(instance).__base__ is tuple)


def is_nested_or_composite(seq: Any) -> bool:
    """Return whether `seq` is a nest or a composite tensor."""
    return nest.is_nested(seq) or nest.is_composite(seq)


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise TypeError or ValueError unless `input_tree` has the nests of `shallow_tree`, and perhaps deeper ones."""
    for _ in _up_to(shallow_tree, input_tree, check_types, ()):
        pass


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """Return the parts of `input_tree` that are where `shallow_tree` has leaves; raise as the assertion."""
    return [part for _, part in _up_to(shallow_tree, input_tree, check_types, ())]


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """Return the parts as `flatten_up_to`, each with its path of keys, positions and names of fields."""
    return list(_up_to(shallow_tree, input_tree, check_types, ()))


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Return a nest like `shallow_tree` of `func`'s results for the parts of `inputs` at its leaves."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *parts: func(*parts), *inputs, **kwargs
    )


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Return as `map_structure_up_to`; `func` gets the path of the leaf first."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check = kwargs.pop("check_types", True)
    columns = [flatten_up_to(shallow_tree, one, check) for one in inputs]
    paths = [path for path, _ in _up_to(shallow_tree, shallow_tree, True, ())]
    results = [func(path, *parts) for path, *parts in zip(paths, *columns, strict=True)]
    return nest.pack_sequence_as(shallow_tree, results)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Return a nest of `func`'s results for corresponding leaves, each with its path first."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[Path, Any]]:
    """Return the leaves, each with its path."""
    return list(_up_to(structure, structure, True, ()))


def yield_flat_paths(structure: Any, expand_composites: bool = False) -> Iterator[Path]:
    """Yield the paths of the leaves."""
    return (path for path, _ in _up_to(structure, structure, True, ()))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Return the leaves, each with its path as one string."""
    paths = _up_to(structure, structure, True, ())
    return [(separator.join(map(str, path)), leaf) for path, leaf in paths]


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """Return the nest of booleans that says where to descend: False ends a branch, and leaves give `traverse_fn`'s.

    `traverse_fn(part)` returns whether to descend into a part, or a nest of booleans for its children. Raises TypeError
    for other results.
    """
    wanted = traverse_fn(structure)
    if not isinstance(wanted, bool) and not (nest.is_nested(wanted) and nest.is_nested(structure)):
        raise TypeError(
            f"traverse_fn returned {wanted!r} for {structure!r}, neither a bool nor a nest of bools"
        )
    if wanted is False or not nest.is_nested(structure):
        return wanted
    below = [child for _, child in nest.children(structure)]
    if wanted is True:
        each = [True] * len(below)
    else:
        assert_shallow_structure(wanted, structure)
        each = [flag for _, flag in nest.children(wanted)]
        if not all(isinstance(flag, bool) for flag in each):
            raise TypeError(f"traverse_fn returned {wanted!r} for {structure!r}, which is no nest of bools")
    parts = zip(each, below, strict=True)
    return nest.rebuilt(
        structure,
        [flag and get_traverse_shallow_structure(traverse_fn, child) for flag, child in parts],
    )


def yield_value(iterable: Any) -> Iterator[Any]:
    """Yield the children of a nest."""
    return (child for _, child in nest.children(iterable))


def yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the children of a nest with their keys, positions or names of fields."""
    return ((_part_of_path(iterable, key), child) for key, child in nest.children(iterable))


def _part_of_path(structure: Any, key: Any) -> Any:
    return structure._fields[key] if is_namedtuple(structure) else key


def _up_to(shallow: Any, full: Any, check_types: bool, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the paths of the leaves of `shallow`, and the parts of `full` there."""
    if not nest.is_nested(shallow):
        yield path, full
        return
    _check_level(shallow, full, check_types)
    mappings = isinstance(shallow, Mapping) and isinstance(full, Mapping)
    pairs = zip(nest.children(shallow), nest.children(full), strict=True)
    for (key, below), (_, child) in pairs:
        part = full[key] if mappings else child
        yield from _up_to(below, part, check_types, (*path, _part_of_path(shallow, key)))


def _check_level(shallow: Any, full: Any, check_types: bool) -> None:
    """Raise unless `full` is a nest with as many children as `shallow`, and of its type with `check_types`."""
    if not nest.is_nested(full):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. "
            f"Input has type: {type(full)}."
        )
    mappings = isinstance(shallow, Mapping) and isinstance(full, Mapping)
    named = is_namedtuple(shallow) and is_namedtuple(full) and shallow._fields == full._fields
    if check_types and not (isinstance(full, type(shallow)) or mappings or named):
        raise TypeError(
            "The two structures don't have the same sequence type. "
            f"Input structure has type {type(full)}, "
            f"while shallow structure has type {type(shallow)}."
        )
    counts = len(nest.children(full)), len(nest.children(shallow))
    if counts[0] != counts[1]:
        raise ValueError(
            "The two structures don't have the same sequence length. "
            f"Input structure has length {counts[0]}, while shallow structure has length {counts[1]}."
        )
    missing = [key for key in shallow if key not in full] if mappings else []
    if missing:
        raise ValueError(
            "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the "
            f"following keys that are not in the input_tree: {missing}."
        )
