"""The functions of Python that have another meaning on tensors; `builtins.py` is imported when a tensor meets one.

len(x)   ==>   BUILTINS.get(len)(x)   ==>   builtins.length(x)
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Function = Callable[..., Any]

FUNCTIONS: tuple[Function, ...] = (
    *(builtins.abs, builtins.all, builtins.any, builtins.bool, builtins.complex, builtins.divmod),
    *(builtins.enumerate, builtins.filter, builtins.float, builtins.int, builtins.iter, builtins.len),
    *(builtins.list, builtins.map, builtins.max, builtins.min, builtins.next, builtins.pow, builtins.print),
    *(builtins.range, builtins.reversed, builtins.round, builtins.sorted, builtins.sum, builtins.tuple),
    *(builtins.zip, operator.contains, operator.eq, operator.ne),
)


class LateBuiltins(Mapping[Function, Function]):
    """`builtins.BUILTINS`, which is imported at the first look-up."""

    def __getitem__(self, function: Function) -> Function:
        from .builtins import BUILTINS

        return BUILTINS[function]

    def __iter__(self) -> Iterator[Function]:
        return iter(FUNCTIONS)

    def __len__(self) -> int:
        return len(FUNCTIONS)


BUILTINS = LateBuiltins()
