"""The seeds that one iteration of a pipeline draws, in order to repeat its random choices.

    stage, seeds = with_drawn_seeds(stage)      a pipeline whose stages draw through `DrawnSeeds`
    seeds.state()                               [seed, seed2, pairs drawn by all iterations, length, runs…]

All iterations over a dataset draw from the same `Seeds`, so an iteration can only be repeated with the pairs that it
has drawn itself. They are kept as runs, most often one: many short epochs need no more memory.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import errors
from .cache import Cached
from .pipeline_stage import PipelineStage
from .random_order import Seeds
from .user_functions import functions_of


class PairRun(NamedTuple):
    """Consecutive pairs that an iteration has drawn: the seeds, the number of the first pair, and the length."""

    seed: int
    seed2: int
    first: int
    length: int


class DrawnSeeds:
    """The pairs that an iteration draws from `seeds`; `rewind` repeats them."""

    def __init__(self, seeds: Seeds) -> None:
        self.seeds = seeds
        self._runs: list[PairRun] = []
        self._again: Iterator[tuple[int, int]] = iter(())

    def next(self) -> tuple[int, int]:
        with self.seeds.lock:
            for pair in self._again:
                return pair
            seed, seed2, number = self.seeds.state()
            last = self._runs[-1] if self._runs else None
            if last is not None and (*last[:2], last.first + last.length) == (seed, seed2, number):
                self._runs[-1] = last._replace(length=last.length + 1)
            else:
                self._runs.append(PairRun(seed, seed2, number, 1))
            return self.seeds.next()

    def rewind(self) -> None:
        """Draw the same pairs once more, and then new ones."""
        self._again = (
            self.seeds.at(seed, seed2, first + i)
            for seed, seed2, first, length in [*self._runs]
            for i in range(length)
        )

    def state(self) -> list[int]:
        """Return all numbers that `move_to` needs."""
        with self.seeds.lock:
            return [*self.seeds.state(), len(self._runs), *(number for run in self._runs for number in run)]

    def move_to(self, state: list[int]) -> None:
        """Return to a state."""
        seed, seed2, count, _, *numbers = state
        with self.seeds.lock:
            self.seeds.move_to(seed, seed2, count)
            self._runs = [PairRun(*numbers[i : i + 4]) for i in range(0, len(numbers), 4)]


def with_drawn_seeds(stage: PipelineStage) -> tuple[PipelineStage, list[DrawnSeeds]]:
    """Return the stage with seeds for one iteration, and these; parts without random choices stay the same objects."""
    found: dict[int, DrawnSeeds] = {}
    return _copied(stage, found), list(found.values())


def _copied(part: Any, found: dict[int, DrawnSeeds]) -> Any:
    if isinstance(part, Seeds):
        return found.setdefault(id(part), DrawnSeeds(part))
    if isinstance(part, list):
        items = [_copied(item, found) for item in part]
        return items if any(a is not b for a, b in zip(items, part, strict=True)) else part
    if not isinstance(part, PipelineStage):
        return part
    attributes = {name: _copied(value, found) for name, value in vars(part).items()}
    if all(attributes[name] is value for name, value in vars(part).items()):
        return part
    other = copy.copy(part)
    vars(other).update(attributes)
    return other


def parted(numbers: list[int], count: int) -> list[list[int]]:
    """Return the states of `count` seeds that were saved one after the other. Raises InvalidArgumentError."""
    states = []
    for _ in range(count):
        end = 4 + 4 * numbers[3] if len(numbers) > 3 and numbers[3] >= 0 else len(numbers) + 1
        if end > len(numbers) or min([numbers[2], *numbers[6:end:4], *numbers[7:end:4]]) < 0:
            break
        states.append(numbers[:end])
        numbers = numbers[end:]
    if len(states) < count or numbers:
        raise errors.InvalidArgumentError(
            f"The saved position is of another pipeline: this one has {count} stages with random choices. Restore it "
            "into an iterator of the dataset with which it was saved"
        )
    return states


def can_repeat(stage: PipelineStage) -> bool:
    """Return whether an iteration can be repeated in another process.

    Two kinds of pipelines cannot: datasets in functions that draw seeds of their own at each call, and those whose
    random order is in the memory of a `cache`.
    """
    for part in vars(stage).values():
        for item in part if isinstance(part, list) else (part,):
            if isinstance(item, PipelineStage) and not can_repeat(item):
                return False
    if isinstance(stage, Cached) and not stage.filename._array.item() and with_drawn_seeds(stage)[1]:
        return False
    return not any(
        seeds.seeds.differ_by_process
        for function in functions_of(stage)
        for operation in function.graph.walk()
        if (build := operation.attrs.get("build")) is not None
        for seeds in with_drawn_seeds(build.stage)[1]
    )
