"""`tf.ragged.map_flat_values`: apply a function to the flat values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nest
from ..core.export import export
from ..ops.math.comparison import equal
from ..ops.reduce.reductions import reduce_all
from ..sparse.checks import expect
from .tensor import RaggedTensor


@export("ragged.map_flat_values")
def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply `op` to the flat values of all ragged arguments, and return the result in their rows.

    Raises InvalidArgumentError when ragged arguments have different rows, ValueError when `op` returns another
    number of values. Without a ragged argument, `op` is called with the arguments.

    >>> from agc.runtime import one_hot, ragged
    >>> map_flat_values(one_hot, ragged.constant([[0], [1]]), 2).to_list()
    [[[1.0, 0.0]], [[0.0, 1.0]]]
    """
    ragged = [leaf for leaf in nest.flatten([args, kwargs]) if isinstance(leaf, RaggedTensor)]
    if not ragged:
        return op(*args, **kwargs)
    first = ragged[0]
    for other in ragged[1:]:
        check_same_rows(first, other)
    values, options = nest.map_structure(
        lambda leaf: leaf.flat_values if isinstance(leaf, RaggedTensor) else leaf, (args, kwargs)
    )
    result = op(*values, **options)
    count, given = first.flat_values.shape[0], getattr(result, "shape", None)
    if (
        given is None
        or given.rank == 0
        or (given.rank and None not in (count, given[0]) and given[0] != count)
    ):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size "
            f"as flat_values of any ragged inputs. (output shape: {given}; expected outer dimension size: {count})"
        )
    return first.with_flat_values(result)


def check_same_rows(one: RaggedTensor, other: RaggedTensor) -> None:
    """Raise InvalidArgumentError unless both have the same nested rows, ValueError for different depths."""
    if one.ragged_rank != other.ragged_rank:
        raise ValueError(
            f"ragged tensors of ragged_rank {one.ragged_rank} and {other.ragged_rank} have different rows"
        )
    for a, b in zip(one.nested_row_splits, other.nested_row_splits, strict=True):
        check_equal_splits(a, b)


def check_equal_splits(a: Any, b: Any) -> None:
    """Raise InvalidArgumentError unless both row splits are equal."""
    if a is b:
        return
    if a.dtype is not b.dtype:
        raise ValueError("ragged tensors have mismatched row_splits dtypes; use with_row_splits_dtype()")
    if a.shape.rank and b.shape.rank and None not in (a.shape[0], b.shape[0]) and a.shape[0] != b.shape[0]:
        expect(False, "Inputs must have identical ragged splits:", [a, b])
    expect(reduce_all(equal(a, b)), "Inputs must have identical ragged splits:", [a, b])
