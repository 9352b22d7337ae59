"""Data for training, as batches: of arrays, a Dataset, a generator, or a `Sequence` of batches.

>>> data = Batches(np.arange(5.0), np.arange(5.0), batch_size=2)
>>> [(x.shape[0], y.shape[0]) for x, y in data.epoch()]
[(2, 2), (2, 2), (1, 1)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from agc import runtime as tf


def packed(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Inputs, targets and weights as one value: a tuple without those that are not there."""
    if y is None:
        return x if sample_weight is None and not isinstance(x, (tuple, list)) else (x,)
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpacked(data: Any) -> tuple[Any, Any, Any]:
    """Inputs, targets and weights of such a value; None for those that are not there."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if len(data) > 3:
        raise ValueError(
            "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: "
            f"{data}"
        )
    return (*data, None, None)[:3]


def is_arrays(x: Any) -> bool:
    """Whether this is arrays, tensors, or a nest of them."""
    leaves = tf.nest.flatten(x)
    return bool(leaves) and all(
        isinstance(leaf, (np.ndarray, tf.Tensor, tf.Variable, int, float, bool)) or hasattr(leaf, "__array__")
        for leaf in leaves
    )


class Batches:
    """What `fit` goes through. `count` is how many batches an epoch has, None when nobody knows.

    Args:
        x: arrays, or something that gives batches itself: then there is no `y`.
        steps: how many batches make an epoch of something endless.
    """

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        batch_size: int | None = None,
        shuffle: Any = False,
        class_weight: Mapping[int, float] | None = None,
        steps: int | None = None,
    ) -> None:
        self._class_weight = class_weight
        self._shuffle = shuffle
        self._steps = steps
        self._running: Iterator[Any] | None = None
        self._source: Any = None
        self._arrays: tuple[Any, ...] | None = None
        self.count: int | None = steps
        if is_arrays(x):
            self._arrays = tuple(_arrays(part) for part in (x, y, sample_weight))
            self.samples = _cardinality({"x": x, "y": y, "sample_weight": sample_weight}, self._arrays)
            self.batch_size = batch_size or 32
            whole = -(-self.samples // self.batch_size)
            self.count = whole if steps is None else steps
            return
        if y is not None:
            raise ValueError(
                "When providing `x` as a tf.data.Dataset, a generator or a Sequence, `y` should not be "
                "passed. Instead, the targets should be included as part of it."
            )
        self._source = x
        self.count = steps if steps is not None else _length(x)

    def epoch(self) -> Iterator[Any]:
        """The batches of an epoch, as tuples of tensors."""
        if self._steps is None:
            return self._all()
        return self._some(self._steps)

    def _all(self) -> Iterator[Any]:
        return self._slices() if self._arrays is not None else map(self._prepared, _iterated(self._source))

    def _some(self, steps: int) -> Iterator[Any]:
        """So many batches from where the last epoch ended; fewer, where the data end. Then they begin anew."""
        for step in range(steps):
            if self._running is None:
                self._running = self._all()
            batch = next(self._running, None)
            if batch is None and not step:
                self._running = self._all()
                batch = next(self._running, None)
            if batch is None:
                self._running = None
                return
            yield batch

    def _slices(self) -> Iterator[Any]:
        assert self._arrays is not None
        order = None
        if self._shuffle == "batch":
            starts = np.random.permutation(-(-self.samples // self.batch_size)) * self.batch_size
        else:
            starts = np.arange(0, self.samples, self.batch_size)
            if self._shuffle:
                order = tf.random.shuffle(tf.range(self.samples)).numpy()
        for start in starts:
            part: Any = slice(start, start + self.batch_size)
            if order is not None:
                part = order[part]
            x, y, weight = _cut(self._arrays, part)
            weight = self._weighted(y, weight)
            yield packed(*(_each(_tensor, data) for data in (x, y, weight)))

    def _prepared(self, batch: Any) -> Any:
        x, y, weight = unpacked(batch)
        weight = self._weighted(y, weight)
        return packed(*(_each(_tensor, data) for data in (x, y, weight)))

    def _weighted(self, y: Any, weight: Any) -> Any:
        """The weights of samples, by those of their classes."""
        if self._class_weight is None:
            return weight
        labels = np.asarray(y)
        if labels.ndim > 1 and labels.shape[-1] > 1:
            labels = labels.argmax(-1)
        elif labels.ndim > 1:
            labels = labels[..., 0]
        known = {int(label): float(value) for label, value in self._class_weight.items()}
        own = np.vectorize(lambda label: known.get(int(label), 1.0), otypes=[np.float32])(labels)
        return own if weight is None else own * np.asarray(weight, np.float32)

    def split(self, share: float) -> tuple[Batches, tuple[Any, Any, Any]]:
        """Without the last share of the samples, and these."""
        if self._arrays is None:
            raise ValueError("Argument `validation_split` is only supported for tensors or NumPy arrays.")
        at = int(self.samples * (1.0 - share))
        if at in (0, self.samples):
            raise ValueError(
                f"Training data contains {self.samples} samples, which is not sufficient to split it into a "
                f"validation and training set as specified by `validation_split={share}`. Either provide more data, "
                "or a different value for the `validation_split` argument."
            )
        first, rest = (_cut(self._arrays, part) for part in (slice(None, at), slice(at, None)))
        size, weights = self.batch_size, self._class_weight
        kept = Batches(first[0], first[1], first[2], size, self._shuffle, weights, self._steps)
        return kept, (rest[0], rest[1], rest[2])

    def on_epoch_end(self) -> None:
        """Tell a `Sequence` that an epoch is over."""
        if hasattr(self._source, "on_epoch_end"):
            self._source.on_epoch_end()


def _cut(arrays: tuple[Any, ...], part: Any) -> list[Any]:
    """Some samples of inputs, targets and weights."""
    return [_each(lambda array: array[part], data) for data in arrays]


def _each(function: Callable[[Any], Any], data: Any) -> Any:
    """The nest with what a function gives for each array; None stays None."""
    return tf.nest.map_structure(lambda array: None if array is None else function(array), data)


def _arrays(data: Any) -> Any:
    return np.asarray(data) if _is_list_of_numbers(data) else _each(np.asarray, data)


def _is_list_of_numbers(data: Any) -> bool:
    return isinstance(data, list) and all(
        isinstance(leaf, (bool, int, float)) for leaf in tf.nest.flatten(data)
    )


def _tensor(array: Any) -> Any:
    """A tensor of a batch; float64 becomes the usual dtype."""
    if isinstance(array, tf.Tensor):
        return array
    array = np.asarray(array)
    return tf.convert_to_tensor(array.astype(np.float32) if array.dtype == np.float64 else array)


def _cardinality(given: Mapping[str, Any], arrays: tuple[Any, ...]) -> int:
    sizes = {
        name: [len(leaf) for leaf in tf.nest.flatten(data) if leaf is not None and np.ndim(leaf)]
        for name, data in zip(given, arrays, strict=True)
        if data is not None
    }
    if len({size for found in sizes.values() for size in found}) > 1:
        lines = "\n".join(f"'{name}' sizes: {', '.join(map(str, found))}" for name, found in sizes.items())
        raise ValueError(
            "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples." + lines
        )
    return sizes["x"][0]


def _length(source: Any) -> int | None:
    if isinstance(source, Iterator):
        return None
    if hasattr(source, "cardinality"):
        count = int(source.cardinality())
        return count if count >= 0 else None
    return len(source) if hasattr(source, "__len__") else None


def _iterated(source: Any) -> Iterator[Any]:
    if isinstance(source, Iterator) or hasattr(source, "cardinality"):
        return iter(source)
    if hasattr(source, "__getitem__") and hasattr(source, "__len__"):
        return (source[i] for i in range(len(source)))
    return iter(source)
