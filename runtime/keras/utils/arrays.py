"""Data made ready: one-hot labels, sequences of one length, batches that a class gives.

>>> to_categorical([0, 2], num_classes=3).tolist()
[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
>>> pad_sequences([[1], [2, 3]]).tolist()
[[0, 1], [2, 3]]
"""

from __future__ import annotations

from collections.abc import Sequence as Rows
from typing import Any

import numpy as np


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """One-hot vectors of integer labels, as an array of float64."""
    labels = np.asarray(x, np.int64)
    if labels.ndim > 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    count = int(labels.max()) + 1 if num_classes is None else num_classes
    if labels.size and labels.max() >= count:
        raise ValueError(f"there are {count} classes, and a label is {int(labels.max())}")
    return np.eye(count)[labels]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """The array, with vectors along `axis` of length 1."""
    array = np.asarray(x)
    norm = np.atleast_1d(np.linalg.norm(array, order, axis))
    norm[norm == 0] = 1
    return array / np.expand_dims(norm, axis)


def pad_sequences(
    sequences: Rows[Rows[Any]],
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Sequences as rows of an array: shorter ones are filled up with `value`, longer ones cut.

    Args:
        maxlen: the length of all; by default that of the longest.
        padding, truncating: where: "pre" at the beginning, "post" at the end.
    """
    for what, given in (("padding", padding), ("truncating", truncating)):
        if given not in ("pre", "post"):
            raise ValueError(f'Invalid {what} type "{given}": it must be "pre" or "post"')
    length = max((len(row) for row in sequences), default=0) if maxlen is None else maxlen
    sample = next((np.asarray(row).shape[1:] for row in sequences if len(row)), ())
    out = np.full((len(sequences), length, *sample), value, dtype=object if dtype in (str, object) else dtype)
    for i, row in enumerate(sequences):
        kept = row[max(len(row) - length, 0) :] if truncating == "pre" else row[:length]
        if len(kept):
            place = slice(length - len(kept), None) if padding == "pre" else slice(None, len(kept))
            out[i, place] = np.asarray(kept, dtype=out.dtype)
    return out


class PyDataset:
    """Base class of data that give their batches by number: a subclass has `__len__` and `__getitem__`."""

    def __init__(self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10) -> None:
        self.workers, self.use_multiprocessing, self.max_queue_size = (
            workers,
            use_multiprocessing,
            max_queue_size,
        )

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not implement __getitem__()")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not implement __len__()")

    def on_epoch_end(self) -> None:
        """Called after every epoch."""


Sequence = PyDataset
