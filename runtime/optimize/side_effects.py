"""Side effects: find the operations that may change a variable.

A stateful operation may change any variable, unless it has the trait KEEPS_VARIABLES. So may a conditional, loop or
call with such an operation in its regions.
"""

from __future__ import annotations

from ..ir.graph import Graph, Operation
from ..ir.traits import DRAWS_RANDOM, IDEMPOTENT, KEEPS_VARIABLES
from ..ir.value_types import VariableType
from ..ops.state.variable_ops import assign_add_variable, assign_sub_variable, assign_variable

ASSIGN = frozenset({assign_variable, assign_add_variable, assign_sub_variable})
"""Operations that return the new content of the variable that is their first operand."""


class SideEffects:
    """Effects of operations; each region is analyzed once."""

    def __init__(self) -> None:
        self._regions: dict[Graph, bool] = {}

    def may_be_made_by(self, operation: Operation) -> bool:
        """Return whether an operation may change a variable."""
        if not operation.stateful or operation.op.has(KEEPS_VARIABLES):
            return False
        return operation.op.stateful or any(map(self._are_in, operation.regions))

    def _are_in(self, graph: Graph) -> bool:
        if graph not in self._regions:
            self._regions[graph] = any(map(self.may_be_made_by, graph.operations))
        return self._regions[graph]


def is_repeatable(graph: Graph) -> bool:
    """Return whether a graph has no effects but those on variables and on the random state."""
    return all(map(_is_repeatable, graph.walk()))


def _is_repeatable(operation: Operation) -> bool:
    op = operation.op
    return (
        not op.stateful
        or op.has(DRAWS_RANDOM)
        or op.has(IDEMPOTENT)
        or any(isinstance(operand.spec, VariableType) for operand in operation.inputs)
    )
