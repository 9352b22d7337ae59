"""Which cases of a sweep a run tries: representatives in `make test`, all of them in `make fuzz`.

`pairs` covers each value of both axes by half of the pairs, or fewer; `in_turn` does so where loops are nested deeper:

    pairs("abcd", [1, 2])       ==>     a-1  b-2  c-1  d-2
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
Case = TypeVar("Case")
IS_FUZZING = bool(os.environ.get("AGC_FUZZ"))


def in_turn(values: Sequence[Case], place: int) -> list[Case]:
    """Return one of the values, and another one at the next place; return all of them in `make fuzz`."""
    return [*values] if IS_FUZZING else [values[place % len(values)]]


def pairs(rows: Iterable[Row], columns: Sequence[Case]) -> list[tuple[Row, Case]]:
    """Return each row with one of the columns, which take turns; with all of them in `make fuzz`."""
    return [(row, column) for place, row in enumerate(rows) for column in in_turn(columns, place)]


def each_nth(step: int, values: Iterable[Case]) -> list[Case]:
    """Return the first value and each one so many steps further; return all of them in `make fuzz`."""
    return [*values][:: 1 if IS_FUZZING else step]


def at_most(few: int, many: int) -> int:
    """Return the smaller number of cases, or the larger one in `make fuzz`."""
    return many if IS_FUZZING else few
