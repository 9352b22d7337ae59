"""Sampled losses: losses over the true classes and some random ones, for large numbers of classes.

>>> compute_accidental_hits([[1], [3]], [3, 7], 1).indices.numpy().tolist()
[1]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..kernels.random import seeds
from ..ops.arrays.concat_split import concat
from ..ops.arrays.creation import fill, ones_like, zeros_like
from ..ops.arrays.reshape import expand_dims, reshape
from ..ops.arrays.shape_ops import shape as shape_of
from ..ops.arrays.where_ops import true_indices, where
from ..ops.framework.op import Name
from ..ops.linalg.matmul import matmul
from ..ops.math.arithmetic import divide
from ..ops.math.cast import cast
from ..ops.math.elementwise import log
from ..ops.nn.candidate_sampling import log_uniform_candidate_sampler
from ..ops.nn.embedding_lookup import embedding_lookup
from ..ops.nn.losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from ..ops.reduce.reductions import reduce_any, reduce_sum


class AccidentalHits(NamedTuple):
    """Accidental hits: rows, indices among the sampled classes, and weights that cancel these classes."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


_OUT = -float(np.finfo(np.float32).max)


@export("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: Name = None,
) -> AccidentalHits:
    """Return the positions at which sampled classes are true classes.

    The results are the row of `true_classes`, the index in `sampled_candidates`, and a weight, the lowest float.
    The function consumes a seed, as TensorFlow does, so that later random numbers are the same.

    >>> hits = compute_accidental_hits([[1, 2], [3, 4]], [1, 3], 2)
    >>> hits.indices.numpy().tolist(), hits.ids.numpy().tolist()
    ([0, 1], [0, 1])
    """
    seeds.pair(seed)
    found = true_indices(_hits(true_classes, sampled_candidates))
    weights = fill(shape_of(found)[:1], cast(_OUT, dtypes.float32))
    return AccidentalHits(cast(found[:, 0], dtypes.int32), found[:, 2], weights)


def _hits(true_classes: Any, sampled: Any) -> Tensor:
    """Compare each true class of each row with each sampled class."""
    return cast(true_classes, dtypes.int64)[:, :, None] == cast(sampled, dtypes.int64)[None, None, :]


@export("nn.nce_loss")
def nce_loss(
    weights: Any,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: Name = "nce_loss",
) -> Tensor:
    """Return the loss of noise-contrastive estimation (Gutmann and Hyvärinen, 2010) of true and sampled classes.

    Args:
        weights: [classes, size], or a list of parts of it; `biases`: [classes].
        labels: int64 [batch, num_true]; `inputs`: [batch, size].
        sampled_values: the result of a sampler; `log_uniform_candidate_sampler` is used when it is None.

    >>> from ..ops.nn.candidate_sampling import all_candidate_sampler
    >>> from ..ops.arrays.creation import zeros
    >>> drawn = all_candidate_sampler([[0]], 1, 2, True)
    >>> nce_loss(zeros([2, 1]), zeros([2]), [[0]], [[1.]], 2, 2, sampled_values=drawn).numpy().round(3).tolist()
    [2.0789999961853027]
    """
    sampling = (num_sampled, num_classes, num_true, None)
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, sampling, sampled_values, remove_accidental_hits
    )
    return reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), 1)  # type: ignore[no-any-return]


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: Any,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: Name = "sampled_softmax_loss",
) -> Tensor:
    """Return the cross-entropy of a softmax over true and sampled classes only (Jean et al., 2014).

    The arguments are those of `nce_loss`.

    >>> from ..ops.nn.candidate_sampling import all_candidate_sampler
    >>> from ..ops.arrays.creation import zeros
    >>> drawn = all_candidate_sampler([[0]], 1, 2, True)
    >>> loss = sampled_softmax_loss(zeros([2, 1]), zeros([2]), [[0]], [[1.]], 2, 2, sampled_values=drawn)
    >>> loss.numpy().round(3).tolist()
    [0.6930000185966492]
    """
    sampling = (num_sampled, num_classes, num_true, seed)
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, sampling, sampled_values, remove_accidental_hits
    )
    return softmax_cross_entropy_with_logits(targets, logits)


def _sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    sampling: tuple[int, int, int, int | None],
    sampled_values: Any,
    remove_accidental_hits: bool,
) -> tuple[Tensor, Tensor]:
    """Return the logits of true and sampled classes, and their targets: [batch, num_true + num_sampled]."""
    num_sampled, num_classes, num_true, seed = sampling
    x, right = convert_to_tensor(inputs), cast(labels, dtypes.int64)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(right, num_true, num_sampled, True, num_classes, seed)
    drawn, of_right, of_drawn = sampled_values
    drawn, flat = cast(drawn, dtypes.int64), reshape(right, [-1])
    count = shape_of(flat)[0]
    both = concat([flat, drawn], 0)
    rows, offsets = embedding_lookup(weights, both), embedding_lookup(biases, both)
    own = reshape(rows[:count], [-1, num_true, x.shape[-1] or shape_of(x)[-1]])
    for_right = reduce_sum(expand_dims(x, 1) * own, 2) + reshape(offsets[:count], [-1, num_true])
    for_drawn = matmul(x, rows[count:], transpose_b=True) + offsets[count:]
    if remove_accidental_hits:
        seeds.pair(None)  # as in `compute_accidental_hits`
        hit = reduce_any(_hits(right, drawn), 1)
        for_drawn = for_drawn + where(hit, cast(_OUT, x.dtype), cast(0, x.dtype))
    for_right = for_right - log(cast(of_right, x.dtype))
    for_drawn = for_drawn - log(cast(of_drawn, x.dtype))
    targets = concat([divide(ones_like(for_right), num_true), zeros_like(for_drawn)], 1)
    return concat([for_right, for_drawn], 1), targets
