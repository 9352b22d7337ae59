"""Check operations that are read from an untrusted file or text.

    y = exp x     : float32[1000]        x is float32[4]: error, as `exp` returns float32[4]
    y = exp x     : float32[4]           x is float32[?]: inference gives float32[?] only, and so
                                         y.1 = exp x : float32[?];  y = ensure_shape y.1 : float32[4]

Executors, native code above all, trust the types in a graph. The declarations of the operations specify the
attributes, the operands and the types of the results. A file may state a more precise type than inference, as
after `set_shape`. Such a type is checked at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core import late_binding, shapes
from .graph import Constant, Graph, Operand, Operation, Value
from .op_def import OpDef
from .regions import agree, all_fit, check_regions, covers, gives_by_regions, has_regions, show
from .source_location import Origin
from .structured import FUSED
from .value_types import AnySpec, TensorType

MOST_OPERATIONS = 1 << 22
"""The most operations of a graph after inlining every call."""


def checked_operation(
    op: OpDef,
    inputs: Sequence[Operand],
    attrs: Mapping[str, Any],
    regions: Sequence[Graph],
    results: Sequence[Value],
    origin: Origin | None = None,
    device: str = "",
) -> list[Operation]:
    """Return the operation, followed by run-time checks of results with more precise types than inferred.

    `results` become its outputs, or the outputs of the checks. Raises ValueError for violations of the
    declaration.
    """
    if op.name == FUSED:
        raise ValueError("only executors may make fused operations")
    if not has_regions(op):
        late_binding.conformance.check_operands(op, inputs)
    known = late_binding.conformance.checked_attributes(op, attrs)
    operation = Operation(op, tuple(inputs), known, tuple(results), tuple(regions), origin, device)
    check_regions(operation, covers)
    if gives_by_regions(operation):
        return [operation]
    late_binding.conformance.check_results(op, known, len(results))
    inferred = _inferred(op, inputs, known)
    stated = [value.spec for value in results]
    if len(stated) != len(inferred):
        raise ValueError(f"{op.name} gives {show(inferred)}, not {show(stated)}")
    op.set_elements(results, list(inputs), known)
    if all_fit(covers, stated, inferred):
        return [operation]
    pairs = [_narrowed(op, value, spec) for value, spec in zip(results, inferred, strict=True)]
    made = tuple(value for value, _ in pairs)
    operation = Operation(op, tuple(inputs), known, made, tuple(regions), origin, device)
    return [operation, *[check for _, check in pairs if check is not None]]


def _inferred(op: OpDef, inputs: Sequence[Operand], attrs: Mapping[str, Any]) -> tuple[AnySpec, ...]:
    try:
        return op.infer_all(list(inputs), attrs)
    except Exception as error:  # a rule may fail in any way on operands that no trace produces
        raise ValueError(f"{op.name} does not accept these operands: {error}") from None


def _narrowed(op: OpDef, value: Value, inferred: AnySpec) -> tuple[Value, Operation | None]:
    """Return the result with the inferred type, and the check that narrows it to the stated type."""
    stated = value.spec
    if covers(stated, inferred):
        return value, None
    if not (
        isinstance(stated, TensorType) and isinstance(inferred, TensorType) and stated.dtype is inferred.dtype
    ):
        raise ValueError(f"{op.name} gives {inferred}, not {stated}")
    if not shapes.compatible(stated.shape, inferred.shape):
        raise ValueError(f"{op.name} gives {inferred}, not {stated}")
    shape = shapes.merge(stated.shape, inferred.shape)
    made, value.spec = Value(value.name, inferred), stated.with_shape(shape)
    return made, _check(made, value)


def entered(
    inputs: Sequence[Value], given: Sequence[Operand], changing: int
) -> tuple[list[Value], list[Operation]]:
    """Return the inputs of a region with the types of the operands, and checks that narrow them to the stated
    types.

    The last inputs correspond to the last operands, and take over their known elements. The first `changing`
    inputs are new each time the region runs.
    """
    taken, checks = list(inputs), []
    for position in range(changing, len(inputs)):
        from_end = len(inputs) - position
        if from_end > len(given):
            continue
        value, operand = inputs[position], given[-from_end]
        value.elements = _elements(operand)
        one, other = value.spec, operand.spec
        if (
            isinstance(one, TensorType)
            and isinstance(other, TensorType)
            and not one.covers(other)
            and agree(one, other)
        ):
            taken[position], value.spec = (
                Value(value.name, other),
                one.with_shape(shapes.merge(one.shape, other.shape)),
            )
            checks.append(_check(taken[position], value))
    return taken, checks


def _elements(operand: Operand) -> tuple[int | None, ...] | None:
    if isinstance(operand, Constant):
        is_vector = operand.dtype.is_integer and operand.value.ndim == 1
        return tuple(operand.value.tolist()) if is_vector else None
    return operand.elements


def _check(made: Value, value: Value) -> Operation:
    """Return the operation that narrows `made` to the type of `value`."""
    return Operation(late_binding.reshape.ensure_shape, (made,), {"shape": value.shape}, (value,))


def checked_graph(graph: Graph) -> Graph:
    """Return a graph with checked operations, unless its calls expand to too many operations."""
    _inlined_size(graph, {})
    return graph


def _inlined_size(graph: Graph, known: dict[Graph, int]) -> int:
    """Return the number of operations after inlining all calls; it may be large for a small file."""
    if graph not in known:
        inner = sum(_inlined_size(region, known) for region in graph.regions())
        known[graph] = len(graph.operations) + inner
        if known[graph] > MOST_OPERATIONS:
            raise ValueError(
                f"`{graph.name}` has more than {MOST_OPERATIONS} operations, with those that it calls"
            )
    return known[graph]
