"""Let matrix products turn their operands themselves.

t = transpose a, [1, 0]                 ==>     c = matmul a, b [transpose_a=True]
c = matmul t, b
"""

from __future__ import annotations

from ..ir.graph import Graph, Operand, Operation
from .moves import axes
from .options import Options
from .rewrite import Found, Walk, everywhere, with_parts


def run(graph: Graph, options: Options) -> Graph:
    return everywhere(graph, {"matmul": _matmul})


def _matmul(operation: Operation, walk: Walk) -> Found:
    inputs: list[Operand] = []
    attrs = dict(operation.attrs)
    for operand, side in zip(operation.inputs, "ab", strict=True):
        before = None if attrs[f"adjoint_{side}"] else _turned(operand, walk)
        inputs.append(operand if before is None else before)
        attrs[f"transpose_{side}"] ^= before is not None
    if tuple(inputs) != operation.inputs:
        walk.current = with_parts(operation, inputs, attrs=attrs)
    return None


def _turned(operand: Operand, walk: Walk) -> Operand | None:
    """What `operand` is with its last two axes swapped, if that is at hand."""
    maker = walk.maker(operand)
    if maker is None or maker.op.name != "transpose" or maker.attrs["conjugate"]:
        return None
    order = axes(maker.inputs[1])
    count = len(order or ())
    if order is None or count < 2 or order != (*range(count - 2), count - 1, count - 2):
        return None
    spec: object = getattr(maker.inputs[0].spec, "shape", None)
    return maker.inputs[0] if spec is not None else None
