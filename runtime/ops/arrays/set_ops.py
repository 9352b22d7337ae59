"""Sets as rows of sparse tensors (along the last axis), and edit distances between sequences.

Three tensors represent the sets: the coordinates of the elements, the elements, and the shape of the whole.
The order of elements within a set is irrelevant; results have them in ascending order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.graph import Operand
from ...ir.traits import LENIENT
from ...ir.value_types import TensorType
from ...kernels.orders import distinct, distinct_rows
from ...kernels.rows import combine_rows
from ..framework.op import Input, Ints, Name, Same, op
from ..framework.op_families import Array
from ..framework.static_values import integers

_COMBINED: dict[str, Callable[[Array, Array], Array]] = {
    "a-b": lambda in_a, in_b: in_a & ~in_b,
    "b-a": lambda in_a, in_b: in_b & ~in_a,
    "intersection": lambda in_a, in_b: in_a & in_b,
    "union": lambda in_a, in_b: in_a | in_b,
}
"""Whether an element is in the result, from whether it is in both sets."""


@op
def combined_sets(
    a_indices: Ints,
    a_values: Same,
    a_shape: Ints,
    b_indices: Ints,
    b_values: Same,
    b_shape: Ints,
    operation: str,
    name: Name = None,
) -> tuple[TensorType, TensorType, TensorType]:
    """Combine the sets of corresponding rows by "a-b", "b-a", "intersection" or "union".

    The results are coordinates, elements and shape. Both shapes agree except for the last size; the last size
    of the result is the size of its largest set.

    >>> found = combined_sets([[0, 0], [0, 1]], [7, 5], [1, 2], [[0, 0]], [6], [1, 1], "union")
    >>> [part.numpy().tolist() for part in found]
    [[[0, 0], [0, 1], [0, 2]], [5, 6, 7], [1, 3]]
    """
    if operation not in _COMBINED:
        raise ValueError(f"operation must be one of {', '.join(_COMBINED)}, not {operation!r}")
    ranks = _rank(a_indices, a_values, a_shape), _rank(b_indices, b_values, b_shape)
    rank = _check_shapes(integers(a_shape), integers(b_shape)) or ranks[0] or ranks[1]
    return (
        TensorType(dtypes.int64, (None, rank)),
        TensorType(a_values.dtype, (None,)),
        TensorType(dtypes.int64, (rank,)),
    )


def _rank(indices: Operand, values: Operand, shape: Operand) -> int | None:
    """Return the rank of the sparse tensor; ValueError for parts that do not match."""
    for operand, rank, what in ((indices, 2, "coordinates"), (values, 1, "elements"), (shape, 1, "shape")):
        if operand.shape is not None and len(operand.shape) != rank:
            raise ValueError(f"the {what} of a sparse tensor must have rank {rank}, not {len(operand.shape)}")
    indices_shape = (None, None) if indices.shape is None else indices.shape
    sizes = shapes.merge(indices_shape, (*(values.shape or (None,)), *(shape.shape or (None,))))
    assert sizes is not None
    return sizes[1]


def _check_shapes(*known: Any) -> int | None:
    """Return the rank, if one of the shapes is known; ValueError for shapes that do not match."""
    outer: Any = None
    for shape in known:
        if shape is None:
            continue
        if len(shape) < 2:
            raise ValueError(f"Shape [{', '.join(map(str, shape))}] has rank {len(shape)} < 2")
        if outer is not None and not _fits(outer, shape[:-1]):
            raise ValueError(f"Mismatched shapes {list(outer)} vs {list(shape[:-1])}")
        outer = shape[:-1]
    return None if outer is None else len(outer) + 1


def _fits(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(
        None in pair or pair[0] == pair[1] for pair in zip(one, other, strict=True)
    )


@combined_sets.kernel
def _(
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    b_shape: Array,
    operation: str,
) -> tuple[Array, Array, Array]:
    _check_shapes(tuple(a_shape.tolist()), tuple(b_shape.tolist()))
    elements, element = distinct(np.concatenate([a_values, b_values]))
    rows = np.concatenate([a_indices[:, :-1], b_indices[:, :-1]])
    pairs, number = distinct_rows(np.concatenate([rows, element[:, None]], axis=1))
    in_a, in_b = np.zeros((2, len(pairs)), bool)
    in_a[number[: len(a_values)]] = True
    in_b[number[len(a_values) :]] = True
    found = pairs[_COMBINED[operation](in_a, in_b)]
    column, largest = _positions(distinct_rows(found[:, :-1])[1])
    indices = np.concatenate([found[:, :-1], column[:, None]], axis=1).astype(np.int64)
    return indices, elements[found[:, -1]], np.concatenate([a_shape[:-1], [largest]]).astype(np.int64)


combined_sets.no_gradient("sets are of integers and strings")


def _positions(group: Array) -> tuple[Array, int]:
    """Return the position of each element in its group of adjacent elements, and the size of the largest group."""
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(begins, append=len(group))
    return np.arange(len(group)) - np.repeat(begins, sizes), int(sizes.max(initial=0))


@op(traits=LENIENT)
def set_sizes(indices: Ints, values: Input, shape: Ints, name: Name = None) -> TensorType:
    """Count the distinct elements of each row.

    >>> set_sizes([[0, 0], [0, 1], [1, 0]], [5, 5, 6], [3, 2]).numpy().tolist()
    [1, 1, 0]
    """
    rank, known = _rank(indices, values, shape), integers(shape)
    _check_shapes(known)
    return TensorType(
        dtypes.int32, known[:-1] if known is not None else None if rank is None else (None,) * (rank - 1)
    )


@set_sizes.kernel
def _(indices: Array, values: Array, shape: Array) -> Array:
    _check_shapes(tuple(shape.tolist()))
    sizes = np.zeros(shape[:-1], np.int32)
    elements, element = np.unique(values, return_inverse=True)
    row = _flat(indices[:, :-1], sizes.shape)
    pairs = np.sort(row * max(len(elements), 1) + element.reshape(-1))
    is_new = np.diff(pairs, prepend=-1) != 0
    combine_rows(np.add, sizes.reshape(-1), pairs // max(len(elements), 1), is_new.astype(np.int32))
    return sizes


def _flat(coordinates: Array, shape: tuple[int, ...]) -> Array:
    """Return the coordinates as indices of the flat tensor."""
    outside = ((coordinates < 0) | (coordinates >= np.array(shape))).any(axis=1)
    if outside.any():
        at = int(outside.argmax())
        raise errors.InvalidArgumentError(
            f"indices[{at}] = {coordinates[at].tolist()} is out of bounds of {shape}"
        )
    return np.ravel_multi_index(tuple(coordinates.T), shape).astype(np.int64)


@op(traits=LENIENT)
def sequence_distances(
    hypothesis_indices: Ints,
    hypothesis_values: Same,
    hypothesis_shape: Ints,
    truth_indices: Ints,
    truth_values: Same,
    truth_shape: Ints,
    normalize: bool = True,
    name: Name = None,
) -> TensorType:
    """Return the edit distance (insertions, deletions, substitutions) between corresponding rows of two tensors.

    >>> sequence_distances([[0, 0], [0, 1]], [1, 2], [1, 2], [[0, 0]], [2], [1, 1], normalize=False).numpy().tolist()
    [1.0]
    """
    rank = _rank(hypothesis_indices, hypothesis_values, hypothesis_shape)
    rank = _rank(truth_indices, truth_values, truth_shape) or rank
    one, other = integers(hypothesis_shape), integers(truth_shape)
    for shape, what in ((one, "hypothesis_shape"), (other, "truth_shape")):
        if shape is not None and len(shape) < 2:
            raise ValueError(
                f"Input SparseTensors must have rank at least 2, but {what} rank is: {len(shape)}"
            )
    if one is None or other is None:
        return TensorType(dtypes.float32, None if rank is None else (None,) * (rank - 1))
    if len(one) != len(other):
        raise ValueError(
            f"Expected hypothesis and truth to have the same rank, got {len(one)} and {len(other)}"
        )
    sizes = [None if a is None or b is None else max(a, b) for a, b in zip(one[:-1], other[:-1], strict=True)]
    return TensorType(dtypes.float32, tuple(sizes))


@sequence_distances.kernel
def _(
    hypothesis_indices: Array,
    hypothesis_values: Array,
    hypothesis_shape: Array,
    truth_indices: Array,
    truth_values: Array,
    truth_shape: Array,
    normalize: bool,
) -> Array:
    shape = tuple(np.maximum(hypothesis_shape[:-1], truth_shape[:-1]).tolist())
    values = np.concatenate([hypothesis_values, truth_values])
    element = np.unique(values, return_inverse=True, equal_nan=False)[1].reshape(-1)
    row = _flat(np.concatenate([hypothesis_indices[:, :-1], truth_indices[:, :-1]]), shape)
    groups, group = np.unique(row, return_inverse=True)
    count, group = len(hypothesis_values), group.reshape(-1)
    ones, one_sizes = _padded(group[:count], element[:count], len(groups))
    others, other_sizes = _padded(group[count:], element[count:], len(groups))
    found = _distances(ones, one_sizes, others, other_sizes).astype(np.float32)
    result = np.zeros(shape, np.float32)
    result.reshape(-1)[groups] = found / other_sizes.astype(np.float32) if normalize else found
    return result


sequence_distances.no_gradient("as in TensorFlow: the distance is a count of elements")


def _padded(group: Array, element: Array, count: int) -> tuple[Array, Array]:
    """Return a matrix with the elements of each group as a row, and the group sizes."""
    order = np.argsort(group, kind="stable")
    column, largest = _positions(group[order])
    rows = np.full((count, largest), -1, np.int64)
    rows[group[order], column] = element[order]
    return rows, np.bincount(group, minlength=count)


def _distances(ones: Array, one_sizes: Array, others: Array, other_sizes: Array) -> Array:
    """Compute the table of Wagner and Fischer (Journal of the ACM 21, 1974), one line at a time for all pairs.

    The minimum over insertions, `min(line[k] + j - k)` over all k up to j, is a running minimum of `line -
    j`.
    """
    steps = np.arange(others.shape[1] + 1)
    line = np.broadcast_to(steps, (len(ones), len(steps)))
    at = np.arange(len(ones)), other_sizes
    found = line[at]
    for i in range(ones.shape[1]):
        changed = line[:, :-1] + (others != ones[:, i, None])
        deleted = line[:, 1:] + 1
        first = np.full((len(ones), 1), i + 1)
        best = np.concatenate([first, np.minimum(changed, deleted)], axis=1)
        line = np.minimum.accumulate(best - steps, axis=1) + steps
        found = np.where(one_sizes == i + 1, line[at], found)
    return found
