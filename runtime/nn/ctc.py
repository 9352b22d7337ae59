"""Connectionist temporal classification (CTC): the loss for unaligned labels, and its decoders.

>>> ctc_loss([[1]], [[[0., 0.]], [[0., 0.]]], [1], [2]).numpy().round(4).tolist()
[0.28769999742507935]
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.conversion import TensorLike, convert_to_tensor
from ..core.export import export
from ..core.tensor import Tensor
from ..ops.arrays.creation import ones_like
from ..ops.arrays.reshape import transpose
from ..ops.arrays.scatter import scatter_nd
from ..ops.framework.op import Name
from ..ops.math.cast import cast
from ..ops.nn import ctc, ctc_decode
from ..ops.nn.ctc import ctc_unique_labels as _unique
from ..ops.reduce.reductions import reduce_sum
from ..sparse import SparseTensor


@export("nn.ctc_loss")
def ctc_loss(
    labels: Any,
    logits: TensorLike,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: Name = None,
) -> Tensor:
    """Return the negative log-probability of the labels of each sequence; infinity for impossible labels.

    Args:
        labels: [batch, longest], or a SparseTensor, for which `label_length` is not needed.
        logits: [frames, batch, classes], or [batch, frames, classes] without `logits_time_major`.
        logit_length: may be floats, as the outputs of layers often are.
        unique: accepted for compatibility.
        blank_index: the blank class, 0 when None; negative from the end.

    >>> ctc_loss([[1]], [[[0., 0.]]], [1], [1]).numpy().round(4).tolist()
    [0.6930999755859375]
    """
    x = convert_to_tensor(logits)
    if not logits_time_major:
        x = transpose(x, [1, 0, 2])
    frames = convert_to_tensor(logit_length)
    if frames.dtype.is_floating:
        frames = cast(frames, dtypes.int32)
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("Argument `blank_index` must be provided when `labels` is a `SparseTensor`.")
        labels, label_length = dense_labels(labels)
    loss, _ = ctc.ctc_loss_and_gradient(
        x, labels, label_length, frames, 0 if blank_index is None else blank_index, name
    )
    return loss  # type: ignore[no-any-return]


def dense_labels(labels: SparseTensor) -> tuple[Tensor, Tensor]:
    """Return the rows of labels padded with zeros, and their lengths."""
    shape = cast(labels.dense_shape, dtypes.int64)
    values = cast(labels.values, dtypes.int64)
    whole = scatter_nd(labels.indices, values, shape)
    return whole, reduce_sum(scatter_nd(labels.indices, ones_like(values), shape), 1)


@export("nn.ctc_unique_labels")
def ctc_unique_labels(labels: TensorLike, name: Name = None) -> tuple[Tensor, Tensor]:
    """Return the distinct labels of each row, and for each label its index among them.

    >>> ctc_unique_labels([[3, 3, 1]])[1].numpy().tolist()
    [[0, 0, 1]]
    """
    found, positions = _unique(labels, name)
    return found, positions


@export("nn.collapse_repeated")
def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: Name = None) -> tuple[Tensor, Tensor]:
    """Return the rows without repetitions of the previous label, and their lengths.

    >>> collapse_repeated([[1, 1, 2], [3, 3, 3]], [3, 2])[0].numpy().tolist()
    [[1, 2], [3, 0]]
    """
    found, lengths = ctc.ctc_collapse(labels, seq_length, name)
    return found, lengths


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[SparseTensor], Tensor]:
    """Return the labels of the best class of each frame, and the negative sum of the logits of these classes.

    Args:
        inputs: [frames, batch, classes]; the last class is the blank when `blank_index` is None.
        merge_repeated: whether to merge consecutive equal classes into one label.

    >>> (labels,), score = ctc_greedy_decoder([[[1., 0.]], [[1., 0.]]], [2])
    >>> labels.values.numpy().tolist()
    [0]
    """
    blank = -1 if blank_index is None else blank_index
    indices, values, shape, score = ctc_decode.ctc_greedy(inputs, sequence_length, merge_repeated, blank)
    return [SparseTensor(indices, values, shape)], score


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Return the `top_paths` most probable labels and their log-probabilities.

    The decoder is a beam search of width `beam_width`.

    Args:
        inputs: [frames, batch, classes]; the last class is the blank.

    >>> (labels,), score = ctc_beam_search_decoder([[[0., 0., 2.]], [[3., 0., 0.]]], [2])
    >>> labels.values.numpy().tolist()
    [0]
    """
    *parts, scores = ctc_decode.ctc_beam_search(inputs, sequence_length, beam_width, top_paths)
    found = [SparseTensor(*parts[i : i + 3]) for i in range(0, len(parts), 3)]
    return found, scores
