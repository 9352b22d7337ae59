"""By how much a number grows from one round of a loop to the next.

i         1
i * 3     3
n - i    -1
i % 3     not by the same in all rounds
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..codegen.llvm_types import ir


def moved_by(each: Any, steps: Sequence[int | None]) -> int:
    """The step of an instruction on numbers of these steps; 0 where there is none that is known and not 0."""
    if len(steps) != 2 or None in steps:
        return 0
    first, second = steps
    assert first is not None and second is not None
    match each.opname:
        case "add":
            return first + second
        case "sub":
            return first - second
        case "mul":
            return first * _known(each.operands[1]) or second * _known(each.operands[0])
    return 0


def _known(number: Any) -> int:
    """What a constant is; 0 for others."""
    return int(number.constant) if isinstance(number, ir().Constant) else 0
