"""Simplify conditionals: inline the branch that is certainly taken, and replace results on which all branches
agree.

    y = cond true, x                                t = multiply x, 2.0
      then x
        t = multiply x, 2.0             ==>
        yield t
      else x
        yield x

Inside a branch the predicate is a constant. A result that is the same outer value in all branches is replaced
by that value. A result that is true in the first branch and false in the second is replaced by the predicate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir import value_keys
from ..ir.clone import Substitution, reading, substitute, with_regions
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.structured import is_branch, is_cond
from ..ops.framework.region_ops import COND, SWITCH
from .options import OptimizerOptions
from .rewriter import Rewriter, fits


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return _Branches().visit(graph)


class _Branches:
    def __init__(self) -> None:
        self.done: dict[Graph, Graph] = {}

    def visit(self, graph: Graph) -> Graph:
        if graph not in self.done:
            self.done[graph] = self.walked(graph, {})
        return self.done[graph]

    def walked(self, graph: Graph, known: Substitution) -> Graph:
        if not known and graph.ops.isdisjoint((COND, SWITCH)):
            return graph
        walk = Rewriter(graph, known)
        self.write(graph.operations, walk)
        return walk.finish()

    def write(self, operations: Sequence[Operation], walk: Rewriter) -> None:
        """Append operations to the walk's; inline branches that are certainly taken."""
        for operation in operations:
            current = reading(operation, walk.known) if walk.known else operation
            if is_branch(operation):
                chosen = _chosen(current)
                if chosen is not None:
                    self.take(operation, chosen, current.inputs[1:], walk)
                    continue
                current = self.inside(current)
                _join(operation, current, walk)
            elif operation.regions:
                current = with_regions(current, list(map(self.visit, current.regions)))
            walk.operations.append(current)
            if current is not operation:
                walk.is_changed = True

    def take(self, operation: Operation, chosen: Graph, arguments: Sequence[Operand], walk: Rewriter) -> None:
        walk.known.update(zip(chosen.inputs, arguments, strict=True))
        self.write(chosen.live_operations(), walk)
        walk.replace(operation.outputs, substitute(chosen.outputs, walk.known))

    def inside(self, operation: Operation) -> Operation:
        """Return the operation with the predicate replaced by a constant in its branches."""
        decision, *given = operation.inputs
        is_known = is_cond(operation) and type(decision) is Value
        indices = [index for index, operand in enumerate(given) if operand is decision] if is_known else ()
        regions = []
        for number, region in enumerate(operation.regions):
            known: Substitution = {region.inputs[index]: Constant(np.array(number == 0)) for index in indices}
            regions.append(self.walked(region, known))
        return with_regions(operation, regions)


def _chosen(operation: Operation) -> Graph | None:
    """Return the branch that is certainly taken; None if there is none."""
    regions = operation.regions
    selector = operation.inputs[0]
    if type(selector) is Constant and selector.shape == ():
        if is_cond(operation):
            return regions[0] if selector.value else regions[1]
        number = int(selector.value)
        return regions[number] if 0 <= number < len(regions) else regions[-1]
    return regions[0] if len(regions) == 1 else None


def _join(operation: Operation, current: Operation, walk: Rewriter) -> None:
    """Replace the results on which all branches agree."""
    arguments = current.inputs[1:]
    given = [dict(zip(region.inputs, arguments, strict=True)) for region in current.regions]
    columns = zip(*[region.outputs for region in current.regions], strict=True)
    for result, yielded in zip(operation.outputs, columns, strict=True):
        agreed: Operand | None = None
        if type(yielded[0]) is Constant:
            agreed = _known(yielded, current)
        elif yielded[0] in given[0]:
            outside = given[0][yielded[0]]
            if all(outer.get(operand) is outside for outer, operand in zip(given, yielded, strict=True)):
                agreed = outside
        if agreed is not None and fits(agreed, result):
            walk.known[result] = agreed  # counts as a change only if it is used


def _known(yielded: Sequence[Operand], operation: Operation) -> Operand | None:
    """Return the replacement for a result that is constant in each branch; None if there is none."""
    if not all(type(operand) is Constant for operand in yielded):
        return None
    if len({value_keys.of_constant(operand) for operand in yielded}) == 1:  # type: ignore[arg-type]
        return yielded[0]
    is_decision = is_cond(operation) and _are_true_and_false(yielded)
    return operation.inputs[0] if is_decision else None


def _are_true_and_false(operands: Sequence[Operand]) -> bool:
    then, orelse = [operand.value for operand in operands]
    if then is None or orelse is None or then.dtype != bool or then.shape or orelse.shape:
        return False
    return bool(then) and not bool(orelse)
