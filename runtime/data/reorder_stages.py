"""Stages that select, repeat and reorder elements without changing them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from .element_spec import Row, leaf_specs
from .pipeline_stage import INFINITE, UNKNOWN, Elements, PipelineStage, some_or_none


class Through(PipelineStage):
    """A stage with the elements of its source."""

    def __init__(self, source: PipelineStage) -> None:
        self.source = source
        self.spec = source.spec

    def elements(self) -> Elements:
        return self.source.elements()

    def cardinality(self) -> int:
        return self.source.cardinality()


class Counted(Through):
    """A stage with a number, which may be known only when the graph runs."""

    def __init__(self, source: PipelineStage, count: Any) -> None:
        super().__init__(source)
        self.count = count


class Repeated(Counted):
    """`repeat`: the elements several times, or infinitely."""

    name = "_RepeatDataset"

    def elements(self) -> Elements:
        return _Repeat(self.source, self.count)

    def cardinality(self) -> int:
        known = self.source.cardinality()
        if not isinstance(self.count, int):
            return UNKNOWN
        if self.count < 0:
            return 0 if known == 0 else INFINITE
        return 0 if self.count == 0 else known * self.count if known >= 0 else known


class _Repeat(Elements):
    def __init__(self, source: PipelineStage, count: int) -> None:
        self.source = source
        self.left = count
        self.rows: Elements | None = source.elements() if count else None
        self.is_empty = True

    def __next__(self) -> Row:
        while self.left:
            if self.rows is None:
                self.rows, self.is_empty = self.source.elements(), True
            for row in self.rows:
                self.is_empty = False
                return row
            self.rows = None
            self.left -= 1
            if self.left < 0 and self.is_empty:
                break  # an empty source never yields
        raise StopIteration


class Taken(Counted):
    """`take`: the first elements."""

    name = "_TakeDataset"

    def elements(self) -> Elements:
        if self.count == 0:
            return iter(())
        return self.source.elements() if self.count < 0 else _Limited(self.source.elements(), self.count)

    def cardinality(self) -> int:
        known = self.source.cardinality()
        if not isinstance(self.count, int) or known == UNKNOWN:
            return 0 if isinstance(self.count, int) and self.count == 0 else UNKNOWN
        if self.count < 0:
            return known
        return self.count if known == INFINITE else min(known, self.count)


class _Limited(Elements):
    """The first rows; unlike `islice`, the iterator can continue after an error."""

    def __init__(self, rows: Elements, count: int) -> None:
        self.rows, self.left = rows, count

    def __next__(self) -> Row:
        if not self.left:
            self.rows = iter(())
        row = next(self.rows)
        self.left -= 1
        return row


class _Steps(Elements):
    """Every `step`-th row, without the first ones."""

    def __init__(self, rows: Elements, first: int, step: int) -> None:
        self.rows, self.skipped, self.step = rows, first, step

    def __next__(self) -> Row:
        while self.skipped:
            next(self.rows)
            self.skipped -= 1
        row = next(self.rows)
        self.skipped = self.step - 1
        return row


class Skipped(Counted):
    """`skip`: all but the first elements."""

    name = "_SkipDataset"

    def elements(self) -> Elements:
        return iter(()) if self.count < 0 else _Steps(self.source.elements(), self.count, 1)

    def cardinality(self) -> int:
        known = self.source.cardinality()
        if not isinstance(self.count, int):
            return UNKNOWN
        if self.count < 0:
            return 0
        return max(known - self.count, 0) if known >= 0 else known


class Sharded(Through):
    """`shard`: every `count`-th element, from index `index` on."""

    name = "_ShardDataset"

    def __init__(self, source: PipelineStage, count: Any, index: Any) -> None:
        super().__init__(source)
        self.count, self.index = count, index

    def check(self) -> None:
        if isinstance(self.count, int) and self.count < 1:
            raise errors.InvalidArgumentError(
                f"Number of shards must be greater than zero (currently num_shards = {self.count})."
            )
        if isinstance(self.index, int) and isinstance(self.count, int) and not 0 <= self.index < self.count:
            raise errors.InvalidArgumentError(
                f"Index must be between 0 and {self.count - 1} (currently index = {self.index})."
            )

    def elements(self) -> Elements:
        return _Steps(self.source.elements(), self.index, self.count)

    def cardinality(self) -> int:
        known = self.source.cardinality()
        if not isinstance(self.count, int) or not isinstance(self.index, int):
            return UNKNOWN
        return max(-(-(known - self.index) // self.count), 0) if known >= 0 else known


class UniqueElements(Through):
    """`unique`: the first of equal elements."""

    name = "_UniqueDataset"
    cardinality = some_or_none

    def __init__(self, source: PipelineStage) -> None:
        super().__init__(source)
        leaves = leaf_specs(source.spec)
        if len(leaves) != 1:
            raise errors.InvalidArgumentError(
                f"unique takes elements of one component, these have {len(leaves)}"
            )
        if leaves[0].dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(f"unique takes int32, int64 and string, not {leaves[0].dtype.name}")

    def elements(self) -> Elements:
        return self._first(self.source.elements())

    @staticmethod
    def _first(rows: Elements) -> Elements:
        seen = set()
        for row in rows:
            key = (
                row[0].shape,
                np.asarray(row[0]).tobytes() if row[0].dtype != object else tuple(row[0].flat),
            )
            if key not in seen:
                seen.add(key)
                yield row


class IgnoredErrors(Through):
    """`ignore_errors`: skips elements that failed."""

    name = "_IgnoreErrorsDataset"
    cardinality = some_or_none

    def __init__(self, source: PipelineStage, log: bool) -> None:
        super().__init__(source)
        self.log = log

    def elements(self) -> Elements:
        return self._succeeding(self.source.elements())

    def _succeeding(self, rows: Elements) -> Elements:
        while True:
            try:
                yield next(rows)
            except StopIteration:
                return
            except Exception as error:
                if self.log:
                    import warnings

                    warnings.warn(f"Error raised with error message {error}", stacklevel=2)


class Prefetch(Through):
    """`prefetch`: elements computed ahead by a thread."""

    name = "_PrefetchDataset"

    def __init__(self, source: PipelineStage, size: Any) -> None:
        super().__init__(source)
        self.size = size

    def check(self) -> None:
        if isinstance(self.size, int) and self.size < -1:
            raise errors.InvalidArgumentError("buffer_size must be >= 0 or set to AUTOTUNE")

    def elements(self) -> Elements:
        from .prefetch_threads import Prefetched

        rows = self.source.elements()
        return rows if self.size == 0 else Prefetched(rows, 2 if self.size < 0 else self.size)


class WithOptions(Through):
    """`with_options`: the same elements."""

    name = "_OptionsDataset"

    def __init__(self, source: PipelineStage, options: Any) -> None:
        super().__init__(source)
        self.options = options

    def blocks(self, size: int) -> Elements | None:
        return self.source.blocks(size)


class Asserted(Through):
    """`assert_cardinality`: fails when the number of elements differs."""

    name = "_AssertCardinalityDataset"

    def __init__(self, source: PipelineStage, expected: Any) -> None:
        super().__init__(source)
        self.expected = expected

    def elements(self) -> Elements:
        return self._counted(self.source.elements())

    def _counted(self, rows: Elements) -> Elements:
        count = 0
        for row in rows:
            count += 1
            if 0 <= self.expected < count:
                raise errors.FailedPreconditionError(
                    f"Input dataset was expected to contain {self.expected} elements but contained at least {count} "
                    "elements."
                )
            yield row
        if self.expected not in (count, UNKNOWN):
            wanted = "an infinite number of" if self.expected == INFINITE else self.expected
            raise errors.FailedPreconditionError(
                f"Input dataset was expected to contain {wanted} elements but contained only {count} elements."
            )

    def cardinality(self) -> int:
        return self.expected if isinstance(self.expected, int) else UNKNOWN
