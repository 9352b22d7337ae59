"""`rejection_resample`: rejects elements of some classes to reach a target class distribution.

An element of class i is accepted with a probability that is proportional to wanted[i] / found[i] - m, where m is
the smallest of these ratios. A fraction m of the result is not resampled at all: that rejects the fewest elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..ops.arrays.concat_split import stack
from ..ops.arrays.creation import fill
from ..ops.arrays.gather_ops import gather
from ..ops.arrays.ranges import one_hot
from ..ops.arrays.reshape import expand_dims
from ..ops.arrays.tile_and_repeat import tile
from ..ops.math.arithmetic import add
from ..ops.math.cast import cast
from ..ops.random.stateful import uniform
from ..ops.reduce.reductions import reduce_max, reduce_min, reduce_sum
from .dataset import Dataset

_AT_A_TIME = 32
_SMOOTHING = 10


def resampled(
    dataset: Any, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any, seed: int | None
) -> Dataset:
    wanted = convert_to_tensor(target_dist)
    is_tuple = type(dataset.element_spec) is tuple

    def with_class(*element: Any) -> Any:
        return class_func(*element), element if is_tuple else element[0]

    pairs = dataset.map(with_class)
    if initial_dist is not None:
        found = convert_to_tensor(initial_dist)
        shares = Dataset.from_tensors(found).repeat()
        chances = Dataset.from_tensors(_chances(found, wanted)).repeat()
    else:
        shares = _estimated(wanted, dataset.map(class_func))
        chances = shares.map(lambda found: _chances(found, wanted))
    # The shares are not read, but TensorFlow pairs them, too: their source draws seeds, so the next draws are equal.
    accepted = (
        Dataset.zip((chances.map(lambda accept, rest: accept), shares, pairs))
        .map(lambda accept, share, pair: (gather(accept, pair[0]), pair))
        .filter(lambda chance, pair: uniform([], seed=seed, dtype=chance.dtype) < chance)
        .map(lambda chance, pair: pair)
        .prefetch(3)
    )
    if initial_dist is not None:
        rest = float(_chances(found, wanted)[1])
        if rest in (0.0, 1.0):
            return pairs if rest else accepted
    weights = chances.map(lambda accept, rest: stack([rest, 1.0 - rest]))
    return Dataset.sample_from_datasets([pairs, accepted], weights, seed, stop_on_empty_dataset=True)


def _chances(found: Any, wanted: Any) -> tuple[Any, Any]:
    """Return the acceptance probability of each class, and the fraction that is not resampled."""
    ratios = wanted / (found + np.finfo(found.dtype.as_numpy_dtype).tiny)
    least = reduce_min(ratios)
    return (ratios - least) / (reduce_max(ratios) - least), least


def _estimated(wanted: Any, classes: Dataset) -> Dataset:
    """Return a dataset of the class frequencies so far, element by element."""
    count = wanted.shape[0]

    def update(seen: Any, batch: Any) -> tuple[Any, Any]:
        seen = add(seen, reduce_sum(one_hot(batch, count, dtype=dtypes.int64), axis=0))
        share = cast(seen / reduce_sum(seen), dtypes.float32)
        return seen, tile(expand_dims(share, 0), [_AT_A_TIME, 1])

    start = fill([count], np.int64(_SMOOTHING))
    return classes.batch(_AT_A_TIME).scan(start, update).unbatch()
