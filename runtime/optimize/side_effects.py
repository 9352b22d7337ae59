"""Which operations may change a variable.

What has effects, and is not known to leave variables alone, may change any of them: so may the regions of a branch,
a loop or a call in which such an operation stands.
"""

from __future__ import annotations

from ..ir.graph import Graph, Operation

_HARMLESS = frozenset({"read_variable", "is_initialized", "assert", "print", "check_numerics", "raise"})
"""Operations with effects, or that see those of others, but change no variable."""

ASSIGN = frozenset({"assign_variable", "assign_add_variable", "assign_sub_variable"})
"""Those that give the content of the variable that is their first operand."""


class SideEffects:
    """What is known of the effects of operations; each region is looked at once."""

    def __init__(self) -> None:
        self._regions: dict[Graph, bool] = {}

    def may_be_made_by(self, operation: Operation) -> bool:
        """Whether an operation may change a variable."""
        if not operation.stateful or operation.op.name in _HARMLESS:
            return False
        return operation.op.stateful or any(map(self._are_in, operation.regions))

    def _are_in(self, graph: Graph) -> bool:
        if graph not in self._regions:
            self._regions[graph] = any(map(self.may_be_made_by, graph.operations))
        return self._regions[graph]
