"""`load_weights`: values of variables by name from a safetensors file or an `.npz` archive.

encoder.weight    F32 [2, 3]      ==>      module.encoder.weight.assign(…)
encoder.bias      F32 [3]                  module.encoder.bias.assign(…)
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from ..core.export import export
from ..core.shapes import compatible
from ..core.variable import Variable
from ..storage.npz import NpzArrays
from ..storage.safetensors import StoredArrays
from .object_graph import VALUE, ObjectGraph

Array = Any
Names = Mapping[str, str | None] | Callable[[str], str | None] | None
_FORMATS: dict[str, Callable[[Path], Any]] = {".safetensors": StoredArrays, ".npz": NpzArrays}
_SHOWN = 10


class LoadedWeights(NamedTuple):
    """The paths of variables that got a value, of those that got none, and the names of unused values."""

    loaded: list[str]
    missing: list[str]
    unused: list[str]


@export("train.load_weights")
def load_weights(
    root: Any,
    filename: Any,
    names: Names = None,
    strict: bool = True,
    transform: Callable[[str, Array], Array] | None = None,
    cast: bool = False,
) -> LoadedWeights:
    """Set the variables of an object to the values of a file of another project, by name.

    Args:
        root: a module, or another object with variables. Their paths are those of checkpoints, with dots: `layers.0.w`.
        filename: a `.safetensors` file or an `.npz` archive. Its values are read one by one.
        names: the paths of variables by the names of the file, as a dict or a function; None for a value that is not
            needed. Names that a dict lacks are paths themselves.
        strict: whether values without a variable, and variables without a value, are errors.
        transform: changes the value of a path, such as `lambda path, value: value.T`.
        cast: whether values get the dtype of their variable; otherwise another dtype is an error.

    Returns the paths and names that were and were not used. All differences are found before a variable changes.

    Raises ValueError that lists all shapes, dtypes and names that do not fit, NotFoundError without a file,
    DataLossError for a damaged one.

    >>> import agc.runtime as tf, tempfile
    >>> module = tf.Module()
    >>> module.dense = {"w": tf.Variable([[0.0, 0.0]]), "b": tf.Variable([0.0])}
    >>> path = os.path.join(tempfile.mkdtemp(), "weights.npz")
    >>> np.savez(path, **{"dense.weight": np.float32([[1], [2]]), "dense.b": np.float32([3])})
    >>> load_weights(module, path, {"dense.weight": "dense.w"}, transform=lambda path, w: w.T).loaded
    ['dense.w', 'dense.b']
    >>> module.dense["w"].numpy().tolist()
    [[1.0, 2.0]]
    """
    path = Path(os.path.abspath(os.fspath(filename)))
    if path.suffix not in _FORMATS:
        raise ValueError(f"load_weights reads {' and '.join(_FORMATS)} files, not {path.name!r}")
    variables = _variables(root)
    with contextlib.closing(_FORMATS[path.suffix](path)) as values:
        places = {name: _place(name, names) for name in values}
        unused = [name for name, place in places.items() if place is not None and place not in variables]
        found = {place: name for name, place in places.items() if place in variables}
        missing = [place for place in variables if place not in found]
        problems = list(_twice(places, variables))
        if strict:
            problems += [f"there is no variable for {name!r} (as {places[name]!r})" for name in unused]
            problems += [f"there is no value for the variable {place!r}" for place in missing]
        new = {}
        for place, name in found.items():
            value = values[name] if transform is None else np.asarray(transform(place, values[name]))
            problem, new[place] = _fitted(name, value, place, variables[place], cast)
            problems += [problem] if problem else []
    if problems:
        shown = problems[:_SHOWN] + ([f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else [])
        raise ValueError(f"{path} does not fit the variables:\n" + "\n".join(f"  {each}" for each in shown))
    for place, value in new.items():
        variables[place].assign(value)
    return LoadedWeights(list(new), missing, unused)


def _variables(root: Any) -> dict[str, Variable]:
    """Return the variables by path."""
    graph = ObjectGraph.of(root).variables
    return {key.removesuffix(VALUE).replace("/", "."): each for key, each in graph.items()}


def _place(name: str, names: Names) -> str | None:
    place = name if names is None else names(name) if callable(names) else names.get(name, name)
    return None if place is None else place.replace("/", ".")


def _twice(places: Mapping[str, str | None], variables: Mapping[str, Variable]) -> Iterator[str]:
    """Yield a problem for each variable that two values are for."""
    first: dict[str | None, str] = {}
    for name, place in places.items():
        if place in first and place in variables:
            yield f"{first[place]!r} and {name!r} are both for the variable {place!r}"
        first.setdefault(place, name)


def _fitted(name: str, value: Array, place: str, variable: Variable, cast: bool) -> tuple[str, Array]:
    """Return what is wrong with a value, if anything, and the value with the dtype of the variable."""
    content = variable.content_spec
    given = dtypes.as_dtype(value.dtype if value.dtype.kind != "O" else "string")
    text = f"{name!r} is {given.name}{list(value.shape)}, but the variable {place!r} is {content}"
    if not compatible(content.shape, value.shape):
        return text, value
    if given is content.dtype:
        return "", value
    if not cast or dtypes.string in (given, content.dtype):
        return f"{text}: pass cast=True to convert", value
    return "", value.astype(content.dtype.numpy_dtype)
