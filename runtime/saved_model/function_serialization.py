"""Serialization of functions, and restored functions, which have graphs and no Python code.

{"name": "f", "parameters": [["x", "POSITIONAL_OR_KEYWORD", null]], "graphs": [
   {"file": "functions/0-f.json", "arguments": {"x": …}, "outputs": …, "captured": [3]}]}
"""

from __future__ import annotations

import functools
import inspect
import logging
import reprlib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import nest
from ..core.conversion import convert_to_tensor
from ..core.tensor import Reference, Tensor
from ..core.tensor_spec import TensorSpec
from ..core.variable import Variable
from ..ir import json_format
from ..ir.graph import Graph
from ..tracing.cache_key import Identity, Parameters
from ..tracing.concrete_function import ConcreteFunction
from ..tracing.flat_arguments import FlatArguments
from ..tracing.function import BoundFunction, Function, is_bound
from ..tracing.trace import Tracing
from . import structure_json
from .binding import check_binding

_log = logging.getLogger("agc")

Numbers = Callable[[Variable], int]
Store = Callable[[str, Any], str]


def function_data(function: Any, owner: Any, number_of: Numbers, store: Store) -> dict[str, Any]:
    """Return a function with all its graphs as JSON data.

    Args:
        function: a `Function`, a bound one, or a `ConcreteFunction`.
        owner: the object that is not an argument of the saved function, if it is the first one of this function.
        number_of: returns a variable's index in the object graph; raises for an untracked one.
        store: writes a graph as JSON under a name, and returns the file's name.
    """
    concrete = graphs_of(function)
    parameters = _parameters_of(function, concrete)
    bound = bool(concrete) and is_bound(concrete[0], owner)
    data: dict[str, Any] = {
        "name": function.name if hasattr(function, "name") else function.__name__,
        "parameters": [_parameter(each) for each in parameters[1 if bound else 0 :]],
        "graphs": [],
    }
    for each in concrete:
        arguments = dict(list(each.arguments.items())[1:]) if bound else each.arguments
        try:
            data["graphs"].append(_graph_data(each, arguments, number_of, store))
        except _UnsavableArgumentError as error:
            _log.warning("a graph of %s is not saved: %s", each.name, error)
    return data


class _UnsavableArgumentError(ValueError):
    """An argument compared by identity: no other program has the object."""


def graphs_of(function: Any) -> list[ConcreteFunction]:
    """Return the graphs of a function; one with an input_signature is traced now."""
    if isinstance(function, ConcreteFunction):
        return [function]
    if isinstance(function, RestoredFunction):
        return function.concrete_functions
    return [each for each in function._list_all_concrete_functions() if not each.belongs_to_outer]


def _parameters_of(function: Any, concrete: Sequence[ConcreteFunction]) -> list[inspect.Parameter]:
    if concrete:
        return list(concrete[0].parameters.signature.parameters.values())
    described = function.python_function if isinstance(function, BoundFunction) else function
    return list(inspect.signature(described).parameters.values())


def _parameter(parameter: inspect.Parameter) -> list[Any]:
    default = None
    if parameter.default is not parameter.empty:
        try:
            default = {"value": structure_json.write(parameter.default)}
        except ValueError:
            default = None  # then callers of the saved function must pass it
    return [parameter.name, parameter.kind.name, default]


def _graph_data(
    concrete: ConcreteFunction, arguments: Mapping[str, Any], number_of: Numbers, store: Store
) -> dict[str, Any]:
    for name, value in arguments.items():
        for leaf in nest.flatten(value):
            if isinstance(leaf, Identity):
                raise _UnsavableArgumentError(f"its argument `{name}` is the Python object {leaf!r}")
    try:
        written = {name: structure_json.write(value) for name, value in arguments.items()}
        outputs = structure_json.write(concrete.structure)
        graph = json_format.serialize(concrete.graph, portable=True)
    except ValueError as error:
        raise ValueError(f"the function {concrete.name!r} cannot be saved: {error}") from None
    return {
        "file": store(concrete.name, graph),
        "arguments": written,
        "outputs": outputs,
        "captured": [number_of(variable) for variable in concrete.variables],
    }


