"""`shuffle`: elements drawn from a buffer, in TensorFlow's order for the same seeds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from .. import errors
from .pipeline_stage import UNKNOWN, Elements, PipelineStage
from .random_order import Samples, Seeds
from .reorder_stages import Through
from .source_datasets import Slices


class Shuffled(Through):
    """`shuffle`: elements drawn from a buffer, in TensorFlow's order for the same seeds."""

    name = "_ShuffleDataset"

    def __init__(self, source: PipelineStage, size: Any, seeds: Seeds) -> None:
        super().__init__(source)
        self.size, self.seeds = size, seeds

    def renew(self) -> None:
        self.seeds = self.seeds.anew()

    def check(self) -> None:
        if isinstance(self.size, int) and self.size <= 0 and self.size != UNKNOWN:
            raise errors.InvalidArgumentError(
                f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got {self.size}"
            )

    def elements(self) -> Elements:
        return Drawn(self.source.elements, self._limit(), Samples(*self.seeds.next()))

    def blocks(self, size: int) -> Elements | None:
        """Shuffle only the indices for slices of tensors, and return blocks; None for other sources."""
        table = self.source.table if isinstance(self.source, Slices) else None
        if table is None:
            return None
        drawn = Drawn(lambda: iter(range(len(table[0]))), self._limit(), Samples(*self.seeds.next()))
        parts = iter(lambda: list(itertools.islice(drawn, size)), [])
        return ([array[part] for array in table] for part in parts)

    def _limit(self) -> int:
        return 2**62 if self.size == UNKNOWN else int(self.size)


class Drawn:
    """Items in an order determined by a buffer and random numbers.

    `opened` is called for the first item, as in TensorFlow: an iteration that nothing reads draws its own seeds, but
    leaves those of its source to the next one. The buffered items have indices from `start` to `end`.
    """

    def __init__(self, opened: Callable[[], Iterator[Any]], size: int, samples: Samples) -> None:
        self.opened: Callable[[], Iterator[Any]] | None = opened
        self.items: Iterator[Any] | None = None
        self.size, self.samples = size, samples
        self.buffer: list[Any] = []
        self.start = self.end = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.opened is not None:
            self.items, self.opened = self.opened(), None
        if self.items is not None:
            self._fill(self.items)
        count = self.end - self.start
        if not count:
            raise StopIteration
        buffer = self.buffer
        first = self.start % self.size
        position = (self.start + self.samples.next() % count) % self.size
        item = buffer[position]
        buffer[position], buffer[first] = buffer[first], None
        self.start += 1
        return item

    def _fill(self, items: Iterator[Any]) -> None:
        while self.end - self.start < self.size:
            try:
                item = next(items)
            except StopIteration:
                self.items = None
                return
            position = self.end % self.size
            if position == len(self.buffer):
                self.buffer.append(item)
            else:
                self.buffer[position] = item
            self.end += 1
