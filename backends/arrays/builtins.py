"""The built-in functions that count and combine items: of arrays, and of `range` and others with a traced length."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from .items import backwards, enumerated, in_range, length, zipped

ITERATION: dict[Callable[..., Any], Callable[..., Any]] = {
    builtins.enumerate: enumerated,
    builtins.len: length,
    builtins.range: in_range,
    builtins.reversed: backwards,
    builtins.zip: zipped,
}
