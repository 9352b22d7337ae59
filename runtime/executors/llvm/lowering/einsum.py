"""Lower einsum to matrix products, two factors at a time, in the order of `np.einsum_path`.

einsum a, b [equation='bij,bjk->bik']
    b   is in both factors and in the result: a batch axis    a as [b, i, j] · b as [b, j, k], then a transpose
    j   is in both factors, but not in the result: summed
    i   is in the first, k in the second

Axes in only one factor and not in the result are summed first. A label repeated in one factor is its diagonal.
If only batch axes are left, the factors are multiplied element by element, and summed in the same loops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .... import dtypes
from ....ir.graph import Operation
from ....ops.linalg.einsum_kernel import path, spelled
from ..codegen.dynamic_shapes import regrouped
from ..codegen.function_builder import Emitter
from ..codegen.lazy_values import Index, IndexMap, LazyValue
from ..codegen.llvm_types import Element, Register
from ..codegen.region_lowering import Region
from ..codegen.rule_registry import RefusedError, lowers, site_of
from .elementwise import multiply
from .fill import shape_of
from .gemm_selection import Factor
from .matmul import contracted, multiplied, permuted, reshaped
from .reduction_codegen import reduced
from .reduction_kinds import sums
from .reshape import demand_shape, moved

Labels = tuple[str, ...]


class Term(NamedTuple):
    """A factor and the label of each of its axes."""

    node: LazyValue
    labels: Labels


@lowers("einsum")
def _(region: Region, operation: Operation, *nodes: LazyValue) -> LazyValue:
    if nodes[0].dtype is dtypes.float16:
        raise RefusedError("sums of products of float16 are not compiled here")
    shapes = [node.shape for node in nodes]
    spellings, wanted = spelled(operation.attrs["equation"], shapes)
    terms = [_named(node, spelling) for node, spelling in zip(nodes, spellings, strict=True)]
    sizes: dict[str, int] = {}
    for term in terms:
        for label, size in zip(term.labels, term.node.shape, strict=True):
            sizes[label] = max(size, sizes.get(label, size)) if 0 not in (size, sizes.get(label)) else 0
    left = [_thinned(term, sizes) for term in terms]
    for positions in path(spellings, wanted, shapes):
        taken = [left.pop(position) for position in positions][::-1]
        needed = {*wanted, *(label for term in left for label in term.labels)}
        left.append(_multiplied(region, taken, needed))
    return _ordered(left[0], tuple(wanted), shape_of(operation))


def _multiplied(region: Region, terms: Sequence[Term], needed: set[str]) -> Term:
    """Multiply factors in their order; sum each product over the labels that are not needed any more."""
    first, *rest = terms
    for number, other in enumerate(rest):
        later = {*needed, *(label for term in rest[number + 1 :] for label in term.labels)}
        first = _product(region, _summed(region, first, {*later, *other.labels}),
                         _summed(region, other, {*later, *first.labels}), later)  # fmt: skip
    return _summed(region, first, needed)


def _named(node: LazyValue, spelling: str) -> Term:
    """Return a factor with its labels; a repeated label takes the diagonal."""
    labels = tuple(spelling)
    if len(set(labels)) == len(labels):
        return Term(node, labels)
    kept = tuple(dict.fromkeys(labels))
    shape = tuple(node.shape[labels.index(label)] for label in kept)

    def source_of(e: Emitter, coordinates: list[Register]) -> list[Register]:
        return [coordinates[kept.index(label)] for label in labels]

    return Term(moved(node, shape, source_of, once=False), kept)


def _thinned(term: Term, sizes: dict[str, int]) -> Term:
    """Remove axes of size 1 that are broadcast."""
    kept = [
        (label, size)
        for label, size in zip(term.labels, term.node.shape, strict=True)
        if size == sizes[label]
    ]
    if len(kept) == len(term.labels):
        return term
    return Term(regrouped(term.node, tuple(size for _, size in kept)), tuple(label for label, _ in kept))


def _summed(region: Region, term: Term, needed: set[str]) -> Term:
    """Sum a factor along the axes that are not in `needed`."""
    axes = [axis for axis, label in enumerate(term.labels) if label not in needed]
    if not axes:
        return term
    labels = tuple(label for label in term.labels if label in needed)
    shape = tuple(size for label, size in zip(term.labels, term.node.shape, strict=True) if label in needed)
    node = term.node
    return Term(reduced(region, node, sums(node.dtype), axes, shape, node.dtype), labels)


def _product(region: Region, a: Term, b: Term, needed: set[str]) -> Term:
    """Return the product of two factors, summed over their common labels that are not in `needed`."""
    both = [label for label in a.labels if label in b.labels]
    batch, gone = [x for x in both if x in needed], [x for x in both if x not in needed]
    left = [x for x in a.labels if x not in b.labels]
    right = [x for x in b.labels if x not in a.labels]
    if not gone or not (left or right):
        return _summed(region, _broadcast_product(region, a, b), needed)
    if not batch:
        axes = [[term.labels.index(label) for label in gone] for term in (a, b)]
        return Term(contracted(region, a.node, axes[0], b.node, axes[1]), (*left, *right))
    first = _as_batches(region, a, batch, left, gone)
    second = _as_batches(region, b, batch, gone, right)
    sizes = dict(zip((*a.labels, *b.labels), (*a.node.shape, *b.node.shape), strict=True))
    labels = (*batch, *left, *right)
    found = multiplied(region, first, second)
    return Term(regrouped(found, tuple(sizes[label] for label in labels)), labels)


def _as_batches(region: Region, term: Term, batch: list[str], rows: list[str], columns: list[str]) -> Factor:
    """Return a factor as a batch of matrices, marked as transposed instead of copied if its axes are in that order."""
    sizes = dict(zip(term.labels, term.node.shape, strict=True))
    count, m, n = (math.prod(sizes[label] for label in part) for part in (batch, rows, columns))
    if term.labels == (*batch, *columns, *rows) and rows and columns:
        return Factor(reshaped(region, term.node, (count, n, m)), turned=True)
    order = [term.labels.index(label) for label in (*batch, *rows, *columns)]
    return Factor(reshaped(region, permuted(term.node, order), (count, m, n)))


def _broadcast_product(region: Region, a: Term, b: Term) -> Term:
    """Return the products of all pairs of elements, lazily."""
    labels = (*a.labels, *(label for label in b.labels if label not in a.labels))
    sizes = dict(zip((*a.labels, *b.labels), (*a.node.shape, *b.node.shape), strict=True))
    shape = tuple(sizes[label] for label in labels)
    factors = [region.readable(term.node) for term in (a, b)]
    site = site_of(a.node.dtype)

    def find(e: Emitter, index: Index) -> Element:
        coordinates = dict(zip(labels, index.coordinates(e), strict=True))
        return multiply(
            e,
            site,
            *(
                factor.at(e, Index.of(factor.shape, [coordinates[label] for label in term.labels]))
                for factor, term in zip(factors, (a, b), strict=True)
            ),
        )

    return Term(IndexMap(a.node.dtype, shape, factors, find, cost=2, once=False), labels)


def _ordered(term: Term, wanted: Labels, shape: tuple[int, ...]) -> LazyValue:
    """Transpose the term to the order of the result, and restore axes of size 1."""
    present = [label for label in wanted if label in term.labels]
    turned = permuted(term.node, [term.labels.index(label) for label in present])
    return regrouped(turned, shape)


@lowers("tensordot_back")
def _(region: Region, operation: Operation, dy: LazyValue, other: LazyValue, shape: LazyValue) -> LazyValue:
    attrs, wanted = operation.attrs, shape_of(operation)
    summed = [axis % len(wanted) for axis in attrs["axes"]]
    gone = [axis % len(other.shape) for axis in attrs["axes_other"]]
    free = [axis for axis in range(len(wanted)) if axis not in summed]
    rest = [axis for axis in range(len(other.shape)) if axis not in gone]
    trailing = list(range(len(free), len(dy.shape))) if attrs["is_left"] else list(range(len(rest)))
    product = contracted(region, dy, trailing, other, rest)
    order = {axis: column for column, axis in enumerate(free)}
    for position, number in enumerate(sorted(range(len(gone)), key=gone.__getitem__)):
        order[summed[number]] = len(free) + position
    found = permuted(product, [order[axis] for axis in range(len(wanted))])
    demand_shape(region.e, found.shape, wanted)
    return found
