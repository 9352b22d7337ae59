"""Tracing: call a Python function on symbolic inputs, and record its operations in a graph.

arguments  →  inputs of the graph, and Python values unchanged
the call   →  operations
result     →  outputs of the graph, and Python values unchanged
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agc.autograph import staging
from agc.autograph.staging import Maybe, Undefined

from .. import autograph_backend as plugged_in  # noqa: F401  (registers the runtime with AutoGraph)
from .. import nest
from ..composite import components
from ..control_flow import state_leaves
from ..control_flow.exceptions import RegionNeverReturns, end, has_effects
from ..core.symbolic_tensor import SymbolicArray, SymbolicTensor
from ..core.tensor import Reference
from ..core.tensor_array import TensorArray
from ..core.tensor_spec import TensorSpec
from ..core.type_spec import TypeSpec
from ..core.variable import Variable
from ..core.variable_spec import VariableSpec
from ..ir.builder import Builder, current
from ..ir.graph import Graph, Operand
from ..ir.value_types import AnySpec
from .argument_copies import Copies
from .cache_key import is_tensor_argument
from .variables_in_composites import spec_of


class Tracing(NamedTuple):
    """A finished trace: the graph, its captures, and the structure of its results."""

    graph: Graph
    captured: list[Any]  # Reference to a variable, or a Value of the surrounding graph
    owner: Builder | None  # the surrounding graph's builder
    outputs: Any  # a nest with `Output` for each output of the graph
    ends: bool = False  # it fails for all inputs before it has results


class Output:
    """A leaf in the structure of the results that an output of the graph replaces."""

    __slots__ = ("array", "number")

    def __init__(self, number: int, array: TensorArray | None = None) -> None:
        self.number = number
        self.array = array

    def filled(self, results: Sequence[Any]) -> Any:
        """Return the tensor or TensorArray of this leaf, given the results of the graph."""
        result = results[self.number]
        return result if self.array is None else self.array.with_flow(result)


class Composite:
    """A composite tensor among the results: its spec and its components."""

    __slots__ = ("parts", "spec")

    def __init__(self, spec: TypeSpec, parts: Sequence[Any]) -> None:
        self.spec = spec
        self.parts = parts

    def filled(self, results: Sequence[Any]) -> Any:
        """Return the composite, given the results of the graph."""
        return self.spec.from_tensors([part.filled(results) for part in self.parts])


def trace(
    python_function: Callable[..., Any],
    call: Callable[[Mapping[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]],
    arguments: Mapping[str, Any],
    name: str,
    make_variable: Callable[..., Any] | None,
    is_guarded: bool = False,
    executor: str = "plan",
) -> Tracing:
    """Call `python_function` with symbolic tensors for the tensors among `arguments`; return the graph.

    With `is_guarded` the function must not change the nests among `arguments`, which are copies.
    """
    outer = current()
    builder = Builder(name, outer, is_function=True)
    builder.executor = executor
    with builder:  # the constructors of composites may compute
        inputs = {key: _symbolic(key, value, builder) for key, value in arguments.items()}
    if make_variable is not None:
        builder.make_variable = functools.partial(make_variable, builder)
    args, kwargs = call(inputs)
    copies = Copies(inputs) if is_guarded else None
    with staging.reported(), builder:
        result, ends = _result(builder, python_function, args, kwargs)
        if copies is not None:
            copies.check(python_function, name)
        outputs: list[Operand] = []
        structure = _collected(result, outputs, builder)
    return Tracing(builder.finish(outputs), builder.captured_outer(), outer, structure, ends)


def _result(
    builder: Builder, python_function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, bool]:
    """Return the function's result, and whether it always fails; if so, the graph keeps the effects before that."""
    try:
        return python_function(*args, **kwargs), False
    except RegionNeverReturns:
        return None, True
    except BaseException as error:
        if not has_effects(builder):
            raise
        end(error)
        return None, True
    finally:
        if builder.root.refusals:
            raise builder.root.refusals[0] from None


def _symbolic(name: str, value: Any, builder: Builder) -> Any:
    flat = []
    for path, leaf in nest.flatten_with_path(value, name):
        if nest.is_composite(leaf) or components.is_composite_spec(leaf):
            spec = spec_of(leaf) if nest.is_composite(leaf) else leaf
            flat.append(_composite_input(path, spec, builder))
        else:
            flat.append(_input(path, leaf, builder) if is_tensor_argument(leaf) else leaf)
    return nest.pack_sequence_as(value, flat)


def _composite_input(path: str, spec: TypeSpec, builder: Builder) -> Any:
    """Return a composite tensor that has inputs of the graph as components."""
    parts = spec._component_specs
    names = components.names_of(spec, parts)
    made = [
        _component(f"{path}.{name}", part, builder)
        for name, (_, part) in zip(names, components.children(parts), strict=True)
    ]
    return spec._from_components(nest.rebuilt(parts, made) if nest.is_nested(parts) else made[0])


def _component(path: str, part: Any, builder: Builder) -> Any:
    if isinstance(part, Reference):
        return part.deref()
    if isinstance(part, VariableSpec):
        raise TypeError(
            f"{path} is a variable, which a spec cannot name: trace with the composite that holds it"
        )
    return (_composite_input if components.is_composite_spec(part) else _input)(path, part, builder)


def _input(path: str, leaf: Any, builder: Builder) -> Any:
    own = leaf.name if isinstance(leaf, TensorSpec) else None
    value = builder.input(input_name(own or path), spec_of_argument(leaf))
    if isinstance(leaf, TensorArray):
        return leaf.of_any_size(SymbolicArray(value, builder))  # the graph serves arrays of all sizes
    return SymbolicTensor(value, builder)


def input_name(path: str) -> str:
    """Return the name of a graph's input for the path of an argument.

    >>> input_name("pair['x'][0]")
    'pair_x_0'
    """
    return re.sub(r"[^0-9A-Za-z_]+", "_", path).strip("_")


def spec_of_argument(leaf: Any) -> AnySpec:
    """Return the type of the graph's input for an argument."""
    if isinstance(leaf, TensorSpec):
        return leaf.spec
    if isinstance(leaf, TensorArray):
        spec: AnySpec = leaf.flow.spec
        return spec
    return state_leaves.spec_of(state_leaves.carried(leaf))


def _collected(result: Any, outputs: list[Operand], builder: Builder) -> Any:
    """Return the structure of the results, and append their tensors to `outputs`."""
    if isinstance(result, Maybe):
        result = staging.ld(result, result.name)
    if isinstance(result, Undefined):
        staging.ld(result, "result")
    flat = [_output(leaf, outputs, builder) for leaf in nest.flatten(result)]
    return nest.pack_sequence_as(result, flat)


def _output(leaf: Any, outputs: list[Operand], builder: Builder) -> Any:
    if isinstance(leaf, Maybe):
        leaf = staging.ld(leaf, leaf.name)
    if nest.is_composite(leaf):
        return Composite(
            leaf._type_spec, [_output(part, outputs, builder) for part in components.flatten(leaf)]
        )
    if not state_leaves.can_be_carried(leaf):
        return leaf
    if isinstance(leaf, Variable):
        leaf = leaf.value()
    outputs.append(state_leaves.operand_in(builder, state_leaves.carried(leaf)))
    return Output(len(outputs) - 1, leaf if isinstance(leaf, TensorArray) else None)
