"""Merge equal loop state: state with equal initial values that each iteration changes in the same way.

    i, k, s = while 0, 0, x, y                      i, s = while 0, x, y
      test i, k, s, y                                 test i, s, y
        ...                                             ...
      body i, k, s, y                       ==>       body i, s, y
        a = add i, 1                                    a = add i, 1
        b = add k, 1                                    b = add i, 1
        t = multiply s, k                               t = multiply s, i
        yield a, b, t                                   yield a, t

The pass is a partition refinement. At first all state with equal initial values is in one class. A class is
split if an iteration changes its members differently, until a fixed point is reached.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..ir.clone import Substitution, reading, substitute, with_parts
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ir.value_types import TensorType
from ..ops.framework.region_ops import WHILE
from . import value_keys
from .options import OptimizerOptions
from .rewriter import Rewriter, rewrite_all
from .value_numbering import ValueNumbering

PATIENCE = 8
"""The number of refinements after which the pass gives up."""


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    return rewrite_all(graph, {WHILE: _merged})


def _merged(operation: Operation, walk: Rewriter) -> None:
    firsts = _firsts(operation)
    if firsts is None:
        return
    count = len(operation.outputs)
    kept = [slot for slot, first in enumerate(firsts) if first == slot]
    order = [*kept, *range(count, len(operation.inputs))]
    regions = []
    for region in operation.regions:
        known: Substitution = {
            region.inputs[k]: region.inputs[first] for k, first in enumerate(firsts) if first != k
        }
        outputs = substitute(region.outputs, known)
        if region is operation.regions[1]:
            outputs = tuple([outputs[k] for k in kept])
        operations = tuple([reading(each, known) for each in region.operations])
        regions.append(Graph(region.name, tuple([region.inputs[k] for k in order]), operations, outputs))
    walk.replace(operation.outputs, [operation.outputs[first] for first in firsts])
    results = [operation.outputs[k] for k in kept]
    walk.current = with_parts(operation, [operation.inputs[k] for k in order], regions, results)


def _firsts(operation: Operation) -> list[int] | None:
    """Return, for each state, the number of the first state that is equal to it; None if all differ."""
    count = len(operation.outputs)
    classes = _first_of_each([_beginning(operation, slot) for slot in range(count)])
    if len(set(classes)) < count:
        classes = _first_of_each(list(zip(classes, _makers(operation.regions[1]), strict=True)))
    for _ in range(PATIENCE):
        if len(set(classes)) == count:
            return None
        after = _after_a_round(operation, classes)
        refined = _first_of_each(list(zip(classes, after, strict=True)))
        if refined == classes:
            return classes
        classes = refined
    return None


def _first_of_each(keys_of_places: Sequence[Hashable]) -> list[int]:
    firsts: dict[Hashable, int] = {}
    return [firsts.setdefault(key, slot) for slot, key in enumerate(keys_of_places)]


def _beginning(operation: Operation, slot: int) -> Hashable:
    """Return a key of the initial value and the types of a state; lists are never equal to other state."""
    specs = [operation.outputs[slot].spec, *(region.inputs[slot].spec for region in operation.regions)]
    if not all(isinstance(spec, TensorType) for spec in specs):
        return slot
    first = operation.inputs[slot]
    return (value_keys.of_constant(first) if type(first) is Constant else first, *specs)


def _makers(body: Graph) -> list[Hashable]:
    """Return the defining operations of the body's results; equal results have equal ones or none."""
    made: dict[Operand, Hashable] = {
        value: (each.op, slot) for each in body.operations for slot, value in enumerate(each.outputs)
    }
    return [made.get(result) for result in body.outputs]


def _after_a_round(operation: Operation, classes: Sequence[int]) -> Sequence[int]:
    """Return the value numbers of the state after an iteration, given equal states in each class."""
    numbering = ValueNumbering()
    state = [numbering.of(("class", each)) for each in classes]
    given = list(map(numbering.operand, operation.inputs[len(classes) :]))
    return numbering.outputs(operation.regions[1], [*state, *given])
