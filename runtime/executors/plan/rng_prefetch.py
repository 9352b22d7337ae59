"""Prefetch random numbers of seeded operations in plans, see `agc.runtime.kernels.random.prefetch`.

    s = stack 7, i                                        s = (7, i)
    u = stateless_random_uniform [], s : float32[] ==>    u = draw_u(s)
    y = seeded_shuffle x, s : float32[9]                  y = draw_y(s, x)

A seed stacked from two numbers is a Python pair if only such operations read it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ...core.shapes import is_static
from ...ir.graph import Constant, Graph, Operand, Operation
from ...kernels.random import distributions, rejection_samplers, seed_hash
from ...kernels.random.prefetch import RandomPrefetcher, Seed
from ...ops.framework import narrow_floats
from ...ops.framework.kernel_lookup import kernel_of

Array = Any

_MOST_BLOCKS = 4096
"""The most blocks to draw at a time. Prefetching fewer than `_LEAST` seeds is not worth it."""
_LEAST = 4


class _Draw(NamedTuple):
    """The functions with which an operation draws random numbers.

    The result of `of_bits` is the operation's result, or the argument of `reads` with the first operand.
    """

    amount: Callable[[Operation], int | None]
    """The number of random numbers; None if unknown."""
    of_bits: Callable[[Array, Operation], Array]
    """One number of each word, or of each two words if `is_wide`."""
    seed: int = 1
    reads: Callable[[Array, Array, Operation], Array] | None = None
    is_wide: Callable[[Operation], bool] = lambda operation: operation.outputs[0].dtype.size == 8


def _in_shape(operation: Operation) -> int | None:
    shape, _, *bounds = operation.inputs
    known = [bound.value for bound in bounds if type(bound) is Constant]
    if type(shape) is not Constant or len(known) < len(bounds) or (known and known[0] >= known[1]):
        return None
    return math.prod(shape.value.tolist()) if (shape.value >= 0).all() else None


def _in_result(operation: Operation) -> int | None:
    shape: Any = operation.outputs[0].shape
    return math.prod(shape) if is_static(shape) else None


def _for_rows(operation: Operation) -> int | None:
    rows = (operation.inputs[0].shape or (None,))[0]
    return None if rows is None else rows - 1


def _constants(operation: Operation) -> list[Array]:
    return [operand.value for operand in operation.inputs if type(operand) is Constant]


def _between(bits: Array, operation: Operation) -> Array:
    low, high = _constants(operation)[1:]
    return distributions.between(bits, int(low), int(high), operation.outputs[0].dtype)


def _categories(units: Array, logits: Array, operation: Operation) -> Array:
    found = rejection_samplers.picked(logits, units.reshape(len(logits), -1))
    return found.astype(operation.attrs["dtype"].numpy)


_DRAWS = {
    "full_integers": _Draw(_in_shape, lambda bits, o: distributions.any_integers(bits, o.outputs[0].dtype)),
    "stateless_random_integers": _Draw(_in_shape, _between),
    "stateless_random_normal": _Draw(
        _in_shape, lambda bits, o: distributions.normal(bits, o.outputs[0].dtype)
    ),
    "stateless_random_uniform": _Draw(
        _in_shape, lambda bits, o: distributions.uniform(bits, o.outputs[0].dtype)
    ),
    "seeded_categorical": _Draw(
        _in_result,
        lambda bits, o: distributions.uniform(bits, dtypes.float64),
        seed=2,
        reads=_categories,
        is_wide=lambda o: True,
    ),
    "seeded_shuffle": _Draw(
        _for_rows,
        lambda bits, o: bits,
        reads=lambda words, value, o: value[rejection_samplers.order_of(words)],
        is_wide=lambda o: False,
    ),
}


def draws_ahead(operation: Operation) -> bool:
    """Return whether random numbers can be prefetched: only the seed is unknown, and few blocks are drawn."""
    draw = _DRAWS.get(operation.type)
    if draw is None or narrow_floats.is_used_by(operation):
        return False
    seed = operation.inputs[draw.seed]
    return (
        seed.shape == (2,) and type(seed) is not Constant and 0 < _blocks(operation) * _LEAST <= _MOST_BLOCKS
    )


def _blocks(operation: Operation) -> int:
    """Return how many blocks an operation draws for a seed; 0 if unknown."""
    draw = _DRAWS[operation.type]
    return -(-(draw.amount(operation) or 0) * (2 if draw.is_wide(operation) else 1) // 4)


def pairs(graph: Graph, live: Sequence[Operation]) -> frozenset[Operation]:
    """Return the operations that stack seeds that only prefetched operations read."""
    if _DRAWS.keys().isdisjoint(op.name for op in graph.ops):
        return frozenset()
    others: set[Operand] = set(graph.outputs)
    for operation in live:
        operands = list(operation.inputs)
        if draws_ahead(operation):
            del operands[_DRAWS[operation.type].seed]
        others.update(operands)
    return frozenset(
        each
        for each in live
        if each.type == "stack" and each.outputs[0].shape == (2,) and each.outputs[0] not in others
    )


def drawing(operation: Operation, pairs: set[Operation]) -> tuple[Callable[..., Any], list[Operand]]:
    """Return the function that draws for a prefetched operation, and the operands to call it with."""
    draw, ahead = _DRAWS[operation.type], _ahead(operation)
    seed, reads = operation.inputs[draw.seed], draw.reads
    take = ahead.draw if any(seed is pair.outputs[0] for pair in pairs) else ahead.draw_by
    if reads is None:
        return take, [seed]
    return lambda seed, value: reads(take(seed), value, operation), [seed, operation.inputs[0]]


def _ahead(operation: Operation) -> RandomPrefetcher:
    draw, each = _DRAWS[operation.type], _blocks(operation)
    count: Any = draw.amount(operation)
    sizes = (count,) if draw.reads else tuple(_constants(operation)[0].tolist())

    def many(seed: Seed, step: Seed, seeds: int) -> Any:
        numbers = draw.of_bits(seed_hash.blocks(seed, step, seeds, each).reshape(-1), operation)
        return numbers.reshape(seeds, -1)[:, :count].reshape(seeds, *sizes)

    def one(seed: Seed) -> Any:
        return many(seed, (0, 0), 1)[0] if draw.reads else _by_kernel(operation, seed)

    return RandomPrefetcher(one, many, _MOST_BLOCKS // each)


def _by_kernel(operation: Operation, seed: Seed) -> Any:
    shape, *bounds = _constants(operation)
    return kernel_of(operation)(shape, np.array(seed, np.int64), *bounds, **operation.attrs)[()]
