"""Stages that combine several datasets: concatenated, zipped, or in the order of a selector."""

from __future__ import annotations

import itertools
from typing import Any

from .. import errors
from .element_spec import Row, generalized
from .pipeline_stage import INFINITE, UNKNOWN, Elements, PipelineStage


class Concatenated(PipelineStage):
    """`concatenate`: the elements of the first dataset, then those of the second."""

    name = "_ConcatenateDataset"

    def __init__(self, first: PipelineStage, second: PipelineStage) -> None:
        self.first, self.second = first, second
        spec = generalized(first.spec, second.spec)
        if spec is None:
            raise TypeError(f"Incompatible dataset elements:\n  {first.spec!r} vs.   {second.spec!r}")
        self.spec = spec

    def elements(self) -> Elements:
        later = (stage.elements() for stage in (self.second,))
        return itertools.chain.from_iterable(itertools.chain([self.first.elements()], later))

    def cardinality(self) -> int:
        known = self.first.cardinality(), self.second.cardinality()
        if INFINITE in known:
            return INFINITE
        return UNKNOWN if UNKNOWN in known else sum(known)


class Zipped(PipelineStage):
    """`zip`: nests of corresponding elements."""

    name = "_ZipDataset"

    def __init__(self, stages: list[PipelineStage], spec: Any) -> None:
        self.stages = stages
        self.spec = spec

    def elements(self) -> Elements:
        walks = [stage.elements() for stage in self.stages]
        return map(_joined, zip(*walks, strict=False))

    def cardinality(self) -> int:
        known = [stage.cardinality() for stage in self.stages]
        finite = [count for count in known if count != INFINITE]
        if not finite:
            return INFINITE
        return UNKNOWN if UNKNOWN in finite else min(finite)

    def blocks(self, size: int) -> Elements | None:
        found = [stage.blocks(size) if stage.cardinality() >= 0 else None for stage in self.stages]
        if any(part is None for part in found) or len({stage.cardinality() for stage in self.stages}) > 1:
            return None
        return ([leaf for block in blocks for leaf in block] for blocks in zip(*found, strict=True))


def _joined(rows: tuple[Row, ...]) -> Row:
    return [leaf for row in rows for leaf in row]


class Directed(PipelineStage):
    """`choose_from_datasets`: takes each element from the dataset whose index the selector yields."""

    name = "_DirectedInterleaveDataset"

    def __init__(self, selector: PipelineStage, stages: list[PipelineStage], stop_on_empty: bool) -> None:
        self.selector, self.stages, self.stop_on_empty = selector, stages, stop_on_empty
        spec = stages[0].spec
        for stage in stages[1:]:
            common = generalized(spec, stage.spec)
            if common is None:
                raise TypeError(f"Incompatible dataset elements:\n  {spec!r} vs.   {stage.spec!r}")
            spec = common
        self.spec = spec

    def elements(self) -> Elements:
        return self._chosen(self.selector.elements(), [stage.elements() for stage in self.stages])

    def _chosen(self, choices: Elements, walks: list[Elements | None]) -> Elements:
        for (choice,) in choices:
            if not 0 <= choice < len(walks):
                raise errors.InvalidArgumentError(f"Selector index out of range: {choice} >= {len(walks)}")
            walk = walks[choice]
            row = None if walk is None else next(walk, None)
            if row is not None:
                yield row
            elif self.stop_on_empty:
                return
            else:
                walks[choice] = None
                if not any(walk is not None for walk in walks):
                    return

    def cardinality(self) -> int:
        known = [stage.cardinality() for stage in self.stages]
        if self.selector.cardinality() >= 0 or self.stop_on_empty:
            if all(count == INFINITE for count in [self.selector.cardinality(), *known]):
                return INFINITE
            return UNKNOWN
        if INFINITE in known:
            return INFINITE
        return UNKNOWN if UNKNOWN in known else sum(known)
