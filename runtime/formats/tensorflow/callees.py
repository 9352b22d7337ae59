"""The functions of a saved model: graphs with the structure of their arguments and results.

concrete f(x: float32[?], flags={"a": int32[]})      ==>     FunctionDef f(x, flags_a, w), which captures w
                                                             arguments ((TensorSpec x, {"a": TensorSpec}), {})
                                                             results TensorSpec
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import nest
from ...core.conversion import convert_to_tensor
from ...core.tensor_spec import TensorSpec
from ...core.type_spec import TypeSpec
from ...core.variable import Variable
from ...ir.graph import Constant, Graph, Operand, Value
from ...ir.value_types import ListType, VariableType
from ...tracing.concrete_function import ConcreteFunction
from ...tracing.trace import Composite, Output
from ..program import Program
from .structure_encoding import CannotDescribeError, CompositeLeaf, TensorLeaf, encoded
from .structure_messages import StructuredValue


class SavedCallee(NamedTuple):
    """A function: its graph, and inputs and outputs in the order in which TensorFlow flattens their structure."""

    name: str
    graph: Graph
    inputs: Sequence[Value]
    input_names: Sequence[str]
    outputs: Sequence[Operand]
    output_names: Sequence[str]
    variables: Sequence[tuple[Value, Variable]]
    arguments: StructuredValue
    results: StructuredValue
    parameters: Sequence[inspect.Parameter]
    calls: SavedCallee | None = None
    """The function that this one calls with its inputs; None if this one has the operations of the graph itself."""


def of_concrete(concrete: ConcreteFunction, receiver: str | None = None) -> SavedCallee:
    """Return a concrete function, without the parameter that is the object which the function belongs to.

    Raises CannotDescribeError for arguments or results of other kinds.
    """
    count = len(concrete.graph.inputs) - len(concrete.graph.variables)
    numbers = iter(range(count))
    marked = {
        name: nest.map_structure(lambda leaf, name=name: _marked(leaf, name, numbers), value)
        for name, value in concrete.arguments.items()
        if name != receiver
    }
    signature = concrete.parameters.signature
    kept = [each for each in signature.parameters.values() if each.name != receiver]
    bound = inspect.BoundArguments(signature.replace(parameters=kept), marked)
    taken: list[TensorLeaf] = []
    given: list[TensorLeaf] = []
    arguments = encoded((bound.args, bound.kwargs), taken)
    constants: list[Operand] = [*concrete.graph.outputs]
    results = encoded(
        _named(nest.map_structure(lambda leaf: _result(leaf, constants), concrete.structure)), given
    )
    inputs = [concrete.graph.inputs[leaf.number] for leaf in taken]
    return SavedCallee(
        concrete.name, concrete.graph, inputs, [leaf.name for leaf in taken],
        [constants[leaf.number] for leaf in given], [leaf.name for leaf in given],
        list(zip(concrete.graph.variables, concrete.variables, strict=True)), arguments, results, kept,
    )  # fmt: skip


def of_program(program: Program) -> SavedCallee:
    """Return a program as a function of its inputs by name, which returns its outputs by name."""
    inputs = [TensorLeaf(port.operand.spec, number, port.name) for number, port in enumerate(program.inputs)]
    outputs = {
        port.name: TensorLeaf(port.operand.spec, number, port.name)
        for number, port in enumerate(program.outputs)
    }
    given: list[TensorLeaf] = []
    arguments = encoded((tuple(inputs), {}), [])
    results = encoded(outputs, given)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return SavedCallee(
        program.name, program.graph, [program.graph.inputs[leaf.number] for leaf in inputs],
        [port.name for port in program.inputs],
        [program.outputs[leaf.number].operand for leaf in given], [leaf.name for leaf in given],
        [(each.value, each.variable) for each in program.variables], arguments, results,
        [inspect.Parameter(port.name, kind) for port in program.inputs],
    )  # fmt: skip


def as_signature(callee: SavedCallee) -> SavedCallee:
    """Return a function of one graph as a signature: it takes its tensors by name."""
    by_name = sorted(zip(callee.input_names, callee.inputs, strict=True), key=lambda pair: pair[0])
    leaves = {name: TensorLeaf(value.spec, 0, name) for name, value in by_name}
    return callee._replace(
        inputs=[value for _, value in by_name],
        input_names=[name for name, _ in by_name],
        arguments=encoded(((), leaves), []),
        parameters=[inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in leaves],
    )


def _marked(leaf: Any, name: str, numbers: Iterator[int]) -> Any:
    """Return an argument with the numbers of its inputs of the graph."""
    if isinstance(leaf, TensorSpec):
        return TensorLeaf(leaf.spec, next(numbers), leaf.name or name)
    if isinstance(leaf, TypeSpec):
        return CompositeLeaf(leaf, [_marked(part, name, numbers) for part in leaf.flatten()])
    return leaf


def _result(leaf: Any, operands: list[Operand]) -> Any:
    """Return a result with the number of its operand; numbers and texts become constants."""
    if isinstance(leaf, Composite):
        parts = [_result(each, operands) for part in leaf.parts for each in nest.flatten(part)]
        return CompositeLeaf(leaf.spec, parts)
    if leaf is None:
        return None
    if not isinstance(leaf, Output):
        try:
            operands.append(Constant(np.asarray(convert_to_tensor(leaf).numpy())))
        except (TypeError, ValueError):
            raise CannotDescribeError(f"it returns the Python object {leaf!r}") from None
        return TensorLeaf(operands[-1].spec, len(operands) - 1, "constant")
    operand = operands[leaf.number]
    if isinstance(operand.spec, (ListType, VariableType)):
        raise CannotDescribeError("it returns a TensorArray or a variable; return its stack() or value")
    return TensorLeaf(operand.spec, leaf.number, getattr(operand, "name", "constant"))


def _named(results: Any) -> Any:
    """Name the results: those of a dict by its keys, others `output_0`, `output_1` …"""
    if isinstance(results, Mapping) and all(isinstance(part, TensorLeaf) for part in results.values()):
        return {key: leaf.named(key) for key, leaf in results.items()}
    numbers = itertools.count()

    def named(leaf: Any) -> Any:
        if isinstance(leaf, CompositeLeaf):
            return CompositeLeaf(leaf.spec, [named(part) for part in leaf.parts])
        return leaf.named(f"output_{next(numbers)}") if isinstance(leaf, TensorLeaf) else leaf

    return nest.map_structure(named, results)
