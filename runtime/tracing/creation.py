"""Variables that a function makes while it is traced for the first time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import leaves
from ..convert import convert_to_tensor
from ..execute.interpret import interpret
from ..ir.builder import Builder, eagerly
from ..ir.graph import Graph, Operation, Value
from ..tensor import EagerTensor, SymbolicTensor
from ..tensor_spec import TensorSpec
from .signature import tensor_leaves


class VariableMaker:
    """Gives new variables their initial values; `made` says whether there were any.

    `arguments` are those of the first call: a value that the graph would compute of them is computed now.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.arguments = arguments
        self.made = False
        self._known: dict[Value, Any] | None = None

    def __call__(self, builder: Builder, value: Any, dtype: Any) -> EagerTensor:
        """The initial value of a variable that is being made while `builder` builds the function's graph."""
        if isinstance(value, SymbolicTensor):
            value = self._computed(builder, value)
        with eagerly():
            tensor = convert_to_tensor(value, dtype)
        self.made = True
        assert isinstance(tensor, EagerTensor)
        return tensor

    def _computed(self, builder: Builder, value: SymbolicTensor) -> EagerTensor:
        if value._builder is not builder:
            raise ValueError(
                "a variable cannot be made inside of a staged `if` or loop: its initial value is not known"
            )
        known = self._known_in(builder)
        if value._value not in known:
            part = _part_for(value._value, builder, known)
            (known[value._value],) = interpret(part, [known[each] for each in part.inputs])
        return EagerTensor(np.asarray(known[value._value]))

    def _known_in(self, builder: Builder) -> dict[Value, Any]:
        """What the values of the graph are, as far as that was found out: at first those of its arguments."""
        if self._known is None:
            given = tensor_leaves(self.arguments)
            if any(isinstance(leaf, TensorSpec) for leaf in given):
                raise ValueError(
                    "the initial value of a variable depends on the arguments, which get_concrete_function does not "
                    "know: call the function once before"
                )
            with eagerly():
                arrays = [leaves.carried(leaf)._array for leaf in given]
            self._known = dict(zip(builder.inputs, arrays, strict=False))  # what follows was captured
        return self._known


def _part_for(value: Value, builder: Builder, known: dict[Value, Any]) -> Graph:
    """The part of the graph that computes `value` of what is known, and of variables, which are known then too.

    w = random_normal        # known
    print x                  # not needed
    scaled = w * 0.1    ==>  graph (w): scaled = w * 0.1
    """
    needed: dict[Value, None] = {value: None}
    inputs: dict[Value, None] = {}
    operations: list[Operation] = []
    for operation in reversed(builder.operations):
        if not needed:
            break
        if not needed.keys().isdisjoint(operation.outputs):
            operations.append(operation)
            for operand in operation.inputs:
                if isinstance(operand, Value):
                    (inputs if operand in known else needed)[operand] = None
            for output in operation.outputs:
                needed.pop(output, None)
    for captured in needed:
        known[captured] = builder.outermost(captured)[0].deref()  # type: ignore[attr-defined]
    return Graph(builder.name, (*inputs, *needed), operations[::-1], (value,))
