"""CTC decoding: greedy, by the best class of each frame, or by beam search over label prefixes.

A prefix has two probabilities: of frames that end in a blank, and of frames that end in its last label. Only
after a blank does the same label extend the prefix.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ... import dtypes, errors
from ...core import shapes
from ...ir.value_types import TensorType
from ..framework.attribute_parsers import Results
from ..framework.op import Input, Ints, Name, op
from ..framework.op_families import Array, require_dtype

_FLOATS = frozenset({dtypes.float32, dtypes.float64})


def _check(inputs: Any, sequence_length: Any, what: str) -> Any:
    require_dtype(inputs, _FLOATS, what)
    if inputs.shape is not None and len(inputs.shape) != 3:
        raise ValueError(f"{what}: inputs must have rank 3, not the shape {shapes.show(inputs.shape)}")
    if sequence_length.shape is not None and len(sequence_length.shape) != 1:
        raise ValueError(f"{what}: sequence_length must be a vector")
    batch = shapes.merge(None if inputs.shape is None else inputs.shape[1:2], sequence_length.shape)
    return batch[0] if batch else None


def _lengths(inputs: Array, sequence_length: Array, what: str) -> list[int]:
    lengths: list[int] = sequence_length.tolist()
    if len(lengths) != inputs.shape[1] or any(not 0 <= length <= len(inputs) for length in lengths):
        raise errors.InvalidArgumentError(
            f"{what}: sequence_length must have {inputs.shape[1]} numbers up to {len(inputs)}: {lengths}"
        )
    return lengths


def _sparse(rows: list[list[int]]) -> tuple[Array, Array, Array]:
    indices = [(row, column) for row, labels in enumerate(rows) for column in range(len(labels))]
    values = [label for labels in rows for label in labels]
    longest = max(map(len, rows), default=0)
    return (
        np.array(indices, np.int64).reshape(-1, 2),
        np.array(values, np.int64),
        np.array([len(rows), longest], np.int64),
    )


_SPARSE = (
    TensorType(dtypes.int64, (None, 2)),
    TensorType(dtypes.int64, (None,)),
    TensorType(dtypes.int64, (2,)),
)


@op
def ctc_greedy(
    inputs: Input,
    sequence_length: Ints,
    merge_repeated: bool = True,
    blank_index: int = -1,
    name: Name = None,
) -> tuple[TensorType, ...]:
    """Return indices, values and shape of the labels of the best classes, and the negative sum of their logits.

    >>> indices, values, shape, score = ctc_greedy([[[1., 0.]], [[1., 0.]], [[0., 2.]]], [3])
    >>> values.numpy().tolist(), score.numpy().tolist()
    ([0], [[-4.0]])
    """
    batch = _check(inputs, sequence_length, "ctc_greedy_decoder")
    return (*_SPARSE, TensorType(inputs.dtype, (batch, 1)))


@ctc_greedy.kernel
def _(inputs: Array, sequence_length: Array, merge_repeated: bool, blank_index: int) -> tuple[Array, ...]:
    classes = inputs.shape[2]
    if not -classes <= blank_index < classes:
        raise errors.InvalidArgumentError(
            f"ctc_greedy_decoder: blank_index must be in [{-classes}, {classes})"
        )
    blank, rows, scores = blank_index % classes, [], []
    for row, length in enumerate(_lengths(inputs, sequence_length, "ctc_greedy_decoder")):
        own = inputs[:length, row]
        best = own.argmax(1)
        scores.append([-np.sum(own.max(1), dtype=inputs.dtype)])
        new = np.ones(length, bool)
        if merge_repeated:
            new[1:] = best[1:] != best[:-1]
        rows.append(best[new & (best != blank)].tolist())
    return (*_sparse(rows), np.array(scores, inputs.dtype).reshape(len(rows), 1))


ctc_greedy.no_gradient("as in TensorFlow: the labels are discrete")


@op
def ctc_beam_search(
    inputs: Input, sequence_length: Ints, beam_width: int = 100, top_paths: Results = 1, name: Name = None
) -> tuple[TensorType, ...]:
    """Return indices, values and shape of the labels of each of the best paths; then their log-probabilities.

    >>> *path, score = ctc_beam_search([[[0., 0., 2.]], [[3., 0., 0.]]], [2])
    >>> path[1].numpy().tolist()
    [0]
    """
    batch = _check(inputs, sequence_length, "ctc_beam_search_decoder")
    if beam_width < 1 or not 1 <= top_paths <= beam_width:
        raise ValueError(
            f"ctc_beam_search_decoder: top_paths must be between 1 and beam_width, not {top_paths} and {beam_width}"
        )
    return (*_SPARSE * top_paths, TensorType(inputs.dtype, (batch, top_paths)))


@ctc_beam_search.kernel
def _(inputs: Array, sequence_length: Array, beam_width: int, top_paths: int) -> tuple[Array, ...]:
    wide = inputs.astype(np.float64)
    shifted = wide - wide.max(-1, keepdims=True) if wide.size else wide
    logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    scores = np.zeros((inputs.shape[1], top_paths), inputs.dtype)
    for row, length in enumerate(_lengths(inputs, sequence_length, "ctc_beam_search_decoder")):
        found = _searched(logs[:length, row], beam_width)
        if len(found) < top_paths:
            raise errors.InvalidArgumentError(
                f"ctc_beam_search_decoder: sequence {row} has {len(found)} paths, not {top_paths}"
            )
        for rank in range(top_paths):
            labels, score = found[rank]
            paths[rank].append(list(labels))
            scores[row, rank] = score
    parts = [part for path in paths for part in _sparse(path)]
    return (*parts, scores)


ctc_beam_search.no_gradient("as in TensorFlow: the labels are discrete")


def _searched(logs: Array, width: int) -> list[tuple[tuple[int, ...], float]]:
    """Return the most probable labels of frames with their log-probabilities; the last class is the blank.

    `in_blank` and `in_label` are the log-probabilities of prefixes whose frames end in a blank and in the last label.
    """
    prefixes: list[tuple[int, ...]] = [()]
    in_blank, in_label = np.zeros(1), np.full(1, -np.inf)
    for frame in logs:
        labels, blank = frame[:-1], frame[-1]
        total = np.logaddexp(in_blank, in_label)
        grown = total[:, None] + labels
        last = np.array([prefix[-1] if prefix else -1 for prefix in prefixes])
        ends = np.flatnonzero(last >= 0)
        grown[ends, last[ends]] = in_blank[ends] + labels[last[ends]]
        same = np.full(len(prefixes), -np.inf)
        same[ends] = in_label[ends] + labels[last[ends]]
        place = {prefix: number for number, prefix in enumerate(prefixes)}
        children: list[dict[int, int]] = [{} for _ in prefixes]
        for number, prefix in enumerate(prefixes):
            shorter = place.get(prefix[:-1]) if prefix else None
            if shorter is not None:  # another prefix grows to this one
                same[number] = np.logaddexp(same[number], grown[shorter, prefix[-1]])
                grown[shorter, prefix[-1]] = -np.inf
                children[shorter][prefix[-1] + 1] = number
        stay = total + blank
        scores = np.concatenate([np.logaddexp(stay, same)[:, None], grown], axis=1)
        row, column = _best(scores, total, children, width)
        stays = column == 0
        in_blank = np.where(stays, stay[row], -np.inf)
        in_label = np.where(stays, same[row], scores[row, column])
        pairs = zip(row.tolist(), column.tolist(), strict=True)
        prefixes = [prefixes[old] if not label else (*prefixes[old], label - 1) for old, label in pairs]
    totals = np.logaddexp(in_blank, in_label)
    return [
        (prefixes[number], float(totals[number])) for number in np.argsort(-totals, kind="stable").tolist()
    ]


def _best(scores: Array, total: Array, children: list[dict[int, int]], width: int) -> tuple[Array, Array]:
    """Return rows and columns of the best `scores`, best first. Column 0 is an old prefix, and others add a label.

    The longer prefixes replace the worst ones in turn, as in TensorFlow. A replaced prefix still grows, unless its
    shorter one (`children` has the columns between them) has its turn before.
    """
    heap = [(score, number, 0) for number, score in enumerate(scores[:, 0].tolist())]
    heapq.heapify(heap)
    replaced, ended = set(), set()
    for number, before in enumerate(total.tolist()):
        least = heap[0][0] if len(heap) >= width else -np.inf
        if number in ended or before <= least:
            continue
        row, own = scores[number], children[number]
        columns = (np.flatnonzero(row[1:] > least) + 1).tolist()
        for column in sorted({*columns, *own}) if own else columns:
            if column in own:
                if own[column] in replaced:
                    ended.add(own[column])
            elif len(heap) < width:
                heapq.heappush(heap, (float(row[column]), number, column))
            elif row[column] > heap[0][0]:
                _, worst, added = heapq.heapreplace(heap, (float(row[column]), number, column))
                if not added:
                    replaced.add(worst)
    heap.sort(key=lambda entry: (-entry[0], *entry[1:]))
    return np.array([number for _, number, _ in heap]), np.array([column for _, _, column in heap])
