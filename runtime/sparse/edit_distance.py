"""`tf.edit_distance`: the edit distances of sequences in the rows of sparse tensors."""

from __future__ import annotations

from typing import Any

from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.set_ops import sequence_distances
from .tensor import SparseTensor


@export("edit_distance")
def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str | None = "edit_distance"
) -> Tensor:
    """Return the minimum number of insertions, deletions and changes from each sequence of `hypothesis` to `truth`.

    Args:
        hypothesis, truth: sparse tensors of one dtype and rank, at least 2; the sequences are along the last axis, and
            may be of any length.
        normalize: divide by the length of the true sequence; the result is infinite if only the true sequence is
            empty.

    Returns a float32 for each sequence. Raises TypeError for an argument that is no sparse tensor.

    >>> row = [[0, 0], [0, 1], [0, 2]]
    >>> wrong, right = SparseTensor(row, [*"sat"], [1, 3]), SparseTensor(row[:2], [*"at"], [1, 2])
    >>> edit_distance(wrong, right, normalize=False).numpy().tolist(), edit_distance(wrong, right).numpy().tolist()
    ([1.0], [0.5])
    """
    for value, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(value, SparseTensor):
            raise TypeError(f"{what} must be a SparseTensor.")
    return sequence_distances(  # type: ignore[no-any-return]
        hypothesis.indices, hypothesis.values, hypothesis.dense_shape,
        truth.indices, truth.values, truth.dense_shape, normalize, name,
    )  # fmt: skip
