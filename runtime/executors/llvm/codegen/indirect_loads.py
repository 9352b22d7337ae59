"""Recognize loops that mainly load elements at indices that depend on loaded values.

for i: c[i] ← a[b[i]]         no vectors for few iterations: each element is loaded separately
"""

from __future__ import annotations

from typing import Any

FETCHED = 256
"""Elements from which vectorizing indirect loads pays off."""


def mainly_looks_up(body: Any) -> bool:
    """Return whether a loop of one block mainly reads elements at indices that depend on loaded values."""
    found: set[Any] = set()
    for each in body.instructions:
        if each.opname == "load":
            if each.operands[0] in found:
                return not any(map(_is_formula, body.instructions))
            found.add(each)
        elif each.opname != "phi" and not found.isdisjoint(each.operands):
            found.add(each)
    return False


def _is_formula(each: Any) -> bool:
    """Return whether an instruction calls one of the project's own mathematical functions, which take long."""
    return bool(each.opname == "call" and each.callee.name.startswith("agc."))
