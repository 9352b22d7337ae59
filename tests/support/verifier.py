"""The verifier: check the invariants of graphs that every pass and executor relies on.

    VerificationError: `h` is not defined before this operation
         6 |       r = mod m, 2                              : int32[]
     >   7 |       odd = equal r, ?h                         : bool[]
         8 |       yield odd

Every value is defined once, before its uses, in the graph that uses it. Regions are closed and match their
operation. Types agree with type inference. Two shapes agree if some shape fits both: user code may state a
more precise shape (`set_shape`).
"""

from __future__ import annotations

from collections.abc import Sequence

from agc.runtime import errors
from agc.runtime.ir.graph import Graph, Operand, Operation, Value
from agc.runtime.ir.printer import Printer
from agc.runtime.ir.regions import RegionError, agree, all_fit, check_regions, gives_by_regions, show

AROUND = 3
"""The number of lines that are shown before and after a fault."""


class VerificationError(errors.InternalError):
    """A graph violates an invariant, which is a bug in the code that made it."""


class _BrokenRuleError(Exception):
    """A violated invariant, and its location: an operation, or the last line of a graph."""

    def __init__(self, reason: str, site: Operation | Graph) -> None:
        super().__init__(reason)
        self.reason, self.site = reason, site


def verify(graph: Graph) -> Graph:
    """Return `graph` if it is valid. Raises VerificationError with the lines around the fault."""
    pending = [graph]
    seen = {graph}
    try:
        while pending:
            for region in _check_graph(pending.pop()):
                if region not in seen:
                    seen.add(region)
                    pending.append(region)
    except _BrokenRuleError as fault:
        raise VerificationError(f"{fault.reason}\n{_excerpt(graph, fault.site)}") from None
    return graph


def _excerpt(graph: Graph, site: Operation | Graph) -> str:
    printer = Printer()
    printer.add(graph, data=False)
    fault = printer.line_numbers[site]
    first = max(fault - AROUND, 0)
    shown = enumerate(printer.lines[first : fault + AROUND + 1], first)
    return "\n".join(f" {'>' if i == fault else ' '}{i + 1:4} | {line}" for i, line in shown)


def _check_graph(graph: Graph) -> list[Graph]:
    """Check one graph without its regions, and return these."""
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


def _check_defined(operands: Sequence[Operand], defined: set[Operand], site: Operation | Graph) -> None:
    for operand in operands:
        if isinstance(operand, Value) and operand not in defined:
            raise _BrokenRuleError(f"`{operand.name}` is not defined in this graph before its use", site)


def _define(values: Sequence[Value], defined: set[Operand], site: Operation | Graph) -> None:
    for value in values:
        if value in defined:
            raise _BrokenRuleError(f"`{value.name}` is assigned a second time", site)
        defined.add(value)


def _check_operation(operation: Operation) -> None:
    try:
        check_regions(operation, agree)
    except RegionError as error:
        raise _BrokenRuleError(str(error), operation) from None
    if gives_by_regions(operation):
        return
    try:
        inferred = operation.op.infer_all(list(operation.inputs), operation.attrs)
    except (ValueError, TypeError, errors.OpError) as error:
        reason = f"{operation.op.name} does not accept these operands: {error}"
        raise _BrokenRuleError(reason, operation) from None
    given = [value.spec for value in operation.outputs]
    if not all_fit(agree, given, inferred):
        raise _BrokenRuleError(f"{operation.op.name} gives {show(inferred)}, not {show(given)}", operation)
