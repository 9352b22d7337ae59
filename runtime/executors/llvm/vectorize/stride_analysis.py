"""Stride of an integer: its increase from one iteration of a loop to the next.

i         1
i * 3     3
n - i    -1
i % 3     no constant stride
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..codegen.llvm_types import ir


def moved_by(each: Any, steps: Sequence[int | None]) -> int:
    """Return the stride of `each`, given the strides of its operands; 0 if the stride is 0 or unknown."""
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
    """Return the value of a constant; 0 for other operands."""
    return int(number.constant) if isinstance(number, ir().Constant) else 0
