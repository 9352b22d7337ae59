"""Turn a function, a graph or a saved model into the `Program` that exporters write.

tf.function, function      traced for a signature of specs or example values
ConcreteFunction, Graph    as it is
saved model, its folder    one of its signatures
"graph.txt", "graph.json"  the graph in a file
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from .. import nest
from ..core.tensor import EagerTensor
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..formats.program import Captured, Port, Program
from ..ir.graph import Graph, Value
from ..ir.graph_def import GraphDef
from ..ir.parser import parse
from ..ir.value_types import ListType, TensorType, VariableType
from ..saved_model.load import contains_saved_model, load
from ..saved_model.signatures import DEFAULT, LoadedSignature
from ..storage.corruption import reading
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.function import function
from ..tracing.trace import Composite, Output

Axes = Mapping[str, Mapping[int, str]]


def resolve(
    source: Any,
    input_signature: Sequence[Any] | Mapping[str, Any] = (),
    *,
    signature: str | None = None,
    dynamic_axes: Axes | None = None,
) -> Program:
    """Return the program of a function, a graph or a saved model.

    Args:
        source: a `tf.function`, another function, a `ConcreteFunction`, a `Graph`, a loaded saved model or one of its
            signatures, or the path of a saved model or of a graph (text or JSON).
        input_signature: `TensorSpec`s or example values, in a list or by the name of the argument. It may be empty
            for a function that has a single graph, or an `input_signature` of its own.
        signature: which signature of a saved model; "serving_default" if None.
        dynamic_axes: names of unknown dimensions, as in `{"x": {0: "batch"}}`. Others are called `x_0`.

    Raises TypeError for another source, and ValueError for a program that takes or returns TensorArrays.

    >>> import agc.runtime as tf
    >>> program = resolve(lambda x: {"twice": x * 2}, [tf.TensorSpec([None, 3])])
    >>> [str(port) for port in program.inputs], [port.name for port in program.outputs]
    (['x: float32[x_0, 3]'], ['twice'])
    """
    if isinstance(source, (str, os.PathLike)):
        source = _read(Path(source))
    if isinstance(source, Graph):
        return _of_graph(source, dynamic_axes or {})
    args, kwargs = _call(input_signature)
    concrete = _concrete(source, args, kwargs, signature)
    return _of_concrete(concrete, _examples(concrete, args, kwargs), dynamic_axes or {}, _place(source))


def _read(path: Path) -> Any:
    """Return the saved model of a folder, or the graph of a file."""
    if path.is_dir():
        if not contains_saved_model(path):
            raise FileNotFoundError(f"there is no saved model in {str(path)!r}")
        return load(path)
    with reading(path):
        content = path.read_bytes()
        if content.lstrip()[:1] in (b"{", b"["):
            return GraphDef.FromString(content).graph
        return parse(content.decode())


def _call(signature: Sequence[Any] | Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(signature, Mapping):
        return (), dict(signature)
    return (tuple(signature), {}) if isinstance(signature, (list, tuple)) else ((signature,), {})


def _concrete(
    source: Any, args: tuple[Any, ...], kwargs: dict[str, Any], signature: str | None
) -> ConcreteFunction:
    if isinstance(source, LoadedSignature):
        return source._concrete
    if isinstance(source, ConcreteFunction):
        return source
    signatures = getattr(source, "signatures", None)
    if isinstance(signatures, Mapping) and (
        signature is not None or not (callable(source) and (args or kwargs))
    ):
        chosen = signature or DEFAULT
        if chosen not in signatures:
            known = ", ".join(signatures) or "none"
            raise ValueError(f"the saved model has no signature {chosen!r}; it has: {known}")
        return _concrete(signatures[chosen], args, kwargs, None)
    if hasattr(source, "get_concrete_function"):
        made: ConcreteFunction = source.get_concrete_function(*args, **kwargs)
        return made
    if not callable(source) or isinstance(source, type):
        raise TypeError(f"a function, a graph or a saved model can be exported, not {source!r}")
    inner = getattr(source, "__call__", None)  # noqa: B004  # a module's method may be a tf.function itself
    traced = inner if hasattr(inner, "get_concrete_function") else function(source)
    return traced.get_concrete_function(*args, **kwargs)  # type: ignore[no-any-return, union-attr]


def _examples(
    concrete: ConcreteFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[np.ndarray[Any, Any]] | None:
    """Return the arrays that the program was traced with; None if specs were given."""
    leaves = nest.flatten([args, kwargs])
    if not leaves or any(isinstance(leaf, TypeSpec) for leaf in leaves):
        return None
    try:
        inputs = concrete.traced_arguments.inputs_of(args, kwargs)
    except (TypeError, ValueError):
        return None
    return [leaf._array for leaf in inputs if isinstance(leaf, EagerTensor)]


def _of_concrete(concrete: ConcreteFunction, examples: Any, axes: Axes, place: str | None) -> Program:
    numbers, names = _outputs(concrete)
    graph = concrete.graph
    graph = Graph(graph.name, graph.inputs, graph.operations, [graph.outputs[number] for number in numbers])
    return _program(concrete.name, graph, names, concrete.variables, axes, place, examples)


def _of_graph(graph: Graph, axes: Axes) -> Program:
    names = [f"output_{number}" for number in range(len(graph.outputs))]
    if graph.variables:
        raise ValueError(
            f"the graph {graph.name!r} uses variables, which the file of a graph has no values for: export the "
            "function or a saved model"
        )
    return _program(graph.name, graph, names, (), axes, None, None)


def _outputs(concrete: ConcreteFunction) -> tuple[list[int], list[str]]:
    """Return the indices of the graph's outputs, in the order of the results, and names for them."""
    structure = concrete.structure
    if not isinstance(structure, Mapping):
        parts = list(structure) if isinstance(structure, (list, tuple)) else [structure]
        structure = {f"output_{number}": part for number, part in enumerate(parts)}
    found: list[tuple[int, str]] = []
    for key, part in structure.items():
        for path, leaf in nest.flatten_with_path(part, str(key)):
            found += _numbered(leaf, path, concrete.name)
    return [number for number, _ in found], _unique(path for _, path in found)


