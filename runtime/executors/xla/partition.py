"""Split long chains of operations into parts, which XLA compiles one by one.

    a = …                            def part(x): …          50 operations, which XLA does not inline
    b = f(a)                 ==>     a, b = part(x)
    … (10,000 operations)            c = part(a, b)
                                     …

XLA tries to fuse a chain of floating-point operations into one loop, in a time that grows with the square of its
length, or faster. For chains with selections, integers or products of matrices, the time is linear,
and shorter without parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...ir.graph import Graph, Operand, Operation, Value
from ...ir.value_types import TensorType

_DEEPEST = 1500
"""The longest chain that is not split."""

_SIZE = 50
"""Number of operations of a part."""

_NOT_FUSED = frozenset({
    "cholesky", "conv", "conv_backprop_filter", "conv_backprop_input", "einsum", "eigh", "inv", "lu", "matmul",
    "matvec", "qr", "solve", "sort", "svd", "tensordot", "triangular_solve", "where",
})  # fmt: skip
"""Operations that end a chain. So do those with regions, and those without floating-point results."""


class ChainPart(NamedTuple):
    """Successive operations, the values that they read, and those of their results that others read."""

    operations: Sequence[Operation]
    inputs: Sequence[Value]
    outputs: Sequence[Value]


def is_deep(graph: Graph) -> bool:
    """Return whether a chain of operations that XLA may fuse is so long that the graph is to be split.

    >>> from agc.runtime import function, TensorSpec
    >>> def chain(x):
    ...     for _ in range(800):
    ...         x = x * 0.5 + 1
    ...     return x
    >>> is_deep(function(chain).get_concrete_function(TensorSpec([])).graph)
    True
    """
    live = graph.live_operations()
    if len(live) <= _DEEPEST:
        return False
    stored: set[Operand] = set()
    for operation in live:
        if operation.regions or operation.type in _NOT_FUSED:
            stored.update((*operation.inputs, *operation.outputs))
    depths: dict[Operand, int] = {}
    for operation in live:
        depth = 1 + max([depths.get(operand, 0) for operand in operation.inputs], default=0)
        if depth > _DEEPEST:
            return True
        depths.update(
            (value, depth) for value in operation.outputs if value not in stored and _is_float(value)
        )
    return False


def _is_float(value: Value) -> bool:
    return isinstance(value.spec, TensorType) and value.dtype.is_floating


def parts(graph: Graph) -> Iterator[ChainPart]:
    """Yield the parts of a graph, in order.

    >>> from agc.runtime import function, TensorSpec
    >>> traced = function(lambda x: x * x + x).get_concrete_function(TensorSpec([]))
    >>> [(len(part.operations), len(part.inputs), len(part.outputs)) for part in parts(traced.graph)]
    [(2, 1, 1)]
    """
    live = graph.live_operations()
    pieces = [live[start : start + _SIZE] for start in range(0, len(live), _SIZE)]
    needed = _values(graph.outputs)
    found = []
    for piece in reversed(pieces):
        made = dict.fromkeys(value for operation in piece for value in operation.outputs)
        read = _values(operand for operation in piece for operand in operation.inputs)
        inputs = [value for value in read if value not in made]
        found.append(ChainPart(piece, inputs, [value for value in made if value in needed]))
        needed.update(dict.fromkeys(inputs))
    yield from reversed(found)


def _values(operands: Iterable[Operand]) -> dict[Value, None]:
    """Return the operands that are no constants, without duplicates, in order."""
    return dict.fromkeys(operand for operand in operands if isinstance(operand, Value))
