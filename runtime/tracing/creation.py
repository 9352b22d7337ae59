"""Variables that a function makes while it is traced for the first time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import leaves
from ..convert import convert_to_tensor
from ..execute.interpret import interpret
from ..ir.builder import Builder, eagerly
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
        given = tensor_leaves(self.arguments)
        graph = builder.finish([value._value])
        if any(isinstance(leaf, TensorSpec) for leaf in given):
            raise ValueError(
                "the initial value of a variable depends on the arguments, which get_concrete_function does not know: "
                "call the function once before"
            )
        with eagerly():
            arrays = [leaves.carried(leaf)._array for leaf in given]
        captured = [item.deref() for item in builder.captured_outer()]  # type: ignore[attr-defined]
        (result,) = interpret(graph, [*arrays, *captured])
        return EagerTensor(result)
