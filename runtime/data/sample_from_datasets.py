"""`sample_from_datasets`: a random choice of the next dataset, equal to TensorFlow's for the same seed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import dtypes
from ..core.conversion import convert_to_tensor
from ..core.tensor_spec import TensorSpec
from ..kernels.random import seeds
from ..ops.random.stateless import stateless_random_uniform
from .combine import Directed
from .dataset import Dataset
from .pipeline_stage import INFINITE, Elements, PipelineStage
from .random_order import Samples, Seeds


class Choices(PipelineStage):
    """Indices of datasets, drawn with the probabilities of `weights`, a tensor or a stage of tensors."""

    name = "_MapDataset"

    def __init__(self, weights: Any, seeds: Seeds) -> None:
        self.weights, self.seeds = weights, seeds
        self.spec = TensorSpec((), dtypes.int64)

    def renew(self) -> None:
        self.seeds = self.seeds.anew()

    def elements(self) -> Elements:
        samples = Samples(*self.seeds.next())
        if isinstance(self.weights, PipelineStage):
            heights: Any = (_heights(weights) for (weights,) in self.weights.elements())
        else:
            heights = itertools.repeat(_heights(self.weights._array))
        return ((_drawn(found, samples),) for found in heights)

    def cardinality(self) -> int:
        return self.weights.cardinality() if isinstance(self.weights, PipelineStage) else INFINITE


def _heights(given: Any) -> Any:
    """Return the cumulative probabilities; like TensorFlow, computed from their logarithms."""
    weights = given.reshape(-1)
    with np.errstate(divide="ignore"):
        logits = np.log(weights / weights.sum())
    return np.cumsum(np.exp(logits.astype(np.float64) - logits.max()))


def _drawn(heights: Any, samples: Samples) -> Any:
    seed = np.array([samples.next(), samples.next()])
    unit = stateless_random_uniform.compute(np.array([1]), seed, dtypes.float64)[0]
    return np.int64(np.searchsorted(heights, unit * heights[-1], "right"))


def sampled(datasets: Any, weights: Any, seed: Any, stop_on_empty: bool, rerandomize: bool | None) -> Dataset:
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    stages = [dataset._stage for dataset in datasets]
    if isinstance(weights, Dataset):
        chosen: Any = weights._stage
    else:
        if weights is None:
            weights = [1.0 / len(stages)] * len(stages)
        chosen = convert_to_tensor(weights)
        if not (chosen.dtype.is_floating and chosen.dtype.size >= 4):
            raise TypeError(
                "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
                f"{chosen.dtype!r}."
            )
        if chosen.shape.as_list() != [len(stages)]:
            raise ValueError(
                f"Invalid `weights`. The shape of `weights` should be compatible with `[{len(stages)}]` but is "
                f"{chosen.shape}."
            )
        if len(stages) == 1:
            return datasets[0]  # type: ignore[no-any-return]
    pair = seeds.pair(None if seed is None else int(seed))[:2]
    selector = Dataset(Choices(chosen, Seeds(*pair, bool(rerandomize))))
    return Dataset(Directed(selector._stage, stages, stop_on_empty))
