"""Check that a graph keeps the rules that every pass and executor relies on.

    VerificationError: `h` is not defined before this operation
         6 |       r = mod m, 2                              : int32[]
     >   7 |       odd = equal r, ?h                         : bool[]
         8 |       yield odd

The rules: every value is assigned once, before its use, in the graph that uses it; regions are closed and fit
their operation; types agree with those that the operation's own rule gives. Shapes agree when some shape fits
both: the user may know more than a rule (`set_shape`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import dtypes, errors, shapes
from .graph import Graph, Operand, Operation, Value
from .specs import AnySpec, ArraySpec, RefSpec, Spec
from .text import Printer

AROUND = 3
"""How many lines are shown before and after a fault."""

SCALAR_BOOL = Spec(dtypes.bool_, ())
SCALAR_INDEX = Spec(dtypes.int32, ())


class VerificationError(errors.InternalError):
    """A graph breaks a rule: a defect in what made it."""


class _BrokenRuleError(Exception):
    """What is wrong, and where: at an operation, or in the last line of a graph."""

    def __init__(self, reason: str, place: Operation | Graph) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


def verify(graph: Graph) -> Graph:
    """`graph` itself, when it keeps the rules. Raises VerificationError with the lines around the fault."""
    pending = [graph]
    seen = {graph}
    try:
        while pending:
            for region in _check_graph(pending.pop()):
                if region not in seen:
                    seen.add(region)
                    pending.append(region)
    except _BrokenRuleError as fault:
        raise VerificationError(f"{fault.reason}\n{_excerpt(graph, fault.place)}") from None
    return graph


def _excerpt(graph: Graph, place: Operation | Graph) -> str:
    printer = Printer()
    printer.add(graph, data=False)
    fault = printer.places[place]
    first = max(fault - AROUND, 0)
    shown = enumerate(printer.lines[first : fault + AROUND + 1], first)
    return "\n".join(f" {'>' if i == fault else ' '}{i + 1:4} | {line}" for i, line in shown)


def _check_graph(graph: Graph) -> list[Graph]:
    """Check one graph but for what is in its regions, which it returns."""
    defined: set[Operand] = set()
    regions: list[Graph] = []
    _define(graph.inputs, defined, graph)
    for operation in graph.operations:
        _check_defined(operation.inputs, defined, operation)
        _check_operation(operation)
        _define(operation.outputs, defined, operation)
        regions += operation.regions
    _check_defined(graph.outputs, defined, graph)
    return regions


def _check_defined(operands: Sequence[Operand], defined: set[Operand], place: Operation | Graph) -> None:
    for operand in operands:
        if isinstance(operand, Value) and operand not in defined:
            raise _BrokenRuleError(f"`{operand.name}` is not defined in this graph before its use", place)


def _define(values: Sequence[Value], defined: set[Operand], place: Operation | Graph) -> None:
    for value in values:
        if value in defined:
            raise _BrokenRuleError(f"`{value.name}` is assigned a second time", place)
        defined.add(value)


def _check_operation(operation: Operation) -> None:
    check = _STRUCTURES.get(operation.op.name)
    if check is not None:
        check(operation)
        return
    try:
        specs = operation.op.infer(list(operation.inputs), operation.attrs)
    except (ValueError, TypeError, errors.OpError) as error:
        reason = f"{operation.op.name} does not take these operands: {error}"
        raise _BrokenRuleError(reason, operation) from None
    inferred = specs if isinstance(specs, tuple) else (specs,)
    given = [value.spec for value in operation.outputs]
    if not _all_agree(given, inferred):
        raise _BrokenRuleError(f"{operation.op.name} gives {_show(inferred)}, not {_show(given)}", operation)


def _agree(given: AnySpec, inferred: AnySpec) -> bool:
    """Whether some value fits both."""
    if isinstance(given, Spec) and isinstance(inferred, Spec):
        return given.dtype is inferred.dtype and shapes.compatible(given.shape, inferred.shape)
    if isinstance(given, ArraySpec) and isinstance(inferred, ArraySpec):
        return _agree(given.element, inferred.element)
    return isinstance(given, RefSpec) and given == inferred


def _all_agree(some: Sequence[AnySpec], others: Sequence[AnySpec]) -> bool:
    return len(some) == len(others) and all(map(_agree, some, others))


def _show(specs: Sequence[AnySpec]) -> str:
    return ", ".join(map(str, specs)) or "nothing"


def _check_cond(operation: Operation) -> None:
    _check_count(operation, 2)
    _check_selector(operation, SCALAR_BOOL)
    _check_branches(operation, operation.inputs[1:])


def _check_switch(operation: Operation) -> None:
    if not operation.regions:
        raise _BrokenRuleError("switch has no branches", operation)
    _check_selector(operation, SCALAR_INDEX)
    _check_branches(operation, operation.inputs[1:])


def _check_call(operation: Operation) -> None:
    _check_count(operation, 1)
    _check_branches(operation, operation.inputs)


def _check_fused(operation: Operation) -> None:
    _check_call(operation)
    if any(inner.stateful or inner.regions for inner in operation.regions[0].operations):
        raise _BrokenRuleError("fused holds more than operations on elements and reductions", operation)


def _check_while(operation: Operation) -> None:
    _check_count(operation, 2)
    test, body = operation.regions
    for region in operation.regions:
        _check_arguments(region, operation.inputs, operation)
    yielded = [operand.spec for operand in test.outputs]
    if len(yielded) != 1 or not _agree(yielded[0], SCALAR_BOOL):
        raise _BrokenRuleError(f"the test of while yields {_show(yielded)}, not one bool[]", operation)
    state = [value.spec for value in body.inputs[: len(operation.outputs)]]
    _check_results(body, state, operation)
    _check_results(body, [value.spec for value in operation.outputs], operation)


def _check_count(operation: Operation, count: int) -> None:
    found = len(operation.regions)
    if found != count:
        raise _BrokenRuleError(f"{operation.op.name} has {found} regions instead of {count}", operation)


def _check_selector(operation: Operation, wanted: Spec) -> None:
    if not operation.inputs or not _agree(operation.inputs[0].spec, wanted):
        raise _BrokenRuleError(f"the first operand of {operation.op.name} is not {wanted}", operation)


def _check_branches(operation: Operation, arguments: Sequence[Operand]) -> None:
    specs = [value.spec for value in operation.outputs]
    for region in operation.regions:
        _check_arguments(region, arguments, operation)
        _check_results(region, specs, operation)


def _check_arguments(region: Graph, arguments: Sequence[Operand], operation: Operation) -> None:
    taken = [value.spec for value in region.inputs]
    given = [operand.spec for operand in arguments]
    if not _all_agree(taken, given):
        reason = f"`{region.name}` takes {_show(taken)} but is given {_show(given)}"
        raise _BrokenRuleError(reason, operation)


def _check_results(region: Graph, wanted: Sequence[AnySpec], operation: Operation) -> None:
    found = [operand.spec for operand in region.outputs]
    if not _all_agree(found, wanted):
        reason = f"`{region.name}` yields {_show(found)} where {_show(wanted)} is wanted"
        raise _BrokenRuleError(reason, operation)


_STRUCTURES: dict[str, Callable[[Operation], None]] = {
    "cond": _check_cond,
    "switch": _check_switch,
    "call": _check_call,
    "fused": _check_fused,
    "while": _check_while,
}
"""The operations whose results follow from their regions."""