class RestoredFunction:
    """A loaded function: its graphs, without the Python code that they were traced from.

    Args:
        graphs: the graphs, or a function that makes them when they are first needed.

    Attributes: `name`, `concrete_functions`.
    """

    def __init__(
        self,
        name: str,
        signature: inspect.Signature,
        graphs: Sequence[ConcreteFunction] | Callable[[], Sequence[ConcreteFunction]],
    ) -> None:
        self.name = self.__name__ = name
        self._graphs = graphs
        self.__signature__ = signature
        self._parameters = _parameters(signature)

    @functools.cached_property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The graphs."""
        return list(self._graphs() if callable(self._graphs) else self._graphs)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the graph that matches the arguments.

        Raises ValueError, which lists the available graphs, when none matches.
        """
        arguments = self._bound(args, kwargs)
        for converting in (False, True):  # prefer an exact match to one by conversion
            for concrete in self.concrete_functions:
                inputs = _fitting(concrete, arguments, converting)
                if inputs is not None:
                    return concrete.call_flat(inputs)
        raise ValueError(self._no_match(args, kwargs))

    def get_concrete_function(self, /, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the graph that matches specs or values; the only one without arguments. ValueError if none matches."""
        if not args and not kwargs and len(self.concrete_functions) == 1:
            return self.concrete_functions[0]
        arguments = self._bound(args, kwargs)
        for concrete in self.concrete_functions:
            if _same_arguments(concrete, arguments):
                return concrete
        raise ValueError(self._no_match(args, kwargs))

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return self._parameters.bind(args, kwargs)

    def _no_match(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        given = [_shown(value) for value in args]
        given += [f"{name}={_shown(value)}" for name, value in kwargs.items()]
        options = [f"  {each.call_text()}" for each in self.concrete_functions]
        if not options:
            return (
                f"Found zero restored functions for {self.name}(): it was saved without a graph. Call it before "
                "saving, or give it an input_signature"
            )
        return (
            f"Could not find matching concrete function to call loaded from the SavedModel. Got: "
            f"{self.name}({', '.join(given)}); expected one of {len(options)}:\n" + "\n".join(options)
        )

    def __repr__(self) -> str:
        return f"<agc.runtime.RestoredFunction {self.name}: {len(self.concrete_functions)} graphs>"


def _shown(value: Any) -> str:
    """Return an argument as text: the type of a tensor, other values in a short form."""
    return str(TensorSpec.from_tensor(value).spec) if isinstance(value, Tensor) else reprlib.repr(value)


def _fitting(concrete: ConcreteFunction, arguments: Mapping[str, Any], converting: bool) -> list[Any] | None:
    """Return the graph's inputs if the arguments match it; without `converting` only tensors match tensors."""
    try:
        return concrete.traced_arguments.checked(
            {
                name: _tensors(traced, arguments[name], converting)
                for name, traced in concrete.arguments.items()
            }
        )
    except (TypeError, ValueError):
        return None


def _tensors(traced: Any, given: Any, converting: bool) -> Any:
    """Return the argument, with tensors where the graph takes them. TypeError for other values."""
    if isinstance(traced, TensorSpec):
        if hasattr(given, "dtype"):
            return given
        if not converting:
            raise TypeError(f"{given!r} is not a tensor")
        return convert_to_tensor(given, traced.dtype)
    if not nest.is_nested(traced):
        return given
    pairs = zip(nest.children(traced), nest.children(given), strict=True)
    return nest.rebuilt(traced, [_tensors(spec, part, converting) for (_, spec), (_, part) in pairs])


def _same_arguments(concrete: ConcreteFunction, arguments: Mapping[str, Any]) -> bool:
    for name, traced in concrete.arguments.items():
        if not nest.same_structure(traced, arguments[name]):
            return False
        for spec, leaf in zip(nest.flatten(traced), nest.flatten(arguments[name]), strict=True):
            fits = spec.is_compatible_with(leaf) if hasattr(spec, "is_compatible_with") else spec == leaf
            if not fits:
                return False
    return True


def restored_function(
    data: Mapping[str, Any], graph_of: Callable[[str], Graph], variable_of: Callable[[int], Variable]
) -> RestoredFunction:
    """Return the function that was saved as `data`. KeyError, TypeError or ValueError for invalid data."""
    signature = inspect.Signature([_read_parameter(each) for each in data["parameters"]])
    parameters = _parameters(signature)
    graphs = [
        _concrete(data["name"], parameters, each, graph_of(each["file"]), variable_of)
        for each in data["graphs"]
    ]
    return RestoredFunction(data["name"], signature, graphs)


def _read_parameter(data: Any) -> inspect.Parameter:
    name, kind, default = data
    if unicodedata.normalize("NFKC", name) != name:
        raise ValueError(f"{name!r} is not a valid name of a parameter")
    value = inspect.Parameter.empty if default is None else structure_json.read(default["value"])
    return inspect.Parameter(name, inspect._ParameterKind[kind], default=value)


def _parameters(signature: inspect.Signature) -> Parameters:
    def described(*args: Any, **kwargs: Any) -> None: ...

    described.__signature__ = signature  # type: ignore[attr-defined]
    return Parameters(described)


def _concrete(
    name: str,
    parameters: Parameters,
    data: Mapping[str, Any],
    graph: Graph,
    variable_of: Callable[[int], Variable],
) -> ConcreteFunction:
    arguments = {key: structure_json.read(value) for key, value in data["arguments"].items()}
    variables = [variable_of(number) for number in data["captured"]]
    outputs = structure_json.read(data["outputs"])
    check_binding(graph, arguments, variables, outputs)
    captured = [Reference(variable) for variable in variables]
    traced = Tracing(graph, captured, None, outputs)
    values = [arguments[name] for name in parameters.names]
    return ConcreteFunction(name, parameters, FlatArguments(values), traced, "plan")


def is_function(value: Any) -> bool:
    """Return whether a value is a function with graphs."""
    return isinstance(value, (Function, BoundFunction, ConcreteFunction, RestoredFunction))
