"""LICM: move loop-invariant code before the loop.

    s = while 0.0, x, y                             t = multiply x, y
      test s, x, y                                  s = while 0.0, x, y, t
        ...                                           test s, x, y, t
      body s, x, y                          ==>         ...
        t = multiply x, y                             body s, x, y, t
        s.1 = add s, t                                  s.1 = add s, t
        yield s.1                                       yield s.1

A loop may run no iteration, so only operations that cannot fail are hoisted in general. Other operations are
hoisted if they certainly run, before any side effect or failure. In the test this is always possible, in the
body only if the first iteration is certain. Results that are much bigger than their operands are computed
anew in each iteration.
"""

from __future__ import annotations

from ..ir.clone import Substitution, clone_value, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.value_types import TensorType
from ..ops.framework.region_ops import WHILE
from ..ops.state.variable_ops import read_variable
from .options import OptimizerOptions
from .rewriter import Rewriter, rewrite_all
from .side_effects import SideEffects
from .speculation import grows, is_speculatable


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, {WHILE: _moved})


def _moved(operation: Operation, walk: Rewriter) -> None:
    """Hoist the invariant operations of the loop."""
    state = len(operation.outputs)
    test, body = operation.regions
    runs_test = operation.attrs.get("maximum_iterations") != 0
    runs_body = runs_test and _is_true(test) and not test.stateful
    is_steady = not SideEffects().may_be_made_by(operation)
    moves = []
    for region, surely_runs in ((test, runs_test), (body, runs_body)):
        moves.append(_Moves(region, operation.inputs[state:], surely_runs, is_steady))
    more = [(number, value) for number, each in enumerate(moves) for value in each.wanted]
    if not any(each.before for each in moves):
        return
    arguments = []
    for each in moves:
        walk.operations += each.before
        arguments += [each.known[value] for value in each.wanted]
    regions = []
    for number, each in enumerate(moves):
        own = [value if owner == number else clone_value(value) for owner, value in more]
        region = each.region
        regions.append(Graph(region.name, (*region.inputs, *own), tuple(each.kept), region.outputs))
    walk.current = with_parts(operation, [*operation.inputs, *arguments], regions)


def _is_true(test: Graph) -> bool:
    """Return whether a test always yields true."""
    (go,) = test.outputs
    return type(go) is Constant and bool(go.value)


class _Moves:
    """The operations to hoist out of one region of a loop.

    Attributes:
        before: The hoisted operations; `known` maps values of the region to theirs.
        kept: The operations that remain.
        wanted: The results of hoisted operations that the region reads.
    """

    def __init__(self, region: Graph, given: tuple[Operand, ...], surely_runs: bool, is_steady: bool) -> None:
        self.region = region
        self.is_steady = is_steady
        state = len(region.inputs) - len(given)
        self.known: Substitution = dict(zip(region.inputs[state:], given, strict=True))
        self.before: list[Operation] = []
        self.kept: list[Operation] = []
        made: dict[Value, None] = {}
        for operation in region.operations:
            if self._can_move(operation) and (surely_runs or is_speculatable(operation)):
                self._move(operation)
                made.update(dict.fromkeys(operation.outputs))
            else:
                surely_runs = surely_runs and is_speculatable(operation)
                self.kept.append(operation)
        read = {operand for operation in self.kept for operand in operation.inputs} | set(region.outputs)
        self.wanted = [value for value in made if value in read]

    def _can_move(self, operation: Operation) -> bool:
        is_read = operation.op is read_variable and self.is_steady
        if (operation.stateful and not is_read) or operation.regions:
            return False
        for operand in operation.inputs:
            if type(operand) is Value and operand not in self.known:
                return False
        return all(type(value.spec) is TensorType for value in operation.outputs) and not grows(operation)

    def _move(self, operation: Operation) -> None:
        outputs = tuple(map(clone_value, operation.outputs))
        inputs = [self.known.get(operand, operand) for operand in operation.inputs]
        self.before.append(with_parts(operation, inputs, outputs=outputs))
        self.known.update(zip(operation.outputs, outputs, strict=True))
