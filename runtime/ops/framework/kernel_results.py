"""Return conventions of kernels: one array or a sequence of arrays."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .op import Op


@functools.cache
def returns_many(op: Op) -> bool:
    """Return whether the kernel of `op` returns a sequence; its rule is annotated `-> tuple[...]` then."""
    annotation = op.rule.__annotations__.get("return", "")
    return str(annotation).startswith("tuple")
