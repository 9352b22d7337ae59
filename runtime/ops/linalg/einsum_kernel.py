"""Sums of products in Einstein notation, as matrix products where these are faster.

bhqd,bhkd->bhqk      ==>      [b, h, q, d] @ [b, h, d, k]

    b, h    in both factors and the result: axes of the batch
    q, k    in one factor and the result: rows and columns
    d       in both factors only: summed

Three and more factors are multiplied in pairs, in the order of `np.einsum_path`. The order and the
permutations of axes are cached by the equation and the shapes of its factors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...kernels.matrix_products import multiply

Array = Any
SMALL = 1 << 13
"""Up to this number of scalar products, `np.einsum` is faster than matrix products."""

FAST = frozenset("fdFD")
"""The types of elements that BLAS multiplies."""

Shape = tuple[int, ...]
Contraction = Callable[[Array, Array], Array]


def contracted(equation: str, factors: Sequence[Array]) -> Array:
    """Return the sum of products.

    >>> contracted("ij,jk->ik", [np.eye(2), np.ones((2, 3))]).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    return contraction(equation, [x.dtype.char for x in factors], tuple([x.shape for x in factors]))(*factors)


def contraction(equation: str, types: Sequence[str], shapes: tuple[Shape, ...]) -> Callable[..., Array]:
    """Return the function that computes the sum of products for factors with these types of elements and shapes."""
    steps = None if len(types) == 1 or not FAST.issuperset(types) else _steps(equation, shapes)
    if steps is None:
        return functools.partial(np.einsum, equation)

    def multiplied(*factors: Array) -> Array:
        left = list(factors)
        for positions, step in steps:
            taken = [left.pop(position) for position in positions]
            left.append(step(*taken))
        return left[0]

    return multiplied


@functools.lru_cache(maxsize=512)
def _steps(
    equation: str, shapes: tuple[Shape, ...]
) -> tuple[tuple[tuple[int, ...], Callable[..., Array]], ...] | None:
    """Return the order of pairwise products and their functions; None if `np.einsum` is faster."""
    terms, result = spelled(equation, shapes)
    sizes = sizes_of(terms, shapes)
    if sizes is None or math.prod(sizes.values()) <= SMALL:
        return None
    if len(terms) == 2:
        return (((0, 0), _pair(terms[0], terms[1], result, sizes)),)
    steps = []
    left = list(terms)
    for positions in path(terms, result, shapes):
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


def path(terms: Sequence[str], result: str, shapes: Sequence[Shape]) -> Iterator[tuple[int, ...]]:
    """Yield the positions of the factors to multiply next, the last one first. Their product becomes the last factor.

    >>> list(path(["ab", "bc", "c"], "a", [(9, 9), (9, 9), (9,)]))
    [(2, 1), (1, 0)]
    """
    found, _ = np.einsum_path(
        f"{','.join(terms)}->{result}", *(np.broadcast_to(np.float32(0), shape) for shape in shapes)
    )
    for step in found[1:]:
        yield tuple(sorted(step, reverse=True))


def sizes_of(terms: Sequence[str], shapes: Sequence[Shape]) -> dict[str, int] | None:
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


class MatrixForm(NamedTuple):
    """A product of two factors as a product of matrices: the labels of batch axes, rows, columns, and summed axes.

    With `is_swapped`, the rows are those of the second factor. Then the result needs fewer transposes.
    """

    is_swapped: bool
    batch: list[str]
    rows: list[str]
    columns: list[str]
    summed: list[str]


def matrix_form(left: str, right: str, result: str) -> MatrixForm | None:
    """Return how a product of two factors is one of matrices; None if it is not.

    >>> matrix_form("bkd", "bqd", "bqk")
    MatrixForm(is_swapped=True, batch=['b'], rows=['q'], columns=['k'], summed=['d'])
    """
    is_swapped = result[-1:] in {*left} - {*right}
    first, second = (right, left) if is_swapped else (left, right)
    batch = [label for label in result if label in first and label in second]
    rows = [label for label in result if label in first and label not in second]
    columns = [label for label in result if label in second and label not in first]
    summed = [label for label in first if label in second and label not in result]
    is_whole = len(first) == len(batch + rows + summed) and len(second) == len(batch + columns + summed)
    return MatrixForm(is_swapped, batch, rows, columns, summed) if is_whole and summed else None


def is_worth_it(form: MatrixForm, sizes: Mapping[str, int]) -> bool:
    """Return whether matrix products are faster than `np.einsum`."""
    count = math.prod(sizes[label] for label in form.batch + form.rows + form.columns + form.summed)
    return count > SMALL and all(
        math.prod(sizes[label] for label in labels) > 1 for labels in (form.rows, form.columns)
    )


def _pair(left: str, right: str, result: str, sizes: dict[str, int]) -> Contraction:
    """Return a function for the product of two factors: a matrix product if that is faster."""
    form = matrix_form(left, right, result)
    if form is None or not is_worth_it(form, sizes):
        return functools.partial(np.einsum, f"{left},{right}->{result}")

    def count(labels: Sequence[str]) -> int:
        return math.prod(sizes[label] for label in labels)

    _, batch, rows, columns, summed = form
    first, second = (right, left) if form.is_swapped else (left, right)
    outer = tuple(sizes[label] for label in batch)
    first_axes = [first.index(label) for label in (*batch, *rows, *summed)]
    second_axes = [second.index(label) for label in (*batch, *summed, *columns)]
    first_shape = (*outer, count(rows), count(summed))
    second_shape = (*outer, count(summed), count(columns))
    made = [*batch, *rows, *columns]
    whole = tuple(sizes[label] for label in made)
    order = [made.index(label) for label in result]

    def multiplied(a: Array, b: Array) -> Array:
        if form.is_swapped:
            a, b = b, a
        product = multiply(
            a.transpose(first_axes).reshape(first_shape), b.transpose(second_axes).reshape(second_shape)
        )
        return product.reshape(whole).transpose(order)

    return multiplied
