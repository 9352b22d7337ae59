"""Outline the native parts of a graph that cannot be compiled as a whole.

    x = iterator_next i                     x = iterator_next i
    y = matmul x, w                         z = native_part x, w [part=<y and z>]
    z = relu y                       ==>    print z
    print z

A part is a sequence of operations that native code may run. It has enough operations, or a loop. The regions of other
conditionals and loops are searched, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from ...ir.clone import Substitution, are_same, clone_value, renewed, substitute, with_regions
from ...ir.graph import Constant, Graph, Operand, Operation, Value
from ...ir.structured import is_compiled_call, is_control_flow, is_loop
from ...ir.traits import COLLECTIVE, DRAWS_RANDOM
from ...ir.value_types import ListType, VariableType
from ..plan.plan import Plan
from .codegen.element_formulas import element_rule
from .codegen.kernel_calls import has_kernel
from .codegen.llvm_types import STORED
from .codegen.rule_registry import LOWERINGS
from .native_calls import CALL_NATIVE, PART, NativePart, with_native_calls

_FEWEST = 16
"""The fewest operations of a part without loops."""

MakePart = Callable[[Graph], NativePart]


def with_native_parts(graph: Graph, make: MakePart) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """Return the plan of a refused graph with the native parts that `make` returns, or None if there are none."""
    from ...optimize import fusion, regroup_products

    # Such a graph would be one part, which is refused again.
    is_whole = all(map(_may_be_native, graph.operations))
    written = _with_parts(graph, make, _loop_or_none if is_whole else _may_be_native)
    return (
        None if written is graph else Plan(fusion.run(regroup_products.run(with_native_calls(written)))).run
    )


def is_refused(graph: Graph) -> bool:
    """Return whether native code certainly refuses a graph: an operation has effects outside of the graph."""
    return any(operation.op.stateful and not _has_code(operation) for operation in graph.operations)


def _with_parts(graph: Graph, make: MakePart, kind: Callable[[Operation], object]) -> Graph:
    """Return the graph with a part for each sequence of operations of one `kind`; the graph itself if it has none."""
    needed: set[Operand] = set(graph.outputs)
    written: list[Operation] = []
    sequences = [(is_member, tuple(some)) for is_member, some in groupby(graph.operations, kind)]
    for is_member, sequence in reversed(sequences):
        is_all = kind is _loop_or_none and len(sequence) == len(graph.operations)
        if not is_member or is_all:
            sequence = tuple(_searched(operation, make) for operation in sequence)
        elif _is_worthwhile(sequence):
            sequence = (_part(graph, sequence, needed, make),)
        written[:0] = sequence
        needed.update(operand for operation in sequence for operand in operation.inputs)
    if are_same(written, graph.operations):
        return graph
    return Graph(graph.name, graph.inputs, tuple(written), graph.outputs)


def _searched(operation: Operation, make: MakePart) -> Operation:
    """Return a conditional or loop with parts in its regions; other operations unchanged."""
    if not is_control_flow(operation):
        return operation
    return with_regions(
        operation, [_with_parts(region, make, _may_be_native) for region in operation.regions]
    )


def _part(graph: Graph, sequence: Sequence[Operation], needed: set[Operand], make: MakePart) -> Operation:
    """Return a sequence of operations, of whose results some are needed, as one operation."""
    own = {value for operation in sequence for value in operation.outputs}
    operands = [operand for operation in sequence for operand in operation.inputs]
    given = tuple(dict.fromkeys(x for x in operands if isinstance(x, Value) and x not in own))
    inputs = tuple(map(clone_value, given))
    known: Substitution = dict(zip(given, inputs, strict=True))
    outputs = tuple(value for operation in sequence for value in operation.outputs if value in needed)
    operations = tuple(renewed(operation, known) for operation in sequence)
    part = Graph(graph.name, inputs, operations, substitute(outputs, known))
    part.optimized_with = graph.optimized_with
    has_variables = any(isinstance(operand.spec, VariableType) for operand in given)
    runner = CALL_NATIVE if part.stateful or has_variables else PART
    return Operation(runner, given, {"part": make(part)}, outputs, (), sequence[0].origin, sequence[0].device)


def _is_worthwhile(sequence: Sequence[Operation]) -> bool:
    found = list(Graph("part", (), sequence).walk())
    return len(found) >= _FEWEST or any(map(is_loop, found))


def _loop_or_none(operation: Operation) -> Operation | None:
    """Return the operation if it is a loop that native code may run: each is a part of its own."""
    return operation if is_loop(operation) and _may_be_native(operation) else None


def _may_be_native(operation: Operation) -> bool:
    """Return whether native code may run an operation: a lowering rule or a kernel, and numbers, as far as is known.

    A part must not communicate, since its results are compared with a plan's.
    """
    return all(
        _has_code(each) and all(map(_is_stored, (*each.inputs, *each.outputs)))
        for each in Graph("part", (), [operation]).walk()
    )


def _has_code(operation: Operation) -> bool:
    if operation.op.has(COLLECTIVE) or is_compiled_call(operation):
        return False
    return (
        VariableType in [type(operand.spec) for operand in operation.inputs]
        or element_rule(operation.op) is not None
        or operation.type in LOWERINGS
        or operation.op.has(DRAWS_RANDOM)
        or has_kernel(operation)
    )


def _is_stored(operand: Operand) -> bool:
    """Return whether an operand is a constant, a tensor of numbers of known rank, or a variable or list of such."""
    spec: Any = operand.spec.content if isinstance(operand.spec, VariableType) else operand.spec
    is_list = isinstance(spec, ListType)
    while isinstance(spec, ListType):
        spec = spec.element
    return isinstance(operand, Constant) or (spec.dtype in STORED and (is_list or spec.shape is not None))
