"""Connectionist temporal classification (Graves et al., 2006): labels of a sequence without alignment.

    frames    1 1 - 2 2 2      "-" is the blank; repeated labels are merged, then blanks are dropped: 1 2

The probability of labels is the sum over all frame sequences that collapse to them. The forward-backward
algorithm computes this sum over the labels with blanks between them, `- 1 - 2 -`, frame by frame, in
logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.value_types import TensorType
from ...kernels.loops import scan
from ..arrays.reshape import reshape
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import Array, require_dtype

_FLOATS = frozenset({dtypes.float32, dtypes.float64})


@op
def ctc_loss_and_gradient(
    logits: Input,
    labels: Ints,
    label_length: Ints,
    logit_length: Ints,
    blank_index: int = 0,
    name: Name = None,
) -> tuple[TensorType, TensorType]:
    """Return the negative log-probabilities of labels, and their gradients with respect to the logits.

    Args:
        logits: [frames, batch, classes]; their softmax is the probability of each class in each frame.
        labels: [batch, longest], of which the first `label_length` are used.
        label_length, logit_length: [batch].
        blank_index: the class of the blank.

    >>> loss, gradient = ctc_loss_and_gradient([[[0., 0.]], [[0., 0.]]], [[1]], [1], [2])
    >>> loss.numpy().round(4).tolist()      # three of four sequences mean "1": 1 1, 1 -, - 1
    [0.28769999742507935]
    """
    require_dtype(logits, _FLOATS, "ctc_loss")
    lengths = ((label_length, 1, "label_length"), (logit_length, 1, "logit_length"))
    for operand, rank, what in ((logits, 3, "logits"), (labels, 2, "labels"), *lengths):
        if operand.shape is not None and len(operand.shape) != rank:
            raise ValueError(
                f"ctc_loss: `{what}` must have rank {rank}, not the shape {shapes.show(operand.shape)}"
            )
    batch = shapes.merge(None if logits.shape is None else logits.shape[1:2], label_length.shape)
    batch = shapes.merge(batch, logit_length.shape)
    batch = shapes.merge(batch, None if labels.shape is None else labels.shape[:1])
    return TensorType(logits.dtype, batch or (None,)), TensorType(logits.dtype, logits.shape or (None,) * 3)


@ctc_loss_and_gradient.kernel
def _(logits: Array, labels: Array, label_length: Array, logit_length: Array, blank_index: int
      ) -> tuple[Array, Array]:  # fmt: skip
    frames, batch, classes = logits.shape
    blank = blank_index % max(classes, 1)
    _check(logits, labels, label_length, logit_length)
    logs = _log_softmax(logits)
    states = np.full((batch, 2 * labels.shape[1] + 1), blank, np.int64)
    states[:, 1::2] = labels
    inside = np.arange(states.shape[1]) <= 2 * label_length[:, np.newaxis]
    states = np.where(inside, states, blank)
    leaps = np.zeros(states.shape, bool)  # transitions from one label to the next without a blank
    leaps[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    emitted = np.take_along_axis(logs, np.broadcast_to(states, (frames, *states.shape)), 2)
    forwards = _forwards(emitted, leaps, inside, logit_length)
    backwards = _backwards(emitted, leaps, inside, label_length, logit_length)
    loss = -_ends(forwards, label_length, logit_length)
    with np.errstate(invalid="ignore"):
        shares = np.exp(forwards + backwards + loss[np.newaxis, :, np.newaxis])
    shares[~np.isfinite(shares)] = 0
    gradient = np.exp(logs)
    frame, row = np.ogrid[:frames, :batch]
    np.subtract.at(gradient, (frame[..., np.newaxis], row[..., np.newaxis], states[np.newaxis]), shares)
    gradient *= (np.arange(frames)[:, np.newaxis] < logit_length)[..., np.newaxis]
    return loss.astype(logits.dtype), gradient.astype(logits.dtype)


def _check(logits: Array, labels: Array, label_length: Array, logit_length: Array) -> None:
    frames, batch, classes = logits.shape
    if not len(labels) == len(label_length) == len(logit_length) == batch:
        raise errors.InvalidArgumentError(
            f"ctc_loss: {len(labels)} rows of labels, {len(label_length)} and {len(logit_length)} lengths for a "
            f"batch of {batch}"
        )
    for lengths, most, what in (
        (label_length, labels.shape[1], "label_length"),
        (logit_length, frames, "logit_length"),
    ):
        if lengths.size and (lengths.min() < 0 or lengths.max() > most):
            raise errors.InvalidArgumentError(
                f"ctc_loss: {what} must be between 0 and {most}: {lengths.tolist()}"
            )
    counted = np.where(np.arange(labels.shape[1]) < label_length[:, np.newaxis], labels, 0)
    if counted.size and (counted.min() < 0 or counted.max() >= max(classes, 1)):
        raise errors.InvalidArgumentError(f"ctc_loss: labels must be in [0, {classes})")


def _log_softmax(logits: Array) -> Array:
    wide = logits.astype(np.float64)
    shifted = wide - wide.max(-1, keepdims=True) if wide.size else wide
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _forwards(emitted: Array, leaps: Array, inside: Array, lengths: Array) -> Array:
    """Return the forward log-probabilities of each state after each frame, including the frame's emission."""
    if not emitted.size:
        return np.full(emitted.shape, -np.inf)
    before = np.where(np.arange(emitted.shape[2]) == 0, 0.0, np.full(emitted.shape[1:], -np.inf))

    def step(before: Array, frame: Array, own: Array) -> tuple[Array, Array]:
        now = np.where(inside & (frame < lengths)[:, np.newaxis], own + _reached(before, leaps), -np.inf)
        return now, now

    return scan(step, before, (np.arange(len(emitted)), emitted))


