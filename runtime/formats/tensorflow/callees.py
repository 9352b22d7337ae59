"""The functions of a saved model: graphs with the structure of their arguments and results.

concrete f(x: float32[?], flags={"a": int32[]})      ==>     FunctionDef f(x, flags_a, w), which captures w
                                                             arguments ((TensorSpec x, {"a": TensorSpec}), {})
                                                             results TensorSpec
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes, nest
from ...core.conversion import convert_to_tensor
from ...core.shapes import TensorShape
from ...core.tensor_spec import TensorSpec
from ...core.type_spec import TypeSpec
from ...core.variable import Variable
from ...ir.graph import Constant, Graph, Operand, Value
from ...ir.value_types import ListType, TensorType, VariableType
from ...storage.tensor_protos import serialized
from ...tracing.concrete_function import ConcreteFunction
from ...tracing.trace import Composite, Output
from ..program import Program
from .nodes import TYPE_NUMBERS, encode_shape
from .structure_messages import StructuredValue


class CannotDescribeError(ValueError):
    """Raised for an argument or result that a saved model of TensorFlow cannot describe."""


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


class _Leaf:
    """A tensor in a structure: its spec, and the number of the input or output of the graph."""

    def __init__(self, spec: Any, number: int, name: str) -> None:
        self.spec, self.number, self.name = spec, number, name

    def named(self, name: str) -> _Leaf:
        return _Leaf(self.spec, self.number, name)


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
    signature = concrete._parameters.signature
    kept = [each for each in signature.parameters.values() if each.name != receiver]
    bound = inspect.BoundArguments(signature.replace(parameters=kept), marked)
    taken: list[_Leaf] = []
    given: list[_Leaf] = []
    arguments = _encoded((bound.args, bound.kwargs), taken)
    constants: list[Operand] = [*concrete.graph.outputs]
    results = _encoded(
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
    inputs = [_Leaf(port.operand.spec, number, port.name) for number, port in enumerate(program.inputs)]
    outputs = {
        port.name: _Leaf(port.operand.spec, number, port.name) for number, port in enumerate(program.outputs)
    }
    given: list[_Leaf] = []
    arguments = _encoded((tuple(inputs), {}), [])
    results = _encoded(outputs, given)
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
    leaves = {name: _Leaf(value.spec, 0, name) for name, value in by_name}
    return callee._replace(
        inputs=[value for _, value in by_name],
        input_names=[name for name, _ in by_name],
        arguments=_encoded(((), leaves), []),
        parameters=[inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in leaves],
    )


def _marked(leaf: Any, name: str, numbers: Any) -> Any:
    if isinstance(leaf, TensorSpec):
        return _Leaf(leaf.spec, next(numbers), leaf.name or name)
    if isinstance(leaf, TypeSpec):
        raise CannotDescribeError(
            f"its argument `{name}` is a {type(leaf).__name__}, which consists of several tensors"
        )
    return leaf


def _result(leaf: Any, operands: list[Operand]) -> Any:
    """Return a result with the number of its operand; numbers and texts become constants."""
    if isinstance(leaf, Composite):
        raise CannotDescribeError(
            f"it returns a {type(leaf.spec).__name__}, which consists of several tensors"
        )
    if not isinstance(leaf, Output):
        if leaf is None:
            return None
        try:
            operands.append(Constant(np.asarray(convert_to_tensor(leaf).numpy())))
        except (TypeError, ValueError):
            raise CannotDescribeError(f"it returns the Python object {leaf!r}") from None
        return _Leaf(operands[-1].spec, len(operands) - 1, "constant")
    operand = operands[leaf.number]
    if isinstance(operand.spec, (ListType, VariableType)):
        raise CannotDescribeError("it returns a TensorArray or a variable; return its stack() or value")
    return _Leaf(operand.spec, leaf.number, getattr(operand, "name", "constant"))


def _named(results: Any) -> Any:
    """Name the results: those of a dict by its keys, others `output_0`, `output_1` …"""
    if isinstance(results, Mapping) and all(isinstance(part, _Leaf) for part in results.values()):
        return {key: leaf.named(key) for key, leaf in results.items()}
    numbers = itertools.count()
    return nest.map_structure(
        lambda leaf: leaf.named(f"output_{next(numbers)}") if isinstance(leaf, _Leaf) else leaf, results
    )


def _encoded(value: Any, leaves: list[_Leaf]) -> StructuredValue:
    message = StructuredValue()
    _encode(message, value, leaves)
    return message


def encode(value: Any) -> StructuredValue:
    """Return a nest of plain values as a message.

    >>> print(encode((1, None)), end="")
    tuple_value {
      values {
        int64_value: 1
      }
      values {
        none_value {
        }
      }
    }
    """
    return _encoded(value, [])


def _encode(message: StructuredValue, value: Any, leaves: list[_Leaf]) -> None:
    if isinstance(value, _Leaf):
        leaves.append(value)
        _encode_spec(message.tensor_spec_value, value.spec, value.name)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        message.named_tuple_value.name = type(value).__name__
        for key, item in zip(value._fields, value, strict=True):
            pair = message.named_tuple_value.values.add(key=key)
            _encode(pair.value, item, leaves)
            pair.value.SetInParent()
    elif isinstance(value, (list, tuple)):
        items = message.list_value if isinstance(value, list) else message.tuple_value
        items.SetInParent()
        for item in value:
            _encode(items.values.add(), item, leaves)
    elif isinstance(value, Mapping):
        message.dict_value.SetInParent()
        for key in sorted(value):
            if not isinstance(key, str):
                raise CannotDescribeError(f"the key {key!r} of a dict is no text")
            _encode(message.dict_value.fields[key], value[key], leaves)
    else:
        _encode_leaf(message, value)


def _encode_leaf(message: StructuredValue, value: Any) -> None:
    if value is None:
        message.none_value.SetInParent()
    elif isinstance(value, (bool, np.bool_)):
        message.bool_value = bool(value)
    elif isinstance(value, (int, np.integer)) and -(1 << 63) <= value < 1 << 63:
        message.int64_value = int(value)
    elif isinstance(value, (float, np.floating)):
        message.float64_value = float(value)
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, dtypes.DType):
        message.tensor_dtype_value = TYPE_NUMBERS[value.name]
    elif isinstance(value, TensorShape):
        encode_shape(message.tensor_shape_value, value.dims)
        message.tensor_shape_value.SetInParent()
    elif isinstance(value, TensorSpec):
        _encode_spec(message.tensor_spec_value, value.spec, value.name or "")
    elif isinstance(value, np.ndarray):
        message.numpy_value = serialized(value)
    else:
        raise CannotDescribeError(f"the argument {value!r} is a Python object")


def _encode_spec(message: Any, spec: TensorType, name: str) -> None:
    message.name = name
    message.dtype = TYPE_NUMBERS[spec.dtype.name]
    encode_shape(message.shape, spec.shape)
    message.shape.SetInParent()


def argument_specification(parameters: Sequence[inspect.Parameter]) -> StructuredValue:
    """Return the parameters of a function in the form of Python's `inspect.FullArgSpec`."""
    kinds = inspect.Parameter
    plain = [each for each in parameters if each.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    named = [each for each in parameters if each.kind is kinds.KEYWORD_ONLY]
    found = {
        "args": [each.name for each in plain],
        "varargs": next((each.name for each in parameters if each.kind is kinds.VAR_POSITIONAL), None),
        "varkw": next((each.name for each in parameters if each.kind is kinds.VAR_KEYWORD), None),
        "defaults": _plain(tuple(each.default for each in plain if each.default is not kinds.empty)),
        "kwonlyargs": [each.name for each in named],
        "kwonlydefaults": _plain(
            {each.name: each.default for each in named if each.default is not kinds.empty}
        ),
        "annotations": {},
    }
    message = StructuredValue()
    message.named_tuple_value.name = "FullArgSpec"
    for key, value in found.items():
        pair = message.named_tuple_value.values.add(key=key)
        _encode(pair.value, value, [])
        pair.value.SetInParent()
    return message


def _plain(defaults: Any) -> Any:
    """Return default values; None if there are none, or if one of them is a Python object."""
    try:
        encode(defaults)
    except CannotDescribeError:
        return None
    return defaults or None
