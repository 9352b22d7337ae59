"""Functions of TensorFlow's graphs as functions of tensors: each node is a call of the operation in `tf.raw_ops`.

node { op: "AddV2" input: "x" input: "y" }     ==>     tf.raw_ops.AddV2(x=x, y=y)

Values are tensors, TensorArrays for lists of tensors, and objects for resources: variables and lookup tables. The
functions run in eager code, and inside of `tf.function`, which traces them.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...core import late_binding
from ...core.tensor import Tensor
from ...errors import UnimplementedError
from .attribute_values import TYPE_NUMBERS, read_attributes
from .graph_messages import FunctionDef, NodeDef
from .node_programs import NodeProgram, NodeStep, function_program, tensor_count
from .signatures import NodeArgument

Rule = Callable[["GraphFunctions", NodeDef, list[Any]], list[Any]]

RULES: dict[str, Rule] = {}
"""The operations that are no call of one in `tf.raw_ops`, such as control flow."""

_MOST_STEPS = 3_000_000
_DEEPEST = 200
_REFERENCES = 100
"""TensorFlow 1 adds this to the number of a dtype for references to variables."""

_V1 = frozenset({"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "RefSwitch", "RefMerge"})


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declare the import rule of operations: a function of the node and its inputs that returns the results."""

    def declare(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return declare


class SavedGradient(NamedTuple):
    """A function of the gradients of a node's results, and of tensors that it captures."""

    function: str
    captured: list[Any]
    """Objects, and names of tensors of the forward graph as `str`."""
    given: list[bool]
    """Whether there is a gradient, for each input of the node."""


class GraphFunctions:
    """The functions of a library by name; `call` runs one.

    Args:
        functions: the functions.
        variable: returns the variable of a name, for graphs of TensorFlow 1.

    Attributes: `fixed`, the results of nodes that do not run again, such as tables of TensorFlow 1; `gradients`, the
    gradients that Python code defined, by the type that nodes name.
    """

    def __init__(
        self, functions: Iterable[FunctionDef], variable: Callable[[str], Any] | None = None
    ) -> None:
        self._variable = variable
        self.fixed: dict[str, Sequence[Any]] = {}
        self.gradients: dict[str, SavedGradient] = {}
        self._functions = {each.signature.name: each for each in functions}
        self._programs: dict[str, NodeProgram] = {}
        self._sizes: dict[str, int] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def program(self, name: str) -> NodeProgram:
        """Return the program of a function; ValueError for one that does not exist."""
        if name not in self._programs:
            if name not in self._functions:
                raise ValueError(f"there is no function {name!r}")
            self._programs[name] = function_program(self._functions[name])
        return self._programs[name]

    def call(self, name: str, inputs: Sequence[Any]) -> list[Any]:
        """Return the results of a function."""
        results = self.run(self.program(name), inputs)
        signature = self._functions[name].signature
        for arguments, values in ((signature.input_arg, inputs), (signature.output_arg, results)):
            for argument, value in zip(arguments, values, strict=True):
                _check_dtype(value, argument.type or None, f"{argument.name!r} of the function {name!r}")
        return results

    def run(self, program: NodeProgram, inputs: Sequence[Any]) -> list[Any]:
        """Return the results of a program."""
        if len(inputs) != len(program.inputs):
            raise ValueError(f"a function with {len(program.inputs)} inputs is called with {len(inputs)}")
        values: dict[str, Sequence[Any]] = {
            name: [value] for name, value in zip(program.inputs, inputs, strict=True)
        }
        values |= self.fixed
        for step in program.steps:
            if step.node.name not in self.fixed:
                given = [values[name][number] for name, number in step.inputs]
                values[step.node.name] = self._results(step, given)
        return [values[name][number] for name, number in program.outputs]

    def _results(self, step: NodeStep, inputs: list[Any]) -> Sequence[Any]:
        node = step.node
        _check_dtypes(step, inputs)
        special = RULES.get(node.op)
        if special is not None:
            return special(self, node, inputs)
        if node.op in self._functions:
            return self.call(node.op, inputs)
        return call_raw(step, inputs)

    def variable(self, name: str) -> Any:
        """Return the variable of a graph of TensorFlow 1."""
        if self._variable is None:
            raise UnimplementedError(f"a function makes the variable {name!r}")
        return self._variable(name)

    def called(self, program: NodeProgram) -> list[str]:
        """Return the names of the functions that a program calls, once for each call."""
        names = []
        for step in program.steps:
            for attribute in step.node.attr.values():
                kind = attribute.WhichOneof("value")
                if kind == "func":
                    names.append(attribute.func.name)
                elif kind == "list":
                    names += [each.name for each in attribute.list.func]
            if step.node.op in self._functions:
                names.append(step.node.op)
        return names

    def check_size(self, name: str, depth: int = 0) -> int:
        """Return the number of nodes of a function with all that it calls.

        Raises ValueError for a function that calls itself, and one of too many nodes.
        """
        if name not in self._sizes:
            if depth > _DEEPEST:
                raise ValueError(f"the function {name!r} calls itself, or calls are nested too deeply")
            program = self.program(name)
            size = len(program.steps) + sum(self.check_size(each, depth + 1) for each in self.called(program))
            if size > _MOST_STEPS:
                raise ValueError(
                    f"the function {name!r} has more than {_MOST_STEPS} nodes with those that it calls"
                )
            self._sizes[name] = size
        return self._sizes[name]

    def unsupported(self, names: Iterable[str], programs: Iterable[NodeProgram] = ()) -> Counter[str]:
        """Return how often functions, programs, and what they call, have operations that are not supported."""
        found: Counter[str] = Counter()
        seen = set(names)
        pending = [*programs, *map(self.program, seen)]
        while pending:
            program = pending.pop()
            found.update(step.node.op for step in program.steps if not self._is_supported(step))
            for name in self.called(program):
                if name not in seen:
                    seen.add(name)
                    pending.append(self.program(name))
        return found

    def _is_supported(self, step: NodeStep) -> bool:
        op = step.node.op
        return op in RULES or op in self._functions or (step.signature is not None and has_raw(op))


def _check_dtypes(step: NodeStep, inputs: Sequence[Any]) -> None:
    """Raise ValueError for an input that is a tensor of another dtype than the node's attributes say."""
    node, found, given = step.node, step.signature, iter(inputs)
    for argument in found.inputs if found is not None else ():
        for number in range(tensor_count(node, argument)):
            expected = _type_number(step, argument, number)
            _check_dtype(next(given), expected, f"{argument.name!r} of the node {node.name!r} of {node.op}")


def _check_dtype(value: Any, expected: int | None, what: str) -> None:
    if isinstance(value, Tensor) and expected not in (None, TYPE_NUMBERS.get(value.dtype.name)):
        name = next((name for name, number in TYPE_NUMBERS.items() if number == expected), expected)
        raise ValueError(f"{what} is a tensor of {value.dtype.name}, but the graph says {name}")


def _type_number(step: NodeStep, argument: NodeArgument, number: int) -> int | None:
    """Return the number of the dtype of an input, by the attributes and the signature; None if they lack it."""
    node, found = step.node, step.signature
    if argument.is_list:
        kind = node.attr[argument.kind].list.type[number]
    elif found is None or argument.kind not in found.attributes:
        return TYPE_NUMBERS.get(argument.kind)
    elif argument.kind in node.attr:
        kind = node.attr[argument.kind].type
    else:
        return None
    return int(kind) % _REFERENCES


def has_raw(op: str) -> bool:
    """Return whether `tf.raw_ops` has an operation."""
    return op in late_binding.raw_tables.definitions()


def refuse(counts: Mapping[str, int]) -> None:
    """Raise UnimplementedError that lists all operations that are not supported, with their numbers."""
    if not counts:
        return
    lines = [
        f"  {count} x {op}{_reason(op)}" for op, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    raise UnimplementedError("it has operations that agc does not support:\n" + "\n".join(lines))


def _reason(op: str) -> str:
    if op in _V1:
        return ": control flow of TensorFlow 1; save the model with functions of TensorFlow 2"
    reason = late_binding.raw_tables.why_missing(op)
    return "" if reason is None else f": {reason}"


_ARGUMENTS = {"squeeze_dims": "axis"}
"""Arguments of TensorFlow's Python that have another name than their attribute."""


def call_raw(step: NodeStep, inputs: list[Any]) -> list[Any]:
    """Return the results of a node by its operation in `tf.raw_ops`."""
    node, found = step.node, step.signature
    if found is None or not has_raw(node.op):
        raise UnimplementedError(f"agc has no operation {node.op}{_reason(node.op)}")
    function = getattr(late_binding.raw_ops, node.op)
    names = list(inspect.signature(function).parameters)
    given, arguments = iter(inputs), {}
    for position, argument in enumerate(found.inputs):
        parts = [plain(next(given)) for _ in range(tensor_count(node, argument))]
        # TensorFlow's Python calls some arguments differently: `reduction_indices` is `axis`.
        name = argument.name if argument.name in names else names[position]
        arguments[name] = parts if argument.is_list or argument.number else parts[0]
    for attribute, value in read_attributes(node, found).items():
        name = _ARGUMENTS.get(attribute, attribute)
        if name in names and name not in arguments:  # others are the dtypes and numbers of inputs
            arguments[name] = value
    return _flat_results(found.outputs, function(**arguments))


def _flat_results(outputs: Sequence[NodeArgument], result: Any) -> list[Any]:
    if not outputs:
        return []
    parts = [result] if len(outputs) == 1 else list(result)
    flat: list[Any] = []
    for argument, part in zip(outputs, parts, strict=True):
        if argument.is_list or argument.number:
            flat += part
        else:
            flat.append(part)
    return flat


class ReferenceVariable:
    """A variable of TensorFlow 1, which operations read when they take it as a tensor."""

    def __init__(self, variable: Any) -> None:
        self.variable = variable


def plain(value: Any) -> Any:
    """Return an input of an operation, a reference to a variable as its value."""
    return value.variable.read_value() if isinstance(value, ReferenceVariable) else value