def _reached(before: Array, leaps: Array) -> Array:
    total = before.copy()
    total[:, 1:] = np.logaddexp(total[:, 1:], before[:, :-1])
    total[:, 2:] = np.where(leaps[:, 2:], np.logaddexp(total[:, 2:], before[:, :-2]), total[:, 2:])
    return total


def _backwards(emitted: Array, leaps: Array, inside: Array, label_length: Array, lengths: Array) -> Array:
    """Return the backward log-probabilities of each state after each frame, excluding the frame's emission."""
    ends = 2 * label_length[:, np.newaxis]
    positions = np.arange(emitted.shape[2])
    last = np.where((positions == ends) | (positions == ends - 1), 0.0, -np.inf)
    if not emitted.size:
        return np.full(emitted.shape, -np.inf)

    def step(following: Array, frame: Array, own: Array) -> tuple[Array, Array]:
        here = np.where((lengths - 1 == frame)[:, np.newaxis], last, following)
        coming = np.where(inside, own + here, -np.inf)
        following = coming.copy()
        following[:, :-1] = np.logaddexp(following[:, :-1], coming[:, 1:])
        leaping = np.where(leaps[:, 2:], coming[:, 2:], -np.inf)
        following[:, :-2] = np.logaddexp(following[:, :-2], leaping)
        return following, here

    never = np.full(emitted.shape[1:], -np.inf)
    return scan(step, never, (np.arange(len(emitted)), emitted), backward=True)


def _ends(forwards: Array, label_length: Array, logit_length: Array) -> Array:
    """Return the log-probabilities of the labels: from the last label and the final blank, at the last frame."""
    rows = np.arange(forwards.shape[1])
    if not len(forwards):
        return np.where(label_length == 0, 0.0, -np.inf)
    final = forwards[np.maximum(logit_length - 1, 0), rows]
    blank = final[rows, 2 * label_length]
    label = np.where(label_length > 0, final[rows, np.maximum(2 * label_length - 1, 0)], -np.inf)
    return np.where(logit_length > 0, np.logaddexp(blank, label), np.where(label_length == 0, 0.0, -np.inf))


@ctc_loss_and_gradient.gradient
def _(
    dy: Any, y: Any, logits: Any, labels: Any, label_length: Any, logit_length: Any, blank_index: int
) -> Any:
    if dy[1] is not None:
        raise errors.UnimplementedError("ctc_loss has no second derivative")
    return reshape(dy[0], [1, -1, 1]) * y[1], None, None, None


@op
def ctc_unique_labels(labels: Ints, name: Name = None) -> tuple[TensorType, TensorType]:
    """Return the distinct labels of each row by first appearance, and the index of each label among them.

    >>> labels, places = ctc_unique_labels([[3, 3, 1]])
    >>> labels.numpy().tolist(), places.numpy().tolist()
    ([[3, 1, 0]], [[0, 0, 1]])
    """
    if labels.shape is not None and len(labels.shape) != 2:
        raise ValueError(
            f"ctc_unique_labels: labels must have rank 2, not the shape {shapes.show(labels.shape)}"
        )
    shape = labels.shape or (None, None)
    return TensorType(dtypes.int64, shape), TensorType(dtypes.int32, shape)


@ctc_unique_labels.kernel
def _(labels: Array) -> tuple[Array, Array]:
    if not labels.size:
        return np.zeros(labels.shape, np.int64), np.zeros(labels.shape, np.int32)
    first = np.argmax(labels[:, :, np.newaxis] == labels[:, np.newaxis], 2)  # where an equal label is first
    numbers = np.cumsum(first == np.arange(labels.shape[1]), 1) - 1
    positions = np.take_along_axis(numbers, first, 1)
    found = np.zeros(labels.shape, np.int64)
    found[np.arange(len(labels))[:, np.newaxis], positions] = labels
    return found, positions.astype(np.int32)


@op
def ctc_collapse(labels: Ints, seq_length: Ints, name: Name = None) -> tuple[TensorType, TensorType]:
    """Merge repeated labels in rows, and return the rows, with as many columns as the longest needs, and their lengths.

    >>> labels, lengths = ctc_collapse([[1, 1, 2], [3, 3, 3]], [3, 2])
    >>> labels.numpy().tolist(), lengths.numpy().tolist()
    ([[1, 2], [3, 0]], [2, 1])
    """
    if labels.shape is not None and len(labels.shape) != 2:
        raise ValueError(
            f"collapse_repeated: labels must have rank 2, not the shape {shapes.show(labels.shape)}"
        )
    if seq_length.shape is not None and len(seq_length.shape) != 1:
        raise ValueError("collapse_repeated: seq_length must be a vector")
    batch = None if labels.shape is None else labels.shape[0]
    return TensorType(labels.dtype, (batch, None)), TensorType(seq_length.dtype, (batch,))


@ctc_collapse.kernel
def _(labels: Array, seq_length: Array) -> tuple[Array, Array]:
    if len(labels) != len(seq_length):
        raise errors.InvalidArgumentError(
            f"collapse_repeated: {len(seq_length)} lengths for {len(labels)} rows"
        )
    counted = np.arange(labels.shape[1]) < seq_length[:, np.newaxis]
    stays = counted.copy()
    stays[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    lengths = stays.sum(1)
    found = np.zeros((len(labels), int(lengths.max(initial=0))), labels.dtype)
    found[np.arange(found.shape[1]) < lengths[:, np.newaxis]] = labels[stays]
    return found, lengths.astype(seq_length.dtype)
