"""The seeds that one iteration of a pipeline draws, in order to repeat its random choices.

    stage, seeds = with_drawn_seeds(stage)      a pipeline whose stages draw through `DrawnSeeds`
    seeds.state()                               [seed, seed2, drawn pairs of all iterations, length, pairs…, …]

All iterations over a dataset draw from the same `Seeds`, so an iteration can only be repeated with the pairs that it
has drawn itself.
"""

from __future__ import annotations

import copy
from typing import Any

from .. import errors
from .cache import Cached
from .pipeline_stage import PipelineStage
from .random_order import Seeds
from .user_functions import functions_of


class DrawnSeeds:
    """The pairs that an iteration draws from `seeds`; `rewind` repeats them."""

    def __init__(self, seeds: Seeds) -> None:
        self.seeds = seeds
        self.pairs: list[tuple[int, int]] = []
        self._index = 0

    def next(self) -> tuple[int, int]:
        with self.seeds.lock:
            if self._index == len(self.pairs):
                self.pairs.append(self.seeds.next())
            self._index += 1
            return self.pairs[self._index - 1]

    def rewind(self) -> None:
        """Draw the same pairs once more, and then new ones."""
        self._index = 0

    def state(self) -> list[int]:
        """Return all numbers that `move_to` needs."""
        with self.seeds.lock:
            return [*self.seeds.state(), len(self.pairs), *(word for pair in self.pairs for word in pair)]

    def move_to(self, state: list[int]) -> None:
        """Return to a state."""
        seed, seed2, count, _, *words = state
        with self.seeds.lock:
            self.seeds.move_to(seed, seed2, count)
            self.pairs = list(zip(words[::2], words[1::2], strict=True))


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
        end = 4 + 2 * numbers[3] if len(numbers) > 3 and numbers[3] >= 0 else len(numbers) + 1
        if end > len(numbers) or numbers[2] < 0:
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
