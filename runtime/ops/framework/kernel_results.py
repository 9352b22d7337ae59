"""Return conventions of kernels: one array or a sequence of arrays."""

from __future__ import annotations

import functools

from ...ir.op_def import OpDef


@functools.cache
def returns_many(op: OpDef) -> bool:
    """Return whether the kernel of `op` returns a sequence; its rule is annotated `-> tuple[...]` then."""
    annotation = op.rule.__annotations__.get("return", "")
    return str(annotation).startswith("tuple")
