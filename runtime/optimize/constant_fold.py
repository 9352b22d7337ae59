"""Constant folding.

    n = add 2, 3                                    y = multiply x, 20.0
    f = cast n [dtype=float32]              ==>
    g = multiply f, 4.0
    y = multiply x, g

Constants are propagated into regions. An operation that fails is kept, so that it fails at run time with its
location. Random and stateful operations are kept, too, except for assertions that hold. So are operations with
large results, which would bloat the graph.
"""

from __future__ import annotations

from ..core.fp_errors import quietly
from ..ir.clone import Substitution, reading, with_regions
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.structured import is_control_flow, region_arguments, state_size
from ..ops.framework.constant_results import computed
from ..ops.state.print_and_assert import assert_true
from .options import OptimizerOptions
from .rewriter import Rewriter


@quietly
def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return _folded(graph, {}, {})


def _folded(graph: Graph, known: Substitution, callees: dict[Graph, Graph]) -> Graph:
    walk = Rewriter(graph, known)
    kept = walk.operations
    last: dict[Operand, int] | None = None  # position of each value's last use, computed on demand
    for position, operation in enumerate(graph.operations):
        current = reading(operation, known) if known else operation
        if operation.regions:
            current = _entered(current, callees)
        elif current.op is assert_true:
            if _is_true(current.inputs[0]):
                walk.is_changed = True
                continue
        elif not current.stateful:
            for operand in current.inputs:
                if type(operand) is not Constant:
                    break
            else:
                found = computed(current)
                if found is not None:
                    walk.replace(operation.outputs, found)
                    last = last or _last_reads(graph)
                    for operand in operation.inputs:
                        if last[operand] == position:  # frees memory for the next operations
                            known.pop(operand, None)
                    continue
        kept.append(current)
        walk.is_changed |= current is not operation
    return walk.finish()


def _is_true(condition: Operand) -> bool:
    return type(condition) is Constant and bool(condition.value.all())


def _last_reads(graph: Graph) -> dict[Operand, int]:
    """Return the position of each value's last use; outputs of the graph count as used at the end."""
    last: dict[Operand, int] = {}
    for position, operation in enumerate(graph.operations):
        last.update(dict.fromkeys(operation.inputs, position))
    return last | dict.fromkeys(graph.outputs, len(graph.operations))


def _entered(operation: Operation, callees: dict[Graph, Graph]) -> Operation:
    """Return the operation with constants folded in its regions.

    Nothing is propagated into callees, since they may have other call sites.
    """
    if not is_control_flow(operation):
        for callee in operation.regions:
            if callee not in callees:
                callees[callee] = _folded(callee, {}, callees)
        return with_regions(operation, [callees[callee] for callee in operation.regions])
    changes = state_size(operation)
    constants = [
        (index, operand)
        for index, operand in enumerate(region_arguments(operation))
        if type(operand) is Constant and index >= changes
    ]
    regions = []
    for region in operation.regions:
        known: Substitution = {region.inputs[index]: constant for index, constant in constants}
        regions.append(_folded(region, known, callees))
    return with_regions(operation, regions)