def _numbered(leaf: Any, path: str, name: str) -> Iterator[tuple[int, str]]:
    if isinstance(leaf, Composite):
        for number, part in enumerate(leaf.parts):
            for inner, each in nest.flatten_with_path(part, f"{path}_{number}"):
                yield from _numbered(each, inner, name)
    elif isinstance(leaf, Output):
        if leaf.array is not None:
            raise ValueError(
                f"`{name}` returns a TensorArray, or a list of unknown length: return its stack(), or tf.stack(list)"
            )
        yield leaf.number, path


def _program(
    name: str,
    graph: Graph,
    outputs: Sequence[str],
    variables: Iterable[Variable],
    axes: Axes,
    place: str | None,
    examples: Any,
) -> Program:
    taken = [value for value in graph.inputs if not isinstance(value.spec, VariableType)]
    for operand in (*taken, *graph.outputs):
        if isinstance(operand.spec, ListType):
            raise ValueError(f"`{name}` takes or returns a TensorArray, which no format has: use its stack()")
    names = _unique(value.name for value in taken)
    inputs = [_port(wanted, value, axes) for wanted, value in zip(names, taken, strict=True)]
    ports = zip(outputs, graph.outputs, strict=True)
    own = _unique((value.name for value in graph.variables), names)
    captured = zip(own, graph.variables, variables, strict=True)
    return Program(
        name=_identifier(name),
        graph=Graph(graph.name, [*taken, *graph.variables], graph.operations, graph.outputs),
        inputs=inputs,
        outputs=[Port(wanted, operand, _unnamed(operand.spec)) for wanted, operand in ports],
        variables=[Captured(*each) for each in captured],
        metadata=_metadata(name, graph, place),
        examples=examples,
    )


def _port(name: str, value: Value, axes: Axes) -> Port:
    spec = value.spec
    assert isinstance(spec, TensorType)
    if spec.shape is None:
        return Port(name, value, None)
    own = axes.get(name, {})
    return Port(
        name,
        value,
        tuple(own.get(i, f"{name}_{i}") if size is None else None for i, size in enumerate(spec.shape)),
    )


def _unnamed(spec: Any) -> tuple[None, ...] | None:
    return None if spec.shape is None else (None,) * len(spec.shape)


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_") or "value"


def _unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return the names as identifiers, made unique by numbers."""
    found: dict[str, None] = {}
    used = set(taken)
    for name in map(_identifier, names):
        candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(1)))
        chosen = next(each for each in candidates if each not in used)
        used.add(chosen)
        found[chosen] = None
    return list(found)


def _place(source: Any) -> str | None:
    """Return the file and line of a function's code; the file's name alone, since folders are the user's own."""
    code = getattr(getattr(source, "python_function", source), "__code__", None)
    return None if code is None else f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"


def _metadata(name: str, graph: Graph, place: str | None) -> dict[str, str]:
    if place is None:
        origins = [each.origin for each in graph.operations if each.origin is not None]
        place = f"{os.path.basename(origins[0].filename)}:{origins[0].line}" if origins else None
    found = {"producer": "agc", "version": _version(), "function": name}
    return found if place is None else {**found, "source": place}


@functools.cache
def _version() -> str:
    try:
        return version("agc-autograph")
    except PackageNotFoundError:  # not installed, but on the path
        return "unknown"
