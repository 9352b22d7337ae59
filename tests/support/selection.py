"""Which cases of a sweep a run tries: some of them, or all in `make fuzz`.

`in_turn` covers each value of both axes by half of the pairs:

    for place, name in enumerate("abcd"):       ==>     a-1  b-2  c-1  d-2
        for number in in_turn([1, 2], place):
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")
IS_FUZZING = bool(os.environ.get("AGC_FUZZ"))


def in_turn(values: Sequence[Case], place: int) -> list[Case]:
    """Return one of the values, and another one at the next place; return all of them in `make fuzz`."""
    return [*values] if IS_FUZZING else [values[place % len(values)]]


def at_most(few: int, many: int) -> int:
    """Return the smaller number of cases, or the larger one in `make fuzz`."""
    return many if IS_FUZZING else few
