"""The two versions of a function that `convert` returns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from agc.autograph import convert, staging


def converted_version(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` as it is converted; it runs that version with plain values and eager tensors, too."""
    converted = convert(f)

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        with staging.live():
            return converted(*args, **kwargs)

    return run
