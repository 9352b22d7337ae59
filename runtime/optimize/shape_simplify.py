"""Shape simplification: fold shapes to constants, and refine types by shape inference.

    s = shape x                                     y = reshape x, [6]
    n = getitem s [key='0']                         (where x: float32[6, ?])
    y = reshape x, [n]                      ==>

Shapes become better known after the trace: by inlined arguments, folded constants, and the lengths of
TensorArrays. Shape inference then runs again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.fp_errors import quietly
from ..core.shapes import is_static, num_elements
from ..ir.clone import Substitution, clone_value, with_parts, with_regions
from ..ir.graph import Constant, Graph, Operand, Operation, Value
from ..ir.op_def import OpDef
from ..ir.structured import is_branch, is_control_flow, region_arguments, state_size
from ..ir.value_types import TensorType
from ..ops.arrays.creation import ones_like, zeros_like
from ..ops.arrays.gather_ops import take
from ..ops.arrays.getitem import select
from ..ops.arrays.shape_ops import rank_of, shape_of, size_of
from ..ops.arrays.strided_slice import part
from ..ops.framework.op_errors import FAILURES
from ..ops.lists.tensor_array import array_stack
from ..ops.math.cast import cast_op, identity
from .options import OptimizerOptions
from .rewriter import Found, Rewriter, Rule, rewrite_all

_SELECTS = frozenset({select, take, part, identity, cast_op})
"""Operations that only pick elements of their first operand, which may be a shape."""


def run(graph: Graph, options: OptimizerOptions) -> Graph:
    is_vague = not graph.is_scalar and _is_vague(graph)
    return _Shapes().visit(graph, {}) if is_vague else rewrite_all(graph, _RULES)


def _is_vague(graph: Graph) -> bool:
    """Return whether a graph or its regions have a tensor of unknown shape."""
    for operation in graph.operations:
        if _are_vague(operation.outputs):
            return True
        for region in operation.regions:
            if _are_vague(region.inputs) or _is_vague(region):
                return True
    return False


def _are_vague(values: Sequence[Value]) -> bool:
    for value in values:
        spec = value.spec
        if type(spec) is TensorType and (spec.shape is None or None in spec.shape):
            return True
    return False


class _Shapes:
    """One walk over a graph and its regions; `refined` are the values with refined types."""

    def __init__(self) -> None:
        self.done: dict[Graph, Graph] = {}
        self.refined: set[Operand] = set()

    def visit(self, graph: Graph, known: Substitution) -> Graph:
        walk = Rewriter(graph, known)
        walk.is_changed = bool(known)
        for operation in graph.operations:
            current = operation
            if known and not known.keys().isdisjoint(operation.inputs):
                current = with_parts(operation, [known.get(x, x) for x in operation.inputs])
            if operation.regions:
                current = self.joined(self.entered(current), known)
            walk.current = current
            rule = _RULES.get(current.op)
            found = None if rule is None else rule(current, walk)
            if found is not None:
                walk.replace(operation.outputs, found)
                continue
            if not operation.regions and self.may_be_refined(current):
                current = self.inferred(current, known)
            if current.op is array_stack:
                current = self.stacked(current, walk)
            walk.operations.append(current)
            walk.is_changed |= current is not operation
        return walk.finish()

    def may_be_refined(self, operation: Operation) -> bool:
        """Return whether shape inference may refine the types of the results."""
        for value in operation.outputs:
            if isinstance(value.spec, TensorType) and not is_static(value.spec.shape):
                break
        else:
            return False
        if not self.refined.isdisjoint(operation.inputs):
            return True
        return all(isinstance(x.spec, TensorType) and is_static(x.spec.shape) for x in operation.inputs)

    def inferred(self, operation: Operation, known: Substitution) -> Operation:
        """Return the operation with the types of its results refined by shape inference."""
        try:
            specs = operation.op.infer_all(list(operation.inputs), operation.attrs)
        except FAILURES:
            return operation  # it fails at run time
        return self.with_outputs(operation, tuple(map(_refined, operation.outputs, specs)), known)

    def stacked(self, operation: Operation, walk: Rewriter) -> Operation:
        """Return an `array_stack` with the number of its rows refined, if it is known."""
        (result,) = operation.outputs
        if not result.shape or result.shape[0] is not None:
            return operation
        from .list_lengths import length  # few graphs stack lists

        rows = length(operation.inputs[0], walk)
        spec = TensorType(result.dtype, (rows, *result.shape[1:]))
        return self.with_outputs(operation, (_refined(result, spec),), walk.known)

    def with_outputs(
        self, operation: Operation, outputs: tuple[Value, ...], known: Substitution
    ) -> Operation:
        if outputs == operation.outputs:
            return operation
        pairs = [pair for pair in zip(operation.outputs, outputs, strict=True) if pair[0] is not pair[1]]
        known.update(pairs)
        self.refined.update(new for _, new in pairs)
        return with_parts(operation, outputs=outputs)

    def entered(self, operation: Operation) -> Operation:
        """Return the operation with the types of its operands propagated into its regions."""
        regions = []
        for region in operation.regions:
            if not is_control_flow(operation):
                if region not in self.done:
                    self.done[region] = self.visit(region, {})
                regions.append(self.done[region])
            else:
                regions.append(self.region(region, region_arguments(operation), state_size(operation)))
        return with_regions(operation, regions)

    def joined(self, operation: Operation, known: Substitution) -> Operation:
        """Return a conditional with the types of its results refined, if all branches agree."""
        if not is_branch(operation):
            return operation
        columns = zip(*(region.outputs for region in operation.regions), strict=True)
        specs = [[operand.spec for operand in column] for column in columns]
        agreed = [some[0] if all(spec == some[0] for spec in some) else None for some in specs]
        outputs = tuple(map(_refined, operation.outputs, agreed))
        return self.with_outputs(operation, outputs, known)

    def region(self, region: Graph, given: Sequence[Operand], state: int) -> Graph:
        inputs = list(region.inputs)
        known: Substitution = {}
        for number in range(state, len(inputs)):
            old, spec = inputs[number], given[number].spec
            new = _refined(old, spec)
            if new is not old:
                inputs[number] = new
                known[old] = new
                self.refined.add(new)
        graph = self.visit(region, known)
        return Graph(graph.name, tuple(inputs), graph.operations, graph.outputs) if known else graph


def _refined(value: Value, spec: Any) -> Value:
    """Return a copy of `value` with type `spec` if that is more precise, else the value itself."""
    before = value.spec
    if not isinstance(spec, TensorType) or not isinstance(before, TensorType) or is_static(before.shape):
        return value
    return clone_value(value, spec) if before != spec and before.covers(spec) else value


def _constant(operation: Operation, number: Any) -> Found:
    (result,) = operation.outputs
    return (Constant(np.array(number, result.dtype.numpy_dtype)),)


def _shape(operation: Operation, walk: Rewriter) -> Found:
    shape = operation.inputs[0].shape
    return _constant(operation, shape) if is_static(shape) else None


def _size(operation: Operation, walk: Rewriter) -> Found:
    count = num_elements(operation.inputs[0].shape)
    return None if count is None else _constant(operation, count)


def _rank(operation: Operation, walk: Rewriter) -> Found:
    shape = operation.inputs[0].shape
    return None if shape is None else _constant(operation, len(shape))


def _uniform(operation: Operation, walk: Rewriter) -> Found:
    """Fold `zeros_like` and similar operations on scalars."""
    (result,) = operation.outputs
    is_number = result.shape == () and result.dtype.kind in "biufc"
    return _constant(operation, operation.op.fills) if is_number else None


@quietly
def _selected(operation: Operation, walk: Rewriter) -> Found:
    """Fold the selection of known sizes from a shape that is known in part."""
    vector, *others = operation.inputs
    guesses = _guesses(vector, walk)
    if guesses is None or not all(type(operand) is Constant for operand in others):
        return None
    found = []
    for guess in guesses:
        try:
            found.append(
                operation.op.compute(
                    *operation.op.grouped([guess, *(x.value for x in others)]), **operation.attrs
                )
            )
        except FAILURES:
            return None  # it fails at run time
    return _constant(operation, found[0]) if np.array_equal(*found) else None


def _guesses(operand: Operand, walk: Rewriter) -> list[Any] | None:
    """Return a shape vector twice, with 0 and with 1 for each unknown size.

    A result that is equal for both does not depend on unknown sizes; casts distinguish 0 from 1, too.
    """
    maker = walk.maker(operand)
    if maker is None or maker.op not in (shape_of, cast_op, identity):
        return None
    (before,) = maker.inputs
    if maker.op is not shape_of:
        guesses = _guesses(before, walk)
        return guesses and [maker.op.compute(guess, **maker.attrs) for guess in guesses]
    shape = before.shape
    if shape is None:
        return None
    return [
        np.array([guess if size is None else size for size in shape], operand.dtype.numpy_dtype)
        for guess in (0, 1)
    ]


_RULES: dict[OpDef, Rule] = {
    shape_of: _shape,
    size_of: _size,
    rank_of: _rank,
    zeros_like: _uniform,
    ones_like: _uniform,
    **dict.fromkeys(_SELECTS, _selected),
}
