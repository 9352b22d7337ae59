"""Creation of variables during the first trace of a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..control_flow import state_leaves
from ..core.conversion import convert_to_tensor
from ..core.shapes import is_static
from ..core.symbolic_tensor import SymbolicTensor
from ..core.tensor import EagerTensor
from ..core.tensor_spec import TensorSpec
from ..ir.builder import Builder, eagerly
from ..ir.graph import Graph, Operation, Value
from ..ir.value_types import TensorType
from ..ops.arrays.creation import ones_like, zeros_like
from ..ops.framework.op import wrap


class VariableCreator:
    """The source of initial values of new variables; `made` is true once a variable was created.

    `inputs` are those of the first call. An initial value that depends on them is computed at once.
    """

    def __init__(self, inputs: Sequence[Any]) -> None:
        self._inputs = inputs
        self.made = False
        self._known: dict[Value, Any] = {}

    def __call__(self, builder: Builder, value: Any, dtype: Any) -> EagerTensor:
        """Return the initial value of a variable that is created while `builder` builds the function's graph."""
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
        known = self._known
        if value._value not in known:
            from ..executors.interpreter import interpret  # few initial values are computed in a trace

            part, blanks = _part_for(value._value, builder, known)
            for needed in part.inputs:
                if needed not in known and needed not in blanks:
                    known[needed] = self._outer(builder, needed)
            arrays = [known[each] if each in known else blanks[each] for each in part.inputs]
            (known[value._value],) = interpret(part, arrays)
        return EagerTensor(np.asarray(known[value._value]))

    def _outer(self, builder: Builder, needed: Value) -> Any:
        """Return the value of an input of `builder`'s graph: an argument, a variable, or an outer function's value."""
        if needed not in builder.outers:
            position = builder.inputs.index(needed)  # the inputs after the arguments were captured
            return self._argument(self._inputs[position], needed.name)
        outer, owner = builder.outermost(needed)
        return self._in_outer(wrap(outer, owner), needed.name) if isinstance(outer, Value) else outer.deref()  # type: ignore[attr-defined]

    def _argument(self, leaf: Any, name: str) -> Any:
        if isinstance(leaf, TensorSpec):
            raise ValueError(_depends(name, "the trace"))
        if isinstance(leaf, SymbolicTensor):
            return self._in_outer(leaf, name)
        with eagerly():
            return state_leaves.carried(leaf)._array

    def _in_outer(self, tensor: Any, name: str) -> Any:
        """Return the value that a tensor of an outer function has in the call that traces that function."""
        make = tensor._builder.function.make_variable
        if make is None:
            raise ValueError(_depends(name, "the trace of the outer function"))
        return make(tensor, None)._array


def _depends(name: str, caller: str) -> str:
    return (
        f"the initial value of a variable depends on the argument `{name}`, whose value {caller} does not know: call "
        "the function once before, or give an initial value that does not depend on it"
    )


def _part_for(value: Value, builder: Builder, known: dict[Value, Any]) -> tuple[Graph, dict[Value, Any]]:
    """Return the part of the graph that computes `value` from `known` values and from the variables.

    w = random_normal        # known
    print x                  # not needed
    scaled = w * 0.1    ==>  graph (w): scaled = w * 0.1

    The second result has an array of zeros for each input of which only the shape counts.
    """
    blanks: dict[Value, Any] = {}
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
                    zeros = _zeros(operand) if operation.op in _OF_SHAPES else None
                    if operand in known or zeros is None:
                        (inputs if operand in known else needed)[operand] = None
                    else:
                        blanks[operand] = zeros
            for output in operation.outputs:
                needed.pop(output, None)
    made = {output for operation in operations for output in operation.outputs}
    blanks = {one: zeros for one, zeros in blanks.items() if one not in made and one not in needed}
    return Graph(builder.name, (*inputs, *needed, *blanks), operations[::-1], (value,)), blanks


_OF_SHAPES = frozenset({ones_like, zeros_like})


def _zeros(value: Value) -> Any:
    """Return zeros of the shape of a tensor; None if that is not known."""
    spec = value.spec
    if not isinstance(spec, TensorType) or spec.shape is None or not is_static(spec.shape):
        return None
    return np.broadcast_to(np.zeros((), spec.dtype.numpy_dtype), [size or 0 for size in spec.shape])
