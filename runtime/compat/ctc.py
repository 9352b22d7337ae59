"""TensorFlow 1's loss and decoder for unaligned labels: the last class is the blank, and labels are sparse."""

from __future__ import annotations

from typing import Any

import agc.runtime as runtime

from ..core.tensor import Tensor
from ..nn.ctc import dense_labels
from ..sparse import SparseTensor


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Tensor:
    """Call `tf.nn.ctc_loss` with sparse labels and the last class as the blank.

    Args:
        labels: a SparseTensor.
        inputs: the logits, [frames, batch, classes], or [batch, frames, classes] without `time_major`.
        preprocess_collapse_repeated: whether consecutive equal labels become one.
        ctc_merge_repeated: True; another loss, without merging, is not available.
        ignore_longer_outputs_than_inputs: accepted for compatibility: the loss of too many labels is infinite.
        logits: another name of `inputs`.

    >>> labels = SparseTensor([[0, 0]], [0], [1, 1])
    >>> ctc_loss(labels, [[[0., 0.]], [[0., 0.]]], [2]).numpy().round(4).tolist()
    [0.28769999742507935]
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(f"Expected argument `labels` to be a SparseTensor, not {labels!r}")
    if (inputs is None) == (logits is None):
        raise ValueError("ctc_loss takes the logits as `inputs` or as `logits`, and not as both")
    if not ctc_merge_repeated:
        raise ValueError(
            "ctc_loss: ctc_merge_repeated=False, a loss without merging of repeated labels, is not in agc"
        )
    rows, lengths = dense_labels(labels)
    if preprocess_collapse_repeated:
        rows, lengths = runtime.nn.collapse_repeated(rows, lengths)
    given = logits if inputs is None else inputs
    loss: Tensor = runtime.nn.ctc_loss(rows, given, lengths, sequence_length, time_major, None, -1)
    return loss


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """Call `tf.nn.ctc_beam_search_decoder`, and by default merge consecutive equal labels of the paths into one.

    >>> (labels,), _ = ctc_beam_search_decoder([[[9., 0.]], [[0., 9.]], [[9., 0.]]], [3])
    >>> labels.values.numpy().tolist()
    [0]
    """
    paths, scores = runtime.nn.ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths)
    return [_merged(path) for path in paths] if merge_repeated else paths, scores


def _merged(path: SparseTensor) -> SparseTensor:
    rows, lengths = runtime.nn.collapse_repeated(*dense_labels(path))
    is_label = runtime.sequence_mask(lengths, runtime.shape(rows)[1])
    longest = runtime.reduce_max(runtime.concat([lengths, runtime.zeros_like(lengths[:1])], 0))
    sizes = runtime.stack([path.dense_shape[0], runtime.cast(longest, runtime.int64)])
    return SparseTensor(runtime.where(is_label), runtime.boolean_mask(rows, is_label), sizes)
