"""Sums of products in Einstein notation, as matrix products where these are faster.

bhqd,bhkd->bhqk b and h are in all: batch axes q and k in one and the result: rows and columns d is summed

    [b, h, q, d] @ [b, h, d, k]

Three and more factors are multiplied in pairs, in the order of `np.einsum_path`. The order and the
permutations of axes are cached by the equation and the shapes of its factors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...kernels.matrix_products import multiply

Array = Any
SMALL = 1 << 13
"""Up to this number of scalar products, `np.einsum` is faster than matrix products."""

_FAST = frozenset({"f", "d", "F", "D"})  # the types that BLAS multiplies

Shape = tuple[int, ...]
Contraction = Callable[[Array, Array], Array]


def contracted(equation: str, factors: Sequence[Array]) -> Array:
    """Return the sum of products.

    >>> contracted("ij,jk->ik", [np.eye(2), np.ones((2, 3))]).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    if len(factors) == 1 or any(factor.dtype.char not in _FAST for factor in factors):
        return np.einsum(equation, *factors)
    steps = _steps(equation, tuple(factor.shape for factor in factors))
    if steps is None:
        return np.einsum(equation, *factors)
    left = list(factors)
    for positions, step in steps:
        taken = [left.pop(position) for position in positions]
        left.append(step(*taken))
    return left[0]


@functools.lru_cache(maxsize=512)
def _steps(
    equation: str, shapes: tuple[Shape, ...]
) -> tuple[tuple[tuple[int, ...], Callable[..., Array]], ...] | None:
    """Return the order of pairwise products and their functions; None if `np.einsum` is faster."""
    terms, result = spelled(equation, shapes)
    sizes = _sizes(terms, shapes)
    if sizes is None or math.prod(sizes.values()) <= SMALL:
        return None
    if len(terms) == 2:
        return (((1, 0), _pair(terms[1], terms[0], result, sizes)),)
    path, _ = np.einsum_path(
        f"{','.join(terms)}->{result}", *(np.broadcast_to(np.float32(0), shape) for shape in shapes)
    )
    steps = []
    left = list(terms)
    for step in path[1:]:
        positions = tuple(sorted(step, reverse=True))
        taken = [left.pop(position) for position in positions]
        kept = set(result).union(*left)
        given = (
            "".join(dict.fromkeys(label for term in taken for label in term if label in kept))
            if left
            else result
        )
        steps.append((positions, _product(taken, given, sizes)))
        left.append(given)
    return tuple(steps)


def _sizes(terms: Sequence[str], shapes: Sequence[Shape]) -> dict[str, int] | None:
    """Return the sizes of the labels; None if a label has several sizes, which NumPy broadcasts or rejects."""
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for label, size in zip(term, shape, strict=True):
            if sizes.setdefault(label, size) != size:
                return None
    return sizes


def parsed(equation: str) -> tuple[list[str], str]:
    """Return the terms of the factors and of the result; by default, the labels that occur once.

    >>> parsed("...ij, jk")
    (['...ij', 'jk'], '...ik')
    """
    left, arrow, result = equation.replace(" ", "").partition("->")
    if not arrow:
        labels = left.replace(",", "").replace(".", "")
        once = sorted(label for label in set(labels) if labels.count(label) == 1)
        result = ("..." if "..." in left else "") + "".join(once)
    return left.split(","), result


def spelled(equation: str, shapes: Sequence[Shape]) -> tuple[list[str], str]:
    """Return the labels of factors and result, with letters in place of dots.

    >>> spelled("...ij,jk", [(5, 2, 3), (3, 4)])
    (['Zij', 'jk'], 'Zik')
    """
    terms, result = parsed(equation)
    spare = [label for label in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if label not in equation]
    counts = [len(shape) - len(term.replace("...", "")) for term, shape in zip(terms, shapes, strict=True)]
    dots = spare[: max(counts, default=0)][::-1]
    terms = [
        term.replace("...", "".join(dots[len(dots) - count :]))
        for term, count in zip(terms, counts, strict=True)
    ]
    return terms, result.replace("...", "".join(dots))


def _product(terms: Sequence[str], result: str, sizes: dict[str, int]) -> Callable[..., Array]:
    if len(terms) == 2:
        return _pair(terms[0], terms[1], result, sizes)
    return functools.partial(np.einsum, f"{','.join(terms)}->{result}")


def _pair(left: str, right: str, result: str, sizes: dict[str, int]) -> Contraction:
    """Return a function for the product of two factors: a matrix product if both have free and summed axes."""
    batch = [label for label in left if label in right and label in result]
    summed = [label for label in left if label in right and label not in result]
    rows = [label for label in left if label not in right]
    columns = [label for label in right if label not in left]
    is_plain = len(set(left)) == len(left) and len(set(right)) == len(right)
    goes_alone = any(label not in result for label in (*rows, *columns))

    def count(labels: Sequence[str]) -> int:
        return math.prod(sizes[label] for label in labels)

    if not is_plain or goes_alone or not summed or min(count(rows), count(columns)) < 2:
        return functools.partial(np.einsum, f"{left},{right}->{result}")
    outer = tuple(sizes[label] for label in batch)
    left_axes = [left.index(label) for label in (*batch, *rows, *summed)]
    right_axes = [right.index(label) for label in (*batch, *summed, *columns)]
    left_shape = (*outer, count(rows), count(summed))
    right_shape = (*outer, count(summed), count(columns))
    made = [*batch, *rows, *columns]
    whole = tuple(sizes[label] for label in made)
    order = [made.index(label) for label in result]

    def multiplied(a: Array, b: Array) -> Array:
        product = multiply(
            a.transpose(left_axes).reshape(left_shape), b.transpose(right_axes).reshape(right_shape)
        )
        return product.reshape(whole).transpose(order)

    return multiplied
