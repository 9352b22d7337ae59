"""Random numbers of seeds in plans: each operation draws ahead, see `agc.runtime.chance.ahead`.

    s = stack 7, i                                        s = (7, i)
    u = stateless_random_uniform [], s : float32[] ==>    u = drawn_u(s)

A seed that is put together of two numbers is a pair of Python's, if nothing but such operations reads it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..chance import sampling, scrambling
from ..chance.ahead import Ahead, Seed
from ..ir.graph import Constant, Graph, Operand, Operation
from ..ops import narrow
from .kernels import kernel_of

Array = Any

_MOST_BLOCKS = 4096
"""At a time; fewer than _LEAST seeds are not worth it."""
_LEAST = 4


def _between(bits: Array, dtype: dtypes.DType, low: Array, high: Array) -> Array:
    return sampling.between(bits, int(low), int(high), dtype)


_OF_BITS: dict[str, Callable[..., Array]] = {
    "full_integers": sampling.any_integers,
    "stateless_random_integers": _between,
    "stateless_random_normal": sampling.normal,
    "stateless_random_uniform": sampling.uniform,
}
"""By operation, what makes its numbers of random bits: one of each word, or of each two for 64 bits."""


def draws_ahead(operation: Operation) -> bool:
    """Whether nothing but its seed, of two numbers, is not known of an operation, and it draws few numbers."""
    if operation.type not in _OF_BITS or narrow.is_used_by(operation):
        return False
    shape, seed, *bounds = operation.inputs
    if type(shape) is not Constant or seed.shape != (2,) or type(seed) is Constant:
        return False
    known = [bound.value for bound in bounds if type(bound) is Constant]
    if len(known) < len(bounds) or (known and known[0] >= known[1]):
        return False
    count = math.prod(shape.value.tolist())
    return bool((shape.value >= 0).all()) and 0 < _blocks(operation, count) * _LEAST <= _MOST_BLOCKS


def pairs(graph: Graph, live: Sequence[Operation]) -> frozenset[Operation]:
    """Those operations of a graph that put seeds together which are read by nothing but what draws ahead."""
    if _OF_BITS.keys().isdisjoint(graph.types):
        return frozenset()
    others: set[Operand] = set(graph.outputs)
    for operation in live:
        others.update(operation.inputs[2:] if draws_ahead(operation) else operation.inputs)
    return frozenset(
        each
        for each in live
        if each.type == "stack" and each.outputs[0].shape == (2,) and each.outputs[0] not in others
    )


def _blocks(operation: Operation, count: int) -> int:
    return -(-count * (2 if operation.outputs[0].dtype.size == 8 else 1) // 4)


def drawn(operation: Operation) -> Ahead:
    """What draws for an operation that draws ahead."""
    compute, of_bits, attrs = kernel_of(operation), _OF_BITS[operation.type], operation.attrs
    shape, *bounds = (operand.value for operand in operation.inputs if type(operand) is Constant)
    sizes, dtype = tuple(shape.tolist()), operation.outputs[0].dtype
    count = math.prod(sizes)
    each = _blocks(operation, count)

    def one(seed: Seed) -> Any:
        return compute(shape, np.array(seed, np.int64), *bounds, **attrs)[()]

    def many(seed: Seed, step: Seed, seeds: int) -> Any:
        numbers = of_bits(scrambling.blocks(seed, step, seeds, each).reshape(-1), dtype, *bounds)
        return numbers.reshape(seeds, -1)[:, :count].reshape(seeds, *sizes)

    return Ahead(one, many, _MOST_BLOCKS // each)
