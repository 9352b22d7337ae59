"""VJPs of operations with regions: `cond`, `switch`, `call`, `while`.

    y = cond p, x                 y, s = cond p, x                  dx = cond p, dy, s
      then x        ==>             then x                 and        then dy, s
        s = sin x                     s = sin x                         ...
        yield ...                     yield ..., s

The operation in the graph gets more outputs: the residuals of its regions. A loop appends residuals to lists, one
element in each iteration. Loop invariants are not saved again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..composite.indexed_slices import IndexedSlices
from ..control_flow.regions import common_spec
from ..core.shapes import is_static
from ..core.tensor import EagerTensor
from ..ir.builder import current, recorders
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.value_types import AnySpec, ListType, TensorType
from ..ops.arrays.creation import zeros
from ..ops.arrays.undefined_values import blank, of_size_zero
from ..ops.framework.op import wrap
from ..ops.framework.region_ops import CALL, COND, CUSTOM, SWITCH, WHILE
from ..ops.math.cast import cast
from .graph_vjp import GraphVjp, content, making_list, zeros_for
from .loop_invariants import only_read
from .reread_variables import given_references, reread_variables_after
from .residual_policy import steady_reads
from .sparse_gradients import dense, public, put_together
from .tape_records import Grads, GraphRecord
from .while_gradient import while_back


def regions_back(record: GraphRecord, grads: Grads, wanted: Sequence[bool]) -> Grads:
    """Return the cotangents of a `call`, `cond` or `switch`.

    Each region returns its residuals, and blanks for those of other regions. The backward operation calls its one
    region, or makes the same choice.
    """
    operation = record.operation
    first = 0 if operation.op is CALL else 1  # a selector precedes the operands of the regions
    given = [grad is not None for grad in grads]
    reversals = [
        GraphVjp(region, given, wanted[first:], lambda grad, _: public(grad), record.unrecorded)
        for region in operation.regions
    ]
    if len(reversals) > 1:
        for index in range(len(wanted) - first):
            _agree(reversals, index)
    flags = [any(column) for column in zip(*(reversal.has_gradient for reversal in reversals), strict=True)]
    if not any(flags):
        return [None] * len(wanted)
    for reversal in reversals:
        reversal.fill(flags)
    outputs = [reversal.outputs(flags) for reversal in reversals]
    saved = [reversal.saved() for reversal in reversals]
    passed = _residuals(record, reversals, saved, first)
    used = list(dict.fromkeys(value for values in saved for value in values))
    dys = [grad for grad in grads if grad is not None]
    graphs = [
        _taking(reversal, len(dys), values, used, results)
        for reversal, values, results in zip(reversals, saved, outputs, strict=True)
    ]
    attrs = {**record.attrs, "name": graphs[0].name} if operation.op is CALL else {}
    operands = [*record.inputs[:first], *dys, *(passed[value] for value in used)]
    found = add_structure(operation.op, operands, graphs, attrs)
    return [*[None] * first, *put_together(found, reversals[0].sizes)]


def _residuals(
    record: GraphRecord, reversals: Sequence[GraphVjp], saved: Sequence[list[Value]], first: int
) -> dict[Value, Any]:
    """Let the regions return their residuals `saved`. Return each residual, and input, in the graph around them."""
    regions = record.operation.regions
    references = only_read(regions)
    reads: dict[Value, Value] = {}
    for reversal, region in zip(reversals, regions, strict=True):
        reads |= steady_reads(reversal.forward.operations, references.intersection(region.inputs))
    own = [
        [value for value in values if value not in reversal.graph.inputs and value not in reads]
        for reversal, values in zip(reversals, saved, strict=True)
    ]
    read = [value for values in saved for value in values if value in reads]
    rereadable = given_references(record, [reads[value] for value in read], first)
    extra = [value for values in own for value in values]
    forward = [_with_blanks(reversal, values, own) for reversal, values in zip(reversals, own, strict=True)]
    results = extend(record, forward, [value.spec for value in extra])
    passed = dict(zip(extra, results, strict=True))
    contents = reread_variables_after(record, rereadable)
    passed |= {value: contents[reads[value]] for value in read}
    for region in regions:
        passed |= dict(zip(region.inputs, record.inputs[first:], strict=True))
    return passed


def custom_back(record: GraphRecord, grads: Grads, wanted: Sequence[bool]) -> Grads:
    """Return the cotangents of a custom gradient: call its region with the cotangents of the results.

    Where the region was refused, call the gradient function itself. Raises LookupError if its trace has ended.
    """
    (region,) = record.operation.regions
    inputs, count = record.inputs, len(grads)
    dys = [zeros_for(y) if grad is None else grad for grad, y in zip(grads, record.outputs, strict=True)]
    if record.attrs.get("refusal"):
        function = record.builder.untraced.get(record.operation)
        if function is None:
            raise LookupError(record.attrs["refusal"])
        return [*[None] * count, *function(dys)]
    captured = inputs[len(inputs) - (len(region.inputs) - count) :]
    found = add_structure(CALL, [*dys, *captured], [region], {"name": region.name})
    back: Grads = [None] * len(inputs)
    for number, grad in zip(record.attrs["given"], found, strict=True):
        back[count + number] = grad
    return back


def _agree(reversals: Sequence[GraphVjp], index: int) -> None:
    """Convert the cotangents of an input to one form in all branches: IndexedSlices if no branch has a dense one."""
    grads = [reversal.grads[index] for reversal in reversals]
    like: Any = content(reversals[0].graph.inputs[index].spec)
    if not any(isinstance(grad, IndexedSlices) for grad in grads):
        return
    are_slices = all(grad is None or isinstance(grad, IndexedSlices) for grad in grads)
    if not are_slices or not is_static(like.shape):
        for reversal in reversals:
            with reversal.back:
                reversal.grads[index] = dense(reversal.grads[index])
        return
    for reversal, grad in zip(reversals, grads, strict=True):
        with reversal.back:
            values = zeros([0, *like.shape[1:]], like.dtype) if grad is None else grad.values
            indices = zeros([0], "int64") if grad is None else cast(grad.indices, "int64")
            reversal.grads[index] = IndexedSlices(
                values, indices, EagerTensor(np.array(like.shape, np.int32))
            )


def _with_blanks(reversal: GraphVjp, own: list[Value], all_own: list[list[Value]]) -> Graph:
    """Return the forward region with blanks for the residuals of the other regions."""
    extra: list[Operand] = []
    for values in all_own:
        for value in values:
            if values is own:
                extra.append(value)
            else:
                extra.append(_blank_operand(reversal, value.spec))
    return reversal.forward_graph(extra)


def _blank_operand(reversal: GraphVjp, spec: AnySpec) -> Operand:
    if isinstance(spec, ListType):
        reversal.forward.operations += making_list(spec, {})
        return reversal.forward.operations[-1].outputs[0]
    assert isinstance(spec, TensorType)
    if is_static(spec.shape):
        return Constant(of_size_zero(spec))
    made = Value("blank", spec)
    reversal.forward.operations.append(
        Operation(blank, (), {"dtype": spec.dtype, "like": spec.shape}, (made,))
    )
    return made


def _taking(
    reversal: GraphVjp, count: int, saved: list[Value], used: list[Value], outputs: list[Operand]
) -> Graph:
    """Return the backward region with the residuals of all regions as inputs."""
    inner = dict(zip(saved, reversal.back.inputs[count:], strict=True))
    inputs = [inner.get(value) or Value(value.name, value.spec) for value in used]
    own = reversal.back.inputs[:count]
    return Graph(reversal.back.name, (*own, *inputs), tuple(reversal.back.operations), tuple(outputs))


def extend(record: GraphRecord, regions: list[Graph], specs: list[AnySpec]) -> list[Any]:
    """Replace the regions of an operation under construction by ones with more outputs; return these outputs."""
    operation = record.operation
    names = [value.name for value in _last(regions[0].outputs, len(specs))]
    added = tuple(Value(name, spec) for name, spec in zip(names, specs, strict=True))
    operation.outputs = (*operation.outputs, *added)
    operation.regions = tuple(regions)
    results = [wrap(value, record.builder) for value in added]
    for tape in recorders():
        tape.grown(operation, added)
    return results


def _last(outputs: Sequence[Operand], count: int) -> list[Any]:
    found = outputs[len(outputs) - count :]
    return [value if isinstance(value, Value) else Value("saved", value.spec) for value in found]


def add_structure(
    op: Any, arguments: Sequence[Any], regions: list[Graph], attrs: dict[str, Any]
) -> list[Any]:
    """Record an operation with regions in the graph that is being built; return its results."""
    builder = current()
    assert builder is not None
    operands = [builder.operand(argument) for argument in arguments]
    specs = [_common([region.outputs[i].spec for region in regions]) for i in range(len(regions[0].outputs))]
    values = builder.add(op, operands, attrs, specs, tuple(regions))
    return [wrap(value, builder) for value in values]


def _common(specs: list[AnySpec]) -> AnySpec:
    found = specs[0]
    for spec in specs[1:]:
        both = common_spec(found, spec)
        assert both is not None
        found = both
    return found


BACK: dict[OpDef, Callable[[GraphRecord, Grads, Sequence[bool]], Grads]] = {
    CALL: regions_back,
    COND: regions_back,
    SWITCH: regions_back,
    WHILE: while_back,
    CUSTOM: custom_back,
}
"""The VJPs of operations with regions, by operation."""
